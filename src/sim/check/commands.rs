//! Checks commands: each moves money or changes a merchant's own data at most once, and every
//! answer about it is true.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::base::hash::Mark;
use crate::engine::protocol::actions::ActionStatus;
use crate::sandbox::options::ServiceSurface;
use crate::sim::check::evidence::{RunEvidence, Violation, Violations};
use crate::sim::plan::hook_scripts::ECHO;
use crate::sim::plan::requests::{CommandAction, MerchantCommand, PersonCommand, PersonRequest};
use crate::sim::service::control::{minor_amount, text};

fn commands<'a>(evidence: &RunEvidence<'a>) -> impl Iterator<Item = &'a PersonCommand> + Clone {
    evidence.script.steps.iter().flat_map(|step| &step.requests).filter_map(|request| {
        if let PersonRequest::Command(command) = request { Some(command) } else { None }
    })
}

/// Returns the movements of one type that a command made, as far as they can be distinguished.
fn movements<'a>(evidence: &'a RunEvidence<'_>, command: &PersonCommand) -> Option<Vec<&'a Value>> {
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
    let recorded =
        |one: &&Value| one.pointer("/data/reckon").and_then(Value::as_str) == Some(mark.as_str());
    let id = |of: &str| evidence.answers.get(of).and_then(|answer| answer.remote_id.clone());
    Some(match &command.action {
        CommandAction::Charge { .. } => of("CHARGE").filter(marked).collect(),
        // The documents define no reference for a credit.
        CommandAction::Credit { amount, .. } => of("CREDIT")
            .filter(|entry| {
                marked(entry)
                    || (entry.get("reference").is_none() && minor_amount(entry) == *amount)
            })
            .collect(),
        CommandAction::Refund { .. } => of("REFUND").filter(recorded).collect(),
        CommandAction::Capture { of: hold, .. } => booked("CAPTURE", id(hold)?),
        CommandAction::Void { of: other } => {
            let (all, other) = (evidence.objects.transactions.iter(), id(other)?);
            all.filter(|one| text(one, "id") == other && text(one, "status") == "VOIDED").collect()
        }
        CommandAction::Sign { .. }
        | CommandAction::Pay { .. }
        | CommandAction::Ignore { .. }
        | CommandAction::Own(_) => return None,
    })
}

/// Returns the commands that cannot be distinguished at the service, which are counted together.
fn indistinguishable_commands<'a>(
    evidence: &RunEvidence<'a>,
    command: &PersonCommand,
) -> Vec<&'a PersonCommand> {
    let unmarked = evidence.script.surface == ServiceSurface::Documented;
    let same = |other: &&PersonCommand| match (&command.action, &other.action) {
        (CommandAction::Credit { amount, .. }, CommandAction::Credit { amount: other, .. })
            if unmarked =>
        {
            amount == other
        }
        (CommandAction::Void { of }, CommandAction::Void { of: other })
        | (CommandAction::Capture { of, .. }, CommandAction::Capture { of: other, .. }) => {
            of == other
        }
        _ => command.name == other.name,
    };
    commands(evidence).filter(same).collect()
}

/// Checks law 5: a command has at most one effect, and a refused one has none.
pub(crate) fn check_single_effect(evidence: &RunEvidence<'_>, found: &mut Violations) {
    for command in commands(evidence) {
        let Some(made) = movements(evidence, command) else { continue };
        let alike = indistinguishable_commands(evidence, command);
        let count = made.len();
        if count > alike.len() {
            found.push(Violation::new("law 5", format!("{command} moved money {count} times")));
        }
        let stands = |wanted| count_answers(evidence, alike.iter().copied(), wanted);
        // The second request for a finished change is answered as done, too.
        let for_all =
            matches!(command.action, CommandAction::Capture { .. } | CommandAction::Void { .. });
        let done = stands(ActionStatus::Done).min(if for_all { 1 } else { usize::MAX });
        if count < done {
            let text =
                format!("{command} is reported as done, and the service has {count} movements");
            found.push(Violation::new("law 5", text));
        }
        if for_all {
            // The daily run captures by itself, and an authorisation expires by itself.
            continue;
        }
        let undone = stands(ActionStatus::Refused).saturating_add(stands(ActionStatus::NotSent));
        if count > alike.len().saturating_sub(undone) {
            let text = format!("{command} is reported as refused, and the service applied it");
            found.push(Violation::new("law 5", text));
        }
        check_amounts(command, &made, found);
    }
}

/// Checks that the moved amount equals the requested one.
fn check_amounts(command: &PersonCommand, made: &[&Value], found: &mut Violations) {
    let (CommandAction::Charge { amount, .. }
    | CommandAction::Credit { amount, .. }
    | CommandAction::Refund { amount, .. }) = &command.action
    else {
        return;
    };
    for moved in made.iter().map(|entry| minor_amount(entry)).filter(|moved| moved != amount) {
        found.push(Violation::new("sums", format!("{command} moved {moved}")));
    }
}

pub(crate) fn is_requested_charge(evidence: &RunEvidence<'_>, entry: &Value) -> bool {
    let mark = Mark::find_in(text(entry, "reference"));
    let of_command = commands(evidence).any(|command| {
        matches!(command.action, CommandAction::Charge { .. }) && command.mark() == mark
    });
    // Only scripts charge this amount with a mark.
    let of_script = evidence.script.hooks.is_some() && minor_amount(entry) == ECHO;
    mark.is_some() && (of_command || of_script)
}

/// Checks that every command has an answer once all faults are over.
pub(crate) fn check_answers(evidence: &RunEvidence<'_>, found: &mut Violations) {
    let mut open: BTreeMap<&str, &str> = BTreeMap::new();
    for command in commands(evidence) {
        let answer = evidence.answers.get(&command.name);
        if let Some(answer) = answer.filter(|answer| answer.status == ActionStatus::InDoubt) {
            open.insert(&command.name, &answer.message);
        }
    }
    for (name, why) in open {
        found.push(Violation::new("settles", format!("command {name} is in doubt: {why}")));
    }
}

/// Returns true if the service did it, according to its requests.
fn is_done(evidence: &RunEvidence<'_>, own: &MerchantCommand) -> bool {
    if let MerchantCommand::Delete { nth } = own {
        let (all, there) = &evidence.objects.till_charges;
        let Some(id) = all.get(*nth) else { return true };
        let mut there = there.iter().filter(|one| text(one, "id") == id);
        // A purge may have removed it.
        return there.all(|one| text(one, "status") == "DELETED");
    }
    let (_, effect) = own.verb_and_effect();
    evidence.arrivals_of(effect).any(|one| {
        let same = own.changed_values().is_null() || one.body == own.changed_values();
        same && one.succeeded()
    })
}

fn count_answers<'a>(
    evidence: &RunEvidence<'_>,
    commands: impl Iterator<Item = &'a PersonCommand>,
    wanted: ActionStatus,
) -> usize {
    let answers = commands.filter_map(|one| evidence.answers.get(&one.name));
    answers.filter(|answer| answer.status == wanted).count()
}

/// Checks that no token is saved twice, and that each method answered as saved is saved.
fn check_vault(evidence: &RunEvidence<'_>, found: &mut Violations) {
    let kept = evidence.arrivals_of("vault.save").filter(|one| one.succeeded()).count();
    let vault = commands(evidence).filter(|command| {
        matches!(command.action, CommandAction::Own(MerchantCommand::Vault { .. }))
    });
    let stands = |wanted| count_answers(evidence, vault.clone(), wanted);
    let commands = vault.clone().count();
    let undone = stands(ActionStatus::Refused).saturating_add(stands(ActionStatus::NotSent));
    let done = stands(ActionStatus::Done);
    if kept < done || kept > commands.saturating_sub(undone) {
        let kept = format!("{kept} methods were kept in a vault");
        let text = format!("{kept}: commands {commands}, done {done}, refused {undone}");
        found.push(Violation::new("law 5", text));
    }
}

/// Checks that the answers to these commands are true.
pub(crate) fn check_merchant_answers(evidence: &RunEvidence<'_>, found: &mut Violations) {
    check_vault(evidence, found);
    for command in commands(evidence) {
        let CommandAction::Own(own) = &command.action else { continue };
        let Some(answer) = evidence.answers.get(&command.name) else { continue };
        let done = is_done(evidence, own);
        // Another command may have done the same if the values name no version.
        let alone = !own.changed_values().is_null();
        let undone = matches!(answer.status, ActionStatus::Refused | ActionStatus::NotSent);
        if (answer.status == ActionStatus::Done && !done) || (undone && done && alone) {
            let text =
                format!("{command} is reported as {:?}, and was done: {done}", answer.status);
            found.push(Violation::new("law 5", text));
        }
    }
}
