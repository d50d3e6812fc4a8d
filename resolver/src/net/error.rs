//! What goes wrong on the way, and who can end it.

use std::error::Error as StdError;
use std::io;
use std::net::IpAddr;

use ptah_contract::failure::FailureClass;

use super::Limits;

/// A failure of the network or of the other side. Names hosts and addresses; never a whole URL, which may hold a
/// secret, and never text that the other side wrote.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// The caller ended the attempt.
    #[error("the attempt was cancelled")]
    Cancelled,
    /// The attempt took too long.
    #[error("the attempt took longer than {seconds} s")]
    Deadline {
        /// What it may take.
        seconds: u64,
    },
    /// Nothing came for too long.
    #[error("no byte was received for {seconds} s")]
    Stalled {
        /// How long nothing may come.
        seconds: u64,
    },
    /// The other side was not reached in time.
    #[error("host {host} was not reached within {seconds} s")]
    ConnectTimeout {
        /// Which.
        host: String,
        /// What connecting may take.
        seconds: u64,
    },
    /// The name has no address.
    #[error("the name {host} is not resolved to an address")]
    NameNotResolved {
        /// Which.
        host: String,
    },
    /// The connection was refused or broke.
    #[error("the connection to {host} was refused or broke")]
    Connection {
        /// To where.
        host: String,
    },
    /// The body ended early.
    #[error("the answer of {host} was cut short")]
    CutShort {
        /// Whose.
        host: String,
    },
    /// No address of the host may be connected to.
    #[error("host {host} has the address {address}, which is not public and not in an allowed network")]
    AddressNotAllowed {
        /// Which.
        host: String,
        /// Its first address.
        address: IpAddr,
    },
    /// The certificate does not hold.
    #[error("the certificate of {host} is not trusted: {reason}")]
    Certificate {
        /// Whose.
        host: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Whatever answers does not speak TLS as it should.
    #[error("host {host} does not answer with TLS")]
    Tls {
        /// Which.
        host: String,
    },
    /// More was sent than the attempt may receive.
    #[error("more than {limit} bytes were received")]
    Budget {
        /// What may be received.
        limit: u64,
    },
    /// A single answer is larger than anything honest.
    #[error("the answer of {host} is larger than {limit} bytes")]
    TooLarge {
        /// Whose.
        host: String,
        /// What it may have.
        limit: u64,
    },
    /// A redirect too many.
    #[error("host {host} redirects for the sixth time; at most five redirects are followed")]
    TooManyRedirects {
        /// Who sent the last one.
        host: String,
    },
    /// A redirect away from https.
    #[error("host {host} redirects to {scheme:?}; only https is followed")]
    RedirectProtocol {
        /// Who sent it.
        host: String,
        /// Where to.
        scheme: String,
    },
    /// A redirect that leads nowhere.
    #[error("host {host} redirects to something that is no usable URL")]
    RedirectMalformed {
        /// Who sent it.
        host: String,
    },
    /// Plain http without leave.
    #[error("plain http is not allowed for {host}")]
    PlainHttp {
        /// Which.
        host: String,
    },
    /// A URL that is not asked, or a credential that cannot be sent.
    #[error("the request is unusable: {0}")]
    InvalidUrl(&'static str),
    /// Not a bare `host` or `host:port`.
    #[error("a host or host:port alone is expected, such as git.example:8443")]
    InvalidAuthority,
    /// The CA bundle cannot be used.
    #[error("the CA bundle is unusable: {0}")]
    InvalidCa(&'static str),
    /// An answer that means nothing else here.
    #[error("host {host} answered with status {status}")]
    Status {
        /// Who.
        host: String,
        /// What.
        status: u16,
    },
    /// The client itself cannot be made.
    #[error("the HTTP client cannot be made")]
    Client,
}

impl Error {
    /// Stable name of the failure.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Cancelled => "cancelled",
            Self::Deadline { .. } => "deadline_exceeded",
            Self::Stalled { .. } => "stalled",
            Self::ConnectTimeout { .. } => "connect_timeout",
            Self::NameNotResolved { .. } => "name_not_resolved",
            Self::Connection { .. } => "connection_failed",
            Self::CutShort { .. } => "cut_short",
            Self::AddressNotAllowed { .. } => "address_not_allowed",
            Self::Certificate { .. } => "certificate_not_trusted",
            Self::Tls { .. } => "tls_failed",
            Self::Budget { .. } => "receive_budget",
            Self::TooLarge { .. } => "answer_too_large",
            Self::TooManyRedirects { .. } => "too_many_redirects",
            Self::RedirectProtocol { .. } => "redirect_protocol",
            Self::RedirectMalformed { .. } => "redirect_malformed",
            Self::PlainHttp { .. } => "plain_http",
            Self::InvalidUrl(_) => "invalid_url",
            Self::InvalidAuthority => "invalid_authority",
            Self::InvalidCa(_) => "invalid_ca",
            Self::Status { status: 401, .. } => "authentication_failed",
            Self::Status { status: 403, .. } => "access_denied",
            Self::Status {
                status: 404 | 410, ..
            } => "not_found",
            Self::Status { status, .. } if passes(*status) => "server_unavailable",
            Self::Status { .. } => "unexpected_status",
            Self::Client => "client_failed",
        }
    }

    /// Who can end it.
    #[must_use]
    pub fn class(&self) -> FailureClass {
        match self {
            Self::Cancelled
            | Self::Deadline { .. }
            | Self::Stalled { .. }
            | Self::ConnectTimeout { .. }
            | Self::NameNotResolved { .. }
            | Self::Connection { .. }
            | Self::CutShort { .. } => FailureClass::Transient,
            Self::Certificate { .. }
            | Self::InvalidUrl(_)
            | Self::InvalidAuthority
            | Self::InvalidCa(_)
            | Self::Status {
                status: 401 | 403 | 404 | 410,
                ..
            } => FailureClass::Input,
            Self::AddressNotAllowed { .. }
            | Self::Budget { .. }
            | Self::TooManyRedirects { .. }
            | Self::PlainHttp { .. } => FailureClass::Refused,
            Self::Status { status, .. } if passes(*status) => FailureClass::Transient,
            Self::Tls { .. }
            | Self::TooLarge { .. }
            | Self::RedirectProtocol { .. }
            | Self::RedirectMalformed { .. }
            | Self::Status { .. } => FailureClass::Attention,
            Self::Client => FailureClass::Internal,
        }
    }

    /// What a failed request means; `in_body` when its answer had begun. A failure of our own hooks (the address check)
    /// is found inside and kept.
    pub(super) fn of_request(error: &reqwest::Error, host: &str, limits: &Limits, in_body: bool) -> Self {
        if let Some(own) = find::<Self>(error) {
            return own.clone();
        }
        let host = host.to_owned();
        if let Some(tls) = find::<rustls::Error>(error) {
            return Self::of_tls(tls, host);
        }
        match (error.is_timeout(), in_body) {
            (true, _) if error.is_connect() => Self::ConnectTimeout {
                host,
                seconds: limits.connect.as_secs(),
            },
            (true, _) => Self::Stalled {
                seconds: limits.idle.as_secs(),
            },
            (false, true) => Self::CutShort { host },
            (false, false) => Self::Connection { host },
        }
    }

    fn of_tls(error: &rustls::Error, host: String) -> Self {
        use rustls::CertificateError as Bad;
        let reason = match error {
            rustls::Error::InvalidCertificate(bad) => match bad {
                Bad::UnknownIssuer => "no given root signed it",
                Bad::Expired | Bad::ExpiredContext { .. } => "it has expired",
                Bad::NotValidYet | Bad::NotValidYetContext { .. } => "it is not valid yet",
                Bad::NotValidForName | Bad::NotValidForNameContext { .. } => "it is for another name",
                Bad::Revoked => "it is revoked",
                _ => "it does not verify",
            },
            rustls::Error::NoCertificatesPresented => "none was sent",
            _ => return Self::Tls { host },
        };
        Self::Certificate { host, reason }
    }
}

fn passes(status: u16) -> bool {
    status == 408 || status == 429 || (500..600).contains(&status)
}

/// A cause of this type, however deep. An I/O error may hold another error without naming it as its source.
fn find<'a, T: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a T> {
    if let Some(found) = error.downcast_ref() {
        return Some(found);
    }
    let held = error
        .downcast_ref::<io::Error>()
        .and_then(|error| error.get_ref());
    match held {
        Some(held) => find(held),
        None => error.source().and_then(find),
    }
}
