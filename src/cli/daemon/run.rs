//! `run`: the daemon. It watches the tree, reconciles, and serves status until a signal stops it.

use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::join_all;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::base::clock::{Clock, SystemClock};
use crate::base::hash::Digest;
use crate::cli::args::options::{Cli, LogFormat, RunArgs};
use crate::cli::args::output::Output;
use crate::cli::commands::sandbox::command::{self, EmbeddedSandbox, WebhookAddresses};
use crate::cli::commands::signed::approval::keep_examining;
use crate::cli::commands::store::{compaction, rekeyer, retention};
use crate::cli::context::git::tracked::TrackedSpecs;
use crate::cli::context::machine;
use crate::cli::context::open::Context;
use crate::cli::context::session::{daemon, now_ns};
use crate::cli::context::state_handle::{EngineOptions, StateHandle};
use crate::cli::daemon::listeners::{Listeners, TOKEN_FILE};
use crate::cli::daemon::local_queries::DaemonQueries;
use crate::cli::daemon::reload::{Configuration, DaemonParts, Reloader};
use crate::cli::daemon::report::{announce, report};
use crate::cli::daemon::scripts::{read_scripts, watch_scripts};
use crate::cli::daemon::service_manager::report_to_systemd;
use crate::cli::daemon::targets::DaemonNotifier;
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::cli::print::Printer;
use crate::config::setting::ProcessEnv;
use crate::config::value::SyncMode;
use crate::control::handle::Control;
use crate::control::socket::ControlSocket;
use crate::engine::core::coordinator::{Engine, RunUntil};
use crate::engine::handles::shared::EngineResult;
use crate::engine::protocol::input::EngineInput;
use crate::watch::files::FileWatch;
use crate::watch::tree;

pub(crate) async fn run(cli: &Cli, args: &RunArgs, out: Printer) -> CommandResult {
    let out = match args.log_format {
        LogFormat::Json => Printer { form: Output::Json, ..out },
        LogFormat::Text => out,
    };
    let first = Context::load(cli, out)?;
    let mut watch = FileWatch::new(vec![first.root.join(&*first.config.file)]);
    // Read again behind the begin of the watch: no change falls between the two.
    let setup = Arc::new(Context::load(cli, out)?);
    setup.require_local("`run`", "it starts the daemon itself")?;
    if daemon(&setup).await?.is_some() {
        let what = format!("another process holds the state {}", setup.state.display());
        return Err(CommandFailure::environment("reckon::state::locked", what));
    }
    let embedded = if args.sandbox { Some(command::embed(&setup)?) } else { None };
    let doors = Listeners::open(&setup, args.sandbox, None).await?;
    watch.add(setup.state.join(TOKEN_FILE));
    let open = setup.open_bound(embedded.as_ref().map(|one| &one.access)).await?;
    let parts = DaemonParts { cli, out, open: &open, embedded: embedded.as_ref() };
    let ended = match read_scripts(&setup) {
        Ok(scripts) => {
            serve_all(parts, Configuration { setup, listeners: doors, scripts }, watch).await
        }
        Err(failure) => Err(failure),
    };
    let head = open.state.close().await?;
    if let Some(embedded) = embedded {
        embedded.close().await;
    }
    out.note(&format!("stopped; head {}", data_encoding::HEXLOWER.encode(&head.hash)));
    ended
}

/// Serves one configuration after the other, until a signal.
async fn serve_all(
    parts: DaemonParts<'_>,
    mut now: Configuration,
    watch: FileWatch,
) -> CommandResult {
    let (latest, control) = watch::channel(now.listeners.control.clone());
    let socket = ControlSocket::bind(&now.setup.state.join("control.sock")).await;
    let socket =
        socket.map_err(|error| CommandFailure::environment("reckon::control::socket", error))?;
    let socket = tokio::spawn(socket.serve_latest(control, std::future::pending()));
    let (signal, signalled) = watch::channel(None);
    let signals = tokio::spawn(async move { signal.send_replace(Some(machine::stop().await)) });
    drop(tokio::spawn(report_to_systemd(latest.subscribe(), signalled.clone())));
    let mut reloader = Reloader::new(parts, watch, &now);
    let result = loop {
        latest.send_replace(now.listeners.control.clone());
        match serve(parts, now, (&mut reloader, &signalled)).await {
            Ok(ServedUntil::Stopped(exit)) => break Ok(exit),
            Ok(ServedUntil::Replaced(next)) => now = *next,
            Err(failure) => break Err(failure),
        }
        now.listeners.control.configuration_loaded(SystemClock.now());
        parts.out.note(&format!("{} was reloaded", now.setup.config.file));
    };
    socket.abort();
    signals.abort();
    result
}

enum ServedUntil {
    Stopped(Exit),
    Replaced(Box<Configuration>),
}

async fn serve(
    parts: DaemonParts<'_>,
    now: Configuration,
    (reloader, signalled): (&mut Reloader<'_>, &watch::Receiver<Option<Exit>>),
) -> CommandResult<ServedUntil> {
    reloader.follow(&now);
    let mut engine = prepare(parts, &now)?;
    engine.start_sweeps()?;
    let Configuration { setup, listeners, scripts } = now;
    // The first report of the tasks is the line below these.
    announce(&setup, parts.embedded, listeners.private)?;
    let tasks = start_tasks(&setup, &listeners, (scripts.files, signalled.clone()), &engine);
    let Listeners { sender, events, ready, ending, .. } = listeners;
    ready.send_replace(true);
    engine.read_in_background();
    let approvals = keep_examining(&setup, parts.open, sender.clone(), engine.overviews());
    let running = engine.run(events, RunUntil::Stopped);
    let ended = run_until_replaced(running, approvals, reloader, (&ending, sender)).await;
    ending.send_replace(true);
    for task in tasks {
        task.abort();
        // The progress bar disappears with its task.
        drop(task.await);
    }
    let exit = *signalled.borrow();
    Ok(match (exit, ended?) {
        (None, Some(next)) => ServedUntil::Replaced(next),
        (exit, _) => ServedUntil::Stopped(exit.unwrap_or(Exit::Done)),
    })
}

/// Runs the engine to its end. Another configuration stops the engine, and is returned.
async fn run_until_replaced(
    running: impl Future<Output = EngineResult<Vec<EngineInput>>>,
    approvals: impl Future<Output = CommandResult<()>>,
    reloader: &mut Reloader<'_>,
    (ending, engine): (&watch::Sender<bool>, mpsc::Sender<EngineInput>),
) -> CommandResult<Option<Box<Configuration>>> {
    let (mut running, mut approvals) = (pin!(running), pin!(approvals));
    let (mut replaced, mut examining) = (None::<Box<Configuration>>, true);
    loop {
        tokio::select! {
            result = &mut running => {
                let unhandled = result?;
                if let Some(next) = &replaced {
                    drop(tokio::spawn(next.listeners.hand_over(unhandled)));
                }
                return Ok(replaced);
            }
            examined = &mut approvals, if examining => {
                examined?;
                examining = false;
            }
            next = reloader.next(), if replaced.is_none() => {
                next.listeners.control.use_engine(next.listeners.sender.clone());
                replaced = Some(Box::new(next));
                ending.send_replace(true);
                let engine = engine.clone();
                // The engine reads its inputs only while it is polled, and may have ended by itself.
                tokio::spawn(async move { drop(engine.send(EngineInput::Stop).await) });
            }
        }
    }
}

fn start_tasks(
    setup: &Arc<Context>,
    listeners: &Listeners,
    (scripts, signalled): (Digest, watch::Receiver<Option<Exit>>),
    engine: &Engine,
) -> [JoinHandle<()>; 4] {
    let mut overviews = engine.overviews();
    overviews.mark_changed();
    let sender = || listeners.sender.clone();
    let (over, scripts_over) = (listeners.until_end(), listeners.until_end());
    [
        tokio::spawn(watch_scripts(setup.clone(), scripts, sender(), scripts_over)),
        tokio::spawn(watch_trees(setup.specs.paths().to_vec(), sender(), over)),
        tokio::spawn(report(overviews, listeners.control.clone(), setup.out)),
        tokio::spawn(stop_at_signal(signalled, sender())),
    ]
}

async fn watch_trees(
    roots: Vec<PathBuf>,
    events: mpsc::Sender<EngineInput>,
    over: impl Future<Output = ()>,
) {
    let over = over.shared();
    let watch = |root| tree::watch(root, events.clone(), over.clone());
    for ended in join_all(roots.into_iter().map(watch)).await {
        if let Err(error) = ended {
            tracing::error!("{error}");
        }
    }
}

async fn stop_at_signal(
    mut signalled: watch::Receiver<Option<Exit>>,
    events: mpsc::Sender<EngineInput>,
) {
    if signalled.wait_for(Option::is_some).await.is_ok() {
        // The engine may have ended by itself.
        drop(events.send(EngineInput::Stop).await);
    }
}

fn prepare(parts: DaemonParts<'_>, now: &Configuration) -> CommandResult<Engine> {
    let DaemonParts { open, embedded, .. } = parts;
    let Configuration { setup, listeners, scripts } = now;
    let base = format!("http://{}", listeners.outside);
    let facts = open.state.facts.clone();
    let addresses = WebhookAddresses { outside: open.public_routes(), base, facts };
    if let Some(embedded) = embedded {
        embedded.notify(&addresses)?;
    }
    let notifier = DaemonNotifier::new(setup.clone(), addresses.clone(), embedded.is_some());
    let embedded = embedded.map(|one| (one, addresses));
    let mut engine = engine(setup, open, embedded, &listeners.control)?;
    listeners.control.receive(engine.event_receiver(listeners.sender.clone()));
    listeners.control.set_feed(engine.feed());
    engine.set_notifier(Arc::new(notifier));
    engine.use_scripts(scripts.clone())?;
    if setup.config.policy.sync.get(&ProcessEnv)? == SyncMode::Manual {
        engine.require_sync()?;
    }
    engine.retain(retention(setup)?);
    engine.compaction = Some(compaction(setup, open)?);
    engine.rekeyer = Some(Arc::new(rekeyer(setup, open)?));
    Ok(engine)
}

/// Creates the engine over the tree and the state, and registers the local queries with `control`.
fn engine(
    setup: &Arc<Context>,
    open: &StateHandle,
    embedded: Option<(&EmbeddedSandbox, WebhookAddresses)>,
    control: &Control,
) -> CommandResult<Engine> {
    let how = EngineOptions {
        embedded: embedded.as_ref().map(|(one, _)| one.access.clone()),
        secrets: embedded.map(|(one, addresses)| one.secrets(setup, addresses)).transpose()?,
        keep_trying: true,
    };
    let shared = setup.engine_parts(open, how)?;
    control.set_local_queries(Arc::new(DaemonQueries::new(setup.clone(), shared.clone())));
    let (stored, loader) = std::thread::scope(|scope| {
        let stored = scope.spawn(|| Engine::read_facts(&shared));
        let loader = setup.loaded_tree_of(open, now_ns());
        (stored.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), loader)
    });
    Ok(Engine::of(shared, stored?, Box::new(TrackedSpecs::of(loader, setup.specs.roots())))?)
}
