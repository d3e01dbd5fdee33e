//! Classes the state of one resource for alerts. Pure.

use crate::engine::handles::task_result::TaskFailure;
use crate::model::alerts::AlertClass;
use crate::model::plan::{Reason, Standing, Step};

/// The problem of a resource, as far as it is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AlertVerdict {
    Problem(AlertClass),
    /// It is ready, gone, or left alone by a person's order.
    Over,
    /// A change is under way, or it waits for something else: what was known stays.
    Undecided,
}

/// Returns the verdict on a resource; `failure` is that of its last try. Without a step it is gone.
pub(crate) fn verdict(step: Option<&Step>, failure: Option<&TaskFailure>) -> AlertVerdict {
    let Some(step) = step else { return AlertVerdict::Over };
    if let Some(class) = step_class(step) {
        return AlertVerdict::Problem(class);
    }
    let in_flight = matches!(step.reason, Reason::InFlight);
    if let Some(class) = failure.filter(|_| !in_flight).and_then(failure_class) {
        return AlertVerdict::Problem(class);
    }
    match step.standing() {
        Standing::Ready | Standing::Unhealthy | Standing::Suspended | Standing::Undocumented => {
            AlertVerdict::Over
        }
        Standing::NeedsAttention | Standing::Invalid | Standing::Changing | Standing::Waiting => {
            AlertVerdict::Undecided
        }
    }
}

/// Returns the class of a step that is a problem by itself.
#[expect(clippy::wildcard_enum_match_arm, reason = "every other reason is classed by its row")]
fn step_class(step: &Step) -> Option<AlertClass> {
    Some(match &step.reason {
        Reason::OnHold(_) | Reason::UnknownObjects(_) => AlertClass::Held,
        Reason::InDoubt(_) => AlertClass::InDoubt,
        Reason::OverLimit(_) => AlertClass::OverLimit,
        Reason::Drifted(_) | Reason::DriftReturns(_) | Reason::Vanished(_) => AlertClass::Drift,
        Reason::AwaitsAuthorization(_) => AlertClass::Service,
        Reason::BrokenDocument => AlertClass::Blocked,
        reason if reason.needs_operator() => AlertClass::Blocked,
        _ => return None,
    })
}

fn failure_class(failure: &TaskFailure) -> Option<AlertClass> {
    match failure {
        TaskFailure::Unreachable(_) | TaskFailure::Denied(_) => Some(AlertClass::Service),
        TaskFailure::Secret(_) | TaskFailure::Blocked(_) | TaskFailure::Mismatch(_) => {
            Some(AlertClass::Blocked)
        }
        TaskFailure::Waiting(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::tests::fixture::StateFixture;
    use crate::engine::tests::records::key;

    fn step(reason: Reason) -> Step {
        let contact = "apiVersion: reckon.dev/v1\nkind: Contact\nmetadata: {name: a}\nspec: \
            {merchant: acme, first_name: Jane}\n";
        let fixture = StateFixture::with_documents(&[contact]);
        let known = fixture.planner.step(&key("Contact/a")).unwrap();
        Step { reason, ..(**known).clone() }
    }

    #[test]
    fn each_problem_of_a_step_has_its_class() {
        let why = || "why".to_owned();
        for (reason, class) in [
            (Reason::OnHold(why()), AlertClass::Held),
            (Reason::InDoubt(why()), AlertClass::InDoubt),
            (Reason::Refused(why()), AlertClass::Blocked),
            (Reason::Unsuitable(why()), AlertClass::Blocked),
            (Reason::BrokenDocument, AlertClass::Blocked),
            (Reason::Drifted(vec![why()]), AlertClass::Drift),
            (Reason::Vanished(why()), AlertClass::Drift),
            (Reason::AwaitsAuthorization(why()), AlertClass::Service),
        ] {
            assert_eq!(verdict(Some(&step(reason)), None), AlertVerdict::Problem(class));
        }
    }

    #[test]
    fn a_failed_try_is_a_problem_until_the_next_one_is_under_way() {
        let failure = TaskFailure::Unreachable("no route".to_owned());
        let waits = step(Reason::NotCreated);
        let service = AlertVerdict::Problem(AlertClass::Service);
        assert_eq!(verdict(Some(&waits), Some(&failure)), service);
        assert_eq!(verdict(Some(&waits), None), AlertVerdict::Undecided);
        let tried = step(Reason::InFlight);
        assert_eq!(verdict(Some(&tried), Some(&failure)), AlertVerdict::Undecided);
        let processing = TaskFailure::Waiting("later".to_owned());
        assert_eq!(verdict(Some(&waits), Some(&processing)), AlertVerdict::Undecided);
    }

    #[test]
    fn a_problem_is_over_when_the_resource_is_gone_or_suspended() {
        assert_eq!(verdict(None, None), AlertVerdict::Over);
        assert_eq!(verdict(Some(&step(Reason::Suspended)), None), AlertVerdict::Over);
        assert_eq!(verdict(Some(&step(Reason::Orphaned)), None), AlertVerdict::Over);
        let waits = step(Reason::WaitsFor(vec![key("Contact/b")]));
        assert_eq!(verdict(Some(&waits), None), AlertVerdict::Undecided);
    }
}
