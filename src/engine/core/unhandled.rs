//! Handover of requests from an engine that ends to the next one over the same state, when a daemon
//! takes another configuration.
//!
//! Guarantees: no request is lost, and none is handled twice. Handed over is what was not begun: an
//! input that was not read, an action that waits for another effect, and a read whose answer is to
//! come. What was begun is answered before the engine ends.

use tokio::sync::mpsc;

use crate::engine::core::coordinator::Engine;
use crate::engine::core::tasks::TreeReader;
use crate::engine::protocol::input::EngineInput;
use crate::engine::protocol::query::EngineQuery;

impl Engine {
    /// Returns what the engine has not begun, and takes nothing more from this channel.
    pub(crate) fn unhandled(
        &mut self,
        mut events: mpsc::Receiver<EngineInput>,
    ) -> Vec<EngineInput> {
        events.close();
        let unread = std::iter::from_fn(|| events.try_recv().ok()).filter(is_a_request);
        let settles = self.waiters.drain(..);
        let settles = settles.map(|reply| EngineInput::Ask(EngineQuery::Settle, reply));
        let sweeps = std::mem::take(&mut self.readers.sweeps.waiters).into_iter();
        let resync = self.event_schedule.take_resync();
        let acts = std::mem::take(&mut self.scheduler.lanes.acts).into_iter();
        unread
            .chain(self.reader.take_queries())
            .chain(settles)
            .chain(sweeps.map(EngineInput::Refresh))
            .chain(resync.map(|(request, reply)| EngineInput::ResyncEvents(request, reply)))
            .chain(acts.map(|act| EngineInput::Act(act.command, act.reply)))
            .collect()
    }
}

impl TreeReader {
    /// Returns the queries that wait for a read, as inputs that ask for the same read.
    fn take_queries(&mut self) -> impl Iterator<Item = EngineInput> {
        let begun = (self.verifies, std::mem::take(&mut self.questions));
        let next = self.next.take().map(|next| (next.scope.verify, next.questions));
        [begun].into_iter().chain(next).flat_map(|(verifies, questions)| {
            questions.into_iter().map(move |(query, reply)| {
                if verifies && query == EngineQuery::Plan {
                    return EngineInput::Verify(reply);
                }
                EngineInput::Ask(query, reply)
            })
        })
    }
}

/// Returns true for an input that has an answer. Every other one only reports a change, and the next
/// engine reads all changes by itself.
fn is_a_request(input: &EngineInput) -> bool {
    match input {
        EngineInput::Files(_)
        | EngineInput::Scripts(_)
        | EngineInput::ActionsRequested(_)
        | EngineInput::Posted
        | EngineInput::Stop => false,
        EngineInput::Ask(..)
        | EngineInput::Verify(_)
        | EngineInput::Refresh(_)
        | EngineInput::Retry(..)
        | EngineInput::PartnerWebhook(..)
        | EngineInput::Visit(..)
        | EngineInput::Payer(_)
        | EngineInput::Command(..)
        | EngineInput::Act(..)
        | EngineInput::ResyncEvents(..)
        | EngineInput::Compact(..)
        | EngineInput::Rekey(..) => true,
    }
}
