//! A server as a child process, ended with the value that stands for it.

use std::io::{BufRead as _, BufReader, Read};
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
        for pipe in output.into_iter().chain(errors) {
            let (sender, find) = (sender.clone(), find.clone());
            // Reads on after the line was found: a server whose pipe is full stands still.
            std::thread::spawn(move || {
                for line in BufReader::new(pipe).lines().map_while(Result::ok) {
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

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
