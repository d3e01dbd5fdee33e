//! Checks hooks. Each action happens once at the service, for each real event and for no other.
//! Each notification is sent once. A stored value is the one that the runs stored. No chain of
//! causes is too long.
//!
//! The expected actions are derived from the service's own events and amounts, and compared with
//! its own books. The checks skip:
//! - events before the first poll, and those of the last minutes;
//! - missing actions of a merchant that is not connected at the end, or in a run that was cut
//!   short; repeated actions are always reported;
//! - actions that the journal records as refused or on hold.

mod money;
mod told;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::events::{Listening, Own, is_connected};
use super::{Evidence, Violation};
use crate::model::action::{Action, is_action};
use crate::model::hook::{NOTIFY, Wish};
use crate::model::intent::IntentState;
use crate::model::ran::{Fate, Ran, WishId};
use crate::model::record::Record;
use crate::sim::desk::text;
use crate::sim::hooks::Try;
use crate::sim::hooks::texts::ECHO;
use crate::sim::net::door::key_of;
use crate::store::facts::Facts;

/// Prefix of the names of hooks' actions in the journal.
const HOOK: &str = "hook-";

/// Returns every violation by hooks.
pub(in crate::sim) fn hooks(
    evidence: &Evidence<'_>,
    all: &Listening<'_>,
    tries: &[Try],
    complete: bool,
) -> Vec<Violation> {
    let mut found = Vec::new();
    if evidence.script.hooks.is_none() || evidence.script.net.gateway.is_none() {
        return found;
    }
    let ran = ran(all);
    named(evidence, &ran, &mut found);
    told::kept(all, &ran, &mut found);
    let mut texts = BTreeSet::new();
    for merchant in all.merchants {
        let own = all.of(merchant);
        let complete = complete && is_connected(evidence, merchant);
        let books = Books { evidence, all, own, merchant, ran: &ran, complete };
        books.genuine(&mut found);
        money::refunds(&books, &mut found);
        money::credits(&books, &mut found);
        money::chains(&books, &mut found);
        money::voided(&books, &mut found);
        money::occurrences(&books, &mut found);
        told::told(&books, tries, &mut texts, &mut found);
    }
    told::strangers(tries, &texts, &mut found);
    found
}

/// Counts the finished actions of hooks by verb, and the failed hook runs.
pub(in crate::sim) fn done(all: &Listening<'_>) -> BTreeMap<String, u32> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let mut one = |what: String| {
        let count = counts.entry(what).or_default();
        *count = count.saturating_add(1);
    };
    for ran in ran(all) {
        for wish in ran.runs.iter().flat_map(|run| &run.wishes) {
            let granted = granted(all, &id(ran, wish));
            if granted == Some(Fate::Done) {
                one(wish.verb.clone());
            }
        }
        ran.failures.iter().for_each(|_| one("failed".to_owned()));
    }
    counts
}

/// Returns every hook run in the journal, in order.
fn ran<'a>(all: &Listening<'a>) -> Vec<&'a Ran> {
    let one = |entry: &'a crate::sim::durable::Entry| {
        if let Record::Ran(ran) = &entry.record { Some(&**ran) } else { None }
    };
    all.entries.iter().filter_map(one).collect()
}

fn id(ran: &Ran, wish: &Wish) -> WishId {
    let (merchant, event) = (ran.merchant.clone(), ran.event.clone());
    WishId { merchant, event, name: wish.name.clone() }
}

/// Returns the outcome of an action from the journal, since the index may have dropped it.
fn granted(all: &Listening<'_>, id: &WishId) -> Option<Fate> {
    all.entries.iter().rev().find_map(|entry| {
        let Record::Granted(granted) = &entry.record else { return None };
        (granted.id == *id).then_some(granted.fate)
    })
}

/// Checks that every action of a hook is named by its event and its own name.
fn named(evidence: &Evidence<'_>, ran: &[&Ran], found: &mut Vec<Violation>) {
    let wishes = ran.iter().flat_map(|ran| {
        ran.runs
            .iter()
            .flat_map(|run| &run.wishes)
            .filter_map(|wish| id(ran, wish).action_name().ok())
    });
    let names: BTreeSet<String> = wishes.map(|name| name.to_string()).collect();
    for story in evidence.stories.iter().filter(|story| is_action(&story.intent.key)) {
        let name = story.intent.key.name.as_str();
        if name.starts_with(HOOK) && !names.contains(name) {
            let text = format!("{name} is an action of a hook, and no hook asked for it");
            found.push(Violation::new("hooks", text));
        }
    }
}

/// Events, hook runs and service objects of one merchant.
struct Books<'a> {
    evidence: &'a Evidence<'a>,
    all: &'a Listening<'a>,
    own: Own<'a>,
    merchant: &'a str,
    ran: &'a [&'a Ran],
    complete: bool,
}

/// An event that hooks answer.
struct Asked<'a> {
    event: &'a str,
    data: &'a Value,
    /// Set if all its actions with money must be finished.
    due: bool,
    /// Set if all its notifications must have arrived.
    told: bool,
}

impl<'a> Books<'a> {
    /// Checks that hooks ran only on events that the service has.
    fn genuine(&self, found: &mut Vec<Violation>) {
        let mine = self.ran.iter().filter(|ran| ran.merchant.name.as_str() == self.merchant);
        for ran in mine.filter(|ran| !self.own.events.contains_key(ran.event.as_str())) {
            let text = format!("hooks ran on {}, which {} never had", ran.event, self.merchant);
            found.push(Violation::new("law 3", text));
        }
    }

    /// Returns the events of a type whose objects fit.
    fn asked(&self, kind: &str, fits: impl Fn(&Value) -> bool) -> Vec<Asked<'a>> {
        let mut asked = Vec::new();
        for (id, event) in &self.own.events {
            let Some(data) = event.get("data").filter(|data| fits(data)) else { continue };
            if text(event, "type") == kind {
                let due = self.complete && self.own.is_due(event, self.all.now);
                asked.push(Asked {
                    event: id,
                    data,
                    due: due && !self.excused(id, false),
                    told: due && !self.excused(id, true),
                });
            }
        }
        asked
    }

    /// Returns the payments of an amount.
    fn payments(&self, amount: i64) -> Vec<Asked<'a>> {
        let fits = |data: &Value| text(data, "type") == "CHARGE" && cents(data) == amount;
        self.asked("transaction.authorized", fits)
    }

    /// Returns true if the journal excuses missing actions of an event, or missing notifications if
    /// the flag is set: one was refused, or waits for a person.
    fn excused(&self, event: &str, told: bool) -> bool {
        let Some(known) = self.all.known else { return false };
        let mine = |ran: &&&Ran| ran.event == event && ran.merchant.name.as_str() == self.merchant;
        let refused = self.ran.iter().filter(mine).any(|ran| {
            let mut wishes = ran.runs.iter().flat_map(|run| &run.wishes);
            let fate = |wish: &Wish| granted(self.all, &id(ran, wish));
            let not_done = |wish: &Wish| {
                (wish.verb == NOTIFY) == told && fate(wish).is_some_and(|fate| fate != Fate::Done)
            };
            wishes.any(not_done) || is_too_deep(ran)
        });
        refused || waits(known, (self.merchant, event), told)
    }

    /// Describes the state of everything that an event requests.
    fn stands(&self, event: &str) -> String {
        let mine = |ran: &&&Ran| ran.event == event && ran.merchant.name.as_str() == self.merchant;
        let mut told = Vec::new();
        for ran in self.ran.iter().filter(mine) {
            for wish in ran.runs.iter().flat_map(|run| &run.wishes) {
                let id = id(ran, wish);
                let fate = self.all.known.and_then(|known| known.granted(&id).ok().flatten());
                let open = id.action_name().ok().and_then(|name| {
                    let key = Action::key(wish.merchant.as_ref()?, &name);
                    self.all.known?.open(&key).ok().flatten()
                });
                let fate = fate.map(|fate| format!("{:?}: {}", fate.fate, fate.message));
                told.push(format!("{} {:?} {:?}", wish.name, fate, open.map(|open| open.state)));
            }
            told.extend(ran.failures.iter().map(|one| format!("{}: {}", one.script, one.message)));
        }
        told.join("; ")
    }

    /// Returns the merchant's successful transactions of one type.
    fn transactions(&self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        let (all, merchant) = (&self.evidence.objects.transactions, self.merchant);
        all.iter().filter(move |one| {
            text(one, "merchant") == merchant
                && text(one, "type") == kind
                && text(one, "status") != "FAILED"
        })
    }

    fn violate(&self, law: &'static str, text: &str, found: &mut Vec<Violation>) {
        found.push(Violation::new(law, format!("{} at {}", text, self.merchant)));
    }
}

/// Returns true if one of an event's actions waits for a person.
fn waits(known: &Facts, (merchant, event): (&str, &str), told: bool) -> bool {
    let all = known.wishes().unwrap_or_default();
    let mine = all.iter().filter(|one| one.id.merchant.name.as_str() == merchant);
    mine.filter(|one| one.id.event == event && (one.wish.verb == NOTIFY) == told).any(|one| {
        let open = one.action().ok().and_then(|action| known.open(&action).ok()?);
        one.unsure || open.is_some_and(|open| matches!(open.state, IntentState::Held { .. }))
    })
}

fn is_too_deep(ran: &Ran) -> bool {
    ran.failures.iter().any(|failed| failed.message.contains("chain"))
}

/// Returns true if a script requested this charge of the ledger: only scripts charge this amount
/// with a mark.
pub(super) fn asked_for(evidence: &Evidence<'_>, entry: &Value) -> bool {
    evidence.script.hooks.is_some() && cents(entry) == ECHO
}

fn cents(object: &Value) -> i64 {
    object.get("amount").and_then(Value::as_i64).unwrap_or(0)
}

/// Returns the key under which a script counts the merchant's events.
fn kept_under(merchant: &str) -> String {
    key_of(merchant).map_or_else(String::new, |_| format!("seen-{merchant}"))
}
