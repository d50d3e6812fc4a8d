//! `host` or `host:port`: what a credential is granted for.

use std::fmt;
use std::str::FromStr;

use url::Url;

use super::Error;

/// The authority of a URL, without user information. The case of a host says nothing; a port and a trailing dot count.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Authority {
    host: String,
    port: Option<u16>,
}

impl Authority {
    /// Of a URL; a port that its scheme implies is none.
    ///
    /// # Errors
    /// [`Error::InvalidUrl`] when it has no host.
    pub fn of(url: &Url) -> Result<Self, Error> {
        let host = url
            .host_str()
            .filter(|host| !host.is_empty())
            .ok_or(Error::InvalidUrl("its URL has no host"))?;
        Ok(Self {
            host: host.to_ascii_lowercase(),
            port: url.port(),
        })
    }

    /// Of a host and the port that was written beside it.
    ///
    /// # Errors
    /// [`Error::InvalidAuthority`] when the host is none.
    pub fn new(host: &str, port: Option<u16>) -> Result<Self, Error> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let is_name = !host.starts_with('-') && host.chars().all(allowed);
        // An address has one spelling, as in a URL; a name that a URL takes for an address, such as 127.1, is none.
        match url::Host::parse(host) {
            Ok(address @ url::Host::Ipv6(_)) => Ok(Self {
                host: address.to_string(),
                port,
            }),
            Ok(other) if is_name && other.to_string() == host.to_ascii_lowercase() => Ok(Self {
                host: host.to_ascii_lowercase(),
                port,
            }),
            _ => Err(Error::InvalidAuthority),
        }
    }

    /// The host; an IPv6 address in brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The host as an address or a name to resolve, without brackets.
    #[must_use]
    pub fn bare_host(&self) -> &str {
        self.host.trim_matches(['[', ']'])
    }

    /// The port that was written.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        self.port
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.host),
            None => f.write_str(&self.host),
        }
    }
}

impl FromStr for Authority {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => {
                let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
                let port = digits.then(|| port.parse().ok()).flatten();
                (host, Some(port.ok_or(Error::InvalidAuthority)?))
            }
            _ => (text, None),
        };
        Self::new(host, port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ptah_contract::failure::FailureClass;

    #[test]
    fn only_a_bare_host_and_port_is_an_authority() {
        for (text, ok) in [
            ("git.example", true),
            ("Git.Example:8443", true),
            ("[::1]:22", true),
            ("[::1]", true),
            ("127.0.0.1:5000", true),
            ("", false),
            (":22", false),
            ("git.example:", false),
            ("git.example:99999", false),
            ("https://git.example", false),
            ("git.example/team", false),
            ("user@git.example", false),
            ("-oProxyCommand=x", false),
            ("[::1", false),
            ("::1", false),
            ("git.example:+22", false),
            ("git example", false),
            ("127.1", false),
            ("0x7f.0.0.1:5000", false),
            ("2130706433", false),
            ("127.0.0.1.", false),
            ("git.1example", true),
            ("xn--a", false),
        ] {
            // Whoever parses one names the field in place of this sentence.
            let refused = text.parse::<Authority>().err().map(|error| {
                assert_eq!(
                    (error.code(), error.class()),
                    ("invalid_authority", FailureClass::Input)
                );
                error.to_string()
            });
            let sentence = "a host or host:port alone is expected, such as git.example:8443";
            assert_eq!(refused.as_deref(), (!ok).then_some(sentence), "{text}");
        }
    }

    #[test]
    fn case_says_nothing_and_port_and_trailing_dot_count() {
        let parse = |text: &str| text.parse::<Authority>().unwrap();
        assert_eq!(parse("GIT.example"), parse("git.EXAMPLE"));
        assert_ne!(parse("git.example"), parse("git.example:443"));
        assert_ne!(parse("git.example"), parse("git.example."));
        let url: Url = "https://GIT.example:443/x".parse().unwrap();
        assert_eq!(Authority::of(&url).unwrap(), parse("git.example"));
    }

    #[test]
    fn an_address_has_the_spelling_that_a_url_gives_it() {
        for (text, shown) in [
            ("[0:0:0:0:0:0:0:1]:5000", "[::1]:5000"),
            ("[::FFFF:1.2.3.4]", "[::ffff:102:304]"),
            ("127.0.0.1", "127.0.0.1"),
        ] {
            let authority: Authority = text.parse().unwrap();
            assert_eq!(authority.to_string(), shown);
            let url: Url = format!("https://{text}/").parse().unwrap();
            assert_eq!(Authority::of(&url).unwrap(), authority);
        }
    }

    proptest! {
        #[test]
        fn what_parses_is_what_is_shown(text in ".{0,40}") {
            if let Ok(authority) = text.parse::<Authority>() {
                let shown = authority.to_string();
                prop_assert_eq!(shown.parse::<Authority>().unwrap(), authority);
            }
        }
    }
}
