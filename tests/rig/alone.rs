//! A sandbox of its own, as a process that listens.
#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A sandbox that ends with this.
pub(crate) struct Sandbox(pub(crate) Child);

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.0.kill().unwrap_or_default();
        drop(self.0.wait());
    }
}

/// The command of a sandbox over the state in a folder.
pub(crate) fn command(state: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
    command.args(["sandbox", "--plain-http", "--listen", "127.0.0.1:0", "--state"]).arg(state);
    command.args(more);
    command
}

/// Starts a sandbox over the state in a folder; its address.
pub(crate) fn start(state: &Path, more: &[&str]) -> (Sandbox, String) {
    let mut command = command(state, more);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let listening = |line: String| line.strip_prefix("listening ").map(str::to_owned);
    let address = lines.find_map(|line| listening(line.unwrap())).unwrap();
    (Sandbox(child), address)
}
