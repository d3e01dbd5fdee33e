//! Compares an object of a list with the known state of its resource. Pure.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Map, Value, json};

use crate::base::clock::timestamp;
use crate::base::id::{Key, RemoteId};
use crate::kinds::register;
use crate::kinds::remote::readback::{ReadBack, changed_facts, detect_drift};
use crate::model::record::Record;
use crate::model::state::drift::{DRIFT, Drift, VANISHED};
use crate::model::state::observed::{AppliedSpec, FactSource, Observation, Observed};

/// Longest duration of a list read.
const LOOK_MAX: TimeDelta = TimeDelta::hours(1);

/// One read of a list.
pub(crate) struct ListRead<'a> {
    pub(crate) back: &'static ReadBack,
    pub(crate) key: &'a [u8; 32],
    /// Begin of the read: facts learnt since are newer.
    pub(crate) at: DateTime<Utc>,
}

/// An object of a list, and its resource.
pub(crate) struct ListedObject<'a> {
    pub(crate) key: Key,
    pub(crate) item: &'a Value,
}

impl<'a> ListedObject<'a> {
    /// Returns the resource of an object with its id, removed from those still to be found.
    pub(crate) fn of(
        item: &'a Value,
        ours: &mut BTreeMap<RemoteId, Key>,
    ) -> Option<(RemoteId, Self)> {
        let id = RemoteId::new(item.get("id")?.as_str()?).ok()?;
        let key = ours.remove(&id)?;
        Some((id, Self { key, item }))
    }
}

impl ListRead<'_> {
    /// Returns the record of a difference in an existing object; `None`: there is none.
    pub(crate) fn compare(
        &self,
        found: &ListedObject<'_>,
        known: &Observed,
        ignored: &[String],
    ) -> Option<Record> {
        if let Some(why) = (self.back.ended_reason)(found.item) {
            return self.ended_record(&found.key, known, &why);
        }
        let mut facts = changed_facts(self.back, known, found.item);
        let back_again = !known.fact(VANISHED).is_null();
        if let (true, Some(facts)) = (back_again, facts.as_object_mut()) {
            facts.insert(VANISHED.to_owned(), Value::Null);
        }
        let fields = register::find(found.key.kind.as_str())?.fields;
        let drift = detect_drift(self.back, fields, self.key, known, found.item);
        let drift =
            drift.and_then(|(applied, paths)| without_ignored(known, &applied, paths, ignored));
        let applied = drift.map(|(applied, paths)| {
            let before = Drift::of(known);
            let drift =
                Drift::with_found(before.as_ref(), applied.digest, paths, &timestamp(&self.at));
            if let Some(facts) = facts.as_object_mut() {
                facts.insert(DRIFT.to_owned(), json!(drift));
            }
            applied
        });
        let is_news = applied.is_some() || facts.as_object().is_some_and(|facts| !facts.is_empty());
        is_news.then(|| self.record(&found.key, known, applied, facts))
    }

    /// Returns the record of an object that no longer exists.
    pub(crate) fn missing_record(&self, key: &Key, known: &Observed) -> Option<Record> {
        self.ended_record(key, known, "it was removed on the service")
    }

    /// Returns the record of an object that was ended at the service: it is not made again by
    /// itself.
    fn ended_record(&self, key: &Key, known: &Observed, why: &str) -> Option<Record> {
        let told = json!({"id": known.remote_id, "why": why});
        let same = |name: &str| known.fact(VANISHED).get(name) == told.get(name);
        let facts = Map::from_iter([(VANISHED.to_owned(), told.clone())]);
        let is_news = !(same("id") && same("why"));
        is_news.then(|| self.record(key, known, None, Value::Object(facts)))
    }

    /// Returns the time of an observation. A known fact that lies far ahead of the read cannot be
    /// newer: the clock was set back in between.
    fn observation_time(&self, known: &Observed) -> DateTime<Utc> {
        let lasts = self.at.checked_add_signed(LOOK_MAX).unwrap_or(self.at);
        if known.at > lasts { known.at } else { self.at }
    }

    fn record(
        &self,
        key: &Key,
        known: &Observed,
        applied: Option<AppliedSpec>,
        facts: Value,
    ) -> Record {
        Record::Observation(Box::new(Observation {
            key: key.clone(),
            merchant: known.merchant.clone(),
            at: self.observation_time(known),
            source: FactSource::Read,
            remote_id: None,
            exists: None,
            applied,
            facts,
        }))
    }
}

/// Removes the fields whose drift is ignored.
fn without_ignored(
    known: &Observed,
    applied: &AppliedSpec,
    paths: Vec<String>,
    ignored: &[String],
) -> Option<(AppliedSpec, Vec<String>)> {
    let is_ignored = |path: &String| {
        ignored.iter().any(|one| {
            one == "*"
                || path
                    .strip_prefix(one.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    };
    let (minded, left): (Vec<String>, Vec<String>) =
        paths.into_iter().partition(|path| !is_ignored(path));
    let mut spec = applied.spec.clone();
    for path in left {
        let pointer = format!("/{}", path.replace('.', "/"));
        let before = known.applied.as_ref().and_then(|before| before.spec.pointer(&pointer));
        if let (Some(now), Some(before)) = (spec.pointer_mut(&pointer), before) {
            *now = before.clone();
        }
    }
    (!minded.is_empty()).then(|| (AppliedSpec { spec, ..applied.clone() }, minded))
}
