//! Fields that a triggered event may set, and the status that follows from its type.

use schemars::schema_for;
use serde_json::{Map, Value, json};

use crate::api::methods::method::PaymentMethod;
use crate::api::payments::transaction::Transaction;
use crate::api::recurring::charge::RecurringCharge;
use crate::api::recurring::occurrence::Occurrence;
use crate::base::suggestion;
use crate::sandbox::http::refusal::SandboxRefusal;

/// Status of the object in an event of this type.
const STATUS: [(&str, &str); 13] = [
    ("transaction.created", "PENDING"),
    ("transaction.pending_parent_settlement", "PENDING"),
    ("transaction.authorized", "AUTHORIZED"),
    ("transaction.completed", "COMPLETED"),
    ("transaction.voided", "VOIDED"),
    ("transaction.failed", "FAILED"),
    ("recurring_charge.created", "ACTIVE"),
    ("recurring_charge.completed", "COMPLETED"),
    ("recurring_charge.deleted", "COMPLETED"),
    ("recurring_charge.occurrence.created", "PENDING"),
    ("recurring_charge.occurrence.paid", "PAID"),
    ("recurring_charge.occurrence.failed", "FAILED"),
    ("recurring_charge.occurrence.ignored", "IGNORED"),
];
/// The event of a decline, and its failure code where the order names none.
const FAILED: (&str, &str) = ("transaction.failed", "card_declined");

/// Sets the status that follows from the event's type.
pub(super) fn set_status(kind: &str, object: &mut Map<String, Value>) {
    if let Some((_, status)) = STATUS.iter().find(|(known, _)| *known == kind) {
        object.insert("status".to_owned(), json!(status));
    }
    if kind == FAILED.0 {
        object.entry("failure_code").or_insert_with(|| json!(FAILED.1));
    }
}

/// Refuses a field that no object of this kind has. `word` names the kind.
pub(super) fn check_field(word: &str, path: &str) -> Result<(), SandboxRefusal> {
    let root = match word {
        "transaction" => schema_for!(Transaction),
        "occurrence" => schema_for!(Occurrence),
        "recurring" => schema_for!(RecurringCharge),
        _ => schema_for!(PaymentMethod),
    };
    let root = root.to_value();
    let mut at = &root;
    for (depth, name) in path.split('.').enumerate() {
        let Some(fields) = fields(&root, at) else { return Ok(()) };
        at = fields.get(name).ok_or_else(|| unknown_field(path, depth, name, fields))?;
    }
    Ok(())
}

fn unknown_field(
    path: &str,
    depth: usize,
    name: &str,
    fields: &Map<String, Value>,
) -> SandboxRefusal {
    let above: Vec<&str> = path.split('.').take(depth).collect();
    let of =
        if above.is_empty() { "the object".to_owned() } else { format!("`{}`", above.join(".")) };
    let help = suggestion::suggestion_help(name, fields.keys().map(String::as_str));
    SandboxRefusal::invalid(&format!("{of} has no field `{name}`; {help}"))
}

/// Returns the fields of a schema, also through a reference or a choice of schemas. `None` allows
/// any field.
fn fields<'s>(root: &'s Value, at: &'s Value) -> Option<&'s Map<String, Value>> {
    if let Some(fields) = at.get("properties").and_then(Value::as_object) {
        return Some(fields);
    }
    if let Some(target) = at.get("$ref").and_then(Value::as_str) {
        return fields(root, root.pointer(target.trim_start_matches('#'))?);
    }
    let several =
        ["anyOf", "allOf", "oneOf"].into_iter().filter_map(|word| at.get(word)?.as_array());
    several.flatten().find_map(|one| fields(root, one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k14_the_status_follows_the_type() {
        let mut object = Map::new();
        set_status("transaction.failed", &mut object);
        assert_eq!(
            Value::Object(object),
            json!({"status": "FAILED", "failure_code": "card_declined"})
        );
        let mut kept = json!({"status": "ACTIVE"}).as_object().cloned().unwrap();
        set_status("recurring_charge.updated", &mut kept);
        assert_eq!(kept["status"], "ACTIVE");
    }

    #[test]
    fn k14_a_field_that_no_object_has_is_refused_with_the_nearest_name() {
        assert!(check_field("transaction", "amount").is_ok());
        assert!(check_field("transaction", "method.name").is_ok());
        assert!(check_field("recurring", "schedule.interval_unit").is_ok());
        let told = |word, path| {
            serde_json::to_string(&check_field(word, path).unwrap_err().problem).unwrap()
        };
        assert!(told("transaction", "amuont").contains("did you mean `amount`?"));
        assert!(told("transaction", "method.nmae").contains("`method` has no field `nmae`"));
    }
}
