//! `run`: the daemon. It watches the tree, reconciles, and serves status until a signal stops it.

use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use serde_json::json;
use tokio::sync::{mpsc, watch};

use super::args::RunArgs;
use super::courier::Post;
use super::desk::Desk;
use super::doors::Doors;
use super::exit::{Exit, Failure};
use super::out::Out;
use super::sandbox::{self, Addresses, EmbeddedSandbox};
use super::server::local;
use super::session::daemon;
use super::setup::{How, Open, Setup};
use super::store::compact::history;
use super::store::rekey::rekeyer;
use super::tracked::Tracked;
use super::{scripts, signals, signed};
use crate::config::{ProcessEnv, When};
use crate::control::Control;
use crate::control::socket::Door;
use crate::engine::{Compaction, Engine, Event, Overview, Retention, Until};
use crate::render::progress::{Progress, look};
use crate::{render, watch as tree};

/// Interval at which old events are looked for.
const RETAINED_EVERY: Duration = Duration::from_hours(1);
/// Shortest time between two reports for people.
const REPORT_EVERY: Duration = Duration::from_millis(200);

/// Runs the command.
pub(super) async fn run(setup: Setup, args: &RunArgs, out: Out) -> Result<Exit, Failure> {
    if setup.server.is_some() {
        return Err(local("`run`", "it is the daemon"));
    }
    let setup = Arc::new(setup);
    if daemon(&setup).await?.is_some() {
        let what = format!("another process holds the state {}", setup.state.display());
        return Err(Failure::environment("reckon::state::locked", what));
    }
    let embedded = if args.sandbox { Some(sandbox::embed(&setup)?) } else { None };
    let doors = Doors::open(&setup, args.sandbox).await?;
    let open = setup.open_bound(embedded.as_ref().map(|one| &one.access)).await?;
    let ended = serve(&setup, &open, doors, embedded.as_ref(), out).await;
    let head = open.state.close().await?;
    if let Some(embedded) = embedded {
        embedded.close().await;
    }
    out.note(&format!("stopped; head {}", data_encoding::HEXLOWER.encode(&head.hash)));
    ended
}

/// Runs the engine and all that serves it, until a signal.
async fn serve(
    setup: &Arc<Setup>,
    open: &Open,
    doors: Doors,
    embedded: Option<&EmbeddedSandbox>,
    out: Out,
) -> Result<Exit, Failure> {
    let (signal, signalled) = watch::channel(Exit::Done);
    let base = format!("http://{}", doors.outside);
    let facts = open.state.facts.clone();
    let addresses = Addresses { outside: open.outside(), base, facts };
    if let Some(embedded) = embedded {
        embedded.notify(&addresses)?;
    }
    let door = Door::bind(&setup.state.join("control.sock")).await;
    let door = door.map_err(|error| Failure::environment("reckon::control::socket", error))?;
    let door = tokio::spawn(door.serve(doors.control.clone(), doors.over()));
    let courier = Arc::new(Post::new(setup.clone(), addresses.clone(), embedded.is_some()));
    let mut engine = engine(setup, open, embedded.map(|one| (one, addresses)), &doors.control)?;
    doors.control.receive(engine.inbox(doors.sender.clone()));
    let found = scripts::found(setup)?;
    let scripts_over = doors.over();
    let scripts = scripts::watched(setup.clone(), found.files, doors.sender.clone(), scripts_over);
    let scripts = tokio::spawn(scripts);
    engine.tell_through(courier);
    engine.use_scripts(found)?;
    engine.retain(retention(setup)?);
    engine.compact_with(compaction(setup, open)?);
    engine.rekey_with(Arc::new(rekeyer(setup, open)?));
    let over = doors.over();
    let Doors { sender, events, ready, ending, private, .. } = doors;
    let watcher = tokio::spawn(watched(setup.specs.clone(), sender.clone(), over));
    let mut overviews = engine.overviews();
    overviews.mark_changed();
    let reporter = tokio::spawn(report(overviews, out));
    let approving = sender.clone();
    let stopper = tokio::spawn(stopped(signal, sender));
    announce(setup, embedded, private, out)?;
    ready.send_replace(true);
    engine.read_aside();
    engine.keep_looking();
    let approvals = signed::keep(setup, open, approving, engine.overviews(), out);
    let result = tokio::select! {
        result = engine.run(events, Until::Stopped) => result.map_err(Failure::from),
        Err(failure) = approvals => Err(failure),
    };
    ending.send_replace(true);
    for task in [&door, &watcher, &reporter, &stopper, &scripts] {
        task.abort();
    }
    // The bar disappears with its task.
    drop(reporter.await);
    result?;
    Ok(*signalled.borrow())
}

/// Returns how long events are kept.
fn retention(setup: &Setup) -> Result<Retention, Failure> {
    let keep = setup.config.events.keep.get(&ProcessEnv)?;
    let keep = TimeDelta::from_std(keep).unwrap_or(TimeDelta::MAX);
    Ok(Retention { keep, every: RETAINED_EVERY, late: Retention::LATE, ahead: Retention::AHEAD })
}

/// Returns the settings of compaction.
fn compaction(setup: &Setup, open: &Open) -> Result<Compaction, Failure> {
    let automatic = setup.config.store.compact.get(&ProcessEnv)? == When::Auto;
    let (compactor, history) = (open.state.compactor(), history(setup)?);
    Ok(Compaction { compactor, history, automatic })
}

/// Watches the tree until the daemon ends.
async fn watched(root: PathBuf, events: mpsc::Sender<Event>, over: impl Future<Output = ()>) {
    if let Err(error) = tree::watch(root, events, over).await {
        tracing::error!("{error}");
    }
}

/// Waits for a signal and stops the engine.
async fn stopped(signal: watch::Sender<Exit>, events: mpsc::Sender<Event>) {
    let exit = signals::stop().await;
    signal.send_replace(exit);
    // The engine may have ended by itself.
    drop(events.send(Event::Stop).await);
}

/// Creates the engine over the tree and the state, and registers the local queries with `control`.
fn engine(
    setup: &Arc<Setup>,
    open: &Open,
    embedded: Option<(&EmbeddedSandbox, Addresses)>,
    control: &Control,
) -> Result<Engine, Failure> {
    let mut loader = setup.loader();
    loader.load_all();
    let how = How {
        embedded: embedded.as_ref().map(|(one, _)| one.access.clone()),
        secrets: embedded.map(|(one, addresses)| one.secrets(setup, addresses)).transpose()?,
        keep_trying: true,
    };
    let shared = setup.shared(open, how)?;
    control.seat(Arc::new(Desk::new(setup.clone(), shared.clone())));
    Ok(Engine::new(shared, Box::new(Tracked::of(loader, setup.place())))?)
}

/// Writes the daemon's addresses to a file, and prints them.
fn announce(
    setup: &Setup,
    embedded: Option<&EmbeddedSandbox>,
    address: SocketAddr,
    out: Out,
) -> Result<(), Failure> {
    let service = embedded.map(|one| one.access.base_url.clone());
    let addresses = json!({"http": format!("http://{address}"), "sandbox": service});
    let path = setup.state.join("addresses.json");
    std::fs::write(&path, addresses.to_string()).map_err(|error| {
        Failure::environment("reckon::state::write", format!("write {}: {error}", path.display()))
    })?;
    if let Some(service) = &service {
        out.text(&format!("sandbox   {service}"))?;
    }
    out.text(&format!("listening http://{address}"))
}

/// Reports each change of the counts when the engine is at rest, and the progress until then.
async fn report(mut overviews: watch::Receiver<Overview>, out: Out) {
    let progress = Progress::new();
    let mut told = None;
    let mut working = false;
    while let Some(now) = look(&mut overviews, working).await {
        working = !now.is_at_rest();
        let news = (now.resources, now.ready, now.stuck, now.broken, now.orphaned, now.coverage);
        if working {
            if let Some(line) = progress.update(&now, "reconciling") {
                out.log(&line);
            }
        } else {
            progress.clear();
        }
        if !working && told != Some(news) {
            if out.text(&render::overview(&now)).is_err() {
                return;
            }
            told = Some(news);
        }
        tokio::time::sleep(REPORT_EVERY).await;
    }
}
