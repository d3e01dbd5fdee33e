//! Stored answers of hooks' reads: a changed script can be compared with what was done then.
//!
//! Answers hold names and addresses. They are sealed under the merchant's key; the journal has
//! their digests.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event::event_value;
use super::sealed_words;
use crate::base::id::Key;
use crate::engine::handles::shared::{EngineError, EngineShared};
use crate::model::events::event::VerifiedEvent;
use crate::model::events::hook::HookRun;
use crate::model::events::hook_run::{HookFailure, HookRunRecord};
use crate::model::record::Record;
use crate::store::history::reader::EventHistory;
use crate::store::vault::blob::SealedValue;

/// Largest size in bytes of one run's answers; larger ones are not stored.
const ANSWERS_MAX: usize = 256 << 10;

/// An event, and the results of its hooks.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct PastEvent {
    pub merchant: Key,
    /// The event as scripts see it; null if its body was erased.
    pub event: Value,
    /// The runs that succeeded.
    pub runs: Vec<PastRun>,
    /// The runs that failed, and still fail.
    pub failures: Vec<HookFailure>,
}

/// One successful run.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct PastRun {
    pub run: HookRun,
    /// The answers to its reads, in order; also null if not stored (the run's digests show which).
    pub answers: Vec<Value>,
}

impl fmt::Debug for PastEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PastEvent({}, {:?}, {:?})", self.merchant, self.runs, self.failures)
    }
}

impl fmt::Debug for PastRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.run)
    }
}

/// Seals the answers that these runs read and the words of their requests; the records refer to
/// them.
pub(crate) fn seal_answers(
    shared: &EngineShared,
    merchant: &Key,
    records: &mut [Record],
) -> Result<Vec<SealedValue>, EngineError> {
    let mut blobs = Vec::new();
    for record in records {
        let Record::HooksRun(ran) = record else { continue };
        for run in &mut ran.runs {
            let subject = merchant.to_string();
            for wish in &mut run.requests {
                let seal =
                    shared.random(|rng| sealed_words::seal(&shared.vault, &subject, wish, rng))?;
                blobs.extend(seal);
            }
            let answers = std::mem::take(&mut run.answers);
            if answers.iter().all(Value::is_null) {
                continue;
            }
            let bytes = Value::Array(answers).to_string().into_bytes();
            if bytes.len() > ANSWERS_MAX {
                continue;
            }
            let blob = shared.random(|rng| shared.vault.seal(&subject, &bytes, rng))?;
            run.sealed = Some(blob.reference().to_string());
            blobs.push(blob);
        }
    }
    Ok(blobs)
}

/// Returns verified events with their results, in the order in which they were recorded.
pub fn past_events(shared: &EngineShared, past: EventHistory) -> Vec<PastEvent> {
    let EventHistory { events: told, runs: ran } = past;
    let mut ends: BTreeMap<(Key, String), BTreeMap<String, RunEnd>> = BTreeMap::new();
    for HookRunRecord { merchant, event, runs, failures, .. } in ran {
        let scripts = ends.entry((merchant, event)).or_default();
        for failed in failures {
            scripts.insert(failed.script.clone(), Err(failed));
        }
        for run in runs {
            scripts.insert(run.script.clone(), Ok(run));
        }
    }
    told.iter()
        .map(|told| {
            let scripts = ends.remove(&(told.merchant.clone(), told.event.clone()));
            past_event(shared, told, scripts.unwrap_or_default())
        })
        .collect()
}

/// The result of a script's last run on an event.
type RunEnd = Result<HookRun, HookFailure>;

fn past_event(
    shared: &EngineShared,
    told: &VerifiedEvent,
    scripts: BTreeMap<String, RunEnd>,
) -> PastEvent {
    // An erased body is no failure: the erasure was intended.
    let event = event_value(shared, told).unwrap_or_default();
    let (mut runs, mut failures) = (Vec::new(), Vec::new());
    for end in scripts.into_values() {
        match end {
            Ok(run) => runs.push(past_run(shared, run)),
            Err(failed) => failures.push(failed),
        }
    }
    PastEvent { merchant: told.merchant.clone(), event, runs, failures }
}

fn past_run(shared: &EngineShared, run: HookRun) -> PastRun {
    let kept = run.sealed.as_ref().and_then(|name| shared.vault.unseal(&name.parse().ok()?).ok());
    let kept: Option<Vec<Value>> = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let answers = kept.unwrap_or_else(|| vec![Value::Null; run.reads.len()]);
    let wishes =
        run.requests.iter().map(|wish| sealed_words::for_display(&shared.vault, wish)).collect();
    PastRun { run: HookRun { requests: wishes, ..run }, answers }
}
