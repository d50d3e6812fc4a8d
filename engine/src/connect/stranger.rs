//! Who answers at the target's address when it is not PostgreSQL.
//!
//! PostgreSQL waits to be spoken to. MySQL and MariaDB greet first, as SSH and mail servers do, and what the client
//! library makes of such bytes is a broken connection or a time-out, which somebody would wait for in vain.
//! Assumes nothing of what is read: at most a few bytes are looked at, and none is repeated.

use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

use super::Target;
use crate::error::{Code, Error};

/// A greeting comes at once or not at all.
const PATIENCE: Duration = Duration::from_secs(1);
/// MySQL's packet header, the protocol's number, and the first letters of the version.
const HEAD: usize = 16;

enum Stranger {
    MySql,
    Other,
}

/// The same error, or the better one when somebody else than PostgreSQL listens there.
pub(super) async fn instead_of(error: Error, target: &Target) -> Error {
    let unclear = matches!(
        error.kind(),
        Code::ConnectionLost | Code::ConnectTimeout | Code::TlsFailed | Code::AuthenticationFailed
    );
    if !unclear || error.to_failure().sqlstate.is_some() || target.is_socket() {
        return error;
    }
    let patience = PATIENCE.min(target.connect_timeout);
    let message = match tokio::time::timeout(patience, greeting(target)).await {
        Ok(Some(Stranger::MySql)) => {
            "a server of the MySQL family answers at the target's address, and spec.target.engine says PostgreSQL"
        }
        Ok(Some(Stranger::Other)) => "what answers at the target's address is not PostgreSQL",
        Ok(None) | Err(_) => return error,
    };
    Error::new(Code::UnsupportedEngine, message)
}

/// Listens without saying anything.
async fn greeting(target: &Target) -> Option<Stranger> {
    let mut stream = TcpStream::connect((target.host.as_str(), target.port))
        .await
        .ok()?;
    let mut head = Vec::with_capacity(HEAD);
    while head.len() < HEAD {
        if stream.read_buf(&mut head).await.ok()? == 0 {
            break;
        }
        if head.len() > 4 {
            break;
        }
    }
    match head.as_slice() {
        [] => None,
        // Length (3 bytes), number 0, and the protocol's version, or an error packet such as "too many connections".
        [_, _, 0, 0, 10 | 0xff, ..] => Some(Stranger::MySql),
        _ => Some(Stranger::Other),
    }
}
