//! Reads the API server's audit log, so that a test can count the requests that somebody made.
//!
//! The log is written when a request has been answered, and a moment later: whoever waits for a request looks again.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Deserialize;

/// One answered request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Who asked, as in `system:serviceaccount:NAMESPACE:NAME`.
    pub user: String,
    /// What the client calls itself.
    pub agent: String,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, …
    pub verb: String,
    /// The path and the query.
    pub uri: String,
    /// The resource, in the plural; empty for a path that names none.
    pub resource: String,
    /// As in `status`; mostly empty.
    pub subresource: String,
    /// Empty for what has no namespace.
    pub namespace: String,
    /// Empty for a list, and for a creation under a generated name.
    pub name: String,
    /// The HTTP status of the answer.
    pub code: u16,
}

/// The log, from one moment on.
#[derive(Debug, Clone)]
pub struct AuditLog {
    path: PathBuf,
    start: u64,
}

impl AuditLog {
    /// What is written after now.
    pub fn from_now(path: PathBuf) -> Result<Self> {
        let about = std::fs::metadata(&path).with_context(|| format!("there is no {}", path.display()))?;
        Ok(Self {
            path,
            start: about.len(),
        })
    }

    /// The requests so far. A watch is listed when it ends, and not while it runs.
    pub fn requests(&self) -> Result<Vec<Request>> {
        let mut file = File::open(&self.path).context("cannot open the audit log")?;
        file.seek(SeekFrom::Start(self.start))
            .context("cannot read the audit log")?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)
            .context("cannot read the audit log")?;
        // The last line may still be in the writing.
        let whole = bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        let mut requests = Vec::new();
        for line in bytes[..whole]
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            let event: Event = serde_json::from_slice(line).context("a line of the audit log is no event")?;
            requests.extend(event.request());
        }
        Ok(requests)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    stage: String,
    verb: String,
    #[serde(rename = "requestURI")]
    request_uri: String,
    user: User,
    #[serde(default)]
    user_agent: String,
    #[serde(default)]
    object_ref: ObjectRef,
    response_status: Option<Status>,
}

#[derive(Deserialize)]
struct User {
    username: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ObjectRef {
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
}

#[derive(Deserialize)]
struct Status {
    #[serde(default)]
    code: u16,
}

impl Event {
    // A long answer has a line at its start too; it is one request.
    fn request(self) -> Option<Request> {
        (self.stage == "ResponseComplete" || self.stage == "Panic").then(|| Request {
            user: self.user.username,
            agent: self.user_agent,
            verb: self.verb,
            uri: self.request_uri,
            resource: self.object_ref.resource,
            subresource: self.object_ref.subresource,
            namespace: self.object_ref.namespace,
            name: self.object_ref.name,
            code: self.response_status.map_or(0, |status| status.code),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    const LINE: &str = r#"{"kind":"Event","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/a/pods/p","verb":"get","user":{"username":"admin"},"userAgent":"kubectl","objectRef":{"resource":"pods","namespace":"a","name":"p"},"responseStatus":{"code":404}}"#;

    #[test]
    fn whole_lines_after_the_start_are_read_once_a_request() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "{LINE}").unwrap();
        let log = AuditLog::from_now(file.path().to_owned()).unwrap();
        assert_eq!(log.requests().unwrap(), []);
        writeln!(file, "{}", LINE.replace("ResponseComplete", "ResponseStarted")).unwrap();
        writeln!(file, "{LINE}").unwrap();
        write!(file, "{}", &LINE[..20]).unwrap();
        let expected = Request {
            user: "admin".into(),
            agent: "kubectl".into(),
            verb: "get".into(),
            uri: "/api/v1/namespaces/a/pods/p".into(),
            resource: "pods".into(),
            subresource: String::new(),
            namespace: "a".into(),
            name: "p".into(),
            code: 404,
        };
        assert_eq!(log.requests().unwrap(), [expected]);
    }
}
