//! `events urls`: where the service has to send its notifications, and the links of applicants.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::args::{EventsCommand, EventsListArgs, Output};
use super::exit::{Exit, Failure};
use super::gateway;
use super::out::Out;
use super::session::Session;
use super::setup::Setup;
use super::signals;
use crate::base::id::{Key, Mode};
use crate::config::ProcessEnv;
use crate::control::Request;
use crate::control::look::Look;
use crate::engine::{EventsView, EventsWanted, Question, Reply};
use crate::kinds::step::MERCHANT;
use crate::render;

/// What `events urls -o json` prints.
#[derive(Serialize, Deserialize)]
pub(super) struct Addresses {
    partner: Partner,
    gateway: Vec<Gateway>,
    applicants: Vec<Applicant>,
}

#[derive(Serialize, Deserialize)]
struct Partner {
    event_url: String,
}

#[derive(Serialize, Deserialize)]
struct Gateway {
    merchant: String,
    mode: Mode,
    url: String,
}

#[derive(Serialize, Deserialize)]
struct Applicant {
    application: String,
    url: String,
}

/// How often `events tail` looks for more.
const TAIL_EVERY: Duration = Duration::from_secs(1);

/// Runs the command.
pub(super) async fn run(setup: &Setup, command: &EventsCommand, out: Out) -> Result<Exit, Failure> {
    match command {
        EventsCommand::Urls => urls(setup, out).await,
        EventsCommand::List(args) => {
            let view = asked(setup, args).await?;
            out.result(&view, || render::events::text(&view, out.color))?;
            Ok(Exit::Done)
        }
        EventsCommand::Show { id } => show(setup, id, out).await,
        EventsCommand::Dead => dead(setup, out).await,
        EventsCommand::Replay { id } => replay(setup, id, out).await,
        EventsCommand::Tail(args) => tail(setup, args, out).await,
    }
}

/// The newest events.
async fn asked(setup: &Setup, args: &EventsListArgs) -> Result<EventsView, Failure> {
    let merchant = args.merchant.as_deref().map(gateway::merchant).transpose()?;
    let question = Question::Events(EventsWanted { merchant, most: args.limit });
    let session = Session::open(setup).await?;
    let reply = session.ask(question).await;
    let Reply::Events(view) = session.end(setup, reply).await? else {
        return Err(Failure::bug("events were not answered by events"));
    };
    Ok(*view)
}

async fn show(setup: &Setup, id: &str, out: Out) -> Result<Exit, Failure> {
    let session = Session::open(setup).await?;
    let reply = session.ask(Question::Event(id.to_owned())).await;
    let Reply::Event(event) = session.end(setup, reply).await? else {
        return Err(Failure::bug("an event was not answered by one"));
    };
    let Some(event) = event else {
        let failure = Failure::input("reckon::events::unknown", format!("there is no event {id}"));
        return Err(failure.help("`reckon events list` shows the newest ones"));
    };
    out.result(&event, || render::events::one(&event))?;
    Ok(Exit::Done)
}

/// Hooks that failed, and what waits. A hook that failed for good needs a person (exit 3), and so does an action that is
/// held.
async fn dead(setup: &Setup, out: Out) -> Result<Exit, Failure> {
    let session = Session::open(setup).await?;
    let reply = session.ask(Question::Hooks).await;
    let Reply::Hooks(view) = session.end(setup, reply).await? else {
        return Err(Failure::bug("hooks were not answered by hooks"));
    };
    out.result(&view, || render::events::dead(&view))?;
    let held = view.waiting.iter().any(|wish| wish.held.is_some());
    Ok(if view.dead.is_empty() && !held { Exit::Done } else { Exit::Stuck })
}

async fn replay(setup: &Setup, id: &str, out: Out) -> Result<Exit, Failure> {
    let session = Session::open(setup).await?;
    let Reply::Replayed(hooks) = session.done(setup, Request::Replay(id.to_owned())).await? else {
        return Err(Failure::bug("a replay was not answered by one"));
    };
    if hooks == 0 {
        let message = format!("no hook of event {id} failed for good");
        let failure = Failure::input("reckon::events::replay", message);
        return Err(failure.help("`reckon events dead` lists those that did"));
    }
    out.result(&serde_json::json!({ "hooks": hooks }), || {
        format!("{hooks} of its hooks are run again; the daemon does it at once")
    })?;
    Ok(Exit::Done)
}

/// Prints the newest events, and those that come, until it is interrupted.
async fn tail(setup: &Setup, args: &EventsListArgs, out: Out) -> Result<Exit, Failure> {
    let mut seen = BTreeSet::new();
    loop {
        let mut view = asked(setup, args).await?;
        view.items.retain(|item| seen.insert((item.merchant.clone(), item.id.clone())));
        match out.form {
            Output::Json | Output::Yaml => {
                for item in view.items.iter().rev() {
                    out.text(&serde_json::to_string(item).map_err(Failure::bug)?)?;
                }
            }
            Output::Text | Output::Markdown => {
                out.text(&render::events::tail(&view.items, out.color))?;
            }
        }
        tokio::select! {
            exit = signals::stop() => return Ok(exit),
            () = tokio::time::sleep(TAIL_EVERY) => {}
        }
    }
}

/// Prints the Event URL of the partner application, to which the service appends the reference, and the
/// stable link of every application that its applicant has to finish. All of them are secrets.
async fn urls(setup: &Setup, out: Out) -> Result<Exit, Failure> {
    let addresses = match &setup.server {
        Some(server) => {
            serde_json::from_value(server.look(Look::Urls).await?).map_err(Failure::bug)?
        }
        None => addresses(setup)?,
    };
    out.result(&addresses, || text(&addresses))?;
    Ok(Exit::Done)
}

/// What there is to print.
pub(super) fn addresses(setup: &Setup) -> Result<Addresses, Failure> {
    let base = base(setup)?;
    let outside = setup.outside()?;
    let partner = Partner { event_url: outside.event_url(&base) };
    let documents = documents(setup);
    let link = |key: &Key| Applicant { application: key.short(), url: outside.link(&base, key) };
    let gateway = |(key, mode): &(Key, Mode)| Gateway {
        merchant: key.short(),
        mode: *mode,
        url: outside.gateway_url(&base, key, *mode),
    };
    Ok(Addresses {
        partner,
        gateway: documents.merchants.iter().map(gateway).collect(),
        applicants: documents.applicants.iter().map(link).collect(),
    })
}

/// The address under which the world finds the daemon; without one of its own it is the private listener's.
pub(super) fn base(setup: &Setup) -> Result<String, Failure> {
    if let Some(url) = &setup.config.public_url {
        return Ok(url.get(&ProcessEnv)?.as_str().trim_end_matches('/').to_owned());
    }
    let listen = setup.config.listen.get(&ProcessEnv)?;
    let running = (listen.port() == 0).then(|| running(setup)).flatten();
    Ok(running.unwrap_or_else(|| format!("http://{listen}")))
}

/// Where the daemon listens that took a free port.
fn running(setup: &Setup) -> Option<String> {
    let text = std::fs::read_to_string(setup.state.join("addresses.json")).ok()?;
    let told: serde_json::Value = serde_json::from_str(&text).ok()?;
    told.get("http")?.as_str().map(str::to_owned)
}

fn text(addresses: &Addresses) -> String {
    let first = format!("Event URL  {}", addresses.partner.event_url);
    let merchants = addresses.gateway.iter();
    let merchants = merchants.map(|one| format!("{} ({})  {}", one.merchant, one.mode, one.url));
    let links = addresses.applicants.iter();
    let links = links.map(|one| format!("{}  {}", one.application, one.url));
    let all: Vec<String> = [first].into_iter().chain(merchants).chain(links).collect();
    all.join("\n")
}

/// Documents that have an address of their own.
struct Documents {
    /// Merchants, and their modes.
    merchants: Vec<(Key, Mode)>,
    /// Applications that someone else finishes.
    applicants: Vec<Key>,
}

fn documents(setup: &Setup) -> Documents {
    let mut loader = setup.loader();
    loader.load_all();
    let mut found = Documents { merchants: Vec::new(), applicants: Vec::new() };
    for (key, manifest) in &loader.desired().manifests {
        let spec = manifest.unpack().spec;
        let mode = spec.get("mode").and_then(|mode| serde_json::from_value(mode.clone()).ok());
        if let Some(mode) = mode.filter(|_| key.kind.as_str() == MERCHANT) {
            found.merchants.push((key.clone(), mode));
        }
        if spec.get("submission").is_some_and(|submission| submission == "sign_up") {
            found.applicants.push(key.clone());
        }
    }
    found
}
