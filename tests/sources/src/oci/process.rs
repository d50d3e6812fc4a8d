//! A server as a child process, ended with the value that stands for it.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How long a server may take to say that it listens.
const START: Duration = Duration::from_secs(60);

/// A running server.
pub struct Server(Child);

impl Server {
    /// Starts it, and waits for a line of its output from which `find` reads what the test has to know.
    ///
    /// # Panics
    /// When it does not start, or says nothing in time.
    pub fn start<T: Send + 'static>(
        command: &mut Command,
        find: impl Fn(&str) -> Option<T> + Clone + Send + 'static,
    ) -> (Self, T) {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?} cannot be started: {error}"));
        let (sender, receiver) = mpsc::channel();
        let output = child
            .stdout
            .take()
            .map(|pipe| Box::new(pipe) as Box<dyn Read + Send>);
        let errors = child
            .stderr
            .take()
            .map(|pipe| Box::new(pipe) as Box<dyn Read + Send>);
        for (pipe, name) in output
            .into_iter()
            .zip(["out"])
            .chain(errors.into_iter().zip(["err"]))
        {
            let (sender, find) = (sender.clone(), find.clone());
            let mut log = log(command, child.id(), name);
            // Reads on after the line was found: a server whose pipe is full stands still.
            std::thread::spawn(move || {
                for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                    if let Some(log) = &mut log {
                        let _ = writeln!(log, "{line}");
                    }
                    if let Some(found) = find(&line) {
                        let _ = sender.send(found);
                    }
                }
            });
        }
        drop(sender);
        let server = Self(child);
        let found = receiver.recv_timeout(START);
        (
            server,
            found.unwrap_or_else(|_| panic!("{command:?} did not say that it listens")),
        )
    }
}

/// Where the caller of the tests keeps what servers say, if anywhere.
fn log(command: &Command, id: u32, name: &str) -> Option<File> {
    let folder = std::env::var_os("PTAH_TEST_LOGS")?;
    let program = Path::new(command.get_program())
        .file_name()?
        .to_string_lossy()
        .into_owned();
    File::create(Path::new(&folder).join(format!("{program}-{id}.{name}.log"))).ok()
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
