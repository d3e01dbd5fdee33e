//! Documents whose removal ends their objects: recurring charges that are neutralised, and a
//! merchant whose authorisation is given back. Only some worlds have them, with dice of their own.

use std::collections::BTreeSet;

use serde_json::Value;

use super::dice::Dice;
use super::documents::{Doc, DocBody, DocTree, FileChange};
use super::script::{SEND_POINT, ScriptStep, SimScript};
use crate::sim::faults::call_fault::{CallFault, FAULTS, Strike};
use crate::sim::faults::power::{Crash, CrashPoint, CrashSide, Death};

/// Effects that end an object without a plain deletion; few worlds reach them.
pub(crate) const REMOVAL_EFFECTS: [&str; 4] =
    ["recurring.cancel", "recurring.end", "occurrence.ignore", "merchant.deauthorise"];

/// Merchant that is removed with all that belongs to it.
const LEAVER: &str = "leaver";
/// Worlds with such removals, in percent.
const WORLDS: u64 = 30;

/// Returns the effect of a request where the path alone is ambiguous: a change of nothing but the
/// schedule's last day ends a recurring charge.
pub(crate) fn refine_effect(effect: Option<&'static str>, body: &[u8]) -> Option<&'static str> {
    if effect != Some("recurring.change") {
        return effect;
    }
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let is_alone = |object: &Value, field: &str| {
        object.as_object().is_some_and(|fields| fields.len() == 1 && fields.contains_key(field))
    };
    let ends = is_alone(&body, "schedule")
        && body.get("schedule").is_some_and(|schedule| is_alone(schedule, "end"));
    if ends { Some("recurring.end") } else { effect }
}

/// Adds, to some worlds, documents that end their objects and are then removed.
pub(crate) fn add_to_script(script: &mut SimScript, dice: &mut Dice) {
    if !dice.percent(WORLDS) {
        return;
    }
    mark_removals(script, dice);
    let leaves = dice.percent(60);
    if leaves {
        script.files.extend(leaving_merchant(dice));
    }
    let tree = final_tree(script);
    let mut changes: Vec<FileChange> = if dice.percent(85) {
        tree.values()
            .filter(|doc| doc.broken.is_some())
            .map(|doc| FileChange::Mend(doc.name.clone()))
            .collect()
    } else {
        Vec::new()
    };
    let gone = draw_removed(&tree, leaves, dice);
    changes.extend(gone.iter().map(|doc| FileChange::Remove(doc.name.clone())));
    script.steps.push(step(dice.between(5_000, 60_000), changes));
    script.steps.push(step(dice.between(0, 500_000), draw_returns(&gone, dice)));
    script.steps.push(step(dice.between(0, 500_000), Vec::new()));
    add_trouble(script, &REMOVAL_EFFECTS, dice);
}

/// Marks most recurring charges to end with their documents; a few versions lose the mark in an
/// edit.
fn mark_removals(script: &mut SimScript, dice: &mut Dice) {
    let written = script.steps.iter_mut().flat_map(|step| &mut step.changes);
    let written = written.filter_map(|change| match change {
        FileChange::Write(doc) => Some(doc),
        FileChange::Remove(_) | FileChange::Break(..) | FileChange::Mend(_) => None,
    });
    let mut docs: Vec<&mut Doc> = script.files.values_mut().chain(written).collect();
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
    let card = DocBody::Card {
        merchant: merchant.clone(),
        bank: dice.percent(40),
        text: 0,
        holder: 0,
        delete: dice.percent(60),
    };
    let mut docs = vec![
        Doc { removes_object: dice.percent(90), ..Doc::new(LEAVER, DocBody::Merchant) },
        Doc::new(&own("s"), card),
    ];
    for letter in ["r", "q"].into_iter().take(usize::try_from(dice.below(3)).unwrap_or(0)) {
        let body = DocBody::Recurring {
            merchant: merchant.clone(),
            card: own("s"),
            amount: i64::try_from(dice.between(100, 250_000)).unwrap_or(100),
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

/// Returns the files after all changes of the script.
fn final_tree(script: &SimScript) -> DocTree {
    let mut tree = script.files.clone();
    script.steps.iter().flat_map(|step| &step.changes).for_each(|change| change.apply(&mut tree));
    tree
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

fn step(wait_ms: u64, changes: Vec<FileChange>) -> ScriptStep {
    ScriptStep { wait_ms, restart: false, changes, requests: Vec::new() }
}

/// Adds faults and crashes at these effects, unless the service has no faults.
pub(crate) fn add_trouble(script: &mut SimScript, effects: &[&'static str], dice: &mut Dice) {
    let quiet = script.strikes.is_empty();
    for effect in effects.iter().copied() {
        let fitting: Vec<CallFault> =
            FAULTS.iter().copied().filter(|fault| fault.strikes(effect)).collect();
        for nth in 1..=3 {
            let struck = dice.percent(60) && !quiet;
            if let Some(fault) = dice.pick(&fitting).copied().filter(|_| struck) {
                script.strikes.push(Strike { effect, nth, fault, seconds: dice.between(1, 25) });
            }
        }
        if dice.percent(35) {
            script.crashes.push(crash(effect, dice));
        }
    }
}

/// Returns a crash at the first call of an effect.
pub(crate) fn crash(effect: &'static str, dice: &mut Dice) -> Crash {
    let when = if dice.percent(50) { CrashSide::Before } else { CrashSide::After };
    let death = if dice.percent(50) { Death::Process } else { Death::Power };
    let down_s = if dice.percent(50) { 0 } else { dice.below(120) };
    Crash { point: CrashPoint { when, place: SEND_POINT, effect }, nth: 1, death, down_s }
}

impl SimScript {
    /// Returns the script in which only saved methods are removed with their documents.
    #[must_use]
    pub fn without_removal(&self) -> Self {
        let mut less = self.clone();
        less.strikes.retain(|strike| !REMOVAL_EFFECTS.contains(&strike.effect));
        less.crashes.retain(|crash| !REMOVAL_EFFECTS.contains(&crash.point.effect));
        let written = less.steps.iter_mut().flat_map(|step| &mut step.changes);
        for change in written {
            if let FileChange::Write(doc) = change {
                doc.removes_object = false;
            }
        }
        less.files.values_mut().for_each(|doc| doc.removes_object = false);
        less
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_day_is_set_by_a_change_of_nothing_else() {
        let told = |body: &str| refine_effect(Some("recurring.change"), body.as_bytes());
        assert_eq!(told(r#"{"schedule": {"end": "2030-01-01"}}"#), Some("recurring.end"));
        for other in [
            r#"{"schedule": {"end": "2030-01-01", "interval_delay": 1}}"#,
            r#"{"schedule": {"end": "2030-01-01"}, "amount": 1}"#,
            r#"{"amount": 1}"#,
            "",
        ] {
            assert_eq!(told(other), Some("recurring.change"), "{other}");
        }
        let end = br#"{"schedule": {"end": "2030-01-01"}}"#;
        assert_eq!(refine_effect(Some("recurring.create"), end), Some("recurring.create"));
    }
}
