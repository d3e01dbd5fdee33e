//! Folds the journal into the index: purely from the records, without clock or configuration.
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
use crate::store::error::{FoldError, Folded, StoreResult, law};
use crate::store::index::ordered::{Batch, Index};
use crate::store::journal::chain::Head;
use crate::store::projection::observed::{
    adopt, assign_keys, attach_token, change_observed, clear_unknown_marks, disown,
    fold_missing_document, forget_resource, move_resource, refuse_credentials, set_unknown_objects,
};
use crate::store::projection::operator::rotate_addresses;
use crate::store::projection::{
    alerts, events, exposure, hooks, ledger, operator, replays, retention,
};
use crate::store::read_model::journal_refs;
use crate::store::read_model::model::{Changes, Entries as _, decode};
use crate::store::read_model::resources::{
    BINDING, EMPTY_REMOTE, FOLD_VERSION, FREEZE, FoldProgress, INTENTS, MARKS, NEXT_INTENT,
    OBSERVED, OPEN_BY_KEY, ORPHANS, PROGRESS, PossibleOrphan, SUSPENDED, SYNC, changed_resources,
};
use crate::store::writer::core::{ChangedResources, Fold};
use crate::store::writer::handle::Writer;

pub(crate) fn fold_record(changes: &mut Changes<'_>, record: &Record) -> Folded {
    match record {
        Record::StateOwner(binding) => Ok(BINDING.put(changes, (), binding)?),
        Record::Intent(intent) => open_intent(changes, intent),
        Record::Progress { intent, at, progress } => {
            advance_intent(changes, *intent, *at, progress)
        }
        Record::Observation(fact) => observe(changes, fact),
        Record::PartnerWebhook(event) => events::partner_webhook(changes, event),
        Record::WebhookReceived(posted) => events::fold_posts(changes, [&**posted].into_iter()),
        Record::EventVerified(told) => events::fold_verified(changes, told),
        Record::Forged(forged) => events::mark_forged(changes, forged),
        Record::HooksRun(ran) => hooks::fold_run(changes, ran),
        Record::CursorAdvanced(passed) => hooks::advance(changes, passed),
        Record::ActionSettled(granted) => hooks::record_result(changes, granted),
        Record::NotificationAttempt(telling) => {
            hooks::note_sending(changes, telling);
            Ok(())
        }
        Record::Replayed(replayed) => hooks::retry_failed(changes, replayed),
        Record::ReplayRequested(request) => replays::request_runs(changes, request),
        Record::Polled(polled) => events::note_polled(changes, polled),
        Record::EmptyRemote { at, actor: _ } => empty_remote(changes, *at),
        Record::OnHold { key, reason, at } => hold(changes, key, reason, *at),
        Record::Approval(approval) => approve_binding(changes, approval),
        Record::PlanApproval(approval) => exposure::store_approval(changes, approval),
        Record::Unauthorised(refused) => refuse_credentials(changes, refused),
        Record::PlanUsed(used) => operator::use_plan(changes, used),
        Record::Suspended(suspension) => Ok(SUSPENDED.put(changes, &suspension.key, suspension)?),
        Record::Resumed { key, actor: _, at: _ } => {
            SUSPENDED.remove(changes, key);
            Ok(())
        }
        Record::Frozen(freeze) => Ok(FREEZE.put(changes, (), freeze)?),
        Record::Thawed(_) => {
            FREEZE.remove(changes, ());
            Ok(())
        }
        Record::Synced(grant) => Ok(SYNC.put(changes, (), grant)?),
        Record::Alert(alert) => alerts::fold_alert(changes, alert),
        Record::MissingDocument(absence) => fold_missing_document(changes, absence),
        Record::Moved(moved) => move_resource(changes, moved),
        Record::Restored(restored) => operator::begin_epoch(changes, restored),
        // For the history alone: a separate record holds what follows from the person's decision.
        Record::Resolved { .. } | Record::Compacted(_) | Record::Rekeyed(_) => Ok(()),
        Record::Released(release) => operator::apply_release(changes, release),
        Record::Adopted(adoption) => adopt(changes, adoption),
        Record::Forgotten(forgotten) => forget_resource(changes, forgotten),
        Record::Disowned(disowned) => disown(changes, disowned),
        Record::UnknownObjects(strays) => set_unknown_objects(changes, strays),
        Record::TokenAttached(one) => attach_token(changes, one),
        Record::OrphanDismissed(seen) => dismiss_orphan(changes, seen),
        Record::HooksAcknowledged(seen) => ledger::acknowledge(changes, seen),
        Record::ScriptsLoaded(loaded) => ledger::load_scripts(changes, loaded),
        Record::ScriptForgotten(one) => ledger::forget_script(changes, one),
        Record::EventsDropped(one) => retention::apply_retention(changes, one),
        Record::Lapsed(one) => retention::drop_lapsed(changes, one),
        Record::Rotated(rotated) => rotate_addresses(changes, rotated),
    }
}

/// The writer of a state.
pub type StateWriter = Writer<Record, IndexFold>;

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
    fn apply(&mut self, batch: &[(u64, Record)], head: Head) -> StoreResult {
        let mut written = Batch::new();
        let changes = &mut Changes::new(&*self.index, &mut written);
        for group in batch.chunk_by(|(_, one), (_, next)| are_together(one, next)) {
            fold_group(changes, group)?;
        }
        let mark = FoldProgress { version: FOLD_VERSION, sequence: head.sequence, hash: head.hash };
        PROGRESS.put(changes, (), &mark).map_err(FoldError::from)?;
        let spoken_of = changed_resources(&written).map_err(FoldError::from)?;
        self.index.apply(written)?;
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

fn are_together(one: &Record, next: &Record) -> bool {
    (events::post_in(one).is_some() && events::post_in(next).is_some())
        || hooks::are_together(one, next)
}

/// Folds one record, or a group of posts or hook runs, which belong to no resource's history.
fn fold_group(changes: &mut Changes<'_>, group: &[(u64, Record)]) -> Folded {
    for (sequence, record) in group {
        journal_refs::note_event(changes, *sequence, record);
    }
    if let [(sequence, record)] = group {
        journal_refs::note(changes, *sequence, record)?;
        return fold_record(changes, record);
    }
    let records = group.iter().map(|(_, record)| record);
    if records.clone().all(|record| events::post_in(record).is_some()) {
        return events::fold_posts(changes, records.filter_map(events::post_in));
    }
    hooks::fold_runs(changes, records.filter_map(hooks::run_in))
}

/// Opens an intent. Law 5: a resource has one open effect at a time.
fn open_intent(changes: &mut Changes<'_>, intent: &Intent) -> Folded {
    if let Some(older) = OPEN_BY_KEY.get(changes, &intent.key)? {
        return law!(5, "{} for {} while {older} is open", intent.id, intent.key);
    }
    let next = next_intent(changes, intent.id)?;
    let state = IntentState::Open { attempt: 1 };
    let open = OpenIntent { intent: intent.clone(), state, since: Some(intent.at) };
    INTENTS.put(changes, intent.id, &open)?;
    OPEN_BY_KEY.put(changes, &intent.key, &intent.id)?;
    MARKS.put(changes, intent.mark.as_str(), &intent.key)?;
    NEXT_INTENT.put(changes, (), &next)?;
    exposure::count_intent(changes, intent)
}

/// Returns the number after every number that was issued. Intents may become durable in another
/// order than their numbers, and each number is issued once.
fn next_intent(changes: &Changes<'_>, id: IntentId) -> Folded<IntentId> {
    if INTENTS.get(changes, id)?.is_some() {
        return law!(5, "{id} is open, and another intent has its number");
    }
    let known = NEXT_INTENT.get(changes, ())?;
    Ok(known.map_or(id.next(), |known| known.max(id.next())))
}

fn advance_intent(
    changes: &mut Changes<'_>,
    id: IntentId,
    at: DateTime<Utc>,
    progress: &IntentProgress,
) -> Folded {
    let Some(OpenIntent { intent, state, since }) = INTENTS.get(changes, id)? else {
        return law!(5, "{id} is settled, yet it is {} again", progress.word());
    };
    operator::note_confirmed_absent(changes, (&intent, &state), (progress, at))?;
    let held = matches!(state, IntentState::OnHold { .. });
    let before = state.word();
    match state.next(id, progress)? {
        IntentState::Closed => {
            INTENTS.remove(changes, id);
            OPEN_BY_KEY.remove(changes, &intent.key);
            exposure::settle(changes, &intent, progress)?;
        }
        state @ (IntentState::Open { .. }
        | IntentState::InDoubt { .. }
        | IntentState::OnHold { .. }) => {
            let since = since.filter(|_| state.word() == before).or(Some(at));
            INTENTS.put(changes, id, &OpenIntent { intent: intent.clone(), state, since })?;
        }
    }
    consequence(changes, &intent, at, progress)?;
    if held { forget_unproved_fields(changes, &intent, at, progress) } else { Ok(()) }
}

fn consequence(
    changes: &mut Changes<'_>,
    intent: &Intent,
    at: DateTime<Utc>,
    progress: &IntentProgress,
) -> Folded {
    let (key, unknown) = (&intent.key, (&intent.merchant, at));
    match progress {
        IntentProgress::Resent | IntentProgress::Doubt { .. } | IntentProgress::NotSent { .. } => {
            Ok(())
        }
        IntentProgress::Done { observation, proof: _ } => {
            change_observed(changes, key, unknown, |known| {
                known.refusal = None;
                known.apply(observation);
            })
        }
        IntentProgress::Refused { status, problem } => {
            let (id, digest) = (intent.id, intent.applied.digest);
            let (status, problem) = (*status, problem.clone());
            let refusal = ServiceRefusal { intent: id, digest, status, problem, at };
            change_observed(changes, key, unknown, |known| known.refusal = Some(refusal))
        }
        IntentProgress::GivenUp { reason: _ } if intent.target.is_some() => {
            change_observed(changes, key, unknown, |known| {
                drift::mark_changed_unknown(known, &intent.applied.spec);
            })
        }
        IntentProgress::GivenUp { reason: _ } => {
            let orphan = PossibleOrphan { intent: intent.id, key: intent.key.clone() };
            ORPHANS.put(changes, intent.id, &orphan)?;
            change_observed(changes, key, unknown, |known| {
                known.recreated = known.recreated.saturating_add(1);
            })
        }
        IntentProgress::OnHold { reason: _, observation } => {
            change_observed(changes, key, unknown, |known| {
                if let Some(observation) = observation {
                    known.apply(observation);
                }
            })
        }
    }
}

/// Applies a person's word that an intent on hold did not happen: its fields become unknown.
fn forget_unproved_fields(
    changes: &mut Changes<'_>,
    intent: &Intent,
    at: DateTime<Utc>,
    progress: &IntentProgress,
) -> Folded {
    if intent.target.is_none() || !matches!(progress, IntentProgress::NotSent { .. }) {
        return Ok(());
    }
    change_observed(changes, &intent.key, (&intent.merchant, at), |known| {
        drift::mark_changed_unknown(known, &intent.applied.spec);
    })
}

/// Applies an observation that did not come from an effect.
fn observe(changes: &mut Changes<'_>, fact: &Observation) -> Folded {
    let known = OBSERVED.get(changes, &fact.key)?;
    let mut known = known.unwrap_or_else(|| Observed::unknown(fact.merchant.clone(), fact.at));
    let before = known.merchant_binding();
    known.apply(fact);
    if has_binding_facts(&fact.facts) {
        assign_keys(changes, &fact.key, before.as_ref(), &mut known)?;
    }
    Ok(OBSERVED.put(changes, &fact.key, &known)?)
}

fn hold(changes: &mut Changes<'_>, key: &Key, reason: &str, at: DateTime<Utc>) -> Folded {
    change_observed(changes, key, (key, at), |known| {
        known.on_hold = Some(OnHold { intent: None, reason: reason.to_owned(), at });
    })
}

/// Records a person's approval of a live binding. It covers what it names, not the present binding.
fn approve_binding(changes: &mut Changes<'_>, approval: &BindingApproval) -> Folded {
    let key = &approval.binding.merchant;
    change_observed(changes, key, (key, approval.at), |known| {
        known.approval = Some(Box::new(approval.clone()));
    })
}

/// Removes a possible orphan that a person has seen.
fn dismiss_orphan(changes: &mut Changes<'_>, seen: &OrphanDismissed) -> Folded {
    ORPHANS.remove(changes, seen.intent);
    let Some(mut known) = OBSERVED.get(changes, &seen.key)? else { return Ok(()) };
    known.recreated = known.recreated.saturating_sub(1);
    Ok(OBSERVED.put(changes, &seen.key, &known)?)
}

/// Applies the declaration that nothing at the service is ours: holds end, surveys need no marks.
fn empty_remote(changes: &mut Changes<'_>, at: DateTime<Utc>) -> Folded {
    EMPTY_REMOTE.put(changes, (), &at)?;
    operator::end_holds(changes)?;
    clear_unknown_marks(changes)?;
    for (key, value) in changes.scan(OBSERVED.prefix())? {
        let mut known: Observed = decode(&key, &value)?;
        if known.on_hold.take().is_some() {
            known.source = FactSource::Operator;
            changes.write(&key, &known)?;
        }
    }
    Ok(())
}
