//! A merchant's own things: what people were told as done was done, and what was refused was not.

use super::{Evidence, Violation};
use crate::engine::Stands;
use crate::sim::command::{Command, Order};
use crate::sim::deed::Deed;
use crate::sim::desk::text;
use crate::sim::till::Own;

/// Every command about a merchant's own things.
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
        Deed::Refresh => None,
    })
}

/// Whether the service did it, as far as its requests tell.
fn is_done(evidence: &Evidence<'_>, own: &Own) -> bool {
    let mut arrivals = evidence.arrivals.iter();
    let arrived = arrivals.any(|one| {
        let same = own.set().is_null() || one.asked == own.set();
        one.effect == Some(own.effect()) && same && (200..300).contains(&one.status)
    });
    match own {
        Own::Details { .. } | Own::Account { .. } | Own::Purge => arrived,
        // It may be gone with a purge.
        Own::Delete { nth } => is_gone(evidence, *nth),
    }
}

/// Whether one of the merchant's own recurring charges collects no more.
fn is_gone(evidence: &Evidence<'_>, nth: usize) -> bool {
    let (all, there) = &evidence.objects.till;
    let Some(id) = all.get(nth) else { return true };
    let mut there = there.iter().filter(|one| text(one, "id") == id);
    there.all(|one| text(one, "status") == "DELETED")
}

/// What was told of these commands is true.
pub(super) fn told(evidence: &Evidence<'_>, found: &mut Vec<Violation>) {
    for (command, own) in owns(evidence) {
        let Some(answer) = evidence.answers.get(&command.name) else { continue };
        let done = is_done(evidence, own);
        // Others may have done what says no version.
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
