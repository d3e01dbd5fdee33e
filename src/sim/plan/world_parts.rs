//! Further parts, which only some worlds have, each with dice of its own:
//! - documents whose removal ends their objects: recurring charges that are neutralised, and a
//!   merchant whose authorisation is given back;
//! - recurring charges from earlier charges, which a third party made before the run and which carry
//!   no mark at the service;
//! - a merchant whose document only declares it, and which charges at its own till. People change its
//!   details and accounts, clear its test data, delete undeclared recurring charges, and save a token
//!   from another party's page in the vault of its one contact.

use std::collections::BTreeSet;

use crate::sim::plan::chance::{Crash, CrashPoint, CrashSide, Death, FAULTS, SEND_POINT, Strike};
use crate::sim::plan::dice::Dice;
use crate::sim::plan::document_gen::amount;
use crate::sim::plan::documents::{Doc, DocBody, DocTree, FileChange, FromCharge};
use crate::sim::plan::requests::{
    CommandAction, MERCHANT_EFFECTS, MerchantCommand, PersonCommand, PersonRequest, ScriptStep,
};
use crate::sim::plan::script::SimScript;

/// Effects that end an object without a plain deletion; few worlds reach them.
pub(crate) const REMOVAL_EFFECTS: [&str; 4] =
    ["recurring.cancel", "recurring.end", "occurrence.ignore", "merchant.deauthorise"];

/// Merchant that is removed with all that belongs to it.
const LEAVER: &str = "leaver";
/// Worlds with such removals, in percent.
const REMOVAL_WORLDS: u64 = 30;

/// Adds, to some worlds, documents that end their objects and are then removed.
pub(crate) fn add_removals(script: &mut SimScript, dice: &mut Dice) {
    if !dice.percent(REMOVAL_WORLDS) {
        return;
    }
    mark_removals(script, dice);
    let leaves = dice.percent(60);
    if leaves {
        script.files.extend(leaving_merchant(dice));
    }
    let mut tree = script.files.clone();
    let changes = script.steps.iter().flat_map(|step| &step.changes);
    changes.for_each(|change| change.apply(&mut tree));
    let mends = dice.percent(85);
    let broken = tree.values().filter(|doc| mends && doc.broken.is_some());
    let mut changes: Vec<FileChange> =
        broken.map(|doc| FileChange::Mend(doc.name.clone())).collect();
    let gone = draw_removed(&tree, leaves, dice);
    changes.extend(gone.iter().map(|doc| FileChange::Remove(doc.name.clone())));
    script.steps.push(ScriptStep::quiet(dice.between(5_000, 60_000), changes));
    script.steps.push(ScriptStep::quiet(dice.between(0, 500_000), draw_returns(&gone, dice)));
    script.steps.push(ScriptStep::quiet(dice.between(0, 500_000), Vec::new()));
    add_trouble(script, &REMOVAL_EFFECTS, dice);
}

/// Marks most recurring charges to end with their documents; a few versions lose the mark in an
/// edit.
fn mark_removals(script: &mut SimScript, dice: &mut Dice) {
    let mut docs: Vec<&mut Doc> = script.documents_mut().collect();
    docs.retain(|doc| doc.kind() == "RecurringCharge");
    let names: BTreeSet<String> = docs.iter().map(|doc| doc.name.clone()).collect();
    let meant: BTreeSet<String> = names.into_iter().filter(|_| dice.percent(80)).collect();
    for doc in docs {
        doc.removes_object = meant.contains(&doc.name) && dice.percent(95);
    }
}

/// Returns a merchant that will be removed, with the documents that belong to it.
fn leaving_merchant(dice: &mut Dice) -> DocTree {
    let own = |letter: &str| format!("{letter}-{LEAVER}");
    let merchant = LEAVER.to_owned();
    let (bank, delete) = (dice.percent(40), dice.percent(60));
    let card = DocBody::Card { merchant: merchant.clone(), bank, text: 0, holder: 0, delete };
    let mut docs = vec![
        Doc { removes_object: dice.percent(90), ..Doc::new(LEAVER, DocBody::Merchant) },
        Doc::new(&own("s"), card),
    ];
    for letter in ["r", "q"].into_iter().take(dice.index(3)) {
        let body = DocBody::Recurring {
            merchant: merchant.clone(),
            card: own("s"),
            amount: amount(dice),
            now: dice.percent(30),
            text: 0,
        };
        docs.push(Doc { removes_object: dice.percent(85), ..Doc::new(&own(letter), body) });
    }
    if dice.percent(40) {
        docs.push(Doc::new(&own("c"), DocBody::Contact { merchant, hold: false }));
    }
    docs.into_iter().map(|doc| (doc.name.clone(), doc)).collect()
}

/// Draws the documents to remove: many recurring charges, and everything of the leaving merchant.
fn draw_removed(tree: &DocTree, leaves: bool, dice: &mut Dice) -> Vec<Doc> {
    let goes = |doc: &&Doc| {
        let ends = doc.kind() == "RecurringCharge" && doc.removes_object && dice.percent(70);
        ends || (leaves && doc.merchant() == LEAVER)
    };
    tree.values().filter(goes).cloned().collect()
}

/// Draws the documents that return, unchanged or with a higher generation; none of the leaving
/// merchant does.
fn draw_returns(gone: &[Doc], dice: &mut Dice) -> Vec<FileChange> {
    let mut changes = Vec::new();
    for doc in gone.iter().filter(|doc| doc.merchant() != LEAVER) {
        if dice.percent(20) {
            let raised = u32::from(dice.percent(50));
            let generation = doc.generation.saturating_add(raised);
            changes.push(FileChange::Write(Doc { generation, broken: None, ..doc.clone() }));
        }
    }
    changes
}

/// Adds faults and crashes at these effects, unless the service has no faults.
pub(crate) fn add_trouble(script: &mut SimScript, effects: &[&'static str], dice: &mut Dice) {
    let quiet = script.strikes.is_empty();
    for effect in effects.iter().copied() {
        script.strikes.extend(strike_calls(effect, 3, if quiet { 0 } else { 60 }, dice));
        if dice.percent(35) {
            script.crashes.push(crash(SEND_POINT, effect, 1, dice));
        }
    }
}

/// Draws the faults of the first calls of an effect, each of which fails with this probability.
pub(crate) fn strike_calls(
    effect: &'static str,
    calls: u32,
    percent: u64,
    dice: &mut Dice,
) -> Vec<Strike> {
    let mut fitting = FAULTS.to_vec();
    fitting.retain(|fault| fault.strikes(effect));
    let strike = |nth| {
        let struck = dice.percent(percent);
        let fault = dice.pick(&fitting).copied().filter(|_| struck)?;
        Some(Strike { effect, nth, fault, seconds: dice.between(1, 25) })
    };
    (1..=calls).filter_map(strike).collect()
}

/// Draws a crash at one of the first `passes` passings of a place.
pub(crate) fn crash(
    place: &'static str,
    effect: &'static str,
    passes: u64,
    dice: &mut Dice,
) -> Crash {
    let when = dice.either(CrashSide::Before, CrashSide::After);
    let death = dice.either(Death::Process, Death::Power);
    let nth = if passes > 1 { dice.number(1, passes) } else { 1 };
    let down_s = if dice.percent(50) { 0 } else { dice.below(120) };
    Crash { point: CrashPoint { when, place, effect }, nth, death, down_s }
}

impl SimScript {
    /// Leaves only the saved methods to be removed with their documents.
    pub(crate) fn remove_removals(&mut self) {
        self.strikes.retain(|strike| !REMOVAL_EFFECTS.contains(&strike.effect));
        self.crashes.retain(|crash| !REMOVAL_EFFECTS.contains(&crash.point.effect));
        self.documents_mut().for_each(|doc| doc.removes_object = false);
    }

    /// Returns every version of every document.
    fn documents_mut(&mut self) -> impl Iterator<Item = &mut Doc> {
        let written =
            self.steps.iter_mut().flat_map(|step| &mut step.changes).filter_map(|change| {
                if let FileChange::Write(doc) = change { Some(doc) } else { None }
            });
        self.files.values_mut().chain(written)
    }
}

/// Merchant whose payers are charged before the run.
pub(crate) const EARLIER: &str = "earlier";
/// Worlds with earlier charges, in percent.
const EARLIER_WORLDS: u64 = 30;
/// Effect that makes a recurring charge from an earlier charge.
pub(crate) const SCHEDULE_EFFECT: &str = "charge.schedule";

/// Adds documents from earlier charges to some worlds; usually two alike from one charge.
pub(crate) fn add_earlier_charges(script: &mut SimScript, dice: &mut Dice) {
    if !dice.percent(EARLIER_WORLDS) {
        return;
    }
    script.files.insert(EARLIER.to_owned(), Doc::new(EARLIER, DocBody::Merchant));
    let amount = amount(dice);
    let mut docs: Vec<Doc> =
        (0..dice.between(2, 4)).map(|number| earlier_document(number, amount, dice)).collect();
    let late = docs.split_off(docs.len().saturating_sub(1));
    script.files.extend(docs.iter().map(|doc| (doc.name.clone(), doc.clone())));
    let mut changes: Vec<FileChange> =
        late.into_iter().filter(|_| dice.percent(60)).map(FileChange::Write).collect();
    changes.extend(docs.into_iter().filter_map(|doc| change_earlier_document(doc, dice)));
    script.steps.push(ScriptStep::quiet(dice.between(0, 90_000), changes));
    script.steps.push(ScriptStep::quiet(dice.between(0, 500_000), Vec::new()));
    if dice.percent(50) {
        script.crashes.push(crash(SEND_POINT, SCHEDULE_EFFECT, 1, dice));
    }
}

fn earlier_document(number: u64, amount_of_all: i64, dice: &mut Dice) -> Doc {
    let one = FromCharge {
        merchant: EARLIER.to_owned(),
        nth: usize::from(dice.percent(30)),
        charge: String::new(),
        amount: if dice.percent(70) { amount_of_all } else { amount(dice) },
        text: dice.percent(40).then_some(0),
    };
    Doc::new(&format!("k{number}-{EARLIER}"), DocBody::FromCharge(one))
}

/// Returns a change of a document by its author, if any.
fn change_earlier_document(mut doc: Doc, dice: &mut Dice) -> Option<FileChange> {
    let DocBody::FromCharge(one) = &mut doc.body else { return None };
    match dice.below(10) {
        0 => doc.generation = doc.generation.saturating_add(1),
        1 => one.amount = amount(dice),
        2 => one.text = Some(one.text.map_or(0, |text| text.saturating_add(1))),
        3 => return Some(FileChange::Remove(doc.name)),
        _ => return None,
    }
    Some(FileChange::Write(doc))
}

pub(crate) const TILL: &str = "till";
/// Worlds with this merchant, in percent.
const TILL_WORLDS: u64 = 25;
pub(crate) const TILL_CONTACT: &str = "c-till";

pub(crate) fn till_contact_body() -> DocBody {
    DocBody::Contact { merchant: TILL.to_owned(), hold: false }
}

/// Adds this merchant, and commands about it, to some worlds.
pub(crate) fn add_till(script: &mut SimScript, dice: &mut Dice) {
    if !dice.percent(TILL_WORLDS) {
        return;
    }
    script.files.insert(TILL.to_owned(), Doc::new(TILL, DocBody::Merchant));
    script.files.insert(TILL_CONTACT.to_owned(), Doc::new(TILL_CONTACT, till_contact_body()));
    for version in 0..dice.between(3, 8) {
        let own = match dice.below(8) {
            0 | 1 => MerchantCommand::Details { version },
            2 => MerchantCommand::Account { bank: false, version },
            3 => MerchantCommand::Account { bank: true, version },
            4 => MerchantCommand::Purge,
            5 | 6 => MerchantCommand::Vault { bank: dice.percent(40) },
            _ => MerchantCommand::Delete { nth: usize::from(dice.percent(50)) },
        };
        let (name, merchant) = (format!("t{version}"), TILL.to_owned());
        let command = PersonCommand { name, merchant, action: CommandAction::Own(own) };
        let at = dice.index(script.steps.len());
        if let Some(step) = script.steps.get_mut(at) {
            step.requests.push(PersonRequest::Command(command));
        }
    }
    add_trouble(script, &MERCHANT_EFFECTS, dice);
}
