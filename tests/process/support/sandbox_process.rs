//! A sandbox of its own, as a process that listens.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// A sandbox; dropping the value kills it without a clean end.
pub(crate) struct Sandbox {
    pub(crate) address: SocketAddr,
    child: Child,
    /// Kept open, so that the process can continue to print.
    _output: BufReader<ChildStdout>,
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        drop(self.child.wait());
    }
}

/// Returns the command of a sandbox over the state in a folder.
pub(crate) fn command(state: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
    command.args(["sandbox", "--plain-http", "--listen", "127.0.0.1:0", "--state"]).arg(state);
    command
        .args(more)
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// Runs such a command and waits until it listens. Returns `None` where the process ended before.
pub(crate) fn listening(mut command: Command) -> Option<Sandbox> {
    let mut child = command.spawn().ok()?;
    let mut output = BufReader::new(child.stdout.take()?);
    let mut line = String::new();
    output.read_line(&mut line).ok()?;
    let Some(address) = line.trim().strip_prefix("listening http://") else {
        drop(child.wait());
        return None;
    };
    Some(Sandbox { address: address.parse().ok()?, child, _output: output })
}
