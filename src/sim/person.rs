//! What the people of a world do while the machine lives: they look at what is held every so often, look at what
//! the service holds, and say what became of it.
//!
//! They never lie. Whoever cannot know yet waits: until nothing of a call can take effect any more, and where
//! there are twins, until nothing goes wrong any more. Nobody who got no answer believes that they were heard:
//! they look again in the process' next life.

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

/// So many looks in a row without a word are enough, once nothing goes wrong any more.
const QUIET_LOOKS: u32 = 2;

/// What people remember from one life of the machine to the next; clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory(Arc<Mutex<Notes>>);

/// What they remember.
#[derive(Debug, Default)]
struct Notes {
    /// Whether nothing goes wrong any more.
    calm: bool,
    /// Since when each intent was seen to be held.
    held: BTreeMap<String, Instant>,
    /// The intents that somebody asked to settle once more.
    retried: BTreeSet<String>,
    /// How many looks in a row each of them had nothing to say, once it was calm.
    quiet: BTreeMap<&'static str, u32>,
    /// Whether anybody said anything since this was asked last.
    spoke: bool,
    /// How often each approver approved, and tried to.
    approvals: BTreeMap<&'static str, (u32, u32)>,
    /// The plans that people saw before they approved them.
    seen: Vec<Seen>,
}

impl Memory {
    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing goes wrong any more.
    pub(super) fn calm(&self) {
        self.notes().calm = true;
    }

    /// Waits until nobody has anything to say any more. Answers whether nobody said anything at all meanwhile.
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

    /// Whether somebody may approve once more, with at most so many approvals and tries.
    pub(super) fn may_approve(&self, who: &str, most: (u32, u32)) -> bool {
        let given = self.notes().approvals.get(who).copied().unwrap_or_default();
        given.0 < most.0 && given.1 < most.1
    }

    /// Somebody saw a plan, and is about to approve it.
    pub(super) fn saw(&self, seen: Seen) {
        self.notes().seen.push(seen);
    }

    /// Every plan that somebody saw, and was about to approve.
    pub(super) fn seen(&self) -> Vec<Seen> {
        self.notes().seen.clone()
    }

    /// Somebody was answered.
    pub(super) fn approved(&self, who: &'static str, given: bool) {
        let mut notes = self.notes();
        let (approved, tried) = notes.approvals.entry(who).or_default();
        *approved = approved.saturating_add(u32::from(given));
        *tried = tried.saturating_add(1);
    }

    /// A look is over.
    pub(super) fn looked(&self, who: &'static str, spoke: bool) {
        let mut notes = self.notes();
        notes.spoke |= spoke;
        let calm = notes.calm;
        let quiet = notes.quiet.entry(who).or_default();
        *quiet = if spoke || !calm { 0 } else { quiet.saturating_add(1) };
    }
}

/// Everybody does what they do, for ever, beside something else that never ends.
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

/// Somebody settles what is held, for ever.
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

/// One look at everything that is held; `None` if nobody answered, else whether anything was said.
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

/// The id that the person vouches for: of an object that cannot be read, and of one that is read as another than what was
/// asked for, if it carries the intent's own name in the books. A wrong object is never vouched for.
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

/// Says what became of an intent; `None` if nobody answered.
async fn say(engine: &mpsc::Sender<Event>, view: &IntentView, said: Said) -> Option<Resolved> {
    let id = view.id.parse().ok()?;
    let resolving = Resolving { id, said, actor: "the simulator".to_owned() };
    let (reply, answer) = oneshot::channel();
    engine.send(Event::Resolve(resolving, reply)).await.ok()?;
    let Reply::Resolved(resolved) = answer.await.ok()? else { return None };
    Some(resolved)
}

/// Notes what is held, and answers whether something of it is too young to be judged.
fn is_news(memory: &Memory, held: &[IntentView]) -> bool {
    let mut notes = memory.notes();
    notes.held.retain(|id, _| held.iter().any(|view| view.id == *id));
    for view in held {
        notes.held.entry(view.id.clone()).or_insert_with(Instant::now);
    }
    notes.held.values().any(|since| !is_over(*since))
}

/// Whether nothing that was sent before this moment can take effect any more.
fn is_over(since: Instant) -> bool {
    since.elapsed() > TIMEOUT.saturating_add(GRACE)
}

/// What somebody says of an intent, if they know.
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

/// Whether the service's own books show what became of a lost answer of this effect. A code that was tried shows
/// nowhere; what nothing marks, only the engine's own records of before can tell.
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

/// What the service shows of an intent; `None` where nothing can be known, or not yet.
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
        // What was changed shows it: it is enough to look again.
        "recurring.change" | "card.change" | "bank.change" | "card.delete" | "bank.delete" => {
            Some(Said::Retry)
        }
        // What a lost answer of the others held shows nowhere.
        _ => None,
    }
}

/// A transaction that a command made, unless it was declined.
fn transaction(
    view: &IntentView,
    objects: &Objects,
    ours: &dyn Fn(&Value) -> bool,
) -> Option<Said> {
    let mut all = objects.transactions.iter().filter(|one| text(one, "status") != "FAILED");
    match all.find(|one| ours(one)) {
        Some(one) => RemoteId::new(text(one, "id")).ok().map(Said::Done),
        // The documents know no reference of a credit.
        None if view.effect == "credit.create" => None,
        None => Some(Said::NotDone),
    }
}

/// A contact carries no name: it is known by its address, and by when it was made. A second one of the same
/// time may be its twin: which is which shows once both are all that there will ever be.
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

/// Every document that anybody ever writes.
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

/// Asks the engine.
pub(super) async fn ask(engine: &mpsc::Sender<Event>, question: Question) -> Option<Reply> {
    let (answer, reply) = oneshot::channel();
    engine.send(Event::Ask(question, answer)).await.ok()?;
    reply.await.ok()
}
