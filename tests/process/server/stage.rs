//! A sandbox, a daemon with a folder of its own, and a runner that has only a tree and a token.

use std::fs;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::running::{self, Running};

/// The processes and folders of one test.
pub(crate) struct Stage {
    root: tempfile::TempDir,
    sandbox: Running,
    environment: Vec<(String, String)>,
    daemon: Option<Running>,
    /// The commands of the runner, each with its output.
    pub(crate) said: Vec<(String, Vec<u8>)>,
}

impl Stage {
    /// Starts a sandbox, and writes a configuration with this policy and the same tree on both sides.
    pub(crate) async fn set(tree: &str, policy: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        let kept = root.path().join("sandbox");
        let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
        command.env_clear().args(["sandbox", "--plain-http", "--listen", "127.0.0.1:0", "--state"]);
        command.arg(kept).stderr(Stdio::null());
        let sandbox = Running::start(command);
        let known = running::credentials(sandbox.address).await;
        let partner = |field: &str| known["partner"][field].as_str().unwrap().to_owned();
        let environment = vec![
            ("CLIENT_ID".to_owned(), partner("client_id")),
            ("CLIENT_SECRET".to_owned(), partner("client_secret")),
            ("OPEN_CODE".to_owned(), running::code(sandbox.address, "acme").await),
            ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
        ];
        let stage = Self { root, sandbox, environment, daemon: None, said: Vec::new() };
        let config = config(stage.sandbox.address, &partner("redirect_uri"), policy);
        stage.write("daemon/reckon.yaml", &config);
        for side in ["daemon", "runner"] {
            stage.write(&format!("{side}/specs/tree.yaml"), tree);
        }
        stage
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Starts the daemon, whose log is kept, and copies its token to the runner.
    pub(crate) fn start(&mut self) -> SocketAddr {
        self.start_with(&["-vvv", "run"])
    }

    /// Does the same with these arguments.
    pub(crate) fn start_with(&mut self, arguments: &[&str]) -> SocketAddr {
        let mut command = self.on_daemon(arguments);
        command.stderr(File::create(self.path("daemon.log")).unwrap());
        let daemon = Running::start(command);
        let address = daemon.address;
        self.daemon = Some(daemon);
        fs::copy(self.path("daemon/.reckon/api.token"), self.path("runner/token")).unwrap();
        address
    }

    /// Returns the token of the daemon.
    pub(crate) fn token(&self) -> String {
        let text = fs::read_to_string(self.path("daemon/.reckon/api.token")).unwrap();
        text.split_whitespace().last().unwrap().to_owned()
    }

    /// Returns the number of the daemon's process.
    pub(crate) fn process(&self) -> u32 {
        self.daemon.as_ref().unwrap().process()
    }

    /// Ends the daemon.
    pub(crate) fn stop(&mut self) {
        self.daemon = None;
    }

    /// Returns a command on the daemon's machine, with the daemon's environment.
    pub(crate) fn on_daemon(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
        command.current_dir(self.path("daemon")).env_clear().args(arguments);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a command on the daemon's machine; returns its code and output.
    pub(crate) fn there(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.on_daemon(arguments).stdin(Stdio::null()).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    }

    /// Runs a command on the runner, whose environment is empty; returns its code, output and notes.
    pub(crate) fn run(&mut self, arguments: &[&str]) -> (i32, String, String) {
        self.run_with(arguments, &[])
    }

    /// The same with these variables.
    pub(crate) fn run_with(
        &mut self,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
        command.current_dir(self.path("runner")).env_clear().args(arguments);
        command.envs(variables.iter().copied());
        let output = command.stdin(Stdio::null()).output().unwrap();
        let printed = [output.stdout.as_slice(), &output.stderr].concat();
        self.said.push((arguments.join(" "), printed));
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }

    /// Runs a command on the runner against the daemon, and expects this code; returns its output and notes.
    pub(crate) fn asks(&mut self, code: i32, arguments: &[&str]) -> (String, String) {
        let url = format!("http://{}", self.daemon.as_ref().unwrap().address);
        let all = [&["-vvv", "--server", &url, "--token-file", "token"], arguments].concat();
        let (ended, output, notes) = self.run(&all);
        assert_eq!(ended, code, "{arguments:?}: {output}\n{notes}");
        (output, notes)
    }

    /// Counts the service's objects of a kind.
    pub(crate) async fn count(&self, kind: &str) -> usize {
        let path = format!("/_sandbox/objects/{kind}");
        let all = crate::control::ask(self.sandbox.address, http::Method::GET, &path, None).await;
        all.unwrap().lines().filter(|line| !line.is_empty()).count()
    }

    /// Returns the address of the sandbox.
    pub(crate) fn sandbox(&self) -> SocketAddr {
        self.sandbox.address
    }

    /// Returns the folder that holds all others.
    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }
}

fn config(service: SocketAddr, redirect: &str, policy: &str) -> String {
    format!(
        "apiVersion: reckon.dev/v1\nkind: Config\n\
         partner:\n  name: acme\n  client_id: {{env: CLIENT_ID}}\n  client_secret: {{env: CLIENT_SECRET}}\n  \
         redirect_uri: {redirect}\n\
         service: {{base_url: 'http://{service}', web_url: 'http://{service}', timeout: 5s}}\n\
         secrets: {{env: [OPEN_*], attachments: letters}}\n\
         policy: {{amounts: decimal{policy}}}\n\
         doubt: {{grace: 1s}}\nlisten: 127.0.0.1:0\n"
    )
}

/// Sends a request as given; returns the status and the JSON of the answer.
pub(crate) fn send(
    to: SocketAddr,
    request: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> (u16, Value) {
    let mut stream = TcpStream::connect(to).unwrap();
    let headers: Vec<String> =
        headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let headers = headers.concat();
    let length = body.len();
    let text = format!(
        "{request} HTTP/1.0\r\n{headers}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or_default())
}
