//! Fields of the record in an event's `data`, taken from the types of the service's contract.
//!
//! The service's documents do not close their lists of fields. A field that is missing here is
//! therefore doubtful, not impossible.

use std::sync::LazyLock;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::api::method::PaymentMethod;
use crate::api::recurring::{Occurrence, RecurringCharge};
use crate::api::transaction::Transaction;
use crate::kinds::schema::kind::Privacy;
use crate::scripting::host::script_event::privacy_of_name;
use crate::scripting::language::names::{APPLICATION, METHOD, OCCURRENCE, RECURRING, TRANSACTION};

/// One field of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataField {
    pub name: String,
    pub doc: String,
    /// Scripts see it only with the right `personal`.
    pub personal: bool,
    /// The JSON Schema of its value.
    pub schema: Value,
}

/// The records in events, with the fields that a script can see.
static RECORDS: LazyLock<[(&str, Vec<DataField>); 5]> = LazyLock::new(|| {
    [
        (TRANSACTION, schema_fields::<Transaction>()),
        (RECURRING, schema_fields::<RecurringCharge>()),
        (OCCURRENCE, schema_fields::<Occurrence>()),
        (METHOD, schema_fields::<PaymentMethod>()),
        (APPLICATION, application_fields()),
    ]
});

/// Returns each kind of record with its fields (partner-api and gateway-api).
pub fn event_records() -> &'static [(&'static str, Vec<DataField>)] {
    &*RECORDS
}

/// Returns the names of the fields of a kind of record; of every record where the kind is not known.
pub(crate) fn data_fields(record: Option<&str>) -> impl Iterator<Item = &'static str> {
    let meant = RECORDS.iter().filter(move |(kind, _)| record.is_none_or(|record| record == *kind));
    meant.flat_map(|(_, fields)| fields).map(|field| field.name.as_str())
}

fn schema_fields<T: JsonSchema>() -> Vec<DataField> {
    let settings = SchemaSettings::draft2020_12().with(|one| one.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let visible = properties.filter(|(name, _)| privacy_of_name(name) != Some(Privacy::Secret));
    visible.map(|(name, field)| described(name, field)).collect()
}

fn described(name: &str, field: &Value) -> DataField {
    let doc = field.get("description").and_then(Value::as_str).unwrap_or_default();
    let doc = doc.lines().collect::<Vec<_>>().join(" ");
    let personal = privacy_of_name(name) == Some(Privacy::Personal);
    DataField { name: name.to_owned(), doc, personal, schema: field.clone() }
}

/// Returns the fields of a decision about an application (partner-api, Events).
fn application_fields() -> Vec<DataField> {
    let fields = [
        ("id", "The application's number; of a declined one."),
        ("reference", "The partner's own name of the application."),
        ("reason", "The reason of a declined application, if the service gives one."),
    ];
    let field = |(name, doc): (&str, &str)| DataField {
        name: name.to_owned(),
        doc: doc.to_owned(),
        personal: false,
        schema: json!({"type": "string"}),
    };
    fields.map(field).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripting::language::names::EVENTS;

    #[test]
    fn every_event_has_a_record_with_described_fields_and_no_secret_one() {
        for row in EVENTS {
            assert!(data_fields(Some(row.data)).any(|name| name == "id"), "{}", row.name);
        }
        for (record, fields) in event_records() {
            for field in fields {
                assert!(!field.doc.is_empty(), "{record}: {}", field.name);
                assert_ne!(field.name, "cvv");
            }
        }
        let has = |record, name: &str| data_fields(Some(record)).any(|field| field == name);
        assert!(has(TRANSACTION, "failure_code") && !has(OCCURRENCE, "failure_code"));
        assert!(has(OCCURRENCE, "attempts") && !has(TRANSACTION, "attempts"));
        assert!(data_fields(None).any(|name| name == "reason"));
    }
}
