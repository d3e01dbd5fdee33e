//! People of a world while the machine lives. They read the intents on hold at intervals, compare
//! them with the service, and resolve them.
//!
//! People never lie. A person who cannot know yet waits: until no effect of a call can still happen
//! and, for an object that may have a twin, until all faults are over. A person without an answer
//! does not assume that the engine got the request, and looks again in the process' next life.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep};

use super::approver::{self, Seen};
use super::check::mark_of;
use super::desk::{Desk, Objects, text};
use super::machine::{GRACE, TIMEOUT};
use super::people::{People, Settler};
use super::world::{Body, Tree};
use crate::base::hash::Mark;
use crate::base::id::RemoteId;
use crate::engine::{Event, IntentView, Question, Reply, Resolved, Resolving, Said};

/// Consecutive looks without a request that end a person's work, once all faults are over.
const QUIET_LOOKS: u32 = 2;

/// Memory of the people across lives of the machine; clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory(Arc<Mutex<Notes>>);

/// Contents of the memory.
#[derive(Debug, Default)]
struct Notes {
    /// Set once all faults are over.
    calm: bool,
    /// Time since which each intent was seen on hold.
    held: BTreeMap<String, Instant>,
    /// Intents with a requested retry.
    retried: BTreeSet<String>,
    /// Consecutive looks of each person without a request, after the faults.
    quiet: BTreeMap<&'static str, u32>,
    /// Set if any person made a request since the last reset.
    spoke: bool,
    /// Successful and attempted approvals of each approver.
    approvals: BTreeMap<&'static str, (u32, u32)>,
    /// Plans that people saw before they approved them.
    seen: Vec<Seen>,
}

impl Memory {
    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that all faults are over.
    pub(super) fn calm(&self) {
        self.notes().calm = true;
    }

    /// Waits until no person has anything left to do. Returns true if no person made a request
    /// meanwhile.
    pub(super) async fn rested(&self, people: &People) -> bool {
        self.notes().quiet.clear();
        self.notes().spoke = false;
        while self.notes().quiet.values().filter(|looks| **looks >= QUIET_LOOKS).count()
            < people.count()
        {
            sleep(Duration::from_secs(1)).await;
        }
        !self.notes().spoke
    }

    /// Returns true if a person may approve once more, within these maxima of approvals and
    /// attempts.
    pub(super) fn may_approve(&self, who: &str, most: (u32, u32)) -> bool {
        let given = self.notes().approvals.get(who).copied().unwrap_or_default();
        given.0 < most.0 && given.1 < most.1
    }

    /// Notes a plan that a person saw and is about to approve.
    pub(super) fn saw(&self, seen: Seen) {
        self.notes().seen.push(seen);
    }

    /// Returns every plan that a person saw and was about to approve.
    pub(super) fn seen(&self) -> Vec<Seen> {
        self.notes().seen.clone()
    }

    /// Notes the answer to an approval.
    pub(super) fn approved(&self, who: &'static str, given: bool) {
        let mut notes = self.notes();
        let (approved, tried) = notes.approvals.entry(who).or_default();
        *approved = approved.saturating_add(u32::from(given));
        *tried = tried.saturating_add(1);
    }

    /// Notes the end of a look.
    pub(super) fn looked(&self, who: &'static str, spoke: bool) {
        let mut notes = self.notes();
        notes.spoke |= spoke;
        let calm = notes.calm;
        let quiet = notes.quiet.entry(who).or_default();
        *quiet = if spoke || !calm { 0 } else { quiet.saturating_add(1) };
    }
}

/// Runs all people for ever, beside another endless task.
pub(super) async fn beside(
    other: impl Future<Output = ()>,
    (people, memory): (&People, &Memory),
    world: (&Desk, &Tree),
    engine: &mpsc::Sender<Event>,
) {
    let approving = people.approvers.iter().map(|one| approver::approving(one, memory, engine));
    let approving = futures::future::join_all(approving);
    tokio::join!(other, settling(people.settler, memory, world, engine), approving);
}

/// Runs the settler for ever.
async fn settling(
    settler: Option<Settler>,
    memory: &Memory,
    world: (&Desk, &Tree),
    engine: &mpsc::Sender<Event>,
) {
    let Some(settler) = settler else { return };
    loop {
        sleep(Duration::from_secs(settler.every_s)).await;
        if let Some(spoke) = look(settler, memory, world, engine).await {
            memory.looked("settler", spoke);
        }
    }
}

/// Looks once at every intent on hold. Returns `None` if the engine did not answer, else whether
/// the settler did anything.
async fn look(
    settler: Settler,
    memory: &Memory,
    (desk, ever): (&Desk, &Tree),
    engine: &mpsc::Sender<Event>,
) -> Option<bool> {
    let Reply::Intents(intents) = ask(engine, Question::Intents).await? else { return None };
    let mut held = intents.items;
    held.retain(|view| view.state == "held");
    let waits = is_news(memory, &held);
    if held.is_empty() {
        return Some(false);
    }
    let objects = desk.objects().await;
    let mut spoke = waits;
    for view in held {
        let Some(said) = word(settler, memory, &view, (&objects, ever)) else { continue };
        let resolved = say(engine, &view, said.clone()).await?;
        if let Some(id) = vouched(&view, &objects, said, &resolved) {
            say(engine, &view, Said::Unverified(id)).await?;
        }
        memory.notes().held.remove(&view.id);
        spoke = true;
    }
    Some(spoke)
}

/// Returns the id that the person confirms without verification. The object either cannot be read,
/// or differs from the request and carries the intent's own name in the books. A wrong object is
/// never confirmed.
fn vouched(
    view: &IntentView,
    objects: &Objects,
    said: Said,
    resolved: &Resolved,
) -> Option<RemoteId> {
    let Said::Done(id) = said else { return None };
    match resolved {
        Resolved::Unverified(..) => Some(id),
        Resolved::Differs(..) => objects.named(&id, &[&view.mark, &view.source_id]).then_some(id),
        Resolved::Unknown | Resolved::Busy(_) | Resolved::Settled(_) | Resolved::Unsettled(..) => {
            None
        }
    }
}

/// Resolves an intent. Returns `None` if the engine did not answer.
async fn say(engine: &mpsc::Sender<Event>, view: &IntentView, said: Said) -> Option<Resolved> {
    let id = view.id.parse().ok()?;
    let resolving = Resolving { id, said, actor: "the simulator".to_owned() };
    let (reply, answer) = oneshot::channel();
    engine.send(Event::Resolve(resolving, reply)).await.ok()?;
    let Reply::Resolved(resolved) = answer.await.ok()? else { return None };
    Some(resolved)
}

/// Notes the intents on hold. Returns true if one of them is too young to be judged.
fn is_news(memory: &Memory, held: &[IntentView]) -> bool {
    let mut notes = memory.notes();
    notes.held.retain(|id, _| held.iter().any(|view| view.id == *id));
    for view in held {
        notes.held.entry(view.id.clone()).or_insert_with(Instant::now);
    }
    notes.held.values().any(|since| !is_over(*since))
}

/// Returns true if no call sent before this moment can still take effect.
fn is_over(since: Instant) -> bool {
    since.elapsed() > TIMEOUT.saturating_add(GRACE)
}

/// Returns the person's resolution of an intent, if the person can know it.
fn word(
    settler: Settler,
    memory: &Memory,
    view: &IntentView,
    world: (&Objects, &Tree),
) -> Option<Said> {
    let mut notes = memory.notes();
    if !notes.held.get(&view.id).is_some_and(|since| is_over(*since)) {
        return None;
    }
    let said = judged(view, world, notes.calm)?;
    let first = settler.retries && notes.retried.insert(view.id.clone());
    Some(if first { Said::Retry } else { said })
}

/// Returns true if the service's own books show the result of a lost answer of this effect. A tried
/// code shows nowhere. For unmarked objects only the engine's own earlier records can decide.
pub(super) fn knows(effect: &str) -> bool {
    !matches!(
        effect,
        "code.exchange"
            | "charge.schedule"
            | "charge.capture"
            | "credit.create"
            | "transaction.void"
            | "transaction.sign"
            | "occurrence.pay"
            | "occurrence.ignore"
            | "recurring.cancel"
            | "recurring.end"
            | "merchant.deauthorise"
            | "merchant.change"
            | "account.change"
            | "ach_account.change"
            | "merchant.purge"
            | "recurring.delete"
            | "vault.save"
    )
}

/// Returns the resolution that the service proves; `None` if nothing can be known, or not yet.
fn judged(view: &IntentView, (objects, ever): (&Objects, &Tree), calm: bool) -> Option<Said> {
    let shown = |all: &[Value], name: &dyn Fn(&Value) -> bool| {
        let id = all.iter().find(|one| name(one)).map(|one| text(one, "id"));
        id.map_or(Some(Said::NotDone), |id| RemoteId::new(id).ok().map(Said::Done))
    };
    let marked = |one: &Value| text(one, "reference") == view.mark;
    match view.effect.as_str() {
        "contact.create" => contact(view, (objects, ever), calm),
        "application.submit" => shown(&objects.applications, &marked),
        "card.save" | "bank.save" => shown(&objects.methods, &marked),
        "recurring.create" | "charge.recur" => {
            shown(&objects.recurring, &|one| mark_of(one) == view.mark)
        }
        "invoice.create" => {
            shown(&objects.invoices, &|one| text(one, "source_id") == view.source_id)
        }
        "charge.create" | "credit.create" => transaction(view, objects, &|one| {
            Mark::find_in(text(one, "reference")).is_some_and(|mark| mark.as_str() == view.mark)
        }),
        "charge.refund" => transaction(view, objects, &|one| {
            one.pointer("/data/reckon").and_then(Value::as_str) == Some(view.mark.as_str())
        }),
        // The changed object shows the change, so a retry of the lookup is enough.
        "recurring.change" | "card.change" | "bank.change" | "card.delete" | "bank.delete" => {
            Some(Said::Retry)
        }
        // A lost answer of any other effect shows nowhere.
        _ => None,
    }
}

/// Returns the resolution of a transaction that a command made, unless the transaction was
/// declined.
fn transaction(
    view: &IntentView,
    objects: &Objects,
    ours: &dyn Fn(&Value) -> bool,
) -> Option<Said> {
    let mut all = objects.transactions.iter().filter(|one| text(one, "status") != "FAILED");
    match all.find(|one| ours(one)) {
        Some(one) => RemoteId::new(text(one, "id")).ok().map(Said::Done),
        // The documents define no reference for a credit.
        None if view.effect == "credit.create" => None,
        None => Some(Said::NotDone),
    }
}

/// Returns the resolution of a contact. A contact carries no name, so its address and creation time
/// identify it. A second contact of the same time may be a twin; the two are distinguished once all
/// faults are over.
fn contact(view: &IntentView, (objects, ever): (&Objects, &Tree), calm: bool) -> Option<Said> {
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
        [] => Some(Said::NotDone),
        [one] => RemoteId::new(text(one, "id")).ok().map(Said::Done),
        [.., newest] => RemoteId::new(text(newest, "id")).ok().map(Said::Done).filter(|_| calm),
    }
}

/// Returns every contact document that any person ever writes.
pub(super) fn ever(script: &super::script::Script) -> Tree {
    use super::world::Change;
    let mut ever = script.files.clone();
    for change in script.steps.iter().flat_map(|step| &step.changes) {
        if let Change::Write(doc) = change {
            ever.insert(doc.name.clone(), doc.clone());
        }
    }
    ever.retain(|_, doc| matches!(doc.body, Body::Contact { .. }));
    ever
}

/// Sends a query to the engine. Returns `None` if the engine did not answer.
pub(super) async fn ask(engine: &mpsc::Sender<Event>, question: Question) -> Option<Reply> {
    let (answer, reply) = oneshot::channel();
    engine.send(Event::Ask(question, answer)).await.ok()?;
    reply.await.ok()
}
