//! Events as scripts see them, now and in the history.
//!
//! The answers of hooks' reads are stored, so that a changed script can be compared with what was done
//! then. They hold names and addresses: they are sealed under the merchant's key, and the journal has
//! their digests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::api::reads::ReadEndpoint;
use crate::base::clock::timestamp;
use crate::base::id::Key;
use crate::engine::handles::shared::{EngineError, EngineResult, EngineShared};
use crate::engine::hooks::sealed_words;
use crate::kinds::planning::step::MERCHANT;
use crate::model::effect::{RemoteGet, is_action};
use crate::model::events::event::VerifiedEvent;
use crate::model::events::hook::HookRun;
use crate::model::events::hook_run::{HookFailure, HookRunRecord};
use crate::model::record::Record;
use crate::scripting::host::script_event::ScriptEvent;
use crate::store::history::EventHistory;
use crate::store::vault::frame::VaultError;
use crate::store::vault::keys::SealedValue;

/// Returns the mode of a merchant, as scripts see it.
pub(crate) fn merchant_mode(shared: &EngineShared, merchant: &Key) -> EngineResult<Value> {
    let merchant = shared.merchant(merchant)?;
    Ok(merchant.map_or(Value::Null, |merchant| merchant.fact("mode").clone()))
}

/// Returns the event as scripts see it, without data if that was erased with its merchant.
pub(crate) fn event_value(shared: &EngineShared, told: &VerifiedEvent) -> EngineResult<Value> {
    let body = open_body(shared, told)?.unwrap_or_default();
    let mut body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let mut event = event_fields(told, merchant_mode(shared, &told.merchant)?);
    if let Some(data) = event.get_mut("data") {
        *data = event_data(&mut body);
    }
    Ok(event)
}

/// Returns the same for a run, in this mode; `None` if the data was erased with the merchant.
pub(crate) fn event_for_run(
    shared: &EngineShared,
    told: &VerifiedEvent,
    mode: Value,
) -> EngineResult<Option<ScriptEvent>> {
    let body = open_body(shared, told)?;
    Ok(body.map(|body| ScriptEvent::with_record(&event_fields(told, mode), &body)))
}

/// Returns false if the data of an event was erased with its merchant.
pub(crate) fn has_data(shared: &EngineShared, told: &VerifiedEvent) -> EngineResult<bool> {
    Ok(open_body(shared, told)?.is_some())
}

/// Opens the service's own text of an event; `None` if it was erased with its merchant.
fn open_body(
    shared: &EngineShared,
    told: &VerifiedEvent,
) -> EngineResult<Option<Zeroizing<Vec<u8>>>> {
    let bug = |error| EngineError::Bug(format!("an event names no blob: {error}"));
    match shared.vault.unseal(&told.body.parse().map_err(bug)?) {
        Err(VaultError::Erased { .. }) => Ok(None),
        opened => Ok(Some(opened?)),
    }
}

/// Returns all fields but the record that the event shows.
fn event_fields(told: &VerifiedEvent, mode: Value) -> Value {
    let resource = told.resources.iter().find(|key| !is_action(key));
    let resource = resource.map(|key| format!("{}/{}", key.kind, display_name(key)));
    let own = told.merchant.kind.as_str() == MERCHANT;
    let fields = [
        ("id", Value::from(told.event.as_str())),
        ("type", Value::from(told.kind.as_str())),
        ("created", Value::from(timestamp(&told.created))),
        ("mode", mode),
        ("merchant", Value::from(own.then(|| display_name(&told.merchant)))),
        ("resource", Value::from(resource)),
        ("data", Value::Null),
        ("previous", json!(told.previous)),
    ];
    Value::Object(fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect())
}

/// Takes the record out of an event, and adds the reason why an application was declined.
fn event_data(event: &mut Value) -> Value {
    let Some(event) = event.as_object_mut() else { return Value::Null };
    let mut data = event.get_mut("data").map(Value::take).unwrap_or_default();
    if let (Some(data), Some(reason)) = (data.as_object_mut(), event.get_mut("reason")) {
        data.insert("reason".to_owned(), reason.take());
    }
    data
}

/// Returns a name as documents write it: without the namespace `default`.
fn display_name(key: &Key) -> String {
    match key.namespace.as_str() {
        "default" => key.name.to_string(),
        namespace => format!("{namespace}/{}", key.name),
    }
}

/// Builds a read of the service from a script's arguments: path parameters and query by name.
/// `merchant` is the event's merchant, used unless the arguments name one.
///
/// # Errors
/// There is no such read, or an argument is missing.
pub fn remote_get(merchant: &Key, name: &str, args: &Value) -> Result<RemoteGet, String> {
    let read = ReadEndpoint::find(name).ok_or_else(|| format!("there is no read called {name}"))?;
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut given: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in args.as_object().into_iter().flatten() {
        given.insert(name.clone(), text(value));
    }
    let named = given.remove("merchant").map(|name| format!("Merchant/{name}").parse());
    let named = named.transpose().map_err(|error| format!("merchant: {error}"))?;
    let parameters = read.parameters().map(|name| {
        given.remove(name).ok_or_else(|| format!("{} needs the field {name}", read.name))
    });
    let parameters = parameters.collect::<Result<Vec<_>, _>>()?;
    let merchant = named.unwrap_or_else(|| merchant.clone());
    let query = given.into_iter().collect();
    Ok(RemoteGet { merchant, read: name.to_owned(), parameters, query, body: None })
}

/// Largest size in bytes of one run's answers; larger ones are not stored.
const ANSWER_BYTES_MAX: usize = 256 << 10;

/// An event, and the results of its hooks.
#[derive(derive_more::Debug, Clone, PartialEq, Serialize, Deserialize)]
#[debug("PastEvent({merchant}, {runs:?}, {failures:?})")]
pub struct PastEvent {
    pub merchant: Key,
    /// The event as scripts see it; null if its body was erased.
    pub event: Value,
    pub runs: Vec<PastRun>,
    /// The runs that failed, and still fail.
    pub failures: Vec<HookFailure>,
}

#[derive(derive_more::Debug, Clone, PartialEq, Serialize, Deserialize)]
#[debug("{run:?}")]
pub struct PastRun {
    pub run: HookRun,
    /// The answers to its reads, in order; also null if not stored (the run's digests show which).
    pub answers: Vec<Value>,
}

/// Seals the runs' answers and the words of their requests; the records refer to them.
pub(crate) fn seal_answers(
    shared: &EngineShared,
    merchant: &Key,
    records: &mut [Record],
) -> EngineResult<Vec<SealedValue>> {
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
            if bytes.len() > ANSWER_BYTES_MAX {
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
    let past = told.iter().map(|told| {
        let scripts = ends.remove(&(told.merchant.clone(), told.event.clone()));
        past_event(shared, told, scripts.unwrap_or_default())
    });
    past.collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::tests::records::{key, merchant};

    fn get(name: &str, args: &Value) -> Result<RemoteGet, String> {
        remote_get(&merchant(), name, args)
    }

    #[test]
    fn a_script_s_arguments_become_the_path_and_the_query_of_a_read() {
        let read = get("card.get", &json!({"id": "c1", "page": 2, "q": "x"})).unwrap();
        assert_eq!((read.merchant, read.parameters), (merchant(), vec!["c1".to_owned()]));
        let query = [("page".to_owned(), "2".to_owned()), ("q".to_owned(), "x".to_owned())];
        assert_eq!(read.query, query);
    }

    #[test]
    fn a_script_reads_at_another_merchant_only_by_its_name() {
        let read = get("card.list", &json!({"merchant": "books/other"})).unwrap();
        assert_eq!(read.merchant, key("Merchant/books/other"));
        assert!(read.query.is_empty(), "the name is not sent");
        assert!(
            get("card.list", &json!({"merchant": "no name"}))
                .unwrap_err()
                .starts_with("merchant: ")
        );
    }

    #[test]
    fn a_read_that_is_unknown_or_incomplete_is_an_error() {
        assert_eq!(
            get("card.delete", &json!({})).unwrap_err(),
            "there is no read called card.delete"
        );
        assert_eq!(get("card.get", &json!({})).unwrap_err(), "card.get needs the field id");
        assert_eq!(get("card.get", &Value::Null).unwrap_err(), "card.get needs the field id");
    }

    #[test]
    fn a_script_sees_names_as_documents_write_them() {
        assert_eq!(display_name(&key("Contact/jane")), "jane");
        assert_eq!(display_name(&key("Contact/books/jane")), "books/jane");
    }

    #[test]
    fn the_reason_of_a_decline_is_shown_with_the_record_of_its_event() {
        let mut event = json!({"data": {"id": "a"}, "reason": "no licence"});
        assert_eq!(event_data(&mut event), json!({"id": "a", "reason": "no licence"}));
        assert_eq!(event_data(&mut json!({"data": {"id": "a"}})), json!({"id": "a"}));
        assert_eq!(event_data(&mut json!({"reason": "x"})), Value::Null);
        assert_eq!(event_data(&mut Value::Null), Value::Null);
    }
}
