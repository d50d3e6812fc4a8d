//! The scratch server as a container of its own, asked over files in a folder that both containers see.
//!
//! Protocol: the runner writes `request.json`, the sidecar answers with `ready.json` or `failed.json`; each
//! appears whole, by rename. The sidecar has no URL, no token and no network; it serves one request and ends
//! with the Pod.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::server::{Layout, Server};
use crate::connect::{Guard, Secret, Target};
use crate::error::{Code, Error, Result};

const POLL: Duration = Duration::from_millis(50);
/// The socket's folder in the shared one.
const SOCKET: &str = "socket";

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Request {
    major: u32,
}

/// No `Debug`: it holds a password.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Ready {
    major: u32,
    user: String,
    password: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Failed {
    no_server: bool,
    message: String,
}

/// The sidecar's whole work: waits for a request, serves it, and ends when told to.
///
/// `servers` holds `<major>/bin`, `templates` holds `<major>/template`; `work` is a folder of the sidecar's own.
///
/// # Errors
/// Only when the shared folder cannot be used; a server that does not start is answered, not returned.
pub async fn serve(
    directory: &Path,
    servers: &Path,
    templates: &Path,
    work: &Path,
    guard: Guard,
) -> Result<()> {
    let request: Request = match wait_for(directory, &["request.json"], &guard).await {
        Ok((_, text)) => parse(&text)?,
        Err(_) => return Ok(()),
    };
    let _server = match start(directory, servers, templates, work, request.major, &guard).await {
        Ok(server) => {
            let ready = Ready {
                major: request.major,
                user: server.admin.user.clone(),
                password: server
                    .admin
                    .password
                    .as_ref()
                    .map(|p| p.reveal().to_owned())
                    .unwrap_or_default(),
            };
            put(directory, "ready.json", &ready)?;
            Some(server)
        }
        Err(error) => {
            let failed = Failed {
                no_server: error.kind() == Code::NoScratchServer,
                message: error.to_string(),
            };
            put(directory, "failed.json", &failed)?;
            None
        }
    };
    let _ = guard.fired().await;
    Ok(())
}

async fn start(
    directory: &Path,
    servers: &Path,
    templates: &Path,
    work: &Path,
    major: u32,
    guard: &Guard,
) -> Result<Server> {
    let home = servers.join(major.to_string());
    if !home.join("bin/postgres").exists() {
        return Err(super::no_server(major));
    }
    let template = templates.join(major.to_string()).join("template");
    let socket = directory.join(SOCKET);
    for folder in [&socket, &work.to_path_buf()] {
        std::fs::create_dir_all(folder).map_err(|e| unusable(e.kind()))?;
    }
    // Set-group-id keeps the socket in the volume's group, which both containers share.
    let _ = std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o2770));
    let layout = Layout {
        home: &home,
        template: template.exists().then_some(template.as_path()),
        work,
        socket: &socket,
        shared: true,
    };
    Server::start(layout, guard).await
}

/// The runner's side: asks, and waits for the answer.
pub(super) async fn ask(directory: &Path, major: u32, guard: &Guard) -> Result<Target> {
    put(directory, "request.json", &Request { major })?;
    let (name, text) = wait_for(directory, &["ready.json", "failed.json"], guard).await?;
    if name == "failed.json" {
        let failed: Failed = parse(&text)?;
        let code = if failed.no_server {
            Code::NoScratchServer
        } else {
            Code::ScratchFailed
        };
        return Err(Error::new(code, failed.message));
    }
    let ready: Ready = parse(&text)?;
    if ready.major != major {
        return Err(super::no_server(major));
    }
    // Whatever the other container says: what is spoken to is the socket in the folder between us, and no host.
    let socket = directory.join(SOCKET).to_string_lossy().into_owned();
    Ok(Target::bare(
        socket,
        5432,
        ready.user,
        Some(Secret::new(ready.password)),
        "postgres".into(),
    ))
}

async fn wait_for(directory: &Path, names: &[&str], guard: &Guard) -> Result<(String, String)> {
    loop {
        for name in names {
            match std::fs::read_to_string(directory.join(name)) {
                Ok(text) => return Ok(((*name).to_owned(), text)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(unusable(error.kind())),
            }
        }
        tokio::select! {
            reason = guard.fired() => return Err(reason),
            () = tokio::time::sleep(POLL) => {}
        }
    }
}

fn put<T: Serialize>(directory: &Path, name: &str, value: &T) -> Result<()> {
    let text = serde_json::to_string(value).map_err(|_| Error::internal("a scratch message has no JSON"))?;
    let draft: PathBuf = directory.join(format!(".{name}.{}", std::process::id()));
    let write = || -> std::io::Result<()> {
        // New, so that nothing is written through a link that somebody else put there.
        std::fs::File::create_new(&draft)?.write_all(text.as_bytes())?;
        // The group is the volume's; nobody else in the Pod sees it.
        std::fs::set_permissions(&draft, std::fs::Permissions::from_mode(0o640))?;
        std::fs::rename(&draft, directory.join(name))
    };
    write().map_err(|error| unusable(error.kind()))
}

fn parse<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T> {
    serde_json::from_str(text)
        .map_err(|_| Error::new(Code::ScratchFailed, "a scratch message does not parse"))
}

fn unusable(kind: std::io::ErrorKind) -> Error {
    Error::new(
        Code::ScratchFailed,
        format!("the scratch folder cannot be used: {kind}"),
    )
}
