//! The servers under comparison, each a process of its own.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use http::{Method, Request, header};
use http_body_util::Full;
use hyper::body::Bytes;
use serde_json::Value;

use crate::connection::{Connection, Failed};
use crate::control;

/// Longest time until a server answers.
const START_MAX: Duration = Duration::from_secs(30);
/// Interval of checks for a server that does not print its address.
const KNOCK: Duration = Duration::from_micros(500);
/// A path to which every server here gives some answer.
const FIRST_PATH: &str = "/v1/cards";

/// A server under comparison.
#[derive(Debug, Clone)]
pub(crate) enum Server {
    /// The emulator, with its state in a folder.
    Sandbox { binary: PathBuf },
    /// The limit program.
    Stub,
    /// `localstripe`, by the Python in which it is installed.
    Localstripe { python: PathBuf },
}

/// A process; dropping the value kills it.
#[derive(Debug)]
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.kill().unwrap_or_default();
        drop(self.0.wait());
    }
}

/// A server that answers.
#[derive(Debug)]
pub(crate) struct Served {
    /// The address at which the server listens.
    pub(crate) address: SocketAddr,
    /// The key that the server accepts.
    pub(crate) key: String,
    /// Time from the start to the first answer.
    pub(crate) first_answer: Duration,
    process: Ending,
    /// Kept open, so that the process can continue to print.
    _output: Option<BufReader<ChildStdout>>,
}

impl Server {
    /// Starts the server with an empty state, kept in `folder`.
    pub(crate) async fn start(&self, folder: &Path) -> Result<Served, Failed> {
        match self {
            Self::Sandbox { binary } => {
                let mut command = Command::new(binary);
                command.args(["sandbox", "--plain-http", "--listen", "127.0.0.1:0", "--state"]);
                listening(command.arg(folder)).await
            }
            Self::Stub => listening(Command::new(std::env::current_exe()?).arg("--stub")).await,
            Self::Localstripe { python } => {
                let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
                let mut command = Command::new(python);
                command.args(["-m", "localstripe", "--from-scratch", "--port"]);
                knocked(command.arg(address.port().to_string()), address).await
            }
        }
    }
}

/// Starts a server that prints its address.
async fn listening(command: &mut Command) -> Result<Served, Failed> {
    let started = Instant::now();
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut process = Ending(child?);
    let mut output = BufReader::new(process.0.stdout.take().ok_or("a server without output")?);
    let mut line = String::new();
    output.read_line(&mut line)?;
    let address = line.trim().strip_prefix("listening http://");
    let address = address.and_then(|address| address.parse().ok());
    let address = address.ok_or_else(|| format!("a server's first line is `{}`", line.trim()))?;
    first_answer(address).await?;
    let (first_answer, key) = (started.elapsed(), String::new());
    Ok(Served { address, key, first_answer, process, _output: Some(output) })
}

/// Starts a server that does not print its address.
async fn knocked(command: &mut Command, address: SocketAddr) -> Result<Served, Failed> {
    let started = Instant::now();
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut process = Ending(child?);
    while first_answer(address).await.is_err() {
        if let Some(status) = process.0.try_wait()? {
            return Err(format!("a server ended: {status}").into());
        }
        if started.elapsed() > START_MAX {
            return Err("a server does not answer".into());
        }
        tokio::time::sleep(KNOCK).await;
    }
    let (first_answer, key) = (started.elapsed(), "sk_test_bench".to_owned());
    Ok(Served { address, key, first_answer, process, _output: None })
}

/// Waits for any answer.
async fn first_answer(address: SocketAddr) -> Result<(), Failed> {
    let request = Request::get(FIRST_PATH).header(header::HOST, address.to_string());
    let request = request.body(Full::<Bytes>::default())?;
    Connection::new(address).send(request).await.map(drop)
}

impl Served {
    /// Returns the number of the process.
    pub(crate) fn process(&self) -> u32 {
        self.process.0.id()
    }

    /// Reads the demo merchant's secret key of test mode.
    pub(crate) async fn learn_key(&mut self) -> Result<(), Failed> {
        let path = "/_sandbox/credentials";
        let all = control::json(self.address, Method::GET, path, None).await?;
        let key = all.pointer("/merchants/0/test/secret_key").and_then(Value::as_str);
        key.ok_or("the sandbox shows no key")?.clone_into(&mut self.key);
        Ok(())
    }
}
