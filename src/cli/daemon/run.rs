//! `run`: the daemon. It watches the tree, reconciles, and serves status until a signal stops it.

use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use serde_json::json;
use tokio::sync::{mpsc, watch};

use crate::base::hash::{Digest, sha256};
use crate::cli::args::options::RunArgs;
use crate::cli::commands::hooks;
use crate::cli::commands::rekey::rekeyer;
use crate::cli::commands::sandbox::command;
use crate::cli::commands::sandbox::command::{EmbeddedSandbox, WebhookAddresses};
use crate::cli::commands::store::archive_policy;
use crate::cli::context::git::tracked::TrackedSpecs;
use crate::cli::context::machine;
use crate::cli::context::open::Context;
use crate::cli::context::session::daemon;
use crate::cli::context::state_handle::{EngineOptions, StateHandle};
use crate::cli::daemon::listeners::Listeners;
use crate::cli::daemon::local_queries::DaemonQueries;
use crate::cli::daemon::targets::DaemonNotifier;
use crate::cli::exit::{CommandFailure, CommandResult, Exit, local_only};
use crate::cli::print::Printer;
use crate::config::events::CompactionMode;
use crate::config::setting::ProcessEnv;
use crate::control::handle::Control;
use crate::control::socket_server::ControlSocket;
use crate::engine::core::coordinator::{Engine, RunUntil};
use crate::engine::core::retention::{CompactionPlan, Retention};
use crate::engine::protocol::input::{EngineInput, ScriptSet};
use crate::engine::protocol::views::Overview;
use crate::model::issue::Severity;
use crate::render;
use crate::render::progress::{RunProgress, next_overview};
use crate::scripting::folder::ScriptFolder;
use crate::watch::tree;

/// Interval at which old events are looked for.
const RETAINED_EVERY: Duration = Duration::from_hours(1);
/// Shortest time between two reports for people.
const REPORT_EVERY: Duration = Duration::from_millis(200);

pub(crate) async fn run(setup: Context, args: &RunArgs) -> CommandResult {
    if setup.server.is_some() {
        return Err(local_only("`run`", "it starts the daemon itself"));
    }
    let setup = Arc::new(setup);
    if daemon(&setup).await?.is_some() {
        let what = format!("another process holds the state {}", setup.state.display());
        return Err(CommandFailure::environment("reckon::state::locked", what));
    }
    let embedded = if args.sandbox { Some(command::embed(&setup)?) } else { None };
    let doors = Listeners::open(&setup, args.sandbox).await?;
    let open = setup.open_bound(embedded.as_ref().map(|one| &one.access)).await?;
    let ended = serve(&setup, &open, doors, embedded.as_ref()).await;
    let head = open.state.close().await?;
    if let Some(embedded) = embedded {
        embedded.close().await;
    }
    setup.out.note(&format!("stopped; head {}", data_encoding::HEXLOWER.encode(&head.hash)));
    ended
}

/// Runs the engine and all that serves it, until a signal.
async fn serve(
    setup: &Arc<Context>,
    open: &StateHandle,
    doors: Listeners,
    embedded: Option<&EmbeddedSandbox>,
) -> CommandResult {
    let (signal, signalled) = watch::channel(Exit::Done);
    let base = format!("http://{}", doors.outside);
    let facts = open.state.facts.clone();
    let addresses = WebhookAddresses { outside: open.public_routes(), base, facts };
    if let Some(embedded) = embedded {
        embedded.notify(&addresses)?;
    }
    let door = ControlSocket::bind(&setup.state.join("control.sock")).await;
    let door =
        door.map_err(|error| CommandFailure::environment("reckon::control::socket", error))?;
    let door = tokio::spawn(door.serve(doors.control.clone(), doors.until_end()));
    let courier =
        Arc::new(DaemonNotifier::new(setup.clone(), addresses.clone(), embedded.is_some()));
    let mut engine = engine(setup, open, embedded.map(|one| (one, addresses)), &doors.control)?;
    doors.control.receive(engine.event_receiver(doors.sender.clone()));
    let found = read_scripts(setup)?;
    let scripts_over = doors.until_end();
    let scripts = watch_scripts(setup.clone(), found.files, doors.sender.clone(), scripts_over);
    let scripts = tokio::spawn(scripts);
    engine.set_notifier(courier);
    engine.use_scripts(found)?;
    engine.retain(retention(setup)?);
    engine.compact_with(compaction(setup, open)?);
    engine.rekey_with(Arc::new(rekeyer(setup, open)?));
    let over = doors.until_end();
    let Listeners { sender, events, ready, ending, private, .. } = doors;
    let watcher = tokio::spawn(watch_tree(setup.specs.clone(), sender.clone(), over));
    let mut overviews = engine.overviews();
    overviews.mark_changed();
    let reporter = tokio::spawn(report(overviews, setup.out));
    let approving = sender.clone();
    let stopper = tokio::spawn(stop_at_signal(signal, sender));
    announce(setup, embedded, private)?;
    ready.send_replace(true);
    engine.read_in_background();
    engine.start_sweeps();
    let approvals = crate::cli::commands::signed::approval::keep_examining(
        setup,
        open,
        approving,
        engine.overviews(),
    );
    let result = tokio::select! {
        result = engine.run(events, RunUntil::Stopped) => result.map_err(CommandFailure::from),
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
fn retention(setup: &Context) -> CommandResult<Retention> {
    let keep = setup.config.events.keep.get(&ProcessEnv)?;
    let keep = TimeDelta::from_std(keep).unwrap_or(TimeDelta::MAX);
    Ok(Retention { keep, every: RETAINED_EVERY, late: Retention::LATE, ahead: Retention::AHEAD })
}

fn compaction(setup: &Context, open: &StateHandle) -> CommandResult<CompactionPlan> {
    let automatic = setup.config.store.compact.get(&ProcessEnv)? == CompactionMode::Auto;
    let (compactor, archive_policy) = (open.state.compactor(), archive_policy(setup)?);
    Ok(CompactionPlan { compactor, history: archive_policy, automatic })
}

async fn watch_tree(
    root: PathBuf,
    events: mpsc::Sender<EngineInput>,
    over: impl Future<Output = ()>,
) {
    if let Err(error) = tree::watch(root, events, over).await {
        tracing::error!("{error}");
    }
}

async fn stop_at_signal(signal: watch::Sender<Exit>, events: mpsc::Sender<EngineInput>) {
    let exit = machine::stop().await;
    signal.send_replace(exit);
    // The engine may have ended by itself.
    drop(events.send(EngineInput::Stop).await);
}

/// Creates the engine over the tree and the state, and registers the local queries with `control`.
fn engine(
    setup: &Arc<Context>,
    open: &StateHandle,
    embedded: Option<(&EmbeddedSandbox, WebhookAddresses)>,
    control: &Control,
) -> CommandResult<Engine> {
    let mut loader = setup.loader();
    loader.load_all();
    let how = EngineOptions {
        embedded: embedded.as_ref().map(|(one, _)| one.access.clone()),
        secrets: embedded.map(|(one, addresses)| one.secrets(setup, addresses)).transpose()?,
        keep_trying: true,
    };
    let shared = setup.engine_parts(open, how)?;
    control.set_local_queries(Arc::new(DaemonQueries::new(setup.clone(), shared.clone())));
    Ok(Engine::new(shared, Box::new(TrackedSpecs::of(loader, setup.place())))?)
}

/// Writes the daemon's addresses to a file, and prints them.
fn announce(
    setup: &Context,
    embedded: Option<&EmbeddedSandbox>,
    address: SocketAddr,
) -> CommandResult<()> {
    let service = embedded.map(|one| one.access.base_url.clone());
    let addresses = json!({"http": format!("http://{address}"), "sandbox": service});
    let path = setup.state.join("addresses.json");
    std::fs::write(&path, addresses.to_string()).map_err(|error| {
        CommandFailure::environment(
            "reckon::state::write",
            format!("write {}: {error}", path.display()),
        )
    })?;
    if let Some(service) = &service {
        setup.out.text(&format!("sandbox   {service}"))?;
    }
    setup.out.text(&format!("listening http://{address}"))
}

/// Reports each change of the counts when the engine is at rest, and the progress until then.
async fn report(mut overviews: watch::Receiver<Overview>, out: Printer) {
    let progress = RunProgress::default();
    let mut told = None;
    let mut working = false;
    while let Some(now) = next_overview(&mut overviews, working).await {
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
            if out.text(&render::overview::overview(&now)).is_err() {
                return;
            }
            told = Some(news);
        }
        tokio::time::sleep(REPORT_EVERY).await;
    }
}

// The scripts of a daemon: read and checked at its start, and again whenever their folder changes.

/// Pending hints of changed files, at most; further hints add nothing.
const HINTS_MAX: usize = 8;

pub(crate) fn read_scripts(setup: &Context) -> CommandResult<ScriptSet> {
    let folder = hooks::folder(setup)?;
    let (hooks, problems) = hooks::load(setup, &folder)?;
    let wrong = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
    Ok(ScriptSet { hooks, files: digest(&folder), problems: wrong })
}

/// Returns the SHA-256 over the names and texts of all scripts.
fn digest(folder: &ScriptFolder) -> Digest {
    let mut all = Vec::new();
    for source in &folder.scripts {
        for part in [source.path.as_bytes(), source.text.as_bytes()] {
            all.extend(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            all.extend(part);
        }
    }
    sha256(&all)
}

/// Reads the scripts again whenever the folder changes, until the daemon ends.
pub(crate) async fn watch_scripts(
    setup: Arc<Context>,
    mut known: Digest,
    engine: mpsc::Sender<EngineInput>,
    over: impl Future<Output = ()>,
) {
    let Ok(root) = setup.config.scripts.get(&ProcessEnv) else { return };
    let (sender, mut hints) = mpsc::channel(HINTS_MAX);
    let watching = tree::watch(root, sender, over);
    let looking = async {
        while hints.recv().await.is_some() {
            match read_scripts(&setup) {
                Ok(found) if found.files != known => {
                    known = found.files;
                    if engine.send(EngineInput::Scripts(Box::new(found))).await.is_err() {
                        return;
                    }
                }
                Ok(_) => {}
                Err(failure) => tracing::error!("{}", failure.message),
            }
        }
    };
    let (ended, ()) = tokio::join!(watching, looking);
    if let Err(error) = ended {
        tracing::error!("{error}");
    }
}
