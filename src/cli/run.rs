//! `run`: the daemon. It watches the tree, reconciles, and serves status until told to stop.

use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::{mpsc, watch};

use super::api_token;
use super::args::RunArgs;
use super::desk::Desk;
use super::exit::{Exit, Failure};
use super::out::Out;
use super::sandbox::{self, EmbeddedSandbox};
use super::server::local;
use super::session::daemon;
use super::setup::{How, Open, Setup};
use super::{signals, signed};
use crate::config::ProcessEnv;
use crate::control::Control;
use crate::control::socket::Door;
use crate::engine::{Engine, Event, Overview, Until};
use crate::render::progress::{Progress, look};
use crate::{http, render, watch as tree};

/// Events that wait for the engine; a door that finds no room waits.
const EVENTS_MAX: usize = 256;

/// News for people come at most so often.
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
    let open = setup.open_bound(embedded.as_ref().map(|one| &one.access)).await?;
    let ended = serve(&setup, &open, embedded.as_ref(), out).await;
    let head = open.state.close().await?;
    if let Some(embedded) = embedded {
        embedded.close().await;
    }
    out.note(&format!("stopped; head {}", data_encoding::HEXLOWER.encode(&head.hash)));
    ended
}

/// The engine and every door, until a signal. The doors are there before the tree is read.
async fn serve(
    setup: &Arc<Setup>,
    open: &Open,
    embedded: Option<&EmbeddedSandbox>,
    out: Out,
) -> Result<Exit, Failure> {
    let (sender, events) = mpsc::channel(EVENTS_MAX);
    let control = Control::new(sender.clone());
    let (ending, ended) = watch::channel(false);
    let (ready, is_ready) = watch::channel(false);
    let (signal, signalled) = watch::channel(Exit::Done);
    let at = listen(setup, open, &control, (is_ready, &ended)).await?;
    if let Some(embedded) = embedded {
        embedded.notify(&open.outside().event_url(&format!("http://{}", at.outside)))?;
    }
    let door = Door::bind(&setup.state.join("control.sock")).await;
    let door = door.map_err(|error| Failure::environment("reckon::control::socket", error))?;
    // Whoever knocks while the tree is read waits for the answer.
    let door = tokio::spawn(door.serve(control.clone(), over(&ended)));
    let mut engine = engine(setup, open, embedded, &control)?;
    let watcher = tokio::spawn(watched(setup.specs.clone(), sender.clone(), over(&ended)));
    let mut overviews = engine.overviews();
    overviews.mark_changed();
    let reporter = tokio::spawn(report(overviews, out));
    let approving = sender.clone();
    let stopper = tokio::spawn(stopped(signal, sender));
    announce(setup, embedded, at.private, out)?;
    ready.send_replace(true);
    engine.keep_looking();
    let approvals = signed::keep(setup, open, approving, engine.overviews(), out);
    let result = tokio::select! {
        result = engine.run(events, Until::Stopped) => result.map_err(Failure::from),
        Err(failure) = approvals => Err(failure),
    };
    ending.send_replace(true);
    for task in [door, watcher, reporter, stopper] {
        task.abort();
    }
    result?;
    Ok(*signalled.borrow())
}

/// Where the daemon listens.
struct Listening {
    /// For its operators.
    private: SocketAddr,
    /// For the service and for applicants: the same, unless it faces the world on an address of its own.
    outside: SocketAddr,
}

/// Opens the listeners.
async fn listen(
    setup: &Setup,
    open: &Open,
    control: &Control,
    (is_ready, ended): (watch::Receiver<bool>, &watch::Receiver<bool>),
) -> Result<Listening, Failure> {
    let listen = setup.config.listen.get(&ProcessEnv)?;
    let outside = open.outside();
    let router = http::router(control.clone(), is_ready, api_token::tokens(&setup.state)?);
    let Some(public_listen) = &setup.config.public_listen else {
        let router = router.merge(http::hooks(control.clone(), &outside));
        let private = listening(router, listen, over(ended), "listen").await?;
        return Ok(Listening { private, outside: private });
    };
    let public = http::public(control.clone(), &outside);
    let public_listen = public_listen.get(&ProcessEnv)?;
    let outside = listening(public, public_listen, over(ended), "public_listen").await?;
    let private = listening(router, listen, over(ended), "listen").await?;
    Ok(Listening { private, outside })
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

/// The engine over the tree and the state, and a desk beside it.
fn engine(
    setup: &Arc<Setup>,
    open: &Open,
    embedded: Option<&EmbeddedSandbox>,
    control: &Control,
) -> Result<Engine, Failure> {
    let mut loader = setup.loader();
    loader.load_all();
    let how = How {
        embedded: embedded.map(|one| one.access.clone()),
        secrets: embedded.map(|one| one.secrets(setup)).transpose()?,
        keep_trying: true,
    };
    let shared = setup.shared(open, how)?;
    control.seat(Arc::new(Desk::new(setup.clone(), shared.clone())));
    Ok(Engine::new(shared, Box::new(loader))?)
}

/// Listens, or says which setting to change.
async fn listening(
    router: axum::Router,
    listen: SocketAddr,
    over: impl Future<Output = ()> + Send + 'static,
    setting: &str,
) -> Result<SocketAddr, Failure> {
    http::serve(router, listen, over).await.map_err(|error| {
        Failure::environment("reckon::listen", format!("listen on {listen}: {error}"))
            .help(format!("choose another address: {setting} in reckon.yaml"))
    })
}

/// A future that ends when the daemon does.
fn over(ended: &watch::Receiver<bool>) -> impl Future<Output = ()> + Send + 'static {
    let mut ended = ended.clone();
    async move {
        // A sender that is gone is an end, too.
        drop(ended.wait_for(|ended| *ended).await);
    }
}

/// Writes down where the daemon listens, and says so.
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

/// Tells whenever things come to rest in another way than before, and what goes on until then.
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
