//! Checks commands on a merchant's own data: an effect answered as done has happened, and a refused
//! one has not.

use super::laws::{RunEvidence, Violation};
use crate::engine::commands::action_view::ActionStatus;
use crate::sim::actors::command::{CommandAction, PersonCommand};
use crate::sim::actors::merchant_commands::MerchantCommand;
use crate::sim::actors::requests::PersonRequest;
use crate::sim::actors::sandbox_control::text;

/// Returns every command on a merchant's own data.
fn merchant_commands<'a>(
    evidence: &RunEvidence<'a>,
) -> impl Iterator<Item = (&'a PersonCommand, &'a MerchantCommand)> {
    let deeds = evidence.script.steps.iter().flat_map(|step| &step.requests);
    deeds.filter_map(|deed| match deed {
        PersonRequest::Command(command) => match &command.action {
            CommandAction::Own(own) => Some((command, own)),
            CommandAction::Charge { .. }
            | CommandAction::Credit { .. }
            | CommandAction::Refund { .. }
            | CommandAction::Void { .. }
            | CommandAction::Capture { .. }
            | CommandAction::Sign { .. }
            | CommandAction::Pay { .. }
            | CommandAction::Ignore { .. } => None,
        },
        PersonRequest::Refresh | PersonRequest::Pay(_) => None,
    })
}

/// Returns true if the service did it, according to its requests.
fn is_done(evidence: &RunEvidence<'_>, own: &MerchantCommand) -> bool {
    let mut arrivals = evidence.arrivals.iter();
    let arrived = arrivals.any(|one| {
        let same = own.changed_values().is_null() || one.body == own.changed_values();
        one.effect == Some(own.effect()) && same && (200..300).contains(&one.status)
    });
    match own {
        MerchantCommand::Details { .. }
        | MerchantCommand::Account { .. }
        | MerchantCommand::Purge
        | MerchantCommand::Vault { .. } => arrived,
        // A purge may have removed it.
        MerchantCommand::Delete { nth } => is_gone(evidence, *nth),
    }
}

/// Returns true if one of the merchant's own recurring charges collects no more.
fn is_gone(evidence: &RunEvidence<'_>, nth: usize) -> bool {
    let (all, there) = &evidence.objects.till_charges;
    let Some(id) = all.get(nth) else { return true };
    let mut there = there.iter().filter(|one| text(one, "id") == id);
    there.all(|one| text(one, "status") == "DELETED")
}

/// Checks that no token is saved twice, and that each method answered as saved is saved.
fn check_vault(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    let kept = evidence
        .arrivals
        .iter()
        .filter(|one| one.effect == Some("vault.save") && (200..300).contains(&one.status));
    let kept = kept.count();
    let stands = |stands: ActionStatus| {
        let all = merchant_commands(evidence)
            .filter(|(_, own)| matches!(own, MerchantCommand::Vault { .. }));
        let answers = all.filter_map(|(command, _)| evidence.answers.get(&command.name));
        answers.filter(|answer| answer.status == stands).count()
    };
    let commands = merchant_commands(evidence)
        .filter(|(_, own)| matches!(own, MerchantCommand::Vault { .. }))
        .count();
    let undone = stands(ActionStatus::Refused).saturating_add(stands(ActionStatus::NotSent));
    if kept < stands(ActionStatus::Done) || kept > commands.saturating_sub(undone) {
        let (done, methods) =
            (stands(ActionStatus::Done), "methods were kept in a vault: commands");
        let text = format!("{kept} {methods} {commands}, done {done}, refused {undone}");
        found.push(Violation::new("law 5", text));
    }
}

/// Checks that the answers to these commands are true.
pub(crate) fn check_answers(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    check_vault(evidence, found);
    for (command, own) in merchant_commands(evidence) {
        let Some(answer) = evidence.answers.get(&command.name) else { continue };
        let done = is_done(evidence, own);
        // Another command may have done the same if the values name no version.
        let alone = !own.changed_values().is_null();
        let wrong = match answer.status {
            ActionStatus::Done => !done,
            ActionStatus::Refused | ActionStatus::NotSent => done && alone,
            ActionStatus::OnHold
            | ActionStatus::InDoubt
            | ActionStatus::Blocked
            | ActionStatus::Invalid => false,
        };
        if wrong {
            let text =
                format!("{command} is reported as {:?}, and was done: {done}", answer.status);
            found.push(Violation::new("law 5", text));
        }
    }
}
