//! `/_sandbox/events`: triggers an event on request, so that operators can try the hooks that react
//! to it.

use serde_json::{Map, Value};

use super::event_fields::{check_field, set_status};
use crate::sandbox::http::answer::SandboxAnswer;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::state::events;
use crate::sandbox::state::lists::{MerchantMode, ObjectKind, ObjectOwner, Stored};
use crate::sandbox::state::store::ChangeUnit;

/// Object kind of an event: a prefix of the event's type, and the kind's word. The first match
/// counts.
const OBJECT_KINDS: [(&str, &str); 4] = [
    ("transaction.", "transaction"),
    ("recurring_charge.occurrence.", "occurrence"),
    ("recurring_charge.", "recurring"),
    ("payment_method.", "card"),
];

/// Triggers an event: `{merchant, mode: test|live, type, set: {PATH: VALUE}}`. The event shows the
/// newest object of its kind with the type's status and the fields of `set`. The stored object
/// stays unchanged. Answers the event.
pub(super) fn trigger(
    cx: &mut ChangeUnit<'_>,
    order: &Value,
) -> Result<SandboxAnswer, SandboxRefusal> {
    let text = |field: &str| order.get(field).and_then(Value::as_str);
    let name = text("merchant").ok_or_else(|| SandboxRefusal::invalid("Name a merchant"))?;
    let mode = match text("mode") {
        None | Some("test") => MerchantMode::Test,
        Some("live") => MerchantMode::Live,
        Some(_) => return Err(SandboxRefusal::invalid("mode is `test` or `live`")),
    };
    let kind = text("type").ok_or_else(|| SandboxRefusal::invalid("Name the type of the event"))?;
    let merchant = cx.merchants()?.into_iter().find(|merchant| merchant.name == name);
    let merchant = merchant.ok_or_else(|| SandboxRefusal::not_found("Merchant", name))?;
    let owner = ObjectOwner { merchant: merchant.id, mode };
    let (word, mut object) = newest(cx, &owner, kind)?;
    set_status(kind, &mut object);
    for (path, value) in order.get("set").and_then(Value::as_object).into_iter().flatten() {
        check_field(word, path)?;
        set_field(&mut object, path, value)?;
    }
    let before = events::newest(cx, &owner)?.map(|event| event.id);
    events::emit(cx, &owner, kind, &object)?;
    let emitted = events::newest(cx, &owner)?.filter(|event| Some(&event.id) != before.as_ref());
    let emitted =
        emitted.ok_or_else(|| SandboxRefusal::invalid("This surface does not make such events"))?;
    SandboxAnswer::json(&emitted)
}

/// Returns the newest object that an event of this type shows.
fn newest(
    cx: &ChangeUnit<'_>,
    owner: &ObjectOwner,
    kind: &str,
) -> Result<(&'static str, Map<String, Value>), SandboxRefusal> {
    let shown = OBJECT_KINDS.iter().find(|(begin, _)| kind.starts_with(begin));
    let (_, word) =
        shown.ok_or_else(|| SandboxRefusal::invalid("This sandbox makes no event of this type"))?;
    let all = cx.all::<Map<String, Value>, Value>(ObjectKind { word, name: word })?;
    let own = all.into_iter().filter(|kept| kept.owner == *owner);
    let newest = own.max_by_key(|kept| kept.sequence).map(|Stored { object, .. }| object);
    let newest = newest.map(|object| (*word, object));
    newest.ok_or_else(|| SandboxRefusal::invalid("No object for this event exists yet"))
}

/// Sets one field of an object; a dot descends into nested objects.
fn set_field(
    object: &mut Map<String, Value>,
    path: &str,
    value: &Value,
) -> Result<(), SandboxRefusal> {
    let Some((first, rest)) = path.split_once('.') else {
        object.insert(path.to_owned(), value.clone());
        return Ok(());
    };
    let inner = object.entry(first).or_insert_with(|| Value::Object(Map::new()));
    let inner = inner.as_object_mut();
    set_field(
        inner.ok_or_else(|| SandboxRefusal::invalid("`set` names a field inside a plain value"))?,
        rest,
        value,
    )
}
