//! Kills the daemon, or `reckon apply`, at random moments, again and again, behind a proxy that loses answers, and then
//! looks whether anything was done twice or was forgotten.
//!
//! The merchants are connected first and in peace: an authorization code works once, and a lost one needs a person.
//! (Those that come of an application are not: their code comes by a notification, when it comes.)
//! The other documents arrive a part before each kill, so that every kill meets unfinished work.

use std::fmt;
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::connection::Failed;
use crate::judge::{Told, Verdict, judge};
use crate::proxy::{Odds, Proxy};
use crate::random::Random;
use crate::stand::Stand;
use crate::tree::every::{FILES, SECRETS, file_name};
use crate::tree::{self, Document, Kinds};

#[path = "daemon.rs"]
mod daemon;
#[path = "earlier.rs"]
mod earlier;

use daemon::Process;

/// How often the end of a child is looked for.
const GLANCE: Duration = Duration::from_millis(2);
/// The last runs are not killed; this many have to be enough.
const LAST_RUNS_MAX: usize = 10;
/// A run that is not killed ends in this time.
const LAST_RUN_TIME_MAX: Duration = Duration::from_mins(15);
/// Done, and blocked, held or declined.
const GOOD_ENDS: [i32; 2] = [0, 3];
/// For the streams of chance, so that a tree, a proxy and the kills of one seed do not run in step.
const STREAMS: [u64; 2] = [0x5EED_0001, 0x5EED_0002];

/// What is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Victim {
    /// `reckon run`, to which the documents are given while it runs.
    Daemon,
    /// `reckon apply`, to which they are given before.
    Apply,
}

/// How it is done.
#[derive(Debug, Clone)]
pub(crate) struct Trial {
    /// What is killed.
    pub(crate) victim: Victim,
    /// Which documents.
    pub(crate) kinds: Kinds,
    /// The program.
    pub(crate) binary: PathBuf,
    /// An empty folder.
    pub(crate) folder: PathBuf,
    /// How many documents.
    pub(crate) documents: usize,
    /// How many kills.
    pub(crate) kills: usize,
    /// The seed of everything.
    pub(crate) seed: u64,
    /// `public` or `documented`.
    pub(crate) surface: String,
    /// What the proxy does.
    pub(crate) odds: Odds,
    /// The earliest and the latest moment of a kill, in milliseconds.
    pub(crate) moments_ms: [u64; 2],
    /// `service.timeout` and `doubt.grace`.
    pub(crate) waits: [String; 2],
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Report {
    /// What was killed.
    pub(crate) victim: Victim,
    /// Runs that were killed.
    pub(crate) killed: usize,
    /// Runs that had ended before their moment, by exit code.
    pub(crate) ended: Vec<i32>,
    /// Runs at the end that were left alone.
    pub(crate) last_runs: usize,
    /// What the proxy did, in words.
    pub(crate) losses: String,
    /// Calls of control paths; there must be none.
    pub(crate) control_calls: u64,
    /// The comparison.
    pub(crate) verdict: Verdict,
}

impl Report {
    /// Did it go well?
    pub(crate) fn is_good(&self) -> bool {
        // A daemon goes on until it is told to stop.
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

/// Runs it. Errors: something that stops the trial itself; what it finds is in the report.
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
                // One in four dies while it starts.
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
    let told = Told::read(&asked(&stand, &["intents"])?, &asked(&stand, &["get"])?)?;
    let verdict = judge(&stand, &tree, before, told).await?;
    let (losses, control_calls) = (proxy.counts().to_string(), proxy.counts().control());
    let victim = trial.victim;
    Ok(Report { victim, killed, ended, last_runs, losses, control_calls, verdict })
}

/// Is it a merchant that is connected in peace?
fn is_first(document: &Document) -> bool {
    document.kind == "Merchant" && document.needs.is_none()
}

/// The program with the secrets of the documents.
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
    // Nothing at the service is older than this state: its applications need no person.
    stand.run(&["init", "--empty-remote", "--yes"], &[0])?;
    stand.run(&["apply", "--yes"], &[0])?;
    proxy.calm(false);
    Ok(())
}

/// Before which kill each document is written: by chance, but not before what it refers to. Merchants: the first.
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

/// Starts `apply` and kills it after a while (SIGKILL); its exit code where it had ended by itself.
async fn kill(stand: &Stand, after: Duration) -> Result<Option<i32>, Failed> {
    die(Process(command(stand, &["apply", "--yes"])?.spawn()?), after).await
}

/// Lets a process run for a while and kills it; its exit code where it had ended by itself.
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

/// Lets the daemon come to rest, if it is one, and runs `apply` undisturbed by kills until it is done, or says twice
/// that something is held.
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

/// What a command answers in JSON.
fn asked(stand: &Stand, arguments: &[&str]) -> Result<Value, Failed> {
    let mut command = command(stand, arguments)?;
    let output = command.args(["-o", "json"]).stdout(Stdio::piped()).output()?;
    Ok(serde_json::from_slice(&output.stdout)?)
}
