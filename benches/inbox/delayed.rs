//! W6: CPU of notifications while delayed actions wait, against the same with none waiting (`found.md`, K6).

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::StatusCode;
use tokio::net::TcpListener;

use crate::connection::Failed;
use crate::daemon::Daemon;
use crate::figures::{Figure, times, us_each};
use crate::hooks::{LONGEST, LOOK, all, settle, until};
use crate::report::{Report, Row};
use crate::till::Till;
use crate::tree::merchant_name;
use crate::{Bench, receivers};

/// Hundredths of the CPU with no action waiting.
const RATIO_MAX: u128 = 120;
/// Requests one action a month ahead of each event.
const DELAY: &str = r#"
fn on_event(event) {
    notify("sink", event.id, #{at: add_days(date(event.created), 30)});
}
"#;
/// Requests nothing.
const NOTHING: &str = "fn on_event(event) {}\n";
/// Requests one action at once.
const NOTIFY: &str = r#"
fn on_event(event) {
    notify("sink", event.id);
}
"#;

/// A server that takes notifications and counts them.
#[derive(Debug)]
struct Sink {
    address: SocketAddr,
    count: Arc<AtomicUsize>,
}

impl Sink {
    async fn start() -> Result<Self, Failed> {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = count.clone();
        let app = Router::new().fallback(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            std::future::ready(StatusCode::OK)
        });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        tokio::spawn(async move { axum::serve(listener, app).await });
        Ok(Self { address, count })
    }

    fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

/// Measures W6; in each round both states take turns.
pub(crate) async fn run(bench: &Bench, report: &mut Report) -> Result<(), Failed> {
    let (mut bare, mut full) = (Vec::new(), Vec::new());
    let mut count = 0;
    for round in 1..=bench.rounds {
        for (script, samples) in [(NOTHING, &mut bare), (DELAY, &mut full)] {
            bench.progress.say(&format!("round {round}: notifications"));
            let folder = bench.work.join("delayed");
            let (cpu, notified) = once(bench, &folder, script).await?;
            fs::remove_dir_all(&folder)?;
            count = notified;
            samples.push(cpu.checked_div(u32::try_from(notified.max(1))?).unwrap_or_default());
        }
    }
    let (bare, full) = (Figure::of_costs(bare).median, Figure::of_costs(full));
    let ratio = times(full.median, bare);
    report.add(Row {
        goal: format!("W6 CPU of each notification, {} delayed actions waiting", bench.events / 2),
        count,
        figure: full.shown(|cpu| us_each(cpu, 1)),
        limit: us_each(bare, 1),
        ratio,
        wanted: "at most 1.20 of the same with none waiting",
        met: Some(ratio <= RATIO_MAX),
    });
    Ok(())
}

/// Returns the CPU of the notifications, and their number. Before, `script` runs for half of the events.
async fn once(bench: &Bench, folder: &Path, script: &str) -> Result<(Duration, usize), Failed> {
    let (stand, address) = receivers::stand(bench, folder).await?;
    let sink = Sink::start().await?;
    let config = folder.join("reckon.yaml");
    let target = format!("\nnotify:\n  sink: {{url: \"http://{}/\", type: chat}}\n", sink.address);
    fs::write(&config, fs::read_to_string(&config)? + &target)?;
    fs::create_dir_all(folder.join("scripts"))?;
    settle(folder, script)?;
    let till = Till::of(&stand, &merchant_name(0)).await?;
    let charges = |count: usize| (0..count).map(|at| at.to_string()).collect::<Vec<_>>();
    let before = bench.events / 2;
    till.charge(&charges(before)).await?;
    let first = Daemon::start(&stand, address, 1).await?;
    let verified = until(address, all(u64::try_from(before)?)).await?.verified;
    until(address, |counts| counts.ran >= verified).await?;
    first.stop()?;
    // Events wait for a script whose file is missing; the script continues where it stopped.
    fs::remove_file(folder.join("scripts/hook.rhai"))?;
    till.charge(&charges(bench.events)).await?;
    let mut daemon = Daemon::start(&stand, address, 1).await?;
    let wanted = verified.saturating_add(u64::try_from(bench.events)?);
    let all_verified = until(address, all(wanted)).await?.verified;
    let notifications = usize::try_from(all_verified.saturating_sub(verified))?;
    let cpu = daemon.cpu()?;
    settle(folder, NOTIFY)?;
    taken(&sink, notifications).await?;
    Ok((daemon.cpu()?.saturating_sub(cpu), notifications))
}

/// Waits until the sink has this number of notifications.
async fn taken(sink: &Sink, wanted: usize) -> Result<(), Failed> {
    let started = Instant::now();
    while sink.count() < wanted {
        if started.elapsed() > LONGEST {
            return Err(format!("{} of {wanted} notifications arrived", sink.count()).into());
        }
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}
