//! A daemon with the emulator inside, as a process in a folder of its own.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// A daemon; dropping the value kills it.
pub(crate) struct Embedded {
    /// The address of the emulator.
    pub(crate) service: String,
    child: Child,
    /// Kept open, so that the process can continue to print.
    _output: BufReader<ChildStdout>,
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        drop(self.child.wait());
    }
}

const CONFIG: &str = "apiVersion: reckon.dev/v1\nkind: Config\npartner: {name: acme}\n\
    service: {base_url: 'http://127.0.0.1:0', timeout: 5s}\ndoubt: {grace: 1s}\nsecrets: {env: [CODE_*]}\n\
    specs: specs\nstate: .reckon\nlisten: 127.0.0.1:0\n";

/// Starts a daemon over this tree, on free ports, and waits until it listens. Returns `None` where the daemon ended
/// before.
pub(crate) fn start(folder: &Path, tree: &str) -> Option<Embedded> {
    start_with(folder, tree, &[], Stdio::null())
}

/// Starts a daemon as [`start`] does, with further arguments and a place for its log.
pub(crate) fn start_with(
    folder: &Path,
    tree: &str,
    arguments: &[&str],
    log: Stdio,
) -> Option<Embedded> {
    fs::create_dir_all(folder.join("specs")).ok()?;
    fs::write(folder.join("reckon.yaml"), CONFIG).ok()?;
    fs::write(folder.join("specs/tree.yaml"), tree).ok()?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
    command
        .current_dir(folder)
        .args(["run", "--sandbox"])
        .args(arguments)
        .env_clear()
        .stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().ok()?;
    let mut output = BufReader::new(child.stdout.take()?);
    let mut service = String::new();
    for line in output.by_ref().lines() {
        let line = line.ok()?;
        if let Some(address) = line.strip_prefix("sandbox   ") {
            address.clone_into(&mut service);
        }
        if line.starts_with("listening ") {
            return Some(Embedded { service, child, _output: output });
        }
    }
    drop(child.wait());
    None
}
