//! Kills the daemon, or `reckon apply`, at random moments, again and again, behind a proxy that loses answers. At the
//! end it checks for effects that were done twice or forgotten.
//!
//! The merchants are connected first and without faults: an authorization code works once, and a lost one needs a
//! person. A merchant of an application is connected later, since its code comes by a webhook. Before each kill some of
//! the other documents are written, so that every kill meets unfinished work.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};
use std::{fmt, fs};

use serde_json::Value;

use crate::connection::Failed;
use crate::judge::{Reported, Verdict, judge};
use crate::proxy::{Odds, Proxy};
use crate::random::Random;
use crate::stand::Stand;
use crate::tree;
use crate::tree::every::{FILES, SECRETS, file_name};
use crate::tree::{Document, Kinds};

#[path = "daemon.rs"]
mod daemon;
#[path = "earlier.rs"]
mod earlier;

use daemon::Process;

/// Interval of checks for the end of a child.
const GLANCE: Duration = Duration::from_millis(2);
/// Most runs at the end, which are not killed.
const LAST_RUNS_MAX: usize = 10;
/// Longest time of a run that is not killed.
const LAST_RUN_TIME_MAX: Duration = Duration::from_mins(15);
/// Exit codes: done; and blocked, on hold or declined.
const GOOD_ENDS: [i32; 2] = [0, 3];
/// Constants that separate the random streams, so that a tree, a proxy and the kills of one seed are independent.
const STREAMS: [u64; 2] = [0x5EED_0001, 0x5EED_0002];

/// The process to kill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Victim {
    /// `reckon run`; documents are written while it runs.
    Daemon,
    /// `reckon apply`; documents are written before.
    Apply,
}

/// The parameters of a trial.
#[derive(Debug, Clone)]
pub(crate) struct Trial {
    /// The process to kill.
    pub(crate) victim: Victim,
    /// Which documents.
    pub(crate) kinds: Kinds,
    /// The program.
    pub(crate) binary: PathBuf,
    /// An empty folder.
    pub(crate) folder: PathBuf,
    /// Number of documents.
    pub(crate) documents: usize,
    /// Number of kills.
    pub(crate) kills: usize,
    /// The seed of everything.
    pub(crate) seed: u64,
    /// `public` or `documented`.
    pub(crate) surface: String,
    /// The faults of the proxy.
    pub(crate) odds: Odds,
    /// The earliest and the latest moment of a kill, in milliseconds.
    pub(crate) moments_ms: [u64; 2],
    /// `service.timeout` and `doubt.grace`.
    pub(crate) waits: [String; 2],
}

/// The result of a trial.
#[derive(Debug)]
pub(crate) struct Report {
    /// The process that was killed.
    pub(crate) victim: Victim,
    /// Runs that were killed.
    pub(crate) killed: usize,
    /// Exit codes of runs that had ended before their kill.
    pub(crate) ended: Vec<i32>,
    /// Runs at the end without a kill.
    pub(crate) last_runs: usize,
    /// The counts of the proxy, in words.
    pub(crate) losses: String,
    /// Calls of control paths; there must be none.
    pub(crate) control_calls: u64,
    /// The result of the comparison.
    pub(crate) verdict: Verdict,
}

impl Report {
    /// Returns whether the trial went well.
    pub(crate) fn is_good(&self) -> bool {
        // A daemon runs until it is stopped.
        let ends = match self.victim {
            Victim::Apply => self.ended.iter().all(|code| GOOD_ENDS.contains(code)),
            Victim::Daemon => self.ended.is_empty(),
        };
        ends && self.control_calls == 0 && self.verdict.is_good()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { victim, killed, ended, last_runs, losses, control_calls, verdict } = self;
        let what = match victim {
            Victim::Daemon => "daemons",
            Victim::Apply => "runs of `apply`",
        };
        writeln!(
            f,
            "{killed} {what} killed; {} had ended before, with {ended:?}; {last_runs} left alone at the end; \
             {control_calls} calls of control paths",
            ended.len()
        )?;
        writeln!(f, "the proxy: {losses}")?;
        write!(f, "{verdict}")
    }
}

/// Runs a trial; deviations are in the report.
///
/// # Errors
///
/// The trial itself cannot continue.
pub(crate) async fn run(trial: &Trial) -> Result<Report, Failed> {
    let mut tree = tree::documents(trial.kinds, trial.documents, trial.seed)?;
    let merchants = tree.iter().filter(|document| is_first(document)).count();
    let stand = Stand::start(&trial.binary, &trial.folder, &trial.surface, merchants).await?;
    let [of_proxy, of_kills] = STREAMS.map(|stream| trial.seed ^ stream);
    let proxy = Proxy::start(stand.sandbox.address, trial.odds.clone(), of_proxy).await?;
    let [timeout, grace] = &trial.waits;
    let listen = daemon::free_address()?;
    stand.settle_config(proxy.address, &listen.to_string(), [timeout, grace])?;
    let before = earlier::charges(&stand, &mut tree).await?;
    for at in 0..FILES {
        let name = file_name(at);
        fs::write(stand.folder.join("files").join(&name), format!("What {name} says.\n"))?;
    }
    connect(&stand, &proxy, &tree)?;
    daemon::tell_event_url(&stand, &asked(&stand, &["events", "urls"])?).await?;
    let mut random = Random::new(of_kills);
    let parts = parts(&tree, trial.kills, &mut random);
    let (mut killed, mut ended) = (0_usize, Vec::new());
    for part in 0..trial.kills {
        let of_part = |place: usize, _: &Document| parts.get(place) == Some(&part);
        let after = moment(trial, &mut random);
        let end = match trial.victim {
            Victim::Apply => {
                stand.write(&tree, of_part)?;
                kill(&stand, after).await?
            }
            Victim::Daemon => {
                // One daemon in four is killed while it starts.
                let patient = random.below(4) > 0;
                let mut running = start(&stand)?;
                let early = if patient { running.ready(listen).await? } else { None };
                daemon::redeliver(&stand).await?;
                stand.write(&tree, of_part)?;
                if early.is_some() { early } else { die(running, after).await? }
            }
        };
        match end {
            None => killed = killed.saturating_add(1),
            Some(code) => ended.push(code),
        }
    }
    let last_runs = finish(&stand, trial.victim, listen).await?;
    let intents = asked(&stand, &["intents"])?;
    let reported = Reported::read(&intents, &asked(&stand, &["get"])?)?;
    let verdict = judge(&stand, &tree, before, reported).await?;
    let (losses, control_calls) = (proxy.counts().to_string(), proxy.counts().control());
    let victim = trial.victim;
    Ok(Report { victim, killed, ended, last_runs, losses, control_calls, verdict })
}

/// Returns whether the merchant is connected first and without faults.
fn is_first(document: &Document) -> bool {
    document.kind == "Merchant" && document.needs.is_none()
}

/// Returns the program with the secrets of the documents.
fn command(stand: &Stand, arguments: &[&str]) -> Result<std::process::Command, Failed> {
    let mut command = stand.command(arguments)?;
    command.envs(SECRETS);
    Ok(command)
}

fn start(stand: &Stand) -> Result<Process, Failed> {
    Ok(Process(command(stand, &["run"])?.spawn()?))
}

fn connect(stand: &Stand, proxy: &Proxy, tree: &[Document]) -> Result<(), Failed> {
    stand.write(tree, |_, document| is_first(document))?;
    proxy.calm(true);
    // No object of the service is older than this state, so its applications need no person.
    stand.run(&["init", "--empty-remote", "--yes"], &[0])?;
    stand.run(&["apply", "--yes"], &[0])?;
    proxy.calm(false);
    Ok(())
}

/// Chooses at random the kill before which each document is written, never before a document that it refers to.
/// Merchants come first.
fn parts(tree: &[Document], kills: usize, random: &mut Random) -> Vec<usize> {
    let mut parts: Vec<usize> = Vec::with_capacity(tree.len());
    for document in tree {
        let own = usize::try_from(random.below(u64::try_from(kills).unwrap_or(0))).unwrap_or(0);
        let needed = document.needs.and_then(|needs| parts.get(needs)).copied().unwrap_or(0);
        parts.push(if is_first(document) { 0 } else { own.max(needed) });
    }
    parts
}

fn moment(trial: &Trial, random: &mut Random) -> Duration {
    let [earliest, latest] = trial.moments_ms;
    let span = latest.saturating_sub(earliest).saturating_add(1);
    Duration::from_millis(earliest.saturating_add(random.below(span)))
}

/// Starts `apply` and kills it after this time (SIGKILL). Returns its exit code where it had ended by itself.
async fn kill(stand: &Stand, after: Duration) -> Result<Option<i32>, Failed> {
    die(Process(command(stand, &["apply", "--yes"])?.spawn()?), after).await
}

/// Runs a process for this time and kills it. Returns its exit code where it had ended by itself.
async fn die(mut process: Process, after: Duration) -> Result<Option<i32>, Failed> {
    let started = Instant::now();
    while started.elapsed() < after {
        if let Some(code) = process.ended()? {
            return Ok(Some(code));
        }
        tokio::time::sleep(GLANCE).await;
    }
    drop(process);
    Ok(None)
}

/// Lets a daemon finish its work. Then it runs `apply` without kills until that is done, or twice reports something on
/// hold.
async fn finish(stand: &Stand, victim: Victim, listen: SocketAddr) -> Result<usize, Failed> {
    let mut before = None;
    for run in 1..=LAST_RUNS_MAX {
        if victim == Victim::Daemon {
            let mut running = start(stand)?;
            if let Some(code) = running.ready(listen).await? {
                return Err(format!("the last daemon ended with {code}").into());
            }
            running.quiet(stand).await?;
        }
        let Some(code) = kill(stand, LAST_RUN_TIME_MAX).await? else {
            return Err("the last `apply` does not end".into());
        };
        match (before, code) {
            (_, 0) | (Some(3), 3) => return Ok(run),
            (_, 3) => before = Some(3),
            _ => return Err(format!("the last `apply` ended with {code}").into()),
        }
    }
    Err(format!("not finished after {LAST_RUNS_MAX} runs").into())
}

/// Returns a command's JSON output.
fn asked(stand: &Stand, arguments: &[&str]) -> Result<Value, Failed> {
    let mut command = command(stand, arguments)?;
    let output = command.args(["-o", "json"]).stdout(Stdio::piped()).output()?;
    Ok(serde_json::from_slice(&output.stdout)?)
}
