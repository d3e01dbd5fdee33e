//! Steps that the service's other parties take, on request: `/_sandbox/events` triggers an event,
//! so that operators can try the hooks that react to it; `/_sandbox/applications/{id}` decides as
//! underwriting and support; `/_sandbox/transactions/{id}/settlement` decides as the bank, ahead
//! of the daily run.

use schemars::{Schema, schema_for};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::api::event::DeclineReason;
use crate::api::method::PaymentMethod;
use crate::api::recurring::{Occurrence, RecurringCharge};
use crate::api::transaction::Transaction;
use crate::base::wording;
use crate::sandbox::answer::{Result, SandboxAnswer, SandboxRefusal};
use crate::sandbox::body::ControlOrder;
use crate::sandbox::merchants::events;
use crate::sandbox::onboarding::applications::{SandboxDecision, decide};
use crate::sandbox::payments::transactions::{self, StoredTransaction, TransactionTransition};
use crate::sandbox::state::objects::{ObjectKind, ObjectOwner, Stored};
use crate::sandbox::state::store::ChangeUnit;

/// The object that events of a type show: the prefix of the type, its kind and its schema.
type ShownObject = (&'static str, ObjectKind, fn() -> Schema);

/// The first match counts.
static SHOWN_OBJECTS: [ShownObject; 4] = [
    ("transaction.", ObjectKind::TRANSACTION, || schema_for!(Transaction)),
    ("recurring_charge.occurrence.", ObjectKind::OCCURRENCE, || schema_for!(Occurrence)),
    ("recurring_charge.", ObjectKind::RECURRING_CHARGE, || schema_for!(RecurringCharge)),
    ("payment_method.", ObjectKind::CARD, || schema_for!(PaymentMethod)),
];

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

/// Returns the types of events that a person can choose from.
pub(crate) fn event_types() -> impl Iterator<Item = &'static str> {
    STATUS.iter().map(|(kind, _)| *kind)
}

/// The event of a decline, and its failure code where the order names none.
const FAILED: (&str, &str) = ("transaction.failed", "card_declined");

fn set_status(kind: &str, object: &mut Map<String, Value>) {
    if let Some((_, status)) = STATUS.iter().find(|(known, _)| *known == kind) {
        object.insert("status".to_owned(), json!(status));
    }
    if kind == FAILED.0 {
        object.entry("failure_code").or_insert_with(|| json!(FAILED.1));
    }
}

/// Triggers an event: `{merchant, mode: test|live, type, set: {PATH: VALUE}}`, and answers it. The
/// event shows a changed copy of the newest object: with the type's status and the fields of `set`.
pub(crate) fn trigger_event(cx: &mut ChangeUnit, order: &ControlOrder) -> Result<SandboxAnswer> {
    let missing = |help: &'static str| move || SandboxRefusal::invalid(help);
    let name = order.text("merchant").ok_or_else(missing("Name a merchant"))?;
    let mode = order.mode()?;
    let kind = order.text("type").ok_or_else(missing("Name the type of the event"))?;
    let merchant = cx.merchants()?.into_iter().find(|merchant| merchant.name == name);
    let merchant = merchant.ok_or_else(|| SandboxRefusal::not_found("Merchant", name))?;
    let owner = ObjectOwner { merchant: merchant.id, mode };
    let (object_kind, schema) = shown_object(kind)?;
    let mut object = newest_object(cx, &owner, object_kind)?;
    set_status(kind, &mut object);
    for (path, value) in order.value().get("set").and_then(Value::as_object).into_iter().flatten() {
        check_field(&schema, path)?;
        set_field(&mut object, path, value)?;
    }
    let before = events::newest(cx, &owner)?.map(|event| event.id);
    events::emit(cx, &owner, kind, &object)?;
    let emitted = events::newest(cx, &owner)?.filter(|event| Some(&event.id) != before.as_ref());
    let emitted = emitted.ok_or_else(missing("This surface does not make such events"))?;
    SandboxAnswer::json(&emitted)
}

fn shown_object(event: &str) -> Result<(ObjectKind, Value)> {
    let shown = SHOWN_OBJECTS.iter().find(|(prefix, _, _)| event.starts_with(prefix));
    let shown = shown.map(|(_, kind, schema)| (*kind, schema().to_value()));
    shown.ok_or_else(|| SandboxRefusal::invalid("This sandbox makes no event of this type"))
}

fn newest_object(
    cx: &ChangeUnit,
    owner: &ObjectOwner,
    kind: ObjectKind,
) -> Result<Map<String, Value>> {
    let all = cx.all::<Map<String, Value>, Value>(kind)?;
    let own = all.into_iter().filter(|kept| kept.owner == *owner);
    let newest = own.max_by_key(|kept| kept.sequence).map(|Stored { object, .. }| object);
    newest.ok_or_else(|| SandboxRefusal::invalid("No object for this event exists yet"))
}

fn check_field(root: &Value, path: &str) -> Result<()> {
    let (mut at, mut of) = (root, "the object".to_owned());
    for (depth, name) in path.split('.').enumerate() {
        let Some(fields) = schema_fields(root, at) else { return Ok(()) };
        at = fields.get(name).ok_or_else(|| {
            let help = wording::suggestion_help(name, fields.keys().map(String::as_str));
            SandboxRefusal::invalid(&format!("{of} has no field `{name}`; {help}"))
        })?;
        let above: Vec<&str> = path.split('.').take(depth.saturating_add(1)).collect();
        of = format!("`{}`", above.join("."));
    }
    Ok(())
}

/// Returns the fields of a schema, also through references and choices. `None` allows any field.
fn schema_fields<'s>(root: &'s Value, at: &'s Value) -> Option<&'s Map<String, Value>> {
    if let Some(fields) = at.get("properties").and_then(Value::as_object) {
        return Some(fields);
    }
    if let Some(target) = at.get("$ref").and_then(Value::as_str) {
        return schema_fields(root, root.pointer(target.trim_start_matches('#'))?);
    }
    let several =
        ["anyOf", "allOf", "oneOf"].into_iter().filter_map(|word| at.get(word)?.as_array());
    several.flatten().find_map(|one| schema_fields(root, one))
}

/// Sets one field of an object; a dot descends into nested objects.
fn set_field(object: &mut Map<String, Value>, path: &str, value: &Value) -> Result<()> {
    let Some((first, rest)) = path.split_once('.') else {
        object.insert(path.to_owned(), value.clone());
        return Ok(());
    };
    let inner = object.entry(first).or_insert_with(|| Value::Object(Map::new()));
    let plain = || SandboxRefusal::invalid("`set` names a field inside a plain value");
    set_field(inner.as_object_mut().ok_or_else(plain)?, rest, value)
}

/// Failure code of money that did not arrive, unless the order names one (service-facts, part 2).
const FAILURE: &str = "settlement_failed";

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Underwriting {
    Approve,
    Decline,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Settlement {
    Settled,
    Failed,
}

/// `{"decision":"approve"|"decline","reason":…}`; a decline without a reason has the reason
/// `other`. With `"reconsidered": true`, a declined application is approved.
pub(crate) fn decide_application(
    cx: &mut ChangeUnit,
    id: &str,
    order: &ControlOrder,
) -> Result<SandboxAnswer> {
    let decision = match order.need("decision", "decision is `approve` or `decline`")? {
        Underwriting::Approve => SandboxDecision::Approve,
        Underwriting::Decline => {
            SandboxDecision::Decline(decline_reason(order.text("reason").unwrap_or("other"))?)
        }
    };
    let again = order.flag("reconsidered") == Some(true);
    SandboxAnswer::json(&decide(cx, id, &decision, again)?.object)
}

fn decline_reason(word: &str) -> Result<DeclineReason> {
    match DeclineReason::from(word) {
        DeclineReason::Other(_) => {
            let text = "reason is `duplicate_application`, `duplicate_merchant` or `other`";
            Err(SandboxRefusal::invalid(text))
        }
        known @ (DeclineReason::DuplicateApplication
        | DeclineReason::DuplicateMerchant
        | DeclineReason::Unexplained) => Ok(known),
    }
}

/// `{"result":"settled"|"failed","code":…}`: the money arrived, or it did not arrive or was taken
/// back for the reason `code`. Answers the transaction.
pub(crate) fn settle(cx: &mut ChangeUnit, id: &str, order: &ControlOrder) -> Result<SandboxAnswer> {
    let mut kept: StoredTransaction = cx.load(ObjectKind::TRANSACTION, id)?;
    let change = match order.need("result", "result is `settled` or `failed`")? {
        Settlement::Settled => TransactionTransition::Capture,
        Settlement::Failed => {
            kept.object.failure_code = Some(order.text("code").unwrap_or(FAILURE).to_owned());
            TransactionTransition::Return
        }
    };
    transactions::apply(cx, &mut kept, change)?;
    SandboxAnswer::json(&kept.object)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: &str, path: &str) -> Result<()> {
        check_field(&shown_object(kind).unwrap().1, path)
    }

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
        assert!(check("transaction.created", "amount").is_ok());
        assert!(check("transaction.created", "method.name").is_ok());
        assert!(check("recurring_charge.created", "schedule.interval_unit").is_ok());
        let told =
            |kind, path| serde_json::to_string(&check(kind, path).unwrap_err().problem).unwrap();
        assert!(told("transaction.created", "amuont").contains("did you mean `amount`?"));
        assert!(
            told("transaction.created", "method.nmae").contains("`method` has no field `nmae`")
        );
    }
}
