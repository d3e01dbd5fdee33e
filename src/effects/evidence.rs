//! What the evidence on effects has in common: the events since just before sending, and how they are read.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::register::{Answer, Baseline, Finding, Query, fits};
use crate::api::Call;
use crate::api::event::ListEvents;
use crate::model::effect::Effect;
use crate::model::intent::Intent;

/// Before sending: the newest event. What comes after it is news.
pub(super) const NEWEST_EVENT: Baseline = Baseline {
    queries: |_: &Effect| vec![newest()],
    keep: |answers| kept(answers.first()),
    refuse: fits,
};

/// The newest event there is.
pub(super) fn newest() -> Query {
    Query::one(Call::to::<ListEvents>(&[]).query("page", 1).query("page_size", 1))
}

/// Of a list, the id and time of its first item; null where the service has no such list.
pub(super) fn kept(answer: Option<&Answer>) -> Value {
    let Some(Answer::Body(body)) = answer else { return Value::Null };
    let first = body.pointer("/results/0");
    let field = |name: &str| first.and_then(|first| first.get(name)).cloned();
    json!({"results": [{"id": field("id"), "created": field("created")}]})
}

/// The note in the baseline of an intent that was looked for before it was ever sent.
pub const LOOKED_FIRST: &str = "looked_first";

/// Whether it was looked for before it was sent: then what is found may be older than the intent, and another's.
pub(super) fn was_looked_for(intent: &Intent) -> bool {
    intent.baseline.get(LOOKED_FIRST).is_some()
}

/// Of an object, when it was last modified.
pub(super) fn modified(answers: &[Answer]) -> Value {
    match answers.first() {
        Some(Answer::Body(body)) => json!({"modified": body.get("modified")}),
        Some(Answer::Items(_) | Answer::Missing(_)) | None => Value::Null,
    }
}

/// The events since the baseline, in rising order; all of them, newest first, where there was none.
pub(super) fn events_since(intent: &Intent) -> Query {
    let newest = intent.baseline.pointer("/results/0/created").and_then(Value::as_str);
    let events = Call::to::<ListEvents>(&[]);
    Query::list(match newest {
        Some(since) => events.query("start_date", since),
        None => events,
    })
}

/// What the events after the baseline are about, if their type begins so.
pub(super) fn news<'a>(intent: &Intent, events: &'a Answer, kind: &str) -> Vec<&'a Value> {
    let known = intent.baseline.pointer("/results/0/id").and_then(Value::as_str);
    let items = events.items();
    let at = items.iter().position(|event| known.is_some() && known == Some(text(event, "id")));
    let after = items.iter().skip(at.map_or(0, |at| at.saturating_add(1)));
    let after = after.filter(|event| text(event, "type").starts_with(kind));
    after.filter_map(|event| event.get("data")).collect()
}

/// Events are all there is to see, and do not show it.
pub(super) fn unseen(events: &Answer, why: &str) -> Finding {
    let time = |event: &Value| text(event, "created").parse::<DateTime<Utc>>().ok();
    let newest = events.items().iter().filter_map(time).max();
    Finding::Unseen { newest, why: why.to_owned() }
}

/// A text field, empty where there is none.
pub(super) fn text<'a>(item: &'a Value, field: &str) -> &'a str {
    item.get(field).and_then(Value::as_str).unwrap_or_default()
}
