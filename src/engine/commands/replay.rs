//! Decides about runs that a person requests for the events of a period.

use crate::engine::commands::decision::Decision;
use crate::engine::handles::shared::EngineResult;
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::query::Reply;
use crate::engine::protocol::replay::{ReplayCandidate, ReplaySelection};
use crate::engine::view::EngineView;
use crate::model::events::replay::{ReplayRequest, RequestedRun};
use crate::model::record::Record;

impl EngineView<'_> {
    /// Decides to run a script again for the selected events, in one record; the reply is their
    /// number.
    pub(crate) fn request_replay(
        &self,
        selection: &ReplaySelection,
        actor: String,
    ) -> EngineResult<Decision> {
        let events = self.replay_candidates(selection)?.events;
        let answer = Reply::Replayed(events.len());
        if events.is_empty() {
            return Ok(Decision::answer(answer));
        }
        let script = selection.script.clone();
        let text = self.shared.facts.roster()?.get(&script).map(|known| known.text);
        let runs = events.into_iter().map(requested_run).collect();
        let request = ReplayRequest { script, text, runs, actor, at: self.shared.now() };
        let records = vec![Record::ReplayRequested(Box::new(request))];
        Ok(Decision::append(records, TaskResult::Replayed, answer))
    }
}

fn requested_run(candidate: ReplayCandidate) -> RequestedRun {
    let ReplayCandidate { merchant, event, number, function, .. } = candidate;
    RequestedRun { merchant, event, number, function }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::tests::fixture::StateFixture;
    use crate::engine::tests::records::{failed_run, merchant, now};
    use crate::store::read_model::hooks::FAILED_COUNTS;

    fn request(events: &[u64]) -> Record {
        let run = |number: &u64| RequestedRun {
            merchant: merchant(),
            event: format!("e{number}"),
            number: *number,
            function: "on_event".to_owned(),
        };
        Record::ReplayRequested(Box::new(ReplayRequest {
            script: "a".to_owned(),
            text: None,
            runs: events.iter().map(run).collect(),
            actor: "ann".to_owned(),
            at: now(),
        }))
    }

    /// A retry of the script `a` that failed for good.
    fn failed_again(number: u64) -> Record {
        let Record::HooksRun(mut ran) = failed_run(number, "a", None) else { panic!("a run") };
        (ran.is_retry, ran.script_identity, ran.number) = (true, None, 0);
        Record::HooksRun(ran)
    }

    #[test]
    fn requested_runs_are_due_in_their_order_and_do_not_count_as_failed() {
        let mut fixture = StateFixture::with_documents(&[]);
        fixture.record(request(&[3, 1, 2]));
        let facts = &fixture.shared.facts;
        let (due, _) = facts.due_retries((now(), now()), 10).unwrap();
        let events: Vec<&str> = due.iter().map(|run| run.event.as_str()).collect();
        assert_eq!(events, ["e3", "e1", "e2"]);
        let ledger = facts.event_ledger(&merchant()).unwrap();
        assert_eq!((ledger.requested, ledger.retried, ledger.dead), (3, 0, 0));
    }

    #[test]
    fn a_requested_run_that_fails_stops_no_script_and_a_hook_that_had_failed_still_counts() {
        let mut fixture = StateFixture::with_documents(&[]);
        fixture.append(vec![failed_run(1, "a", None), request(&[1, 2])]);
        fixture.append(vec![failed_again(1), failed_again(2)]);
        let facts = &fixture.shared.facts;
        let ledger = facts.event_ledger(&merchant()).unwrap();
        assert_eq!((ledger.requested, ledger.retried, ledger.dead), (0, 0, 2));
        let counted = FAILED_COUNTS.get(facts, (&merchant(), "a")).unwrap();
        assert_eq!(counted, Some(1), "only the run of the event's own turn");
    }
}
