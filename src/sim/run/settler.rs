//! Settler of intents on hold: a person who compares them with the service at intervals, and
//! resolves them.
//!
//! The settler never lies. A person who cannot know yet waits: until no effect of a call can still
//! happen and, for an object that may have a twin, until all faults are over. A person without an
//! answer does not assume that the engine got the request, and looks again in the process' next
//! life.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;
use tokio::time::Instant;

use crate::base::hash::Mark;
use crate::base::id::RemoteId;
use crate::engine::protocol::actions::{ManualResolution, ResolveIntent, ResolveResult};
use crate::engine::protocol::input::EngineCommand;
use crate::engine::protocol::intents::IntentView;
use crate::engine::protocol::query::{IntentsQuery, Reply};
use crate::sim::machine::process::{GRACE, TIMEOUT};
use crate::sim::plan::documents::{DocBody, DocTree, FileChange};
use crate::sim::plan::people::Settler;
use crate::sim::plan::script::SimScript;
use crate::sim::run::memory::{ACTOR, Memory, command, query};
use crate::sim::service::control::{find, mark_of, text};
use crate::sim::service::post_office::EngineSender;
use crate::sim::service::sandbox::{Objects, SandboxControl};

pub(crate) async fn run_settler(
    settler: Option<Settler>,
    memory: &Memory,
    world: (&SandboxControl, &DocTree),
    engine: &EngineSender,
) {
    let Some(settler) = settler else { return };
    let look = async || settle_once(settler, memory, world, engine).await;
    memory.look_at_intervals("settler", settler.every_s, look).await;
}

/// Looks once at every intent on hold. Returns `None` if the engine did not answer, else whether
/// the settler did anything.
async fn settle_once(
    settler: Settler,
    memory: &Memory,
    (desk, ever): (&SandboxControl, &DocTree),
    engine: &EngineSender,
) -> Option<bool> {
    let mut held = query(engine, IntentsQuery).await?.items;
    held.retain(|view| view.state == "held");
    let waits = note_holds(memory, &held);
    if held.is_empty() {
        return Some(false);
    }
    let objects = desk.objects().await;
    let mut spoke = waits;
    for view in held {
        let Some(said) = resolution(settler, memory, &view, (&objects, ever)) else { continue };
        let resolved = resolve_intent(engine, &view, said.clone()).await?;
        if let Some(id) = unverified_id(&view, &objects, said, &resolved) {
            resolve_intent(engine, &view, ManualResolution::Unverified(id)).await?;
        }
        memory.notes().on_hold_since.remove(&view.id);
        spoke = true;
    }
    Some(spoke)
}

/// Returns the id that the person confirms without verification. The object either cannot be read,
/// or differs from the request and carries the intent's own name in the books. A wrong object is
/// never confirmed.
fn unverified_id(
    view: &IntentView,
    objects: &Objects,
    said: ManualResolution,
    resolved: &ResolveResult,
) -> Option<RemoteId> {
    let ManualResolution::Done(id) = said else { return None };
    let differs = matches!(resolved, ResolveResult::Differs(..));
    let confirms = matches!(resolved, ResolveResult::Unverified(..))
        || differs && objects.has_name(&id, &[&view.mark, &view.source_id]);
    confirms.then_some(id)
}

async fn resolve_intent(
    engine: &EngineSender,
    view: &IntentView,
    said: ManualResolution,
) -> Option<ResolveResult> {
    let id = view.id.parse().ok()?;
    let resolving = ResolveIntent { id, said, actor: ACTOR.to_owned() };
    let answer = command(engine, EngineCommand::Resolve(resolving)).await?;
    if let Reply::Resolved(resolved) = answer { Some(resolved) } else { None }
}

/// Notes the intents on hold. Returns true if one of them is too young to be judged.
fn note_holds(memory: &Memory, held: &[IntentView]) -> bool {
    let mut notes = memory.notes();
    notes.on_hold_since.retain(|id, _| held.iter().any(|view| view.id == *id));
    for view in held {
        notes.on_hold_since.entry(view.id.clone()).or_insert_with(Instant::now);
    }
    notes.on_hold_since.values().any(|since| !cannot_take_effect(*since))
}

/// Returns true if no call sent before this moment can still take effect.
fn cannot_take_effect(since: Instant) -> bool {
    since.elapsed() > TIMEOUT.saturating_add(GRACE)
}

/// Returns the person's resolution of an intent, if the person can know it.
fn resolution(
    settler: Settler,
    memory: &Memory,
    view: &IntentView,
    world: (&Objects, &DocTree),
) -> Option<ManualResolution> {
    let mut notes = memory.notes();
    if !notes.on_hold_since.get(&view.id).is_some_and(|since| cannot_take_effect(*since)) {
        return None;
    }
    let said = proven_resolution(view, world, notes.faults_over)?;
    let first = settler.retries && notes.retried.insert(view.id.clone());
    Some(if first { ManualResolution::Retry } else { said })
}

/// Returns the resolution that the service proves; `None` if nothing can be known, or not yet.
fn proven_resolution(
    view: &IntentView,
    (objects, ever): (&Objects, &DocTree),
    calm: bool,
) -> Option<ManualResolution> {
    let shown =
        |object: Option<&Value>| object.map_or(Some(ManualResolution::NotDone), done_resolution);
    match view.effect.as_str() {
        "contact.create" => contact_resolution(view, (objects, ever), calm),
        "application.submit" => shown(find(&objects.applications, "reference", &view.mark)),
        "card.save" | "bank.save" => shown(find(&objects.methods, "reference", &view.mark)),
        "recurring.create" | "charge.recur" => {
            shown(objects.recurring.iter().find(|one| mark_of(one) == view.mark))
        }
        "invoice.create" => shown(find(&objects.invoices, "source_id", &view.source_id)),
        "charge.create" | "credit.create" => transaction_resolution(view, objects, &|one| {
            Mark::find_in(text(one, "reference")).is_some_and(|mark| mark.as_str() == view.mark)
        }),
        "charge.refund" => transaction_resolution(view, objects, &|one| {
            one.pointer("/data/reckon").and_then(Value::as_str) == Some(view.mark.as_str())
        }),
        // The changed object shows the change, so a retry of the lookup is enough.
        "recurring.change" | "card.change" | "bank.change" | "card.delete" | "bank.delete" => {
            Some(ManualResolution::Retry)
        }
        // A lost answer of any other effect shows nowhere.
        _ => None,
    }
}

fn done_resolution(object: &Value) -> Option<ManualResolution> {
    RemoteId::new(text(object, "id")).ok().map(ManualResolution::Done)
}

/// Returns the resolution of a transaction that a command made, unless the transaction was
/// declined.
fn transaction_resolution(
    view: &IntentView,
    objects: &Objects,
    ours: &dyn Fn(&Value) -> bool,
) -> Option<ManualResolution> {
    let mut all = objects.transactions.iter().filter(|one| text(one, "status") != "FAILED");
    match all.find(|one| ours(one)) {
        Some(one) => done_resolution(one),
        // The documents define no reference for a credit.
        None if view.effect == "credit.create" => None,
        None => Some(ManualResolution::NotDone),
    }
}

/// Returns the resolution of a contact. A contact carries no name, so its address and creation time
/// identify it. A second contact of the same time may be a twin; the two are distinguished once all
/// faults are over.
fn contact_resolution(
    view: &IntentView,
    (objects, ever): (&Objects, &DocTree),
    calm: bool,
) -> Option<ManualResolution> {
    let doc = ever.get(view.key.name.as_str())?;
    let asked: DateTime<Utc> = view.at.parse().ok()?;
    let since = asked.checked_sub_signed(TimeDelta::seconds(1))?;
    let young = |one: &&Value| {
        let made = one.pointer("/created/timestamp").and_then(Value::as_str);
        made.and_then(|at| at.parse::<DateTime<Utc>>().ok()).is_some_and(|at| at >= since)
    };
    let mine = objects.contacts.iter().filter(|one| text(one, "preferred_email") == doc.email());
    let mine: Vec<&Value> = mine.filter(young).collect();
    match mine.as_slice() {
        [] => Some(ManualResolution::NotDone),
        [one] => done_resolution(one),
        [.., newest] => done_resolution(newest).filter(|_| calm),
    }
}

pub(crate) fn contact_documents(script: &SimScript) -> DocTree {
    let changes = script.steps.iter().flat_map(|step| &step.changes);
    let written = changes
        .filter_map(|change| if let FileChange::Write(doc) = change { Some(doc) } else { None });
    let mut ever = script.files.clone();
    ever.extend(written.map(|doc| (doc.name.clone(), doc.clone())));
    ever.retain(|_, doc| matches!(doc.body, DocBody::Contact { .. }));
    ever
}
