//! Checks commands on a merchant's own data: an effect answered as done has happened, and a refused
//! one has not.

use super::{Evidence, Violation};
use crate::engine::Stands;
use crate::sim::command::{Command, Order};
use crate::sim::deed::Deed;
use crate::sim::desk::text;
use crate::sim::till::Own;

/// Returns every command on a merchant's own data.
fn owns<'a>(evidence: &Evidence<'a>) -> impl Iterator<Item = (&'a Command, &'a Own)> {
    let deeds = evidence.script.steps.iter().flat_map(|step| &step.deeds);
    deeds.filter_map(|deed| match deed {
        Deed::Command(command) => match &command.order {
            Order::Own(own) => Some((command, own)),
            Order::Charge { .. }
            | Order::Credit { .. }
            | Order::Refund { .. }
            | Order::Void { .. }
            | Order::Capture { .. }
            | Order::Sign { .. }
            | Order::Pay { .. }
            | Order::Ignore { .. } => None,
        },
        Deed::Refresh | Deed::Pay(_) => None,
    })
}

/// Returns true if the service did it, according to its requests.
fn is_done(evidence: &Evidence<'_>, own: &Own) -> bool {
    let mut arrivals = evidence.arrivals.iter();
    let arrived = arrivals.any(|one| {
        let same = own.set().is_null() || one.asked == own.set();
        one.effect == Some(own.effect()) && same && (200..300).contains(&one.status)
    });
    match own {
        Own::Details { .. } | Own::Account { .. } | Own::Purge | Own::Vault { .. } => arrived,
        // A purge may have removed it.
        Own::Delete { nth } => is_gone(evidence, *nth),
    }
}

/// Returns true if one of the merchant's own recurring charges collects no more.
fn is_gone(evidence: &Evidence<'_>, nth: usize) -> bool {
    let (all, there) = &evidence.objects.till;
    let Some(id) = all.get(nth) else { return true };
    let mut there = there.iter().filter(|one| text(one, "id") == id);
    there.all(|one| text(one, "status") == "DELETED")
}

/// Checks that no token is saved twice, and that each method answered as saved is saved.
fn vaults(evidence: &Evidence<'_>, found: &mut Vec<Violation>) {
    let kept = evidence
        .arrivals
        .iter()
        .filter(|one| one.effect == Some("vault.save") && (200..300).contains(&one.status));
    let kept = kept.count();
    let stands = |stands: Stands| {
        let all = owns(evidence).filter(|(_, own)| matches!(own, Own::Vault { .. }));
        let answers = all.filter_map(|(command, _)| evidence.answers.get(&command.name));
        answers.filter(|answer| answer.stands == stands).count()
    };
    let commands = owns(evidence).filter(|(_, own)| matches!(own, Own::Vault { .. })).count();
    let undone = stands(Stands::Refused).saturating_add(stands(Stands::NotSent));
    if kept < stands(Stands::Done) || kept > commands.saturating_sub(undone) {
        let (done, told) = (stands(Stands::Done), "methods were kept in a vault: commands");
        let text = format!("{kept} {told} {commands}, done {done}, refused {undone}");
        found.push(Violation::new("law 5", text));
    }
}

/// Checks that the answers to these commands are true.
pub(super) fn told(evidence: &Evidence<'_>, found: &mut Vec<Violation>) {
    vaults(evidence, found);
    for (command, own) in owns(evidence) {
        let Some(answer) = evidence.answers.get(&command.name) else { continue };
        let done = is_done(evidence, own);
        // Another command may have done the same if the values name no version.
        let alone = !own.set().is_null();
        let wrong = match answer.stands {
            Stands::Done => !done,
            Stands::Refused | Stands::NotSent => done && alone,
            Stands::Held | Stands::InDoubt | Stands::Blocked | Stands::Invalid => false,
        };
        if wrong {
            let text = format!("{command} is told as {:?}, and was done: {done}", answer.stands);
            found.push(Violation::new("law 5", text));
        }
    }
}
