//! A sandbox as a process, a folder, and the program run over it; everything that is said is kept.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use http::Method;
use serde_json::{Value, json};

use crate::control;

/// A running process; it ends with this value.
pub(crate) struct Running {
    child: Child,
    /// Kept open, so that it may go on printing.
    _output: BufReader<ChildStdout>,
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// What it said until then.
    pub(crate) said: String,
}

impl Running {
    /// Starts the program and waits until it says where it listens.
    pub(crate) fn start(mut command: Command) -> Self {
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut child = child.expect("it starts");
        let mut output = BufReader::new(child.stdout.take().expect("an output"));
        let mut said = String::new();
        let address = loop {
            let before = said.len();
            assert!(output.read_line(&mut said).expect("a line") > 0, "it ends, and says {said:?}");
            if let Some(address) = said[before..].trim().strip_prefix("listening http://") {
                break address.trim_end_matches('/').parse().expect("an address");
            }
        };
        Self { child, _output: output, address, said }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The folder of a repository, and what was said there.
pub(crate) struct Stand<'a> {
    /// The folder.
    pub(crate) folder: &'a Path,
    /// The whole environment of the program.
    pub(crate) environment: Vec<(String, String)>,
    /// What was run, and what it said.
    pub(crate) said: Vec<(String, Vec<u8>)>,
}

impl Stand<'_> {
    /// The program with these arguments.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
        command.current_dir(self.folder).env_clear().args(arguments);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs it with this on its standard input, keeps what it says, and gives code and output.
    pub(crate) fn run(&mut self, arguments: &[&str], input: &str) -> (i32, String) {
        let command = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = command.expect("it starts");
        let mut stdin = child.stdin.take().expect("an input");
        // A command that does not read its input closes it.
        drop(stdin.write_all(input.as_bytes()));
        drop(stdin);
        let output = child.wait_with_output().expect("it ends");
        let told = [output.stdout.as_slice(), &output.stderr].concat();
        self.said.push((arguments.join(" "), told.clone()));
        (output.status.code().expect("an exit code"), String::from_utf8_lossy(&told).into_owned())
    }

    /// Runs it and expects this code; gives what it says.
    pub(crate) fn ends(&mut self, arguments: &[&str], expect: i32) -> String {
        let (code, told) = self.run(arguments, "");
        assert_eq!(code, expect, "{arguments:?}: {told}");
        told
    }

    /// Writes a file beneath the folder.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }
}

/// What a sandbox tells of its partner and merchants.
pub(crate) async fn credentials(sandbox: SocketAddr) -> Value {
    control::json(sandbox, Method::GET, "/_sandbox/credentials", None).await.expect("credentials")
}

/// A fresh authorization code of a merchant.
pub(crate) async fn code(sandbox: SocketAddr, merchant: &str) -> String {
    let asked = json!({ "merchant": merchant });
    let path = "/_sandbox/credentials";
    let answer = control::json(sandbox, Method::POST, path, Some(&asked)).await.expect("a code");
    answer["authorization_code"].as_str().expect("a code").to_owned()
}
