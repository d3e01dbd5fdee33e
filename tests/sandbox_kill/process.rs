//! The built sandbox as a process that can be killed.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// When its clock starts: an hour of the merchant's night in which nothing falls due by itself.
const START: &str = "2030-01-15T08:00:00Z";

/// A sandbox that listens; it is killed when this ends.
pub(crate) struct Sandbox {
    pub(crate) address: SocketAddr,
    child: Child,
    /// Kept open, so that it may go on printing.
    _output: BufReader<ChildStdout>,
}

impl Sandbox {
    /// Starts it on the state in this folder, and waits until it listens.
    pub(crate) fn start(state: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_reckon"))
            .args([
                "sandbox",
                "--plain-http",
                "--listen",
                "127.0.0.1:0",
                "--clock",
                START,
                "--state",
            ])
            .arg(state)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the sandbox starts");
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening http://").expect("it listens");
        Self { address: address.parse().unwrap(), child, _output: output }
    }
}

impl Drop for Sandbox {
    /// SIGKILL: nothing of the process has a chance to tidy up.
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        drop(self.child.wait());
    }
}
