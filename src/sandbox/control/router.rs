//! Routing of the control paths, which answer only requests from this machine; and the paths about
//! the sandbox as a whole: its settings, the scenario played into it, its stored objects, served
//! requests and fault rules, for people and checkers. People see the same as pages, the first of
//! them at `/`: the service itself has nothing there.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use axum::extract::ConnectInfo;
use http::request::Parts;
use http::{Method, StatusCode};
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use crate::base::local::non_local_reason;
use crate::sandbox::answer::{Result, SandboxAnswer, SandboxRefusal};
use crate::sandbox::body::ControlOrder;
use crate::sandbox::control::page::lists::{self, parameter};
use crate::sandbox::control::page::{data, orders, overview};
use crate::sandbox::control::{clock, mailbox, merchants, snapshot, triggers};
use crate::sandbox::merchants::events;
use crate::sandbox::onboarding::record;
use crate::sandbox::pages::{START_PATH, wants_page};
use crate::sandbox::request::pairs;
use crate::sandbox::server::{LockedState, Sandbox};
use crate::sandbox::state::faults::{FAULTS, FaultRule};
use crate::sandbox::state::objects::{ObjectKind, ObjectOwner, Stored};
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

/// Returns true for the sandbox's first page, which only this machine sees.
pub(crate) fn is_page(parts: &Parts) -> bool {
    parts.method == Method::GET && parts.uri.path() == START_PATH && is_local(parts)
}

pub(crate) fn serve(sandbox: &Sandbox, parts: &Parts, body: &[u8]) -> SandboxAnswer {
    if !orders::is_form(parts) {
        return route(sandbox, parts, body).into();
    }
    let order = orders::parse(body);
    let result = route(sandbox, parts, &order.body);
    orders::answer(&sandbox.inner.environment.options.brand, parts, &order, result)
}

fn route(sandbox: &Sandbox, parts: &Parts, body: &[u8]) -> Result<SandboxAnswer> {
    let path: Vec<&str> = parts.uri.path().split('/').filter(|part| !part.is_empty()).collect();
    let rest = path.get(1..).unwrap_or_default();
    let order = || ControlOrder::parse(body);
    match (parts.method.as_str(), rest) {
        ("GET", []) if path.is_empty() => first_page(sandbox, parts),
        ("GET", []) => Ok(SandboxAnswer::redirect(StatusCode::FOUND, START_PATH)),
        ("GET", ["merchants", id]) => read(sandbox, |cx| {
            lists::merchant(cx, id, &pairs(parts.uri.query().unwrap_or_default()))
        }),
        ("GET", ["credentials"]) => read(sandbox, merchants::credentials),
        ("POST", ["credentials"]) => {
            change(sandbox, |cx| merchants::issue_authorization_code(cx, &order()?))
        }
        ("GET", ["partner"]) => read(sandbox, merchants::partner),
        ("POST", ["partner"]) => change(sandbox, |cx| merchants::set_partner(cx, &order()?)),
        ("POST", ["applications", id, "decision"]) => {
            change(sandbox, |cx| triggers::decide_application(cx, id, &order()?))
        }
        ("DELETE", ["applications", id]) => change(sandbox, |cx| {
            record::delete(cx, id)?;
            SandboxAnswer::json(&json!({}))
        }),
        ("POST", ["transactions", id, "settlement"]) => {
            change(sandbox, |cx| triggers::settle(cx, id, &order()?))
        }
        ("POST", ["events"]) => change(sandbox, |cx| triggers::trigger_event(cx, &order()?)),
        ("GET", ["webhooks"]) => read(sandbox, |cx| SandboxAnswer::json(&outbox::show(cx)?)),
        ("POST", ["webhooks", id, "redeliver"]) => {
            change(sandbox, |cx| SandboxAnswer::json(&outbox::redeliver(cx, id)?))
        }
        ("GET", ["settings"]) => read(sandbox, settings),
        ("POST", ["settings"]) => change(sandbox, |cx| set_settings(cx, &order()?)),
        ("POST", ["accounts"]) => change(sandbox, |cx| merchants::add_account(cx, &order()?)),
        ("GET", ["policy"]) => read(sandbox, merchants::list_policies),
        ("POST", ["policy"]) => change(sandbox, |cx| merchants::set_policy(cx, &order()?)),
        ("GET", ["clock"]) => read(sandbox, clock::show),
        ("POST", ["clock"]) => clock::turn(sandbox, &order()?),
        ("GET", ["faults"]) => faults(sandbox),
        ("POST", ["faults"]) => {
            let order = order()?;
            change_locked(sandbox, |live, cx| add_fault(live, cx, order.value()))
        }
        ("DELETE", ["faults"]) => change_locked(sandbox, |live, cx| remove_faults(live, cx, None)),
        ("DELETE", ["faults", id]) => {
            change_locked(sandbox, |live, cx| remove_faults(live, cx, Some(id)))
        }
        ("POST", ["faults", id, "remove"]) => {
            change_locked(sandbox, |live, cx| remove_faults(live, cx, Some(id)))
        }
        ("GET", ["objects", kind]) => read(sandbox, |cx| objects(cx, kind)),
        ("GET", ["ledger"]) => read(sandbox, |cx| SandboxAnswer::json(&logs::render_ledger(cx)?)),
        ("GET", ["requests"]) => read(sandbox, |cx| requests(cx, parts)),
        ("GET", ["scenario"]) => read(sandbox, scenario),
        ("POST", ["scenario"]) => change(sandbox, |cx| record_scenario(cx, &order()?)),
        ("GET", ["mailbox", which @ ..]) => read(sandbox, |cx| mailbox::show(cx, parts, which)),
        ("GET", ["assets", name]) => mailbox::asset(name),
        ("POST", ["reset"]) => {
            sandbox.start_over()?;
            SandboxAnswer::json(&json!({}))
        }
        ("GET", ["snapshot"]) => snapshot::save(sandbox),
        ("POST", ["restore"]) => snapshot::restore(sandbox, body),
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

fn first_page(sandbox: &Sandbox, parts: &Parts) -> Result<SandboxAnswer> {
    let query = pairs(parts.uri.query().unwrap_or_default());
    let mut live = sandbox.lock();
    let now = sandbox.now(&live);
    sandbox.catch_up(&mut live, now)?;
    let shown = data::overview(&sandbox.cx(&live, now), &live.faults, parameter(&query, "after"))?;
    let brand = &sandbox.inner.environment.options.brand;
    Ok(overview::page(brand, &shown, parameter(&query, "done")))
}

/// GET of the sandbox's choices where the service's documents leave one open.
fn settings(cx: &ChangeUnit) -> Result<SandboxAnswer> {
    SandboxAnswer::json(&json!({
        "duplicate_source_id": cx.settings.duplicate_source_id,
        "paying_minutes": cx.settings.paying_minutes,
    }))
}

fn set_settings(cx: &mut ChangeUnit, order: &ControlOrder) -> Result<SandboxAnswer> {
    let help = "duplicate_source_id is `same` or `refuse`";
    order.set("duplicate_source_id", help, &mut cx.settings_mut().duplicate_source_id)?;
    let help = "paying_minutes is a whole number of minutes";
    order.set("paying_minutes", help, &mut cx.settings_mut().paying_minutes)?;
    cx.save_settings()?;
    settings(cx)
}

const SCENARIO: &str = "m/scenario";

/// `{digest, requests}`: the digest of the scenario that was played completely, so that a second
/// start does not play it again, and the number of stored requests.
fn scenario(cx: &ChangeUnit) -> Result<SandboxAnswer> {
    let digest: Option<String> = cx.get(SCENARIO)?;
    let requests = cx.entries("request/")?.len();
    SandboxAnswer::json(&json!({ "digest": digest, "requests": requests }))
}

/// `{digest}`: records that this scenario was played completely.
fn record_scenario(cx: &mut ChangeUnit, order: &ControlOrder) -> Result<SandboxAnswer> {
    cx.put(SCENARIO, &order.need::<String>("digest", "Name a digest")?)?;
    SandboxAnswer::json(&json!({}))
}

const KINDS: [(&str, ObjectKind); 12] = [
    ("contacts", ObjectKind::CONTACT),
    ("contact_hashes", ObjectKind::CONTACT_HASH),
    ("files", ObjectKind::FILE),
    ("invoices", ObjectKind::INVOICE),
    ("cards", ObjectKind::CARD),
    ("banks", ObjectKind::BANK),
    ("recurring_charges", ObjectKind::RECURRING_CHARGE),
    ("occurrences", ObjectKind::OCCURRENCE),
    ("applications", ObjectKind::APPLICATION),
    ("transactions", ObjectKind::TRANSACTION),
    ("events", ObjectKind::EVENT),
    ("tokens", ObjectKind::TOKEN),
];

/// Lists every object of a kind in order of creation, with merchant and mode, one object a line.
fn objects(cx: &ChangeUnit, kind: &str) -> Result<SandboxAnswer> {
    let known = KINDS.iter().find(|(path, _)| *path == kind);
    let (_, kind) = known.ok_or_else(SandboxRefusal::no_path)?;
    let merchants = cx.merchants()?.into_iter().map(|merchant| (merchant.id, merchant.name));
    let names: BTreeMap<String, String> = merchants.collect();
    let lines = owned_objects(cx, *kind)?.into_iter().map(|(owner, mut object)| {
        object.insert("merchant".to_owned(), json!(names.get(&owner.merchant)));
        object.insert("mode".to_owned(), json!(owner.mode));
        Value::Object(object)
    });
    Ok(SandboxAnswer::lines(&lines.collect::<Vec<_>>()))
}

fn owned_objects(
    cx: &ChangeUnit,
    kind: ObjectKind,
) -> Result<Vec<(ObjectOwner, Map<String, Value>)>> {
    if kind.word == ObjectKind::EVENT.word {
        return events::all(cx);
    }
    let all = cx.all::<Map<String, Value>, IgnoredAny>(kind)?.into_iter();
    Ok(all.map(|Stored { object, owner, .. }| (owner, object)).collect())
}

fn requests(cx: &ChangeUnit, parts: &Parts) -> Result<SandboxAnswer> {
    let query = pairs(parts.uri.query().unwrap_or_default());
    if wants_page(parts) {
        return lists::requests(cx, &query);
    }
    let limit = query.get("limit").and_then(|values| values.first());
    let limit = limit.and_then(|text| text.parse::<usize>().ok()).unwrap_or(usize::MAX);
    let mut requests: Vec<Value> = cx.values("request/")?;
    requests.drain(..requests.len().saturating_sub(limit));
    SandboxAnswer::json(&json!({ "total": logs::requests_total(cx)?, "requests": requests }))
}

fn faults(sandbox: &Sandbox) -> Result<SandboxAnswer> {
    let live = sandbox.lock();
    let shown: Vec<Value> = live.faults.iter().map(FaultRule::show).collect();
    SandboxAnswer::json(&json!({ "faults": shown }))
}

fn add_fault(live: &mut LockedState, cx: &mut ChangeUnit, order: &Value) -> Result<SandboxAnswer> {
    let fault = FaultRule::read(cx.fresh_gateway_id(), order)?;
    let id = fault.id.clone();
    live.faults.push(fault);
    cx.put(FAULTS, &live.faults)?;
    SandboxAnswer::json(&json!({ "id": id }))
}

fn remove_faults(
    live: &mut LockedState,
    cx: &mut ChangeUnit,
    id: Option<&str>,
) -> Result<SandboxAnswer> {
    if let Some(id) = id
        && !live.faults.iter().any(|fault| fault.id == id)
    {
        return Err(SandboxRefusal::not_found("Fault", id));
    }
    live.faults.retain(|fault| id.is_some_and(|id| fault.id != id));
    cx.put(FAULTS, &live.faults)?;
    SandboxAnswer::json(&json!({}))
}
