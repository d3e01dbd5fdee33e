//! The built program in a folder of its own, and a running sandbox as its service.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a failure here is a failed test"
)]

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

/// A folder with a `reckon.yaml`, and a sandbox; dropping the value kills the sandbox.
pub(crate) struct Shell {
    folder: tempfile::TempDir,
    address: String,
    environment: Vec<(String, String)>,
    sandbox: Child,
    _output: BufReader<ChildStdout>,
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.sandbox.kill().unwrap_or_default();
        drop(self.sandbox.wait());
    }
}

impl Shell {
    /// Starts a sandbox and writes the configuration; there are no specs yet.
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut sandbox = Command::new(env!("CARGO_BIN_EXE_reckon"))
            .args(["sandbox", "--plain-http", "--listen", "127.0.0.1:0", "--state"])
            .arg(folder.path().join("sandbox"))
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the sandbox starts");
        let mut output = BufReader::new(sandbox.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening http://").unwrap().to_owned();
        let mut shell = Self { folder, address, environment: Vec::new(), sandbox, _output: output };
        let partner = json(&shell.ask("GET", "credentials", ""))["partner"].clone();
        let text = |field: &str| partner[field].as_str().unwrap().to_owned();
        let code = json(&shell.ask("POST", "credentials", r#"{"merchant": "acme"}"#));
        let code = code["authorization_code"].as_str().unwrap().to_owned();
        shell.environment = vec![
            ("RECKON_CLIENT_ID".to_owned(), text("client_id")),
            ("RECKON_CLIENT_SECRET".to_owned(), text("client_secret")),
            ("CODE_ACME".to_owned(), code),
        ];
        fs::create_dir(shell.path("specs")).unwrap();
        shell.write("reckon.yaml", &config(&shell.address, &text("redirect_uri")));
        shell
    }

    /// Returns a path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Runs the program in the folder.
    pub(crate) fn reckon(&self, arguments: &[&str]) -> Output {
        self.reckon_with(arguments, &[])
    }

    /// The same, with some variables changed or removed.
    pub(crate) fn reckon_with(&self, arguments: &[&str], other: &[(&str, Option<&str>)]) -> Output {
        self.command(arguments, other).output().expect("the program runs")
    }

    /// Returns the program, ready to be started in the folder.
    pub(crate) fn command(&self, arguments: &[&str], other: &[(&str, Option<&str>)]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
        command.current_dir(self.folder.path()).env_clear().args(arguments).stdin(Stdio::null());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        for (name, value) in other {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    /// Counts the service's objects of a kind.
    pub(crate) fn count(&self, kind: &str) -> usize {
        self.ask("GET", &format!("objects/{kind}"), "")
            .lines()
            .filter(|one| !one.is_empty())
            .count()
    }

    /// Returns the body of a control path's answer.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let request = format!(
            "{method} /_sandbox/{path} HTTP/1.0\r\nhost: {}\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\nconnection: close\r\n\r\n{body}",
            self.address
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(" 200 "), "{path}: {answer}");
        body.to_owned()
    }
}

/// Returns the text of the configuration.
fn config(address: &str, redirect: &str) -> String {
    format!(
        "apiVersion: reckon.dev/v1\nkind: Config\n\
         partner:\n  name: acme\n  client_id: {{env: RECKON_CLIENT_ID}}\n  \
         client_secret: {{env: RECKON_CLIENT_SECRET}}\n  redirect_uri: {redirect}\n\
         service:\n  base_url: http://{address}\n  web_url: http://{address}\n  \
         portal_url: http://{address}\n  timeout: 5s\n\
         secrets:\n  env: [CODE_*]\npolicy:\n  amounts: decimal\n\
         doubt:\n  grace: 1s\nspecs: specs\nstate: .reckon\nlisten: 127.0.0.1:0\n"
    )
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().expect("the program ends by itself")
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}
