//! Answers a query from the present state.

use crate::engine::handles::shared::EngineError;
use crate::engine::protocol::queries::local_reply::StateReply;
use crate::engine::protocol::query::{EngineQuery, Reply};
use crate::engine::view::EngineView;

impl EngineView<'_> {
    /// Answers a question from the present state.
    pub fn answer(&self, question: EngineQuery) -> Result<Reply, EngineError> {
        Ok(match question {
            EngineQuery::Overview => Reply::Overview(self.overview()),
            EngineQuery::Resources => Reply::Resources(
                self.planner.steps().map(|step| self.resource_view(step)).collect(),
            ),
            EngineQuery::Resource(key) => Reply::Resource(self.resource(&key).map(Box::new)),
            EngineQuery::Metrics => Reply::Metrics(Box::new(self.metrics()?)),
            EngineQuery::Intents => Reply::Intents(self.intents()?),
            EngineQuery::Events(wanted) => Reply::Events(Box::new(self.events(&wanted)?)),
            EngineQuery::Event(id) => Reply::Event(self.event(&id)?.map(Box::new)),
            EngineQuery::Hooks => Reply::Hooks(Box::new(self.hooks_view()?)),
            EngineQuery::ScriptResource(key) => Reply::ScriptData(self.script_resource(&key)),
            EngineQuery::ScriptFind(kind, filter) => {
                Reply::ScriptData(Ok(self.script_find(&kind, &filter)))
            }
            EngineQuery::TrialRun(asked) => Reply::ScriptData(self.trial_data(&asked)),
            EngineQuery::Plan => Reply::Plan(Box::new(self.plan_view())),
            EngineQuery::Scoped(scope) => match self.plan_within(&scope) {
                Ok(plan) => Reply::Plan(Box::new(plan)),
                Err(unknown) => Reply::Unknown(unknown),
            },
            EngineQuery::Save(saving) => self.save_plan(*saving)?,
            EngineQuery::Approvals => Reply::Approvals(self.approvals()),
            EngineQuery::IntakeLink(key) => Reply::IntakeLink(self.intake_link(&key)),
            EngineQuery::JournalRefs(wanted) => {
                Reply::State(StateReply::Trail(self.journal_refs(&wanted)?))
            }
            EngineQuery::Addresses => Reply::Addresses(self.shared.facts.rotations()?),
            EngineQuery::Effects(position) => Reply::Effects(self.effects_since(position)),
            EngineQuery::Settle => Reply::Settled,
        })
    }
}
