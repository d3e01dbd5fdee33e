//! `events urls`: where the service has to send its notifications, and the links of applicants.

use serde::{Deserialize, Serialize};

use super::exit::{Exit, Failure};
use super::out::Out;
use super::setup::Setup;
use crate::base::id::Key;
use crate::config::ProcessEnv;
use crate::control::look::Look;

/// What `events urls -o json` prints.
#[derive(Serialize, Deserialize)]
pub(super) struct Addresses {
    partner: Partner,
    applicants: Vec<Applicant>,
}

#[derive(Serialize, Deserialize)]
struct Partner {
    event_url: String,
}

#[derive(Serialize, Deserialize)]
struct Applicant {
    application: String,
    url: String,
}

/// Prints the Event URL of the partner application, to which the service appends the reference, and the
/// stable link of every application that its applicant has to finish. All of them are secrets.
pub(super) async fn urls(setup: &Setup, out: Out) -> Result<Exit, Failure> {
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
    let link = |key: &Key| Applicant { application: key.short(), url: outside.link(&base, key) };
    Ok(Addresses { partner, applicants: applicants(setup).iter().map(link).collect() })
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
    let links = addresses.applicants.iter();
    let links = links.map(|one| format!("{}  {}", one.application, one.url));
    let first = format!("Event URL  {}", addresses.partner.event_url);
    let all: Vec<String> = [first].into_iter().chain(links).collect();
    all.join("\n")
}

/// The applications that someone else finishes.
fn applicants(setup: &Setup) -> Vec<Key> {
    let mut loader = setup.loader();
    loader.load_all();
    let manifests = loader.desired().manifests.iter();
    let waits = manifests.filter(|(_, manifest)| {
        let spec = manifest.unpack().spec;
        spec.get("submission").is_some_and(|submission| submission == "sign_up")
    });
    waits.map(|(key, _)| key.clone()).collect()
}
