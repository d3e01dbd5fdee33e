//! Release after a restore: a person states what was sent since the backup, or that nothing was.

use super::decision::Decision;
use crate::base::id::Key;
use crate::engine::handles::shared::EngineError;
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::queries::local_reply::StateReply;
use crate::engine::protocol::query::Reply;
use crate::engine::view::EngineView;
use crate::model::record::Record;
use crate::model::state::lifecycle::{Release, ReleaseRequest};

impl EngineView<'_> {
    /// Decides about a release: it is recorded if there is an epoch that it can apply to, or if
    /// applications wait for it.
    pub(crate) fn release(
        &self,
        said: ReleaseRequest,
        actor: String,
    ) -> Result<Decision, EngineError> {
        let applies = self.approves_applications(&said) || self.shared.facts.epoch()?.is_some();
        let answer = Reply::State(StateReply::Released(applies));
        if !applies {
            return Ok(Decision::answer(answer));
        }
        let ReleaseRequest { keys, done } = said;
        let release = Release { keys, done, at: self.shared.now(), actor };
        let records = vec![Record::Released(Box::new(release))];
        Ok(Decision::append(records, TaskResult::Released, answer))
    }

    /// Returns true if a release names only applications that wait for it.
    fn approves_applications(&self, said: &ReleaseRequest) -> bool {
        let step = |key: &Key| self.planner.step(key);
        let waits = |key: &Key| step(key).is_some_and(|step| step.reason.is_maybe_submitted());
        !said.done && !said.keys.is_empty() && said.keys.iter().all(waits)
    }
}
