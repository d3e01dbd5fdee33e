//! The course of a measurement: events arrive, are answered, grow old and are dropped. The state is compacted and
//! measured.

use std::path::Path;
use std::time::Duration;

use chrono::TimeDelta;

use super::failed::Failed;
use super::sizes::{Sizes, resident};
use super::stand::{Running, Stand};

/// The action of the script for half of the events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hook {
    /// Sends a notification.
    Notify,
    /// Refunds the charge: money moves.
    Refund,
}

/// The parameters of a measurement.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// Events at once, or on each day.
    pub(crate) events: u64,
    /// Days; 0 means that all events come at once.
    pub(crate) days: u64,
    /// Time for which settled events are kept.
    pub(crate) keep: TimeDelta,
    pub(crate) hook: Hook,
}

/// The size of a state at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) moment: String,
    /// Events that were verified at the service so far.
    pub(crate) verified: u64,
    /// Verified events that retention did not drop.
    pub(crate) held: u64,
    pub(crate) sizes: Sizes,
    pub(crate) resident_kib: u64,
}

/// All figures of a measurement.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    pub(crate) rows: Vec<Row>,
    pub(crate) start_kib: u64,
    pub(crate) peak_kib: u64,
    pub(crate) end_kib: u64,
}

/// Charges that are made before the service posts their events.
const LUMP: u64 = 100;
/// Checks for open work before the measurement is given up.
const LOOKS_MAX: u32 = 10_000;
/// The amount of a charge that no script answers.
const LAST: u64 = 1001;
/// Spans of `keep` after which everything is old.
const SPANS: u32 = 4;
/// Seconds in which the daemon's search for old events runs twice.
const LOOK: u64 = 660;
const DAY: u64 = 86_400;

impl Hook {
    /// Returns the script. It answers charges of even amounts, which are half of them.
    fn script(self) -> &'static str {
        match self {
            Self::Notify => {
                "fn on_event(event) {\n  let amount = event.data.get(\"amount\");\n  if amount != () && amount % 2 == 0 \
                 { notify(\"ops\", `${event.type} ${event.data.id}`); }\n}\n"
            }
            Self::Refund => {
                "fn on_transaction_authorized(event) {\n  if event.data.type == \"CHARGE\" && event.data.amount % 2 == 0 \
                 { refund(event.data, #{name: \"back\"}); }\n}\n"
            }
        }
    }
}

/// Runs the whole measurement in this empty folder.
pub(crate) async fn measure(folder: &Path, wanted: &Wanted) -> Result<Measured, Failed> {
    let mut stand = Stand::new(folder, wanted.hook.script(), wanted.keep)?;
    stand.connect().await?;
    let mut rows = Vec::new();
    let (start_kib, _) = resident()?;
    if wanted.days == 0 {
        at_once(&mut stand, wanted, &mut rows).await?;
    } else {
        day_by_day(&mut stand, wanted, &mut rows).await?;
    }
    let (end_kib, peak_kib) = resident()?;
    Ok(Measured { rows, start_kib, peak_kib, end_kib })
}

async fn at_once(stand: &mut Stand, wanted: &Wanted, rows: &mut Vec<Row>) -> Result<(), Failed> {
    stand.running(async |running| comes(running, wanted.events).await).await?;
    rows.push(row(stand, "alive").await?);
    stand.compact().await?;
    rows.push(row(stand, "after compaction").await?);
    goes(stand, wanted.keep).await?;
    rows.push(row(stand, "after retention").await?);
    stand.compact().await?;
    rows.push(row(stand, "after retention and compaction").await?);
    Ok(())
}

async fn day_by_day(stand: &mut Stand, wanted: &Wanted, rows: &mut Vec<Row>) -> Result<(), Failed> {
    for day in 1..=wanted.days {
        stand
            .running(async |running| {
                comes(running, wanted.events).await?;
                running.wait(LOOK).await;
                settled(running).await
            })
            .await?;
        stand.compact().await?;
        rows.push(row(stand, &format!("day {day}")).await?);
        tokio::time::advance(Duration::from_secs(DAY.saturating_sub(LOOK))).await;
    }
    Ok(())
}

/// Makes this number of events and waits until they are answered.
async fn comes(running: &Running<'_>, events: u64) -> Result<(), Failed> {
    let until = running.ledger()?.verified.saturating_add(events);
    let mut amount: u64 = 1000;
    loop {
        let missing = until.saturating_sub(running.ledger()?.verified);
        if missing == 0 {
            return Ok(());
        }
        // The service makes two events of a charge: created and authorized.
        for _ in 0..missing.div_ceil(2).min(LUMP) {
            amount = amount.saturating_add(1);
            running.charge(amount)?;
        }
        running.deliver().await?;
        settled(running).await?;
    }
}

/// Waits until every event was read and answered, and every action is done.
async fn settled(running: &Running<'_>) -> Result<(), Failed> {
    for _ in 0..LOOKS_MAX {
        running.wait(1).await;
        running.deliver().await?;
        let ledger = running.ledger()?;
        if ledger.waiting == 0 && ledger.pending == 0 && ledger.ran_to == ledger.verified {
            return Ok(());
        }
    }
    Err(format!("some work is not done: {:?}", running.ledger()?).into())
}

/// Advances the time until retention has dropped all present events. The daemon runs only during its search for old
/// events.
async fn goes(stand: &mut Stand, keep: TimeDelta) -> Result<(), Failed> {
    let span = keep.to_std()?.saturating_add(Duration::from_secs(LOOK));
    let mut all = None;
    for _ in 0..SPANS {
        tokio::time::advance(span).await;
        let ledger = stand
            .running(async |running| {
                // The horizon stays behind the newest event, so another event lets retention drop the earlier ones.
                running.charge(LAST)?;
                running.wait(LOOK).await;
                settled(running).await?;
                running.ledger()
            })
            .await?;
        if ledger.dropped >= *all.get_or_insert(ledger.verified) {
            break;
        }
    }
    Ok(())
}

async fn row(stand: &mut Stand, moment: &str) -> Result<Row, Failed> {
    let sizes = Sizes::of(&stand.state())?;
    let ledger = stand.running(async |running| running.ledger()).await?;
    let (resident_kib, _) = resident()?;
    let held = ledger.verified.saturating_sub(ledger.dropped);
    Ok(Row { moment: moment.to_owned(), verified: ledger.verified, held, sizes, resident_kib })
}
