//! The cost of one turn of the loop, counted in entries that its searches visit.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use rand_core::SeedableRng;
use tokio::time::Instant;

use crate::base::id::Key;
use crate::base::timers::visits;
use crate::client::gate::Limiter;
use crate::engine::handles::task_result::TaskFailure;
use crate::engine::readers::timers::RefreshTimer;
use crate::engine::scheduler::schedule::Scheduler;
use crate::engine::tests::fixture::StateFixture;
use crate::engine::tests::records::contact;

/// The parts whose due times one turn looks up.
struct TurnParts {
    scheduler: Scheduler,
    accounts: RefreshTimer,
}

impl TurnParts {
    /// Builds the parts with this number of resources behind a shut breaker, and as many refused
    /// ones.
    fn of(waiting: usize) -> Self {
        let mut scheduler = Scheduler::new(Arc::new(Limiter::new(4)), Arc::default());
        let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(1);
        let key = |kind: &str, number| format!("{kind}/c-{number}").parse::<Key>().unwrap();
        for number in 0..waiting {
            let failure = TaskFailure::Unreachable("no route".to_owned());
            let wait = (Duration::from_mins(5), None);
            scheduler.fail(&key("Contact", number), failure, wait, &mut rng);
        }
        let refused: Vec<Key> = (0..waiting).map(|number| key("Invoice", number)).collect();
        let accounts = RefreshTimer::after_readings(&[], &refused);
        Self { scheduler, accounts }
    }

    /// Does what one turn of the loop does, and one task that fails again; returns the number of
    /// entries that its searches visit.
    fn turn(&mut self) -> usize {
        let key: Key = "Contact/c-0".parse().unwrap();
        let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(2);
        let has_work = |_: &Key| true;
        visits(|| {
            assert!(self.accounts.due_refusals(&self.scheduler.busy).is_empty());
            self.scheduler.resume_idle_lanes(&has_work);
            assert!(self.scheduler.queue.is_empty() && !self.scheduler.is_idle());
            assert_eq!(self.scheduler.failures.attention_count(), 0);
            assert!(self.scheduler.backoff.next_due() > Some(Instant::now()));
            assert!(self.accounts.next_due(&self.scheduler.busy).is_some());
            self.scheduler.retry(&has_work);
            let failure = TaskFailure::Unreachable("no route".to_owned());
            self.scheduler.fail(&key, failure, (Duration::from_mins(5), None), &mut rng);
            self.scheduler.failures.note_step(&key, true);
            self.scheduler.enqueue(BTreeSet::from([key]), &has_work);
        })
    }
}

/// Returns the number of entries that a turn visits in the known state and in the plan, with this
/// number of contacts that cannot be created, after an edit of one.
fn visited_of_state(contacts: usize) -> usize {
    let documents: Vec<String> =
        (0..contacts).map(|number| contact(&format!("c-{number}"))).collect();
    let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
    let mut fixture = StateFixture::with_documents(&documents);
    assert_eq!(fixture.view().overview().changes, contacts);
    visits(|| {
        let edited = ["Contact/c-0".parse::<Key>().unwrap()];
        let made = fixture.planner.recompute(&fixture.known_state, edited);
        assert_eq!(made.len(), 1);
        let view = fixture.view();
        assert!(view.due_bookkeeping().is_empty());
        assert!(view.next_dates().is_none());
        assert_eq!(view.overview().changes, contacts);
        assert_eq!(view.metrics().unwrap().conditions.len(), 4);
    })
}

/// An edited document costs one step, and the counts of a turn and of a monitor cost none of them.
#[test]
fn the_cost_of_an_edit_does_not_depend_on_the_number_of_documents() {
    // The step of the edit, and the one merchant for its events.
    assert_eq!([10, 1_000].map(visited_of_state), [2, 2]);
}

/// A turn costs the same with a thousand resources behind a shut breaker as with a hundred
/// thousand.
#[tokio::test(start_paused = true)]
async fn the_cost_of_a_turn_does_not_depend_on_the_number_of_waiting_resources() {
    let visited = [1_000, 100_000].map(|waiting| TurnParts::of(waiting).turn());
    assert_eq!(visited[0], visited[1]);
    assert!(visited[0] < 10, "{visited:?}");
}
