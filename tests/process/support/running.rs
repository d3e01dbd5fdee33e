//! A sandbox as a process, a folder, and the program run over it; all output is kept.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use http::Method;
use serde_json::{Value, json};

use crate::control;

/// A running process; dropping the value kills it.
pub(crate) struct Running {
    child: Child,
    /// Kept open, so that the process can continue to print.
    _output: BufReader<ChildStdout>,
    /// The address at which the process listens.
    pub(crate) address: SocketAddr,
    /// The output up to the line with the address.
    pub(crate) said: String,
}

impl Running {
    /// Starts the program and waits until it prints its address.
    pub(crate) fn start(mut command: Command) -> Self {
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut child = child.expect("the program starts");
        let mut output = BufReader::new(child.stdout.take().expect("an output"));
        let mut said = String::new();
        let address = loop {
            let before = said.len();
            assert!(
                output.read_line(&mut said).expect("a line") > 0,
                "the program ended; its output is {said:?}"
            );
            if let Some(address) = said[before..].trim().strip_prefix("listening http://") {
                break address.trim_end_matches('/').parse().expect("an address");
            }
        };
        Self { child, _output: output, address, said }
    }
}

impl Running {
    /// Returns the number of the process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The folder of a repository, and the output of its commands.
pub(crate) struct Stand<'a> {
    pub(crate) folder: &'a Path,
    /// The whole environment of the program.
    pub(crate) environment: Vec<(String, String)>,
    /// The commands, each with its output.
    pub(crate) said: Vec<(String, Vec<u8>)>,
}

impl Stand<'_> {
    /// Returns the program with these arguments.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
        command.current_dir(self.folder).env_clear().args(arguments);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs the program with this standard input and keeps the output; returns code and output.
    pub(crate) fn run(&mut self, arguments: &[&str], input: &str) -> (i32, String) {
        let command = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = command.expect("the program starts");
        let mut stdin = child.stdin.take().expect("an input");
        // A command that does not read its input closes it.
        drop(stdin.write_all(input.as_bytes()));
        drop(stdin);
        let output = child.wait_with_output().expect("the program ends");
        let printed = [output.stdout.as_slice(), &output.stderr].concat();
        self.said.push((arguments.join(" "), printed.clone()));
        (
            output.status.code().expect("an exit code"),
            String::from_utf8_lossy(&printed).into_owned(),
        )
    }

    /// Runs the program and expects this code; returns the output.
    pub(crate) fn ends(&mut self, arguments: &[&str], expect: i32) -> String {
        let (code, printed) = self.run(arguments, "");
        assert_eq!(code, expect, "{arguments:?}: {printed}");
        printed
    }

    /// Writes a file beneath the folder.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }
}

/// Returns a sandbox's credentials of its partner and merchants.
pub(crate) async fn credentials(sandbox: SocketAddr) -> Value {
    control::json(sandbox, Method::GET, "/_sandbox/credentials", None).await.expect("credentials")
}

/// Returns a fresh authorization code of a merchant.
pub(crate) async fn code(sandbox: SocketAddr, merchant: &str) -> String {
    let asked = json!({ "merchant": merchant });
    let path = "/_sandbox/credentials";
    let answer = control::json(sandbox, Method::POST, path, Some(&asked)).await.expect("a code");
    answer["authorization_code"].as_str().expect("a code").to_owned()
}
