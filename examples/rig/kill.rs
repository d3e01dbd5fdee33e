//! Kills `reckon apply` at random moments, again and again, behind a proxy that loses answers, and then looks whether
//! anything was done twice or was forgotten.
//!
//! The merchants are connected first and in peace: an authorization code works once, and a lost one needs a person.
//! The other documents arrive a part before each kill, so that every kill meets unfinished work.

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::connection::Failed;
use crate::judge::{Told, Verdict, judge};
use crate::proxy::{Odds, Proxy};
use crate::random::Random;
use crate::stand::Stand;
use crate::tree::{self, Document, Kinds};

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

/// How it is done.
#[derive(Debug, Clone)]
pub(crate) struct Trial {
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
        let ends = self.ended.iter().all(|code| GOOD_ENDS.contains(code));
        ends && self.control_calls == 0 && self.verdict.is_good()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { killed, ended, last_runs, losses, control_calls: _, verdict } = self;
        writeln!(
            f,
            "{killed} runs killed; {} had ended before, with {ended:?}; {last_runs} left alone at the end",
            ended.len()
        )?;
        writeln!(f, "the proxy: {losses}")?;
        write!(f, "{verdict}")
    }
}

/// Runs it. Errors: something that stops the trial itself; what it finds is in the report.
pub(crate) async fn run(trial: &Trial) -> Result<Report, Failed> {
    let tree = tree::documents(Kinds::Mixed, trial.documents, trial.seed)?;
    let merchants = tree.iter().filter(|document| document.kind == "Merchant").count();
    let stand = Stand::start(&trial.binary, &trial.folder, &trial.surface, merchants).await?;
    let [of_proxy, of_kills] = STREAMS.map(|stream| trial.seed ^ stream);
    let proxy = Proxy::start(stand.sandbox.address, trial.odds.clone(), of_proxy).await?;
    let [timeout, grace] = &trial.waits;
    stand.settle_config(proxy.address, "127.0.0.1:0", [timeout, grace])?;
    connect(&stand, &proxy, &tree)?;
    let mut random = Random::new(of_kills);
    let parts = parts(&tree, trial.kills, &mut random);
    let (mut killed, mut ended) = (0_usize, Vec::new());
    for part in 0..trial.kills {
        stand.write(&tree, |place, _| parts.get(place) == Some(&part))?;
        match kill(&stand, moment(trial, &mut random)).await? {
            None => killed = killed.saturating_add(1),
            Some(code) => ended.push(code),
        }
    }
    let last_runs = finish(&stand).await?;
    let verdict = judge(&stand, &tree, told(&stand)?).await?;
    let (losses, control_calls) = (proxy.counts().to_string(), proxy.counts().control());
    Ok(Report { killed, ended, last_runs, losses, control_calls, verdict })
}

fn connect(stand: &Stand, proxy: &Proxy, tree: &[Document]) -> Result<(), Failed> {
    stand.write(tree, |_, document| document.kind == "Merchant")?;
    proxy.calm(true);
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
        parts.push(if document.kind == "Merchant" { 0 } else { own.max(needed) });
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
    let mut child = stand.command(&["apply", "--yes"])?.spawn()?;
    let started = Instant::now();
    while started.elapsed() < after {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.code().unwrap_or(-1)));
        }
        tokio::time::sleep(GLANCE).await;
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// Runs `apply` undisturbed by kills until it is done, or says twice that something is held.
async fn finish(stand: &Stand) -> Result<usize, Failed> {
    let mut before = None;
    for run in 1..=LAST_RUNS_MAX {
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

fn told(stand: &Stand) -> Result<Told, Failed> {
    let mut command = stand.command(&["intents", "-o", "json"])?;
    let output = command.stdout(std::process::Stdio::piped()).output()?;
    Told::read(&serde_json::from_slice(&output.stdout)?)
}
