//! What scripts see of an event, and the reads of the service that they make.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::api::reads::Read;
use crate::base::clock::timestamp;
use crate::base::id::Key;
use crate::engine::shared::{EngineError, Shared};
use crate::kinds::step::MERCHANT;
use crate::model::action::is_action;
use crate::model::event::Told;
use crate::model::showing::Showing;

/// The event as scripts see it. Errors: its body is not to be had.
pub(in crate::engine) fn shown(shared: &Shared, told: &Told) -> Result<Value, EngineError> {
    let body = told.body.parse();
    let body =
        body.map_err(|error| EngineError::Bug(format!("an event names no blob: {error}")))?;
    let bytes = shared.vault.open_blob(&body)?;
    let event: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let merchant = shared.merchant(&told.merchant)?;
    let mode = merchant.map(|merchant| merchant.fact("mode").clone());
    let resource = told.about.iter().find(|key| !is_action(key));
    Ok(json!({
        "id": told.event,
        "type": told.kind,
        "created": timestamp(&told.created),
        "mode": mode,
        "merchant": (told.merchant.kind.as_str() == MERCHANT).then(|| named(&told.merchant)),
        "resource": resource.map(|key| format!("{}/{}", key.kind, named(key))),
        "data": data(&event),
        "previous": told.previous,
    }))
}

/// The record that an event shows; why an application was declined stands beside it.
fn data(event: &Value) -> Value {
    let mut data = event.get("data").cloned().unwrap_or_default();
    if let (Some(data), Some(reason)) = (data.as_object_mut(), event.get("reason")) {
        data.insert("reason".to_owned(), reason.clone());
    }
    data
}

/// A name as documents write it: without the namespace where that is the usual one.
fn named(key: &Key) -> String {
    match key.namespace.as_str() {
        "default" => key.name.to_string(),
        namespace => format!("{namespace}/{}", key.name),
    }
}

/// A read of the service as a script wants it: its path's parameters and its query by name. `merchant`: whose event it
/// is, where the arguments name nobody. Errors: there is no such read, or it needs more.
pub fn showing(merchant: &Key, name: &str, args: &Value) -> Result<Showing, String> {
    let read = Read::named(name).ok_or_else(|| format!("there is no read called {name}"))?;
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
    Ok(Showing { merchant, read: name.to_owned(), parameters, query, body: None })
}
