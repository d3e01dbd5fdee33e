//! Decisions of an operator that only records follow: acknowledged failures, release after a restore,
//! rotation of addresses, suspension, and the freeze of everything.
//!
//! An effect under way is settled in spite of a suspension. A suspension ends by itself at its time: the
//! engine wakes then.

use std::collections::BTreeSet;

use crate::base::clock::timestamp;
use crate::base::id::{IntentId, Key};
use crate::engine::commands::decision::Decision;
use crate::engine::handles::shared::EngineResult;
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::diagnostics::StateReply;
use crate::engine::protocol::query::Reply;
use crate::engine::protocol::unknown_names::{nearest_key, no_merchant};
use crate::engine::view::EngineView;
use crate::kinds::planning::step::merchant_of;
use crate::model::events::hook_run::{HooksAcknowledged, HooksReplayed};
use crate::model::events::scripts::ScriptForgotten;
use crate::model::holds::{Freeze, FreezeRequest, FreezeResult, SyncGrant, SyncResult, Thaw};
use crate::model::intent::OrphanDismissed;
use crate::model::operator::{
    RemainingSuspension, RotationRecord, RotationRequest, RotationStep, Suspension,
    SuspensionRequest, SuspensionResult, WebhookAddress,
};
use crate::model::record::Record;
use crate::model::state::lifecycle::{Release, ReleaseRequest};
use crate::plan::state_view::StateView;

impl EngineView<'_> {
    /// Decides to remove an event's failed hooks and actions from the list; answers their number.
    pub(crate) fn acknowledge(&self, event: String, actor: String) -> EngineResult<Decision> {
        let undone = self.shared.facts.failed_actions()?;
        let undone = undone.iter().filter(|one| one.result.id.event == event).count();
        let failed = self.shared.facts.failed_of(&event)?;
        let dead = failed.iter().filter(|one| one.failed.retry_at.is_none()).count();
        let found = undone.saturating_add(dead);
        let at = self.shared.now();
        let record = Record::HooksAcknowledged(Box::new(HooksAcknowledged { event, actor, at }));
        let records = if found > 0 { vec![record] } else { Vec::new() };
        Ok(Decision::append(records, TaskResult::Replayed, Reply::Dismissed(found)))
    }

    /// Decides to remove an object that was made again from the list; the reply is its resource.
    pub(crate) fn acknowledge_orphan(
        &self,
        (intent, reason): (IntentId, String),
        actor: String,
    ) -> EngineResult<Decision> {
        let listed = self.shared.facts.possible_orphans()?;
        let key = listed.into_iter().find(|orphan| orphan.intent == intent).map(|one| one.key);
        let at = self.shared.now();
        let record = |key: Key| {
            Record::OrphanDismissed(Box::new(OrphanDismissed { intent, key, reason, actor, at }))
        };
        let records = key.clone().map(record).into_iter().collect();
        let result = TaskResult::RecordWritten(key.clone());
        Ok(Decision::append(records, result, Reply::OrphanSeen(key)))
    }

    /// Decides to run the hooks of an event again that failed for good; the reply is their number.
    pub(crate) fn replay(&self, event: &str, actor: &str) -> EngineResult<Decision> {
        let failed = self.shared.facts.failed_of(event)?;
        let dead = failed.iter().filter(|one| one.failed.retry_at.is_none());
        let merchants: BTreeSet<Key> = dead.clone().map(|one| one.merchant.clone()).collect();
        let at = self.shared.now();
        let record = |merchant| {
            let (event, actor) = (event.to_owned(), actor.to_owned());
            Record::Replayed(Box::new(HooksReplayed { merchant, event, actor, at }))
        };
        let records = merchants.into_iter().map(record).collect();
        Ok(Decision::append(records, TaskResult::Replayed, Reply::Replayed(dead.count())))
    }

    /// Decides to forget a script; answers the number of its values, or `None` if not absent.
    pub(crate) fn forget_script(&self, script: String, actor: String) -> EngineResult<Decision> {
        let known = self.shared.facts.roster()?;
        if known.get(&script).is_none_or(|one| one.absent.is_none()) {
            return Ok(Decision::answer(Reply::ScriptForgotten(None)));
        }
        let kept = self.shared.facts.stored_size(&script)?.keys;
        let kept = usize::try_from(kept).unwrap_or(usize::MAX);
        let forgotten = ScriptForgotten { script, actor, at: self.shared.now() };
        let records = vec![Record::ScriptForgotten(Box::new(forgotten))];
        let answer = Reply::ScriptForgotten(Some(kept));
        Ok(Decision::append(records, TaskResult::RecordWritten(None), answer))
    }

    /// Decides about a release: recorded if it applies to an epoch, or if applications wait for it.
    pub(crate) fn release(&self, said: ReleaseRequest, actor: String) -> EngineResult<Decision> {
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

    pub(crate) fn rotate(&self, asked: &RotationRequest, actor: String) -> EngineResult<Decision> {
        let addresses = match self.to_rotate(asked)? {
            Ok(addresses) => addresses,
            Err(why) => return Ok(Decision::answer(Reply::Rotated(Err(why)))),
        };
        let at = self.shared.now();
        let rotated = RotationRecord { addresses: addresses.clone(), step: asked.step, actor, at };
        let records = vec![Record::Rotated(Box::new(rotated))];
        let answer = Reply::Rotated(Ok(addresses));
        Ok(Decision::append(records, TaskResult::RecordWritten(None), answer))
    }

    /// Returns the addresses that a rotation concerns, or the reason of its refusal.
    fn to_rotate(
        &self,
        asked: &RotationRequest,
    ) -> EngineResult<Result<Vec<WebhookAddress>, String>> {
        let merchants = self.snapshot().merchants();
        let all = match &asked.merchant {
            Some(key) if !merchants.contains(key) => return Ok(Err(no_merchant(key, &merchants))),
            Some(key) => vec![WebhookAddress::Merchant(key.clone())],
            None => {
                let merchants = merchants.into_iter().map(WebhookAddress::Merchant);
                [WebhookAddress::Partner].into_iter().chain(merchants).collect()
            }
        };
        let mut under_way = Vec::new();
        let mut since = Vec::new();
        for address in &all {
            if let Some(at) = self.shared.facts.rotation(address)?.began {
                since.push(format!("{address} since {}", timestamp(&at)));
                under_way.push(address.clone());
            }
        }
        Ok(match asked.step {
            RotationStep::Begun if !under_way.is_empty() => {
                Err(format!("an exchange is already in progress: {}", since.join(", ")))
            }
            RotationStep::Finished if under_way.is_empty() => {
                Err("no exchange is in progress".to_owned())
            }
            RotationStep::Finished => Ok(under_way),
            RotationStep::Begun | RotationStep::AtOnce => Ok(all),
        })
    }

    /// Decides about a freeze or its end; a request that changes nothing is answered alone.
    pub(crate) fn freeze(&self, request: FreezeRequest, actor: String) -> Decision {
        let (known, at) = (self.known_state.holds.freeze().cloned(), self.shared.now());
        let (record, result) = match (request, known) {
            (FreezeRequest::Freeze { .. }, Some(known)) => {
                return Decision::answer(Reply::Freeze(FreezeResult::AlreadyFrozen(known)));
            }
            (FreezeRequest::Thaw, None) => {
                return Decision::answer(Reply::Freeze(FreezeResult::NotFrozen));
            }
            (FreezeRequest::Freeze { reason }, None) => {
                let freeze = Freeze { reason, actor, at };
                (Record::Frozen(Box::new(freeze.clone())), FreezeResult::Frozen(freeze))
            }
            (FreezeRequest::Thaw, Some(known)) => {
                (Record::Thawed(Box::new(Thaw { actor, at })), FreezeResult::Thawed(known))
            }
        };
        Decision::append(vec![record], TaskResult::HoldsChanged, Reply::Freeze(result))
    }

    /// Decides about the sync of the plan with this checksum: that plan, as a person saw it, or none.
    pub(crate) fn sync(&self, checksum: &str, actor: String) -> Decision {
        if !self.known_state.holds.is_manual() {
            return Decision::answer(Reply::Sync(SyncResult::Automatic));
        }
        let present = self.plan_view().checksum;
        if present != checksum {
            return Decision::answer(Reply::Sync(SyncResult::Changed(present)));
        }
        let grant = SyncGrant { tree: self.synced_tree(), actor, at: self.shared.now() };
        let records = vec![Record::Synced(Box::new(grant.clone()))];
        Decision::append(records, TaskResult::HoldsChanged, Reply::Sync(SyncResult::Synced(grant)))
    }

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
            let nearest = nearest_key(&key, self.planner.steps().map(|step| &step.key));
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
        let merchant = manifest.as_deref().and_then(merchant_of);
        let merchant =
            merchant.or_else(|| Some(self.known_state.observed(key)?.merchant.clone()))?;
        let holds = self.known_state.suspension(&merchant)?.is_in_force(self.shared.now());
        (holds && merchant != *key).then_some(RemainingSuspension::Merchant(merchant))
    }
}

/// The record to write, if any, and the answer that follows.
type SuspendRecord = (Option<Record>, SuspensionResult);

#[cfg(test)]
mod tests;
