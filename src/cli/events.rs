//! `events urls`: where the service has to send its notifications, and the links of applicants.

use serde_json::json;

use super::exit::{Exit, Failure};
use super::out::Out;
use super::setup::Setup;
use crate::base::id::Key;
use crate::config::ProcessEnv;

/// Prints the Event URL of the partner application, to which the service appends the reference, and the
/// stable link of every application that its applicant has to finish. All of them are secrets.
pub(super) fn urls(setup: &Setup, out: Out) -> Result<Exit, Failure> {
    let base = match &setup.config.public_url {
        Some(url) => url.get(&ProcessEnv)?.as_str().trim_end_matches('/').to_owned(),
        None => format!("http://{}", setup.config.listen.get(&ProcessEnv)?),
    };
    let outside = setup.outside()?;
    let event_url = outside.event_url(&base);
    let links: Vec<(String, String)> =
        applicants(setup).iter().map(|key| (key.short(), outside.link(&base, key))).collect();
    let items: Vec<_> =
        links.iter().map(|(name, url)| json!({ "application": name, "url": url })).collect();
    let value = json!({ "partner": { "event_url": event_url }, "applicants": items });
    out.result(&value, || text(&event_url, &links))?;
    Ok(Exit::Done)
}

fn text(event_url: &str, links: &[(String, String)]) -> String {
    let links = links.iter().map(|(name, url)| format!("{name}  {url}"));
    let all: Vec<String> = [format!("Event URL  {event_url}")].into_iter().chain(links).collect();
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
