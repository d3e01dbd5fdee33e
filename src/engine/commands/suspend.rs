//! Suspension and resumption of a resource by a person.
//!
//! An effect under way is settled all the same. A suspension ends by itself at its time: the engine
//! wakes then.

use super::decision::Decision;
use crate::base::id::Key;
use crate::base::wording::nearest;
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::query::Reply;
use crate::engine::view::EngineView;
use crate::kinds::planning::step::merchant_of;
use crate::model::operator::suspension::{
    RemainingSuspension, Suspension, SuspensionRequest, SuspensionResult,
};
use crate::model::record::Record;
use crate::plan::state_view::StateView;

/// The record to write, if any, and the answer that follows.
type SuspendRecord = (Option<Record>, SuspensionResult);

impl EngineView<'_> {
    /// Decides about a suspension or resumption.
    pub(crate) fn suspend(&self, request: &SuspensionRequest, actor: String) -> Decision {
        let (record, result) = self.suspend_record(request, actor);
        let answer = Reply::Suspension(Box::new(result));
        let Some(record) = record else { return Decision::answer(answer) };
        let result = TaskResult::RecordWritten(Some(request.key().clone()));
        Decision::append(vec![record], result, answer)
    }

    pub(crate) fn suspend_record(&self, pause: &SuspensionRequest, actor: String) -> SuspendRecord {
        let key = pause.key().clone();
        if self.planner.step(&key).is_none() && self.known_state.suspension(&key).is_none() {
            let names: Vec<String> = self.planner.steps().map(|step| step.key.short()).collect();
            let nearest = nearest(&key.short(), names.iter().map(String::as_str));
            let nearest = nearest.map(str::to_owned);
            return (None, SuspensionResult::Unknown { key, nearest });
        }
        let at = self.shared.now();
        match pause {
            SuspensionRequest::Suspend { key, reason, until } => {
                let (key, reason) = (key.clone(), reason.clone());
                let suspension = Suspension { key, reason, actor, until: *until, at };
                let record = Record::Suspended(Box::new(suspension.clone()));
                (Some(record), SuspensionResult::Suspended(suspension))
            }
            SuspensionRequest::Resume { key } => {
                let still = self.other_suspension(key);
                let key = key.clone();
                if !self.known_state.suspension(&key).is_some_and(|one| one.is_in_force(at)) {
                    return (None, SuspensionResult::NotSuspended { key, still });
                }
                let record = Record::Resumed { key: key.clone(), actor, at };
                (Some(record), SuspensionResult::Resumed { key, still })
            }
        }
    }

    /// Returns the cause that suspends a resource besides its own suspension.
    fn other_suspension(&self, key: &Key) -> Option<RemainingSuspension> {
        let manifest = self.known_state.desired().manifest(key);
        if let Some(manifest) = manifest.as_ref().filter(|one| one.annotations.suspend) {
            let place = &manifest.place;
            return Some(RemainingSuspension::Document(place.file.to_string(), place.line));
        }
        let merchant = manifest.as_ref().and_then(merchant_of);
        let merchant =
            merchant.or_else(|| Some(self.known_state.observed(key)?.merchant.clone()))?;
        let holds = self.known_state.suspension(&merchant)?.is_in_force(self.shared.now());
        (holds && merchant != *key).then_some(RemainingSuspension::Merchant(merchant))
    }
}
