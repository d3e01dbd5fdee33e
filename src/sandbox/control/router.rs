//! Routing of the control paths, which answer only requests from this machine.

use std::net::SocketAddr;

use axum::extract::ConnectInfo;
use http::request::Parts;

use crate::base::local::non_local_reason;
use crate::sandbox::answer::{Result, SandboxAnswer, SandboxRefusal};
use crate::sandbox::body::ControlOrder;
use crate::sandbox::control::{mailbox, merchants, state, triggers};
use crate::sandbox::request::pairs;
use crate::sandbox::server::{LockedState, Sandbox};
use crate::sandbox::state::store::ChangeUnit;
use crate::sandbox::state::{logs, outbox};

const PREFIX: &str = "_sandbox";

pub(crate) fn is_control(path: &str) -> bool {
    path.split('/').find(|part| !part.is_empty()) == Some(PREFIX)
}

/// Returns true for a request from this machine to this machine. Other clients get no such path.
pub(crate) fn is_local(parts: &Parts) -> bool {
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip());
    non_local_reason(peer, &parts.headers, &parts.uri).is_none()
}

pub(crate) fn serve(sandbox: &Sandbox, parts: &Parts, body: &[u8]) -> SandboxAnswer {
    route(sandbox, parts, body).into()
}

fn route(sandbox: &Sandbox, parts: &Parts, body: &[u8]) -> Result<SandboxAnswer> {
    let path: Vec<&str> = parts.uri.path().split('/').filter(|part| !part.is_empty()).collect();
    let rest = path.get(1..).unwrap_or_default();
    let order = || ControlOrder::parse(body);
    match (parts.method.as_str(), rest) {
        ("GET", ["credentials"]) => read(sandbox, merchants::credentials),
        ("POST", ["credentials"]) => {
            change(sandbox, |cx| merchants::issue_authorization_code(cx, &order()?))
        }
        ("GET", ["partner"]) => read(sandbox, merchants::partner),
        ("POST", ["partner"]) => change(sandbox, |cx| merchants::set_partner(cx, &order()?)),
        ("POST", ["applications", id, "decision"]) => {
            change(sandbox, |cx| triggers::decide_application(cx, id, &order()?))
        }
        ("DELETE", ["applications", id]) => {
            change(sandbox, |cx| triggers::delete_application(cx, id))
        }
        ("POST", ["transactions", id, "settlement"]) => {
            change(sandbox, |cx| triggers::settle(cx, id, &order()?))
        }
        ("POST", ["events"]) => change(sandbox, |cx| triggers::trigger_event(cx, &order()?)),
        ("GET", ["webhooks"]) => read(sandbox, |cx| SandboxAnswer::json(&outbox::show(cx)?)),
        ("POST", ["webhooks", id, "redeliver"]) => {
            change(sandbox, |cx| SandboxAnswer::json(&outbox::redeliver(cx, id)?))
        }
        ("GET", ["settings"]) => read(sandbox, state::settings),
        ("POST", ["settings"]) => change(sandbox, |cx| state::set_settings(cx, &order()?)),
        ("POST", ["accounts"]) => change(sandbox, |cx| merchants::add_account(cx, &order()?)),
        ("GET", ["policy"]) => read(sandbox, merchants::list_policies),
        ("POST", ["policy"]) => change(sandbox, |cx| merchants::set_policy(cx, &order()?)),
        ("GET", ["clock"]) => read(sandbox, state::clock),
        ("POST", ["clock"]) => state::set_clock(sandbox, &order()?),
        ("GET", ["faults"]) => state::faults(sandbox),
        ("POST", ["faults"]) => {
            let order = order()?;
            change_locked(sandbox, |live, cx| state::add_fault(live, cx, &order))
        }
        ("DELETE", ["faults"]) => {
            change_locked(sandbox, |live, cx| state::remove_faults(live, cx, None))
        }
        ("DELETE", ["faults", id]) => {
            change_locked(sandbox, |live, cx| state::remove_faults(live, cx, Some(id)))
        }
        ("GET", ["objects", kind]) => read(sandbox, |cx| state::objects(cx, kind)),
        ("GET", ["ledger"]) => read(sandbox, |cx| SandboxAnswer::json(&logs::render_ledger(cx)?)),
        ("GET", ["requests"]) => {
            let query = pairs(parts.uri.query().unwrap_or_default());
            read(sandbox, |cx| state::requests(cx, &query))
        }
        ("GET", ["scenario"]) => read(sandbox, state::scenario),
        ("POST", ["scenario"]) => change(sandbox, |cx| state::record_scenario(cx, &order()?)),
        ("GET", ["mailbox", which @ ..]) => read(sandbox, |cx| mailbox::show(cx, parts, which)),
        ("GET", ["assets", name]) => mailbox::asset(name),
        ("POST", ["reset"]) => state::reset(sandbox),
        ("GET", ["snapshot"]) => state::snapshot(sandbox),
        ("POST", ["restore"]) => state::restore(sandbox, body),
        _ => Err(SandboxRefusal::no_path()),
    }
}

fn read(
    sandbox: &Sandbox,
    look: impl FnOnce(&ChangeUnit) -> Result<SandboxAnswer>,
) -> Result<SandboxAnswer> {
    let mut live = sandbox.lock();
    let now = sandbox.now(&live);
    sandbox.catch_up(&mut live, now)?;
    look(&sandbox.cx(&live, now))
}

fn change(
    sandbox: &Sandbox,
    act: impl FnOnce(&mut ChangeUnit) -> Result<SandboxAnswer>,
) -> Result<SandboxAnswer> {
    change_locked(sandbox, |_, cx| act(cx))
}

fn change_locked(
    sandbox: &Sandbox,
    act: impl FnOnce(&mut LockedState, &mut ChangeUnit) -> Result<SandboxAnswer>,
) -> Result<SandboxAnswer> {
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
