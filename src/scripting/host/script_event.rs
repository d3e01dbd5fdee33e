//! Event of a run, as a script gets it.

use std::fmt;

use chrono::{DateTime, Utc};
use rhai::{Dynamic, Map};
use serde_json::Value;

use crate::base::id::Key;
use crate::scripting::language::events::FIELDS;
use crate::scripting::language::json::{parse_untrusted, untrusted_to_dynamic};
use crate::scripting::language::values::ScriptMoment;

/// An event as a script gets it, with every field. `Debug` omits the fields, since they hold names
/// and addresses.
pub struct ScriptEvent {
    fields: Map,
    origin: EventOrigin,
}

/// Origin of an event.
#[derive(Debug, Clone, Default)]
pub(crate) struct EventOrigin {
    /// The merchant; `None` if no document declares it.
    pub(crate) merchant: Option<Key>,
    /// Set in live mode.
    pub(crate) live: bool,
    /// Time of the event.
    pub(crate) created: Option<DateTime<Utc>>,
}

impl EventOrigin {
    /// Reads the origin from an event.
    pub(crate) fn from_event(event: &Value) -> Self {
        let live = event.get("mode").and_then(Value::as_str) == Some("live");
        let created = event.get("created").and_then(Value::as_str);
        let created =
            created.and_then(|text| ScriptMoment::parse(text).ok()).map(|ScriptMoment(at)| at);
        Self { merchant: event_merchant(event), live, created }
    }
}

/// Returns the merchant of an event.
pub(crate) fn event_merchant(event: &Value) -> Option<Key> {
    let name = event.get("merchant").and_then(Value::as_str)?;
    format!("Merchant/{name}").parse().ok()
}

impl fmt::Debug for ScriptEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Given({:?})", self.origin.merchant)
    }
}

impl ScriptEvent {
    /// Returns an event of these fields; every other field of [`FIELDS`] is null.
    pub fn new(event: &Value) -> Self {
        let field = |name: &str| {
            (name.into(), untrusted_to_dynamic(event.get(name).unwrap_or(&Value::Null)))
        };
        let fields = FIELDS.iter().map(|known| field(known.name)).collect();
        Self { fields, origin: EventOrigin::from_event(event) }
    }

    /// Returns an event whose `data` is the record in the service's own JSON text. The reason of a
    /// declined application is added to the record. A text that is not an event gives no record.
    pub fn with_record(event: &Value, text: &[u8]) -> Self {
        let mut given = Self::new(event);
        let told = parse_untrusted(text).and_then(Dynamic::try_cast::<Map>);
        given.fields.insert("data".into(), told.map_or(Dynamic::UNIT, record));
        given
    }

    /// Returns the argument of the script's function, and the origin of the event.
    pub(crate) fn into_parts(self) -> (Dynamic, EventOrigin) {
        (Dynamic::from_map(self.fields), self.origin)
    }
}

/// Returns the record within an event.
fn record(mut event: Map) -> Dynamic {
    let (data, reason) = (event.remove("data").unwrap_or_default(), event.remove("reason"));
    let Some(reason) = reason.filter(|_| data.is_map()) else { return data };
    let mut data = data.try_cast::<Map>().unwrap_or_default();
    data.insert("reason".into(), reason);
    Dynamic::from_map(data)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scripting::language::json::to_json as written;

    #[test]
    fn a_record_is_the_same_whichever_way_it_is_read() {
        let records = [
            json!({"id": "t1", "amount": 12500, "big": u64::MAX, "less": -3, "is": true, "none": null}),
            json!({"list": [1, "two", {"three": []}], "{{a": "{{{intake:x}}}", "rate": 1.5}),
            json!([1, 2]),
            json!("{{text"),
            Value::Null,
        ];
        let mut texts: Vec<Value> = records.iter().map(|data| json!({"data": data})).collect();
        texts.extend(
            records.iter().map(|data| json!({"data": data, "reason": "too {{new", "x": 1})),
        );
        texts.extend([json!({"reason": "no data"}), json!({"data": {"a": 1}, "reason": null})]);
        for text in texts {
            let mut data = text.get("data").cloned().unwrap_or_default();
            if let (Some(data), Some(reason)) = (data.as_object_mut(), text.get("reason")) {
                data.insert("reason".to_owned(), reason.clone());
            }
            let slow = ScriptEvent::new(&json!({"id": "e1", "merchant": "acme", "data": data}));
            let event = json!({"id": "e1", "merchant": "acme"});
            let quick = ScriptEvent::with_record(&event, text.to_string().as_bytes());
            let shown = |given: ScriptEvent| written(&given.into_parts().0).unwrap();
            assert_eq!(shown(quick), shown(slow), "{text}");
        }
    }

    #[test]
    fn a_text_that_is_no_event_shows_no_record() {
        for text in ["", "{", "[]", "7", "{\"data\": 1} x"] {
            let (fields, _) = ScriptEvent::with_record(&json!({}), text.as_bytes()).into_parts();
            assert_eq!(
                written(&fields).unwrap(),
                written(&ScriptEvent::new(&json!({})).into_parts().0).unwrap()
            );
        }
    }
}
