//! The receivers under comparison, each a process of its own.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use http::Method;
use serde_json::json;

use crate::connection::Failed;
use crate::daemon::{Daemon, free_address};
use crate::stand::Stand;
use crate::tree::{Kinds, merchant_name};
use crate::{Bench, control, daemon_address, tree};

/// Longest time until a receiver answers.
const START_MAX: Duration = Duration::from_secs(30);
const KNOCK: Duration = Duration::from_millis(20);
/// The path of events for all receivers but the daemon.
const PATH: &str = "/hooks/events";

/// A receiver under comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Receiver {
    /// The daemon, with one connected merchant.
    Reckon,
    /// The limit program.
    Group,
    /// Debian's `webhook`, which runs `/bin/true` and stores nothing.
    Webhook,
    /// `FastAPI` with two workers and `SQLite`.
    FastApi,
}

/// A receiver that answers.
#[derive(Debug)]
pub(crate) struct Receiving {
    pub(crate) address: SocketAddr,
    /// The path to which events are posted.
    pub(crate) path: String,
    runs: Runs,
}

#[derive(Debug)]
enum Runs {
    Daemon(Box<(Daemon, Stand)>),
    Other(Ending),
}

/// A process; dropping the value ends it.
#[derive(Debug)]
struct Ending(Child);

impl Drop for Ending {
    /// Sends TERM instead of KILL, so that the process ends its own children.
    fn drop(&mut self) {
        let sent = Command::new("kill").args(["-TERM", &self.0.id().to_string()]).status();
        if sent.is_err() {
            self.0.kill().unwrap_or_default();
        }
        drop(self.0.wait());
    }
}

impl Receiving {
    /// Returns the number of the process whose CPU is counted.
    pub(crate) fn process(&self) -> u32 {
        match &self.runs {
            Runs::Daemon(both) => both.0.process(),
            Runs::Other(ending) => ending.0.id(),
        }
    }
}

impl Receiver {
    /// Starts the receiver with an empty state. Returns `None` where it is not installed.
    pub(crate) async fn start(self, bench: &Bench) -> Result<Option<Receiving>, Failed> {
        let folder = bench.work.join("receiver");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        match self {
            Self::Reckon => reckon(bench, &folder).await.map(Some),
            Self::Group => group(&folder).map(Some),
            Self::Webhook => webhook(&folder).await,
            Self::FastApi => fast_api(bench.peers.as_ref(), &folder).await,
        }
    }
}

async fn reckon(bench: &Bench, folder: &Path) -> Result<Receiving, Failed> {
    let (stand, address) = stand(bench, folder).await?;
    let daemon = Daemon::start(&stand, address, 1).await?;
    let [path, _] = daemon_address::paths(&stand, &merchant_name(0))?;
    Ok(Receiving { address, path, runs: Runs::Daemon(Box::new((daemon, stand))) })
}

/// Makes a sandbox and a settled state with one connected merchant; also returns the daemon's address.
pub(crate) async fn stand(bench: &Bench, folder: &Path) -> Result<(Stand, SocketAddr), Failed> {
    let tree = tree::documents(Kinds::Contacts, 2, bench.seed)?;
    let stand = Stand::start(&bench.binary, folder, "public", 1).await?;
    let address = free_address()?;
    stand.settle_config(stand.sandbox.address, &address.to_string(), ["30s", "30s"])?;
    stand.write(&tree, |_, document| document.kind == "Merchant")?;
    stand.run(&["apply", "--yes"], &[0])?;
    Ok((stand, address))
}

fn group(folder: &Path) -> Result<Receiving, Failed> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--limit").arg(folder.join("bodies")).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut ending = Ending(command.spawn()?);
    let mut line = String::new();
    BufReader::new(ending.0.stdout.take().ok_or("no output")?).read_line(&mut line)?;
    let address = line.trim().strip_prefix("listening http://").ok_or("no address")?.parse()?;
    Ok(Receiving { address, path: PATH.to_owned(), runs: Runs::Other(ending) })
}

async fn webhook(folder: &Path) -> Result<Option<Receiving>, Failed> {
    let hooks = folder.join("hooks.json");
    // `webhook` answers when its program has run, as the others answer when the event is stored.
    let hook = json!({
        "id": "events", "execute-command": "/bin/true", "include-command-output-in-response": true,
    });
    fs::write(&hooks, json!([hook]).to_string())?;
    let address = free_address()?;
    let mut command = Command::new("webhook");
    command.args(["-ip", "127.0.0.1", "-port", &address.port().to_string(), "-hooks"]).arg(hooks);
    knocked(command, address).await
}

async fn fast_api(python: Option<&PathBuf>, folder: &Path) -> Result<Option<Receiving>, Failed> {
    let Some(python) = python else { return Ok(None) };
    let address = free_address()?;
    let mut command = Command::new(python);
    command.args(["-m", "uvicorn", "receiver:app", "--workers", "2", "--log-level", "error"]);
    command.args(["--app-dir", concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peers")]);
    command.args(["--port", &address.port().to_string()]);
    command.env("RECEIVER_DATABASE", folder.join("events.db"));
    knocked(command, address).await
}

/// Starts a peer and waits for any answer.
async fn knocked(mut command: Command, address: SocketAddr) -> Result<Option<Receiving>, Failed> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(child) = command.spawn() else { return Ok(None) };
    let mut ending = Ending(child);
    let started = Instant::now();
    while control::ask(address, Method::GET, "/", None).await.is_err() {
        if ending.0.try_wait()?.is_some() {
            return Ok(None);
        }
        if started.elapsed() > START_MAX {
            return Err("a peer does not answer".into());
        }
        tokio::time::sleep(KNOCK).await;
    }
    Ok(Some(Receiving { address, path: PATH.to_owned(), runs: Runs::Other(ending) }))
}
