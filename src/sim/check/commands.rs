//! Checks commands: each moves money at most once, and every answer about it is true.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Evidence, Violation, hooks};
use crate::base::hash::Mark;
use crate::engine::Stands;
use crate::sandbox::Surface;
use crate::sim::command::{Command, Order};
use crate::sim::deed::Deed;
use crate::sim::desk::text;

/// Returns every command of the script.
fn commands<'a>(evidence: &Evidence<'a>) -> impl Iterator<Item = &'a Command> {
    let deeds = evidence.script.steps.iter().flat_map(|step| &step.deeds);
    deeds.filter_map(|deed| if let Deed::Command(command) = deed { Some(command) } else { None })
}

/// Returns the movements of one type that a command made, as far as they can be distinguished.
fn movements<'a>(evidence: &'a Evidence<'_>, command: &'a Command) -> Option<Vec<&'a Value>> {
    let of = |kind: &'static str| {
        let all = evidence.objects.transactions.iter();
        all.filter(move |one| text(one, "type") == kind && text(one, "status") != "FAILED")
    };
    let booked = |kind: &'static str, id: String| {
        let all = evidence.objects.ledger.iter().filter(move |entry| text(entry, "type") == kind);
        all.filter(move |entry| text(entry, "transaction_id") == id).collect()
    };
    let mark = command.mark()?;
    let marked = |entry: &&Value| Mark::find_in(text(entry, "reference")).as_ref() == Some(&mark);
    let id = |of: &str| evidence.answers.get(of).and_then(|answer| answer.remote_id.clone());
    Some(match &command.order {
        Order::Charge { .. } => of("CHARGE").filter(marked).collect(),
        // The documents define no reference for a credit.
        Order::Credit { amount, .. } => of("CREDIT")
            .filter(|entry| {
                marked(entry) || (entry.get("reference").is_none() && cents(entry) == *amount)
            })
            .collect(),
        Order::Refund { .. } => of("REFUND")
            .filter(|one| {
                one.pointer("/data/reckon").and_then(Value::as_str) == Some(mark.as_str())
            })
            .collect(),
        Order::Capture { of: hold, .. } => booked("CAPTURE", id(hold)?),
        Order::Void { of: other } => {
            let (all, other) = (evidence.objects.transactions.iter(), id(other)?);
            all.filter(|one| text(one, "id") == other && text(one, "status") == "VOIDED").collect()
        }
        Order::Sign { .. } | Order::Pay { .. } | Order::Ignore { .. } | Order::Own(_) => {
            return None;
        }
    })
}

fn cents(entry: &Value) -> i64 {
    entry.get("amount").and_then(Value::as_i64).unwrap_or(0)
}

/// Returns the commands that cannot be distinguished at the service, which are counted together.
fn alike<'a>(evidence: &Evidence<'a>, command: &Command) -> Vec<&'a Command> {
    let unmarked = evidence.script.surface == Surface::Documented;
    let same = |other: &&Command| match (&command.order, &other.order) {
        (Order::Credit { amount, .. }, Order::Credit { amount: other, .. }) if unmarked => {
            amount == other
        }
        (Order::Void { of }, Order::Void { of: other })
        | (Order::Capture { of, .. }, Order::Capture { of: other, .. }) => of == other,
        _ => command.name == other.name,
    };
    commands(evidence).filter(same).collect()
}

/// Checks law 5: a command has at most one effect, and a refused one has none.
pub(super) fn once(evidence: &Evidence<'_>, found: &mut Vec<Violation>) {
    for command in commands(evidence) {
        let Some(made) = movements(evidence, command) else { continue };
        let alike = alike(evidence, command);
        if made.len() > alike.len() {
            let text = format!("{command} moved money {} times", made.len());
            found.push(Violation::new("law 5", text));
        }
        let stands = |wanted: Stands| {
            let all = alike.iter().filter_map(|one| evidence.answers.get(&one.name));
            all.filter(|answer| answer.stands == wanted).count()
        };
        // The second request for a finished change is answered as done, too.
        let for_all = matches!(command.order, Order::Capture { .. } | Order::Void { .. });
        let done = stands(Stands::Done).min(if for_all { 1 } else { usize::MAX });
        if made.len() < done {
            let text = format!("{command} is told as done, and the service has {}", made.len());
            found.push(Violation::new("law 5", text));
        }
        if for_all {
            // The daily run captures by itself, and an authorisation expires by itself.
            continue;
        }
        let undone = stands(Stands::Refused).saturating_add(stands(Stands::NotSent));
        if made.len() > alike.len().saturating_sub(undone) {
            let text = format!("{command} is told as refused, and the service did it");
            found.push(Violation::new("law 5", text));
        }
        amounts(command, &made, found);
    }
}

/// Checks that the moved amount equals the requested one.
fn amounts(command: &Command, made: &[&Value], found: &mut Vec<Violation>) {
    let (Order::Charge { amount, .. }
    | Order::Credit { amount, .. }
    | Order::Refund { amount, .. }) = &command.order
    else {
        return;
    };
    for entry in made.iter().filter(|entry| cents(entry) != *amount) {
        let text = format!("{command} moved {}", cents(entry));
        found.push(Violation::new("sums", text));
    }
}

/// Returns true if a command requested this charge of the ledger.
pub(super) fn asked_for(evidence: &Evidence<'_>, entry: &Value) -> bool {
    let mark = Mark::find_in(text(entry, "reference"));
    let of_command = commands(evidence)
        .any(|command| matches!(command.order, Order::Charge { .. }) && command.mark() == mark);
    mark.is_some() && (of_command || hooks::asked_for(evidence, entry))
}

/// Returns true if a command paid this occurrence. The amount is then the one in its document at
/// that time.
pub(super) fn paid(evidence: &Evidence<'_>, occurrence: &str) -> bool {
    let mut pays = evidence.arrivals.iter().filter(|one| one.effect == Some("occurrence.pay"));
    pays.any(|pay| pay.name.1.split('/').any(|part| part == occurrence))
}

/// Checks that every command has an answer once all faults are over.
pub(super) fn settled(evidence: &Evidence<'_>, found: &mut Vec<Violation>) {
    let mut open: BTreeMap<&str, &str> = BTreeMap::new();
    for command in commands(evidence) {
        if let Some(answer) = evidence.answers.get(&command.name)
            && answer.stands == Stands::InDoubt
        {
            open.insert(&command.name, &answer.message);
        }
    }
    for (name, why) in open {
        found.push(Violation::new("settles", format!("command {name} is in doubt: {why}")));
    }
}
