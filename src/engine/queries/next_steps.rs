//! The ways on from a resource that is not ready: the commands by its reason, and the tree of the
//! resources that it needs.

use crate::base::id::Key;
use crate::engine::protocol::next_steps::{NeedView, NextStep};
use crate::engine::view::EngineView;
use crate::model::holds::Hold;
use crate::model::plan::{Reason, Standing, Step};

/// Levels of needs below a resource, and their number in all.
const NEEDS_DEEP_MAX: usize = 8;
const NEEDS_MAX: usize = 100;

/// Returns the commands that lead on from a step, the nearest first; none for a ready resource. Of a
/// step that a hold stops, the end of the hold is the only one; none if the hold ends by itself.
pub(crate) fn next_steps(step: &Step, hold: Option<&Hold>) -> Vec<NextStep> {
    match hold {
        Some(Hold::Frozen(_)) => {
            return vec![NextStep::new("let changes go out again", "reckon thaw".to_owned())];
        }
        Some(Hold::AwaitsSync) => {
            return vec![NextStep::new("review the plan and send it", "reckon sync".to_owned())];
        }
        // It ends by itself.
        Some(Hold::ScheduledFreeze(_) | Hold::OutsideWindow(_)) => return Vec::new(),
        None => {}
    }
    if step.is_ready() {
        return Vec::new();
    }
    let key = step.key.short();
    let mut steps = by_reason(&key, &step.reason);
    let is_at_the_service = step.remote_id.is_some();
    let has_history = is_at_the_service || matches!(step.reason, Reason::Refused(_));
    if has_history && matches!(step.standing(), Standing::NeedsAttention | Standing::Unhealthy) {
        steps.push(NextStep::new("see its history", format!("reckon why {key}")));
    }
    steps
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the sentences of the others say what to edit")]
fn by_reason(key: &str, reason: &Reason) -> Vec<NextStep> {
    let one = |purpose, command: String| vec![NextStep::new(purpose, command)];
    match reason {
        Reason::InDoubt(_) | Reason::OnHold(_) => {
            one("see the evidence, and the commands that settle it", "reckon intents".to_owned())
        }
        Reason::UnknownObjects(_) => {
            one("see the objects, and the commands that resolve them", "reckon intents".to_owned())
        }
        Reason::AwaitsApplicant => {
            one("print the link for the applicant", "reckon events urls".to_owned())
        }
        Reason::AwaitsIntake(_) => {
            one("print the link for the payer", format!("reckon link {key}"))
        }
        Reason::AwaitsApproval(binding) => {
            one("approve the accounts", format!("reckon approve {}", binding.merchant.short()))
        }
        Reason::MaybeSubmitted(application) => {
            one("approve the application", format!("reckon approve {}", application.short()))
        }
        Reason::OverLimit(_) => {
            one("see the plan, with the command that approves it", "reckon plan".to_owned())
        }
        Reason::BrokenDocument | Reason::PruneSuspended => {
            one("see the problems of the documents", "reckon validate".to_owned())
        }
        Reason::SuspendedBy(suspension) => {
            one("resume it", format!("reckon resume {}", suspension.key.short()))
        }
        Reason::WaitsFor(keys) => on_others("see what it waits for", keys),
        Reason::InUse(keys) => on_others("see what uses it", keys),
        _ => Vec::new(),
    }
}

fn on_others(purpose: &str, keys: &[Key]) -> Vec<NextStep> {
    let first = keys.first().map(Key::short);
    first.map(|key| NextStep::new(purpose, format!("reckon describe {key}"))).into_iter().collect()
}

impl EngineView<'_> {
    /// Returns the resources that the document of a resource needs, each with its own needs.
    pub(crate) fn needs(&self, key: &Key) -> Vec<NeedView> {
        self.needs_of(key, NEEDS_DEEP_MAX, &mut { NEEDS_MAX })
    }

    /// Returns the needs of a resource, `deep` levels at most; `left` is the number still allowed.
    fn needs_of(&self, key: &Key, deep: usize, left: &mut usize) -> Vec<NeedView> {
        let mut views = Vec::new();
        for needed in self.planner.needs(key) {
            let Some(rest) = left.checked_sub(1) else { break };
            *left = rest;
            views.push(self.need_view(needed, deep, left));
        }
        views
    }

    fn need_view(&self, key: &Key, deep: usize, left: &mut usize) -> NeedView {
        let step = self.planner.step(key);
        let ready = step.is_some_and(|step| step.ready);
        let below = deep.checked_sub(1).filter(|_| *left > 0);
        let needs = match below {
            Some(deep) if !ready => self.needs_of(key, deep, left),
            Some(_) | None => Vec::new(),
        };
        let is_cut = !ready && needs.is_empty() && self.planner.needs(key).next().is_some();
        let (reason, message) = step.map_or_else(
            || ("Missing", "there is no such document".to_owned()),
            |step| step.headline(),
        );
        let message = if ready { String::new() } else { message };
        NeedView { key: key.clone(), ready, reason: reason.to_owned(), message, needs, is_cut }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::change::PlannedAction;

    fn step(reason: Reason) -> Step {
        Step::idle("Invoice/a".parse().unwrap(), PlannedAction::Wait, reason)
    }

    fn commands(step: &Step) -> Vec<String> {
        next_steps(step, None).into_iter().map(|next| next.command).collect()
    }

    #[test]
    fn each_reason_leads_to_the_command_that_is_nearest() {
        let needed = vec!["Merchant/acme".parse().unwrap()];
        for (reason, command) in [
            (Reason::WaitsFor(needed), "reckon describe Merchant/acme"),
            (Reason::InDoubt("lost".to_owned()), "reckon intents"),
            (Reason::BrokenDocument, "reckon validate"),
            (Reason::AwaitsApplicant, "reckon events urls"),
        ] {
            assert_eq!(commands(&step(reason)), [command]);
        }
        assert!(commands(&step(Reason::NotCreated)).is_empty());
    }

    #[test]
    fn what_the_service_refused_has_a_history_and_what_is_ready_needs_nothing() {
        let refused = step(Reason::Refused("no".to_owned()));
        assert_eq!(commands(&refused), ["reckon why Invoice/a"]);
        let settled =
            Step::idle("Invoice/a".parse().unwrap(), PlannedAction::Settled, Reason::Settled);
        assert!(commands(&Step { ready: true, ..settled }).is_empty());
    }
}
