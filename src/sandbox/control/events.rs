//! `/_sandbox/events`: triggers an event on request, so that operators can try the hooks that react
//! to it.

use serde_json::{Map, Value};

use super::shown::{follow, known};
use crate::sandbox::answer::Answer;
use crate::sandbox::events;
use crate::sandbox::lists::{Kept, KindOf, Mode, Owner};
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;

/// Object kind of an event: a prefix of the event's type, and the kind's word. The first match
/// counts.
const SHOWN: [(&str, &str); 4] = [
    ("transaction.", "transaction"),
    ("recurring_charge.occurrence.", "occurrence"),
    ("recurring_charge.", "recurring"),
    ("payment_method.", "card"),
];

/// Triggers an event: `{merchant, mode: test|live, type, set: {PATH: VALUE}}`. The event shows the
/// newest object of its kind with the type's status and the fields of `set`. The stored object
/// stays unchanged. Answers the event.
pub(super) fn fire(cx: &mut Cx<'_>, order: &Value) -> Result<Answer, Refusal> {
    let text = |field: &str| order.get(field).and_then(Value::as_str);
    let name = text("merchant").ok_or_else(|| Refusal::invalid("Name a merchant"))?;
    let mode = match text("mode") {
        None | Some("test") => Mode::Test,
        Some("live") => Mode::Live,
        Some(_) => return Err(Refusal::invalid("mode is `test` or `live`")),
    };
    let kind = text("type").ok_or_else(|| Refusal::invalid("Name the type of the event"))?;
    let merchant = cx.merchants()?.into_iter().find(|merchant| merchant.name == name);
    let merchant = merchant.ok_or_else(|| Refusal::missing("Merchant", name))?;
    let owner = Owner { merchant: merchant.id, mode };
    let (word, mut object) = newest(cx, &owner, kind)?;
    follow(kind, &mut object);
    for (path, value) in order.get("set").and_then(Value::as_object).into_iter().flatten() {
        known(word, path)?;
        lay(&mut object, path, value)?;
    }
    let before = events::newest(cx, &owner)?.map(|event| event.id);
    events::emit(cx, &owner, kind, &object)?;
    let told = events::newest(cx, &owner)?.filter(|event| Some(&event.id) != before.as_ref());
    let told = told.ok_or_else(|| Refusal::invalid("This surface does not tell such events"))?;
    Answer::json(&told)
}

/// Returns the newest object that an event of this type shows.
fn newest(
    cx: &Cx<'_>,
    owner: &Owner,
    kind: &str,
) -> Result<(&'static str, Map<String, Value>), Refusal> {
    let shown = SHOWN.iter().find(|(begin, _)| kind.starts_with(begin));
    let (_, word) =
        shown.ok_or_else(|| Refusal::invalid("This sandbox makes no event of this type"))?;
    let all = cx.all::<Map<String, Value>, Value>(KindOf { word, name: word })?;
    let own = all.into_iter().filter(|kept| kept.owner == *owner);
    let newest = own.max_by_key(|kept| kept.sequence).map(|Kept { object, .. }| object);
    let newest = newest.map(|object| (*word, object));
    newest.ok_or_else(|| Refusal::invalid("There is no object yet that it could be about"))
}

/// Sets one field of an object; a dot descends into nested objects.
fn lay(object: &mut Map<String, Value>, path: &str, value: &Value) -> Result<(), Refusal> {
    let Some((first, rest)) = path.split_once('.') else {
        object.insert(path.to_owned(), value.clone());
        return Ok(());
    };
    let inner = object.entry(first).or_insert_with(|| Value::Object(Map::new()));
    let inner = inner.as_object_mut();
    lay(inner.ok_or_else(|| Refusal::invalid("`set` leads into a plain value"))?, rest, value)
}
