//! Events as scripts see them, and the reads of the service that scripts make.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::api::reads::ReadEndpoint;
use crate::base::clock::timestamp;
use crate::base::id::Key;
use crate::engine::handles::shared::{EngineError, EngineShared};
use crate::kinds::planning::step::MERCHANT;
use crate::model::action::{RemoteGet, is_action};
use crate::model::events::event::VerifiedEvent;
use crate::scripting::host::script_event::ScriptEvent;
use crate::store::vault::error::VaultError;

/// Returns the mode of a merchant, as scripts see it.
pub(crate) fn mode(shared: &EngineShared, merchant: &Key) -> Result<Value, EngineError> {
    let merchant = shared.merchant(merchant)?;
    Ok(merchant.map_or(Value::Null, |merchant| merchant.fact("mode").clone()))
}

/// Returns the event as scripts see it, without data if that was erased with its merchant.
///
/// # Errors
/// The body cannot be read.
pub(crate) fn event_value(
    shared: &EngineShared,
    told: &VerifiedEvent,
) -> Result<Value, EngineError> {
    let body = open_body(shared, told)?.unwrap_or_default();
    let mut body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let mut event = fields(told, mode(shared, &told.merchant)?);
    if let Some(data) = event.get_mut("data") {
        *data = self::data(&mut body);
    }
    Ok(event)
}

/// Returns the same for a run, of a merchant in this mode; `None` if the data was erased with the
/// merchant.
pub(crate) fn event_for_run(
    shared: &EngineShared,
    told: &VerifiedEvent,
    mode: Value,
) -> Result<Option<ScriptEvent>, EngineError> {
    let body = open_body(shared, told)?;
    Ok(body.map(|body| ScriptEvent::with_record(&fields(told, mode), &body)))
}

/// Opens the service's own text of an event; `None` if it was erased with its merchant.
fn open_body(
    shared: &EngineShared,
    told: &VerifiedEvent,
) -> Result<Option<Zeroizing<Vec<u8>>>, EngineError> {
    let body = told.body.parse();
    let body =
        body.map_err(|error| EngineError::Bug(format!("an event names no blob: {error}")))?;
    match shared.vault.unseal(&body) {
        Err(VaultError::Erased { .. }) => Ok(None),
        opened => Ok(Some(opened?)),
    }
}

/// Returns all fields but the record that the event shows.
fn fields(told: &VerifiedEvent, mode: Value) -> Value {
    let resource = told.resources.iter().find(|key| !is_action(key));
    let own = told.merchant.kind.as_str() == MERCHANT;
    let fields = [
        ("id", Value::from(told.event.as_str())),
        ("type", Value::from(told.kind.as_str())),
        ("created", Value::from(timestamp(&told.created))),
        ("mode", mode),
        ("merchant", Value::from(own.then(|| display_name(&told.merchant)))),
        (
            "resource",
            Value::from(resource.map(|key| format!("{}/{}", key.kind, display_name(key)))),
        ),
        ("data", Value::Null),
        ("previous", json!(told.previous)),
    ];
    Value::Object(fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect())
}

/// Takes the record out of an event, and adds the reason why an application was declined.
fn data(event: &mut Value) -> Value {
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
