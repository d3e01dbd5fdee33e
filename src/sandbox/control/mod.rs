//! The sandbox's control paths, for people, tests and checkers on this machine only. They are no
//! part of the emulated service, do not count as requests to it, and faults never strike them.

mod accounts;
mod applications;
mod clock;
pub mod event_fields;
mod events;
mod faults;
pub mod geo_rules;
pub mod lookups;
mod mailbox;
mod partner;
mod policy;
mod requirements;
mod scenario;
mod settlement;
mod store;

use std::net::SocketAddr;

use axum::extract::ConnectInfo;
use http::request::Parts;
use serde_json::Value;

use super::http::answer::SandboxAnswer;
use super::http::lenient_json;
use super::http::refusal::SandboxRefusal;
use super::http::request::pairs;
use super::server::{LockedState, Sandbox};
use super::state::store::ChangeUnit;
use super::state::{ledger, outbox};
use crate::base::local::non_local_reason;

const PREFIX: &str = "_sandbox";

/// Returns true for a control path.
pub(crate) fn is_control(path: &str) -> bool {
    path.split('/').find(|part| !part.is_empty()) == Some(PREFIX)
}

/// Returns true for a request from this machine to this machine. Other clients get no such path.
pub(crate) fn is_local(parts: &Parts) -> bool {
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip());
    non_local_reason(peer, &parts.headers, &parts.uri).is_none()
}

/// Serves a control request from this machine.
pub(crate) fn serve(sandbox: &Sandbox, parts: &Parts, body: &[u8]) -> SandboxAnswer {
    match route(sandbox, parts, body) {
        Ok(answer) => answer,
        Err(refusal) => SandboxAnswer::from_refusal(&refusal),
    }
}

fn route(sandbox: &Sandbox, parts: &Parts, body: &[u8]) -> Result<SandboxAnswer, SandboxRefusal> {
    let path: Vec<&str> = parts.uri.path().split('/').filter(|part| !part.is_empty()).collect();
    let rest = path.get(1..).unwrap_or_default();
    match (parts.method.as_str(), rest) {
        ("GET", ["credentials"]) => read(sandbox, partner::credentials),
        ("POST", ["credentials"]) => {
            let order = object(body)?;
            change(sandbox, |_, cx| partner::issue(cx, &order))
        }
        ("GET", ["partner"]) => read(sandbox, partner::show),
        ("POST", ["partner"]) => {
            let order = object(body)?;
            change(sandbox, |_, cx| partner::set(cx, &order))
        }
        ("POST", ["applications", id, "decision"]) => {
            let order = object(body)?;
            change(sandbox, |_, cx| applications::decision(cx, id, &order))
        }
        ("DELETE", ["applications", id]) => change(sandbox, |_, cx| applications::delete(cx, id)),
        ("POST", ["transactions", id, "settlement"]) => {
            let order = object(body)?;
            change(sandbox, |_, cx| settlement::settle(cx, id, &order))
        }
        ("POST", ["events"]) => change(sandbox, |_, cx| events::trigger(cx, &object(body)?)),
        ("GET", ["webhooks"]) => read(sandbox, |cx| SandboxAnswer::json(&outbox::show(cx)?)),
        ("POST", ["webhooks", id, "redeliver"]) => {
            change(sandbox, |_, cx| SandboxAnswer::json(&outbox::redeliver(cx, id)?))
        }
        ("GET", ["settings"]) => read(sandbox, partner::settings),
        ("POST", ["settings"]) => {
            let order = object(body)?;
            change(sandbox, |_, cx| partner::set_settings(cx, &order))
        }
        ("POST", ["accounts"]) => {
            let order = object(body)?;
            change(sandbox, |_, cx| accounts::add(cx, &order))
        }
        ("GET", ["policy"]) => read(sandbox, policy::list),
        ("POST", ["policy"]) => {
            let order = object(body)?;
            change(sandbox, |_, cx| policy::set(cx, &order))
        }
        ("GET", ["clock"]) => read(sandbox, clock::show),
        ("POST", ["clock"]) => clock::set(sandbox, &object(body)?),
        ("GET", ["faults"]) => Ok(faults::list(sandbox)?),
        ("POST", ["faults"]) => {
            let order = object(body)?;
            change(sandbox, |live, cx| faults::add(live, cx, &order))
        }
        ("DELETE", ["faults"]) => change(sandbox, |live, cx| faults::remove(live, cx, None)),
        ("DELETE", ["faults", id]) => {
            change(sandbox, |live, cx| faults::remove(live, cx, Some(id)))
        }
        ("GET", ["objects", kind]) => read(sandbox, |cx| lookups::objects(cx, kind)),
        ("GET", ["ledger"]) => read(sandbox, |cx| SandboxAnswer::json(&ledger::show(cx)?)),
        ("GET", ["requests"]) => {
            let query = pairs(parts.uri.query().unwrap_or_default());
            read(sandbox, |cx| lookups::requests(cx, &query))
        }
        ("GET", ["scenario"]) => read(sandbox, scenario::show),
        ("POST", ["scenario"]) => {
            let order = object(body)?;
            change(sandbox, |_, cx| scenario::record_played(cx, &order))
        }
        ("GET", ["mailbox", which @ ..]) => read(sandbox, |cx| mailbox::show(cx, parts, which)),
        ("GET", ["assets", name]) => mailbox::asset(name),
        ("POST", ["reset"]) => store::reset(sandbox),
        ("GET", ["snapshot"]) => store::snapshot(sandbox),
        ("POST", ["restore"]) => store::restore(sandbox, body),
        _ => Err(SandboxRefusal::no_path()),
    }
}

/// Parses a JSON object; an empty body is an empty object.
fn object(body: &[u8]) -> Result<Value, SandboxRefusal> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    let value = serde_json::from_slice(body)
        .map_err(|_| SandboxRefusal::malformed_body("Body is not JSON"))?;
    lenient_json::parse_body(value)
}

/// Runs a read on the state as of now.
fn read(
    sandbox: &Sandbox,
    look: impl FnOnce(&ChangeUnit<'_>) -> Result<SandboxAnswer, SandboxRefusal>,
) -> Result<SandboxAnswer, SandboxRefusal> {
    let mut live = sandbox.lock();
    let now = sandbox.now(&live);
    sandbox.catch_up(&mut live, now)?;
    look(&sandbox.cx(&live, now))
}

/// Runs a change of the state and commits it as one unit.
fn change(
    sandbox: &Sandbox,
    act: impl FnOnce(&mut LockedState, &mut ChangeUnit<'_>) -> Result<SandboxAnswer, SandboxRefusal>,
) -> Result<SandboxAnswer, SandboxRefusal> {
    let answer = {
        let mut live = sandbox.lock();
        let now = sandbox.now(&live);
        sandbox.catch_up(&mut live, now)?;
        let mut cx = sandbox.cx(&live, now);
        let answer = act(&mut live, &mut cx)?;
        sandbox.commit(&mut live, cx)?;
        answer
    };
    sandbox.inner.index.flush()?;
    Ok(answer)
}
