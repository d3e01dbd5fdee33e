//! Turns verified events into records: the new version of each event's object, and the resources
//! that the event concerns.
//!
//! The input comes only from the service itself. [`RemoteObject::freshness`] decides which version of
//! an object is newer; if neither its time nor its state decides, the object is read again.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::api::call::Call;
use crate::api::event::Event;
use crate::api::recurring::GetOccurrence;
use crate::api::transaction::GetTransaction;
use crate::base::fault_injection;
use crate::base::hash::Mark;
use crate::base::id::Key;
use crate::effects::core::row::RemoteQuery;
use crate::effects::payments::transaction_facts;
use crate::engine::handles::access::CredentialSource;
use crate::engine::handles::shared::{EngineError, EngineResult, EngineShared};
use crate::engine::readers::read::{self, ObjectAnswer, ReadFailure, not_before_known};
use crate::model::effect::is_action;
use crate::model::events::event::{EventStatus, VerifiedEvent, Via};
use crate::model::record::Record;
use crate::model::remote_object::{Freshness, RemoteObject};
use crate::model::state::lifecycle::Lapsed;
use crate::model::state::observed::{FactSource, Observation};
use crate::store::vault::keys::SealedValue;

/// Fields in which a transaction carries the mark of the action that made it.
const MARKED: [&str; 2] = ["/reference", "/data/reckon"];

/// A version, its freshness, and the version known before.
type FreshVersion = (Option<RemoteObject>, Freshness, Option<RemoteObject>);

/// A batch of events for the journal, and the resources that must be swept for them.
pub(crate) struct Ingest<'a> {
    shared: &'a EngineShared,
    wallet: &'a CredentialSource,
    /// Latest versions within this batch: its events follow each other.
    known: BTreeMap<String, RemoteObject>,
    added: BTreeSet<String>,
    /// True if no hook runs for new events.
    pub(crate) quiet: bool,
    pub(crate) blobs: Vec<SealedValue>,
    pub(crate) records: Vec<Record>,
    /// Resources to sweep.
    pub(crate) about: BTreeSet<Key>,
    pub(crate) touched: BTreeSet<Key>,
}

impl<'a> Ingest<'a> {
    pub(crate) fn new(shared: &'a EngineShared, wallet: &'a CredentialSource) -> Self {
        Self {
            shared,
            wallet,
            known: BTreeMap::new(),
            added: BTreeSet::new(),
            quiet: false,
            blobs: Vec::new(),
            records: Vec::new(),
            about: BTreeSet::new(),
            touched: BTreeSet::new(),
        }
    }

    /// Adds an event, unless it was added before.
    pub(crate) async fn add(&mut self, event: &Event, via: Via) -> Result<(), ReadFailure> {
        let Some(created) = event.created.map(|created| created.0) else { return Ok(()) };
        if event.id.is_empty() || !self.added.insert(event.id.clone()) || self.is_verified(event)? {
            return Ok(());
        }
        if self.is_lapsed(created)? {
            return self.add_lapsed(event);
        }
        let data = event.data.as_ref().unwrap_or(&Value::Null);
        let object = RemoteObject::of(&event.kind, data, created);
        let (object, standing, previous) = self.freshness(object).await?;
        let about = self.resources(object.as_ref(), data)?;
        if let Some(object) = object.as_ref().filter(|_| standing == Freshness::Newer) {
            self.note(object, data, &about)?;
        }
        if matches!(standing, Freshness::Newer | Freshness::Undecided) {
            self.about.extend(about.iter().filter(|key| !is_action(key)).cloned());
        }
        let body = self.seal(event)?;
        self.records.push(Record::EventVerified(Box::new(VerifiedEvent {
            merchant: self.wallet.merchant.clone(),
            event: event.id.clone(),
            kind: event.kind.clone(),
            created,
            via,
            body,
            object,
            freshness: standing,
            previous,
            resources: about,
            quiet: self.quiet,
            at: self.shared.now(),
        })));
        Ok(())
    }

    /// Returns true if an event precedes the horizon: dropped, or never intended for this state.
    fn is_lapsed(&self, created: DateTime<Utc>) -> EngineResult<bool> {
        let ledger = self.shared.facts.event_ledger(&self.wallet.merchant)?;
        Ok(ledger.horizon.is_some_and(|horizon| created <= horizon))
    }

    /// Handles an event from before the horizon: it is no news, and a post of it no longer waits.
    fn add_lapsed(&mut self, event: &Event) -> Result<(), ReadFailure> {
        let merchant = &self.wallet.merchant;
        let known = self.shared.facts.event(merchant, &event.id)?;
        if known.is_some_and(|known| known.page.is_some()) {
            let (event, at) = (event.id.clone(), self.shared.now());
            let lapsed = Lapsed { merchant: merchant.clone(), event, at };
            self.records.push(Record::Lapsed(Box::new(lapsed)));
        }
        Ok(())
    }

    pub(crate) fn new_events(&self) -> u64 {
        let told = self.records.iter().filter(|record| matches!(record, Record::EventVerified(_)));
        u64::try_from(told.count()).unwrap_or(u64::MAX)
    }

    fn is_verified(&self, event: &Event) -> EngineResult<bool> {
        let known = self.shared.facts.event(&self.wallet.merchant, &event.id)?;
        Ok(known.is_some_and(|known| matches!(known.status, EventStatus::Verified(_))))
    }

    /// Returns the freshness of a version, with the version known before; if the order is unclear,
    /// the service's present version replaces the event's.
    async fn freshness(&self, object: Option<RemoteObject>) -> Result<FreshVersion, ReadFailure> {
        let Some(object) = object else { return Ok((None, Freshness::Newer, None)) };
        let known = match self.known.get(&object.id) {
            Some(known) => Some(known.clone()),
            None => self.shared.facts.remote_object(&self.wallet.merchant, &object.id)?,
        };
        if fault_injection::is_active("stale-event-applied") {
            return Ok((Some(object), Freshness::Newer, known));
        }
        let standing = object.freshness(known.as_ref());
        if standing != Freshness::Undecided {
            return Ok((Some(object), standing, known));
        }
        Ok(match self.read_again(&object).await? {
            Some(now) if now.freshness(known.as_ref()) != Freshness::Older => {
                (Some(now), Freshness::Newer, known)
            }
            Some(_) | None => (Some(object), Freshness::Undecided, known),
        })
    }

    /// Reads an object as the service shows it now, if single objects can be read.
    async fn read_again(&self, object: &RemoteObject) -> Result<Option<RemoteObject>, ReadFailure> {
        let call = match (object.kind.as_str(), &object.parent) {
            ("transaction", _) => Call::to::<GetTransaction>(&[&object.id]),
            ("recurring_charge.occurrence", Some(parent)) => {
                Call::to::<GetOccurrence>(&[parent, &object.id])
            }
            _ => return Ok(None),
        };
        Ok(match read::object(self.shared, RemoteQuery::one(call), self.wallet).await? {
            ObjectAnswer::Object(now) => {
                RemoteObject::of(&format!("{}.", object.kind), &now, object.modified)
            }
            ObjectAnswer::Gone | ObjectAnswer::NotShown => None,
        })
    }

    /// Returns the resources of an object. An action without an answer yet is found by its mark.
    fn resources(&self, object: Option<&RemoteObject>, data: &Value) -> EngineResult<Vec<Key>> {
        let ids = object.into_iter().flat_map(|object| [Some(&object.id), object.parent.as_ref()]);
        let mut keys = BTreeSet::new();
        for id in ids.flatten() {
            keys.extend(self.shared.facts.resources_of_id(id)?.into_iter().map(|(key, _)| key));
        }
        for place in MARKED {
            let text = data.pointer(place).and_then(Value::as_str).unwrap_or_default();
            let Some(mark) = Mark::find_in(text) else { continue };
            keys.extend(self.shared.facts.resource_of_mark(mark.as_str())?.filter(is_action));
        }
        Ok(keys.into_iter().collect())
    }

    /// Notes an object's newest version, for later events of the batch and for its action.
    fn note(&mut self, object: &RemoteObject, data: &Value, about: &[Key]) -> EngineResult<()> {
        self.known.insert(object.id.clone(), object.clone());
        for key in about.iter().filter(|key| is_action(key)) {
            let known = self.shared.facts.observed_state(key)?;
            let own = known.filter(|known| {
                known.remote_id.as_ref().is_some_and(|id| id.as_str() == object.id)
            });
            let Some(known) = own.filter(|_| object.kind == "transaction") else { continue };
            if self.shared.facts.open_intent(key)?.is_some() {
                continue;
            }
            self.touched.insert(key.clone());
            let facts = transaction_facts(data);
            let fact = self.shared.observation((key, &known.merchant), FactSource::Read, facts);
            let at = not_before_known(fact.at, Some(&known));
            self.records.push(Record::Observation(Box::new(Observation { at, ..fact })));
        }
        Ok(())
    }

    /// Seals an event: it can hold names and addresses (gateway-api, Webhook rules, 4).
    fn seal(&mut self, event: &Event) -> EngineResult<String> {
        let bytes = serde_json::to_vec(event)
            .map_err(|error| EngineError::Bug(format!("an event cannot be written: {error}")))?;
        let subject = self.wallet.merchant.to_string();
        let sealed = self.shared.random(|rng| self.shared.vault.seal(&subject, &bytes, rng))?;
        let reference = sealed.reference().to_string();
        self.blobs.push(sealed);
        Ok(reference)
    }
}

#[cfg(test)]
mod tests;
