//! Read-back of recurring charges, where the service lists them (service-facts, 56, 57).

use std::time::Duration;

use serde_json::Value;

use super::import_template::import_template;
use crate::api::call::Call;
use crate::api::recurring::charge::{GetRecurring, ListRecurring};
use crate::effects::core::context::put;
use crate::effects::recurring::create::recurring_facts;
use crate::kinds::remote::readback::{ReadBack, ReadBackField, WireForm};

/// Charges collect money: a change made elsewhere is noticed within a quarter of an hour.
const EVERY: Duration = Duration::from_mins(15);

const fn same(path: &'static str) -> ReadBackField {
    ReadBackField { path, at: path, form: WireForm::Same }
}

/// Detects a charge that a person ended, or removed.
fn ended_reason(item: &Value) -> Option<String> {
    let text = |field: &str| item.get(field).and_then(Value::as_str).unwrap_or_default();
    match (text("status"), text("status_reason")) {
        ("DELETED", _) => Some("it was deleted on the service".to_owned()),
        ("COMPLETED", "user_canceled") => Some("it was cancelled on the service".to_owned()),
        _ => None,
    }
}

/// Returns the facts of an imported charge.
fn import_facts(item: &Value) -> Value {
    let mut facts = recurring_facts(item);
    for name in ["status_reason", "total_amount", "total_occurrences"] {
        put(&mut facts, name, item.get(name).cloned().unwrap_or_default());
    }
    facts
}

/// Recurring charges. `schedule.start` is left out: it is meaningless once the first occurrence
/// exists.
pub(crate) static CHARGES: ReadBack = ReadBack {
    list_name: "recurring charges",
    list: || Call::to::<ListRecurring>(&[]),
    one: |id| Call::to::<GetRecurring>(&[id.as_str()]),
    interval: EVERY,
    fields: &[
        ReadBackField { path: "amount", at: "amount", form: WireForm::Minor },
        ReadBackField { path: "description", at: "description", form: WireForm::Tagged },
        ReadBackField { path: "max_amount", at: "max_amount", form: WireForm::Minor },
        same("max_occurrences"),
        same("schedule.interval_unit"),
        same("schedule.interval_delay"),
        same("schedule.end"),
        same("schedule.days"),
    ],
    facts: &["status", "status_reason", "next_payment", "total_amount", "total_occurrences"],
    import_facts,
    import_template,
    ended_reason,
};
