//! Folds the journal into the index: a pure function of the records, with no clock and no
//! configuration.
//!
//! The fold asserts the laws, since every effect passes here. It refuses a record that breaks a
//! law, and the process stops rather than go on from an impossible state.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::base::id::{IntentId, Key};
use crate::model::intent::{Intent, IntentProgress, IntentState, OpenIntent, OrphanDismissed};
use crate::model::record::Record;
use crate::model::state::credentials::{BindingApproval, has_binding_facts};
use crate::model::state::drift;
use crate::model::state::observed::{FactSource, Observation, Observed, OnHold, ServiceRefusal};
use crate::store::error::{FoldError, StoreError};
use crate::store::index::ordered::{Batch, Index};
use crate::store::journal::chain::Head;
use crate::store::projection::observed::{
    assign_keys, attach_token, fold_missing_document, move_resource, refuse_credentials,
};
use crate::store::projection::operator::rotate_addresses;
use crate::store::projection::{
    adoption, events, exposure, hooks, ledger, operator, retention, scripts,
};
use crate::store::read_model::journal_refs;
use crate::store::read_model::model::{
    BINDING, EMPTY_REMOTE, FOLD_VERSION, FoldProgress, NEXT_INTENT, OBSERVED, PROGRESS,
    PossibleOrphan, ReadModelError, changed_resources, intent_key, mark_key, observed_key,
    open_key, orphan_key, read, write,
};
use crate::store::writer::core::{ChangedResources, Fold};

/// Folds one record: reads through the batch, writes into it.
pub fn fold(index: &dyn Index, batch: &mut Batch, record: &Record) -> Result<(), FoldError> {
    let mut fold = FoldStep { index, batch };
    match record {
        Record::StateOwner(binding) => Ok(write(fold.batch, BINDING, binding)?),
        Record::Intent(intent) => fold.intent(intent),
        Record::Progress { intent, at, progress } => fold.progress(*intent, *at, progress),
        Record::Observation(fact) => fold.observation(fact),
        Record::PartnerWebhook(event) => Ok(events::partner_webhook(index, fold.batch, event)?),
        Record::WebhookReceived(posted) => {
            Ok(events::fold_posts(index, fold.batch, [&**posted].into_iter())?)
        }
        Record::EventVerified(told) => events::fold_verified(index, fold.batch, told),
        Record::Forged(forged) => Ok(events::mark_forged(index, fold.batch, forged)?),
        Record::HooksRun(ran) => hooks::fold_run(index, fold.batch, ran),
        Record::CursorAdvanced(passed) => hooks::advance(index, fold.batch, passed),
        Record::ActionSettled(granted) => Ok(hooks::record_result(index, fold.batch, granted)?),
        Record::NotificationAttempt(telling) => {
            hooks::note_sending(fold.batch, telling);
            Ok(())
        }
        Record::Replayed(replayed) => Ok(hooks::retry_failed(index, fold.batch, replayed)?),
        Record::Polled(polled) => Ok(events::note_polled(index, fold.batch, polled)?),
        Record::EmptyRemote { at, actor: _ } => fold.empty_remote(*at),
        Record::OnHold { key, reason, at } => fold.hold(key, None, reason, *at),
        Record::Approval(approval) => fold.approval(approval),
        Record::PlanApproval(approval) => Ok(exposure::store_approval(fold.batch, approval)?),
        Record::Unauthorised(refused) => Ok(refuse_credentials(fold.index, fold.batch, refused)?),
        Record::PlanUsed(used) => operator::use_plan(index, fold.batch, used),
        Record::Suspended(suspension) => Ok(operator::suspend(fold.batch, suspension)?),
        Record::Resumed { key, actor: _, at: _ } => {
            operator::resume(fold.batch, key);
            Ok(())
        }
        Record::MissingDocument(absence) => fold_missing_document(index, batch, absence),
        Record::Moved(moved) => move_resource(index, batch, moved),
        Record::Restored(restored) => operator::begin_epoch(index, fold.batch, restored),
        // For the history alone: a separate record holds what follows from the person's decision.
        Record::Resolved { .. } | Record::Compacted(_) | Record::Rekeyed(_) => Ok(()),
        Record::Released(release) => operator::apply_release(index, fold.batch, release),
        Record::Adopted(adoption) => adoption::adopt(index, fold.batch, adoption),
        Record::Forgotten(forgotten) => adoption::forget_resource(index, fold.batch, forgotten),
        Record::Disowned(disowned) => adoption::disown(index, fold.batch, disowned),
        Record::UnknownObjects(strays) => adoption::set_unknown_objects(index, fold.batch, strays),
        Record::TokenAttached(one) => attach_token(index, fold.batch, one),
        Record::OrphanDismissed(seen) => fold.orphan_seen(seen),
        Record::HooksAcknowledged(seen) => Ok(ledger::acknowledge(index, fold.batch, seen)?),
        Record::ScriptsLoaded(loaded) => Ok(scripts::load(index, fold.batch, loaded)?),
        Record::ScriptForgotten(one) => Ok(scripts::forget(index, fold.batch, one)?),
        Record::EventsDropped(one) => Ok(retention::apply_retention(index, fold.batch, one)?),
        Record::Lapsed(one) => Ok(retention::drop_lapsed(index, fold.batch, one)?),
        Record::Rotated(rotated) => Ok(rotate_addresses(index, fold.batch, rotated)?),
    }
}

/// Folds durable records into an index, with the fold's progress, in one transaction.
#[derive(Debug)]
pub struct IndexFold {
    index: Arc<dyn Index>,
    changed: ChangedResources,
}

impl IndexFold {
    pub fn new(index: Arc<dyn Index>) -> Self {
        Self { index, changed: ChangedResources::default() }
    }
}

impl Fold<Record> for IndexFold {
    fn apply(&mut self, batch: &[(u64, Record)], head: Head) -> Result<(), StoreError> {
        let mut changes = Batch::new();
        for group in batch.chunk_by(|(_, one), (_, next)| are_together(one, next)) {
            fold_group(&*self.index, &mut changes, group)?;
        }
        let mark = FoldProgress { version: FOLD_VERSION, sequence: head.sequence, hash: head.hash };
        write(&mut changes, PROGRESS, &mark).map_err(FoldError::from)?;
        let spoken_of = changed_resources(&changes).map_err(FoldError::from)?;
        self.index.apply(changes)?;
        self.changed.note(spoken_of);
        Ok(())
    }

    fn changed_resources(&self) -> ChangedResources {
        self.changed.clone()
    }

    fn sends_effect(&self, record: &Record) -> bool {
        record.is_outgoing()
    }
}

/// Returns true if two successive records are folded as one group.
fn are_together(one: &Record, next: &Record) -> bool {
    (events::post_in(one).is_some() && events::post_in(next).is_some())
        || hooks::are_together(one, next)
}

/// Folds one record, several posts, or several runs of hooks. Groups of posts and runs belong to no
/// resource's history.
fn fold_group(
    index: &dyn Index,
    batch: &mut Batch,
    group: &[(u64, Record)],
) -> Result<(), FoldError> {
    if let [(sequence, record)] = group {
        journal_refs::note_position(index, batch, *sequence, record)?;
        return fold(index, batch, record);
    }
    let records = group.iter().map(|(_, record)| record);
    if records.clone().all(|record| events::post_in(record).is_some()) {
        return Ok(events::fold_posts(index, batch, records.filter_map(events::post_in))?);
    }
    hooks::fold_runs(index, batch, records.filter_map(hooks::run_in))
}

/// A batch under construction.
pub(crate) struct FoldStep<'a> {
    index: &'a dyn Index,
    pub(crate) batch: &'a mut Batch,
}

impl FoldStep<'_> {
    /// Opens an intent. Law 5: a resource has one open effect at a time.
    fn intent(&mut self, intent: &Intent) -> Result<(), FoldError> {
        let older: Option<IntentId> = self.read(&open_key(&intent.key))?;
        if let Some(older) = older {
            let detail = format!("{} for {} while {older} is open", intent.id, intent.key);
            return Err(FoldError::Law { law: 5, detail });
        }
        let next = self.next_intent(intent.id)?;
        let state = IntentState::Open { attempt: 1 };
        let open = OpenIntent { intent: intent.clone(), state, since: Some(intent.at) };
        write(self.batch, &intent_key(intent.id), &open)?;
        write(self.batch, &open_key(&intent.key), &intent.id)?;
        write(self.batch, &mark_key(intent.mark.as_str()), &intent.key)?;
        write(self.batch, NEXT_INTENT, &next)?;
        Ok(exposure::count_intent(self.index, self.batch, intent)?)
    }

    /// Returns the number after every number that was issued. Intents may become durable in another
    /// order than their numbers, and each number is issued once.
    fn next_intent(&self, id: IntentId) -> Result<IntentId, FoldError> {
        if self.read::<OpenIntent>(&intent_key(id))?.is_some() {
            let detail = format!("{id} is open, and another intent has its number");
            return Err(FoldError::Law { law: 5, detail });
        }
        let known: Option<IntentId> = self.read(NEXT_INTENT)?;
        Ok(known.map_or(id.next(), |known| known.max(id.next())))
    }

    /// Applies an intent's progress.
    fn progress(
        &mut self,
        id: IntentId,
        at: DateTime<Utc>,
        progress: &IntentProgress,
    ) -> Result<(), FoldError> {
        let open: Option<OpenIntent> = self.read(&intent_key(id))?;
        let Some(OpenIntent { intent, state, since }) = open else {
            let detail = format!("{id} is settled, yet it is {} again", progress.word());
            return Err(FoldError::Law { law: 5, detail });
        };
        operator::note_confirmed_absent(self.index, self.batch, (&intent, &state), (progress, at))?;
        let held = matches!(state, IntentState::OnHold { .. });
        let before = state.word();
        match state.next(id, progress)? {
            IntentState::Closed => {
                self.batch.remove(intent_key(id));
                self.batch.remove(open_key(&intent.key));
                exposure::settle(self.index, self.batch, &intent, progress)?;
            }
            state @ (IntentState::Open { .. }
            | IntentState::InDoubt { .. }
            | IntentState::OnHold { .. }) => {
                let since = since.filter(|_| state.word() == before).or(Some(at));
                let open = OpenIntent { intent: intent.clone(), state, since };
                write(self.batch, &intent_key(id), &open)?;
            }
        }
        self.consequence(&intent, at, progress)?;
        if held { self.forget_unproved_fields(&intent, at, progress) } else { Ok(()) }
    }

    /// Applies the consequence of an intent's progress to its resource.
    fn consequence(
        &mut self,
        intent: &Intent,
        at: DateTime<Utc>,
        progress: &IntentProgress,
    ) -> Result<(), FoldError> {
        match progress {
            IntentProgress::Resent
            | IntentProgress::Doubt { .. }
            | IntentProgress::NotSent { .. } => Ok(()),
            IntentProgress::Done { observation, proof: _ } => self.change(intent, at, |known| {
                known.refusal = None;
                known.apply(observation);
            }),
            IntentProgress::Refused { status, problem } => self.change(intent, at, |known| {
                known.refusal = Some(ServiceRefusal {
                    intent: intent.id,
                    digest: intent.applied.digest,
                    status: *status,
                    problem: problem.clone(),
                    at,
                });
            }),
            IntentProgress::GivenUp { reason: _ } if intent.target.is_some() => {
                self.change(intent, at, |known| {
                    drift::mark_changed_unknown(known, &intent.applied.spec);
                })
            }
            IntentProgress::GivenUp { reason: _ } => {
                let orphan = PossibleOrphan { intent: intent.id, key: intent.key.clone() };
                write(self.batch, &orphan_key(intent.id), &orphan)?;
                self.change(intent, at, |known| known.recreated = known.recreated.saturating_add(1))
            }
            IntentProgress::OnHold { reason: _, observation } => self.change(intent, at, |known| {
                if let Some(observation) = observation {
                    known.apply(observation);
                }
            }),
        }
    }

    /// Applies a person's word that an intent on hold did not happen: the fields that its change
    /// would have set become unknown.
    fn forget_unproved_fields(
        &mut self,
        intent: &Intent,
        at: DateTime<Utc>,
        progress: &IntentProgress,
    ) -> Result<(), FoldError> {
        if intent.target.is_none() || !matches!(progress, IntentProgress::NotSent { .. }) {
            return Ok(());
        }
        self.change(intent, at, |known| {
            drift::mark_changed_unknown(known, &intent.applied.spec);
        })
    }

    /// Applies an observation that did not come from an effect.
    fn observation(&mut self, fact: &Observation) -> Result<(), FoldError> {
        let known: Option<Observed> = self.read(&observed_key(&fact.key))?;
        let mut known = known.unwrap_or_else(|| Observed::unknown(fact.merchant.clone(), fact.at));
        let before = known.merchant_binding();
        known.apply(fact);
        if has_binding_facts(&fact.facts) {
            assign_keys(self.index, self.batch, &fact.key, before.as_ref(), &mut known)?;
        }
        Ok(write(self.batch, &observed_key(&fact.key), &known)?)
    }

    /// Changes the observed state of an intent's resource.
    fn change(
        &mut self,
        intent: &Intent,
        at: DateTime<Utc>,
        change: impl FnOnce(&mut Observed),
    ) -> Result<(), FoldError> {
        let known: Option<Observed> = self.read(&observed_key(&intent.key))?;
        let mut known = known.unwrap_or_else(|| Observed::unknown(intent.merchant.clone(), at));
        change(&mut known);
        Ok(write(self.batch, &observed_key(&intent.key), &known)?)
    }

    /// Puts a resource on hold.
    fn hold(
        &mut self,
        key: &Key,
        intent: Option<IntentId>,
        reason: &str,
        at: DateTime<Utc>,
    ) -> Result<(), FoldError> {
        let known: Option<Observed> = self.read(&observed_key(key))?;
        let mut known = known.unwrap_or_else(|| Observed::unknown(key.clone(), at));
        known.on_hold = Some(OnHold { intent, reason: reason.to_owned(), at });
        Ok(write(self.batch, &observed_key(key), &known)?)
    }

    /// Records a person's approval of a live binding. The approval covers only what it names, not
    /// the binding of the moment.
    fn approval(&mut self, approval: &BindingApproval) -> Result<(), FoldError> {
        let key = &approval.binding.merchant;
        let known: Option<Observed> = self.read(&observed_key(key))?;
        let mut known = known.unwrap_or_else(|| Observed::unknown(key.clone(), approval.at));
        known.approval = Some(Box::new(approval.clone()));
        Ok(write(self.batch, &observed_key(key), &known)?)
    }

    /// Removes a possible orphan that a person has seen.
    fn orphan_seen(&mut self, seen: &OrphanDismissed) -> Result<(), FoldError> {
        self.batch.remove(orphan_key(seen.intent));
        let known: Option<Observed> = self.read(&observed_key(&seen.key))?;
        let Some(mut known) = known else { return Ok(()) };
        known.recreated = known.recreated.saturating_sub(1);
        Ok(write(self.batch, &observed_key(&seen.key), &known)?)
    }

    /// Applies `EmptyRemote`, an operator's declaration that nothing at the service is ours: holds
    /// of surveys end, and surveys need no marks.
    fn empty_remote(&mut self, at: DateTime<Utc>) -> Result<(), FoldError> {
        write(self.batch, EMPTY_REMOTE, &at)?;
        operator::end_holds(self.index, self.batch)?;
        adoption::clear_unknown_marks(self.index, self.batch)?;
        let entries = self.batch.scan(self.index, OBSERVED).map_err(ReadModelError::from)?;
        for (key, _) in entries {
            let known: Option<Observed> = self.read(&key)?;
            let Some(mut known) = known.filter(|known| known.on_hold.is_some()) else {
                continue;
            };
            known.on_hold = None;
            known.source = FactSource::Operator;
            write(self.batch, &key, &known)?;
        }
        Ok(())
    }

    /// Reads an entry through the batch.
    pub(crate) fn read<T: serde::de::DeserializeOwned>(
        &self,
        key: &[u8],
    ) -> Result<Option<T>, FoldError> {
        Ok(read(self.index, self.batch, key)?)
    }
}
