//! Evidence that effects share: the events since just before sending, their interpretation, and
//! whether an earlier execution could be found at all.
//!
//! The last matters after a restore, when the journal does not contain the effects since the
//! backup.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::api::call::{Call, Method};
use crate::api::event::ListEvents;
use crate::effects::core::expect::{mismatches, text};
use crate::effects::core::row::{
    Baseline, EffectRow, LookupResult, LostReply, RemoteAnswer, RemoteQuery, accept_any,
};
use crate::model::effect::Effect;
use crate::model::intent::{Intent, StoredBody};
use crate::model::outcome::ServiceProblem;

/// Baseline before sending: the newest event. Later events are new.
pub(crate) const NEWEST_EVENT: Baseline = Baseline {
    queries: |_: &Effect| vec![newest_event()],
    keep: |answers| first_item(answers.first()),
    refuse: accept_any,
};

pub(crate) fn newest_event() -> RemoteQuery {
    RemoteQuery::one(Call::to::<ListEvents>(&[]).query("page", 1).query("page_size", 1))
}

/// Returns id and time of the first item of a list; null where the service has no such list.
pub(crate) fn first_item(answer: Option<&RemoteAnswer>) -> Value {
    let Some(RemoteAnswer::Body(body)) = answer else { return Value::Null };
    let first = body.pointer("/results/0");
    let field = |name: &str| first.and_then(|first| first.get(name)).cloned();
    json!({"results": [{"id": field("id"), "created": field("created")}]})
}

/// Note in the baseline of an intent whose lookup ran before the first send.
pub const LOOKED_UP_FIRST: &str = "looked_first";

/// Returns whether a lookup ran before the first send: its result may be older than the intent, and
/// another's.
pub(crate) fn was_looked_up_first(intent: &Intent) -> bool {
    intent.baseline.get(LOOKED_UP_FIRST).is_some()
}

pub(crate) fn modified_time(answers: &[RemoteAnswer]) -> Value {
    match answers.first() {
        Some(RemoteAnswer::Body(body)) => json!({"modified": body.get("modified")}),
        Some(RemoteAnswer::Items(_) | RemoteAnswer::Missing(_)) | None => Value::Null,
    }
}

/// Returns whether every visible field is as requested; for a token, also whether the object was
/// modified since the read before it. In doubt the change is sent again: it is absolute.
pub(crate) fn shows_change(intent: &Intent, object: &Value) -> bool {
    let by_token = matches!(intent.request.body, StoredBody::Sealed { .. });
    let untouched = object.get("modified") == intent.baseline.get("modified");
    mismatches(&intent.expect, object).is_empty() && !(by_token && untouched)
}

/// Judges a change of one object by reading it: `fits` tells whether it is as requested, `gone` is
/// the result if it no longer exists, `no_path` if the service shows no such objects.
pub(crate) fn judge_object(
    answers: &[RemoteAnswer],
    fits: impl FnOnce(&Value) -> bool,
    gone: LookupResult,
    no_path: LookupResult,
) -> LookupResult {
    match answers.first() {
        Some(RemoteAnswer::Body(object)) if fits(object) => LookupResult::Applied(object.clone()),
        Some(RemoteAnswer::Body(_)) => LookupResult::NotFound,
        Some(answer @ RemoteAnswer::Missing(_)) if answer.is_unknown_path() => no_path,
        Some(RemoteAnswer::Missing(_)) => gone,
        Some(RemoteAnswer::Items(_)) | None => LookupResult::not_asked(),
    }
}

/// Reads the events since the baseline, in ascending order; without a baseline all of them, newest
/// first.
pub(crate) fn events_since(intent: &Intent) -> RemoteQuery {
    let newest = intent.baseline.pointer("/results/0/created").and_then(Value::as_str);
    let events = Call::to::<ListEvents>(&[]);
    RemoteQuery::list(match newest {
        Some(since) => events.query("start_date", since),
        None => events,
    })
}

/// Returns the data of the events after the baseline whose type starts with `kind`.
pub(crate) fn new_event_data<'a>(
    intent: &Intent,
    events: &'a RemoteAnswer,
    kind: &str,
) -> Vec<&'a Value> {
    let known = intent.baseline.pointer("/results/0/id").and_then(Value::as_str);
    let items = events.items();
    let at = items.iter().position(|event| known.is_some() && known == Some(text(event, "id")));
    let after = items.get(at.map_or(0, |at| at.saturating_add(1))..).unwrap_or_default();
    event_data(after, kind).collect()
}

/// Returns the data of the events whose type starts with `kind`.
pub(crate) fn event_data<'a>(events: &'a [Value], kind: &str) -> impl Iterator<Item = &'a Value> {
    let events = events.iter().filter(move |event| text(event, "type").starts_with(kind));
    events.filter_map(|event| event.get("data"))
}

/// Reports a refusal with the failure code that a transaction shows.
pub(crate) fn declined(transaction: &Value, what: &str) -> LookupResult {
    let code = text(transaction, "failure_code");
    LookupResult::Refused(ServiceProblem::from_code(code, &format!("{what}: {code}")))
}

/// Reports that events are the only evidence, and do not show the effect.
pub(crate) fn not_visible(events: &RemoteAnswer, why: &str) -> LookupResult {
    let time = |event: &Value| text(event, "created").parse::<DateTime<Utc>>().ok();
    let newest = events.items().iter().filter_map(time).max();
    LookupResult::NotVisibleYet { newest, why: why.to_owned() }
}

/// Consequence of executing an effect again that was executed before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepeatRisk {
    /// The same bytes cannot double it, or it changes an existing object.
    Harmless,
    /// A lookup at the service can find it.
    Findable,
    /// No read shows it, and executing it again would double it.
    Undetectable,
}

/// Returns whether only a webhook reports the object that this effect creates: no list of the
/// service shows it (partner-api, `POST …/merchant_applications`).
pub fn is_reported_by_webhook_only(row: &EffectRow) -> bool {
    matches!(row.lost_reply, LostReply::AwaitWebhook)
}

/// Returns the consequence of executing this effect again, had it been executed before.
pub fn repeat_risk(row: &EffectRow, effect: &Effect) -> RepeatRisk {
    if effect.request.method != Method::Post {
        return RepeatRisk::Harmless;
    }
    match row.lost_reply {
        LostReply::Retry { .. } | LostReply::RetryUntilGone { .. } => RepeatRisk::Harmless,
        LostReply::Lookup(_) => RepeatRisk::Findable,
        LostReply::AwaitWebhook | LostReply::Undecidable => RepeatRisk::Undetectable,
    }
}
