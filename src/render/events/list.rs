//! Renders lists of the gateway's events: a table for people, and lines that follow one another.

use chrono::{DateTime, Utc};

use crate::base::money::{Currency, Money};
use crate::base::wording::count_noun;
use crate::engine::protocol::event_filter::EventState;
use crate::engine::protocol::events::{EventHooks, EventView};
use crate::model::remote_object::Freshness;
use crate::render::table::{Column, Line, push_table};
use crate::render::words::{Screen, age, clean, push_line, to_minute};

const COLUMNS: [Column; 9] = [
    Column::new("AGE").right(),
    Column::new("TYPE").elastic_start(),
    Column::new("RESOURCE").elastic_start(),
    Column::new("AMOUNT").right(),
    Column::new("CODE").dispensable(),
    Column::new("HOOKS").dispensable(),
    Column::new("EVENT"),
    Column::new("VERSION").dispensable(),
    Column::new("CREATED").dispensable(),
];

/// Appends a table of events; ages are relative to `now`.
pub(super) fn push_events(
    out: &mut String,
    screen: Screen,
    items: &[EventView],
    now: Option<DateTime<Utc>>,
) {
    let line = |item: &EventView| {
        let created = created_time(item);
        let age = now.zip(created).map(|(now, created)| age(now, created));
        let [kind, resource, amount, code, hooks] = cells(item);
        let minute = item.created.as_deref().map(to_minute).unwrap_or_default();
        let version = freshness_word(item).to_owned();
        let age = age.unwrap_or_else(|| "-".to_owned());
        Line::from(vec![age, kind, resource, amount, code, hooks, clean(&item.id), version, minute])
    };
    push_table(out, screen, &COLUMNS, items.iter().map(line).collect());
}

/// Renders events one below the other, the newest last.
pub fn event_lines(items: &[EventView], screen: Screen) -> String {
    let mut out = String::new();
    for item in items.iter().rev() {
        let created = item.created.as_deref().map(clean).unwrap_or_default();
        let line = format!("{created}  {}  {}", cells(item).join("  "), clean(&item.id));
        push_line!(out, "{}  {}", screen.dim(&line), clean(&item.merchant));
    }
    out
}

fn created_time(item: &EventView) -> Option<DateTime<Utc>> {
    item.created.as_deref()?.parse().ok()
}

/// Returns type, resource, amount, failure code and the state of the hooks; `-` for none.
fn cells(item: &EventView) -> [String; 5] {
    let object = item.object.as_ref();
    let code = object.and_then(|object| object.failure.as_deref());
    [
        item.kind.as_deref().map(clean),
        about(item),
        amount(item),
        code.map(clean),
        item.hooks.as_ref().map(hooks_word),
    ]
    .map(|cell| cell.unwrap_or_else(|| "-".to_owned()))
}

/// Returns the first document that an event concerns, and the number of the others.
fn about(item: &EventView) -> Option<String> {
    let is_document = |name: &&String| !name.starts_with("Action/");
    let first = item.about.iter().find(is_document).or_else(|| item.about.first())?;
    let others = item.about.len().saturating_sub(1);
    let more = if others > 0 { format!(" +{others}") } else { String::new() };
    Some(format!("{}{more}", clean(first)))
}

/// Returns the amount of the event's object, where its currency is known.
pub(in crate::render) fn amount(item: &EventView) -> Option<String> {
    let object = item.object.as_ref()?;
    let currency = object.currency.as_deref()?.parse::<Currency>().ok()?;
    Some(Money::new(object.amount?, currency).to_string())
}

/// Returns the state of an event's hooks, with their scripts or the number of their actions.
pub(in crate::render) fn hooks_word(hooks: &EventHooks) -> String {
    let actions = |count: usize| count_noun(count, "action");
    match hooks.state {
        EventState::Failed => format!("failed ({})", clean(&hooks.failed.join(", "))),
        EventState::Retrying => format!("retrying ({})", clean(&hooks.failed.join(", "))),
        EventState::NotDone => format!("{} not done", actions(hooks.not_done)),
        EventState::Acting => format!("{} open", actions(hooks.acting)),
        EventState::ToRun => "to run".to_owned(),
        EventState::Done => format!("{} done", actions(hooks.done)),
        EventState::NoAction => "no action".to_owned(),
        EventState::NotVerified => "not verified".to_owned(),
        EventState::Forged => "forged".to_owned(),
    }
}

/// Returns the word for the event's version of its object, or for its verification.
pub(in crate::render) fn freshness_word(item: &EventView) -> &'static str {
    match (item.freshness, item.status.as_str()) {
        (Some(Freshness::Newer), _) => "new",
        (Some(Freshness::Same), _) => "duplicate",
        (Some(Freshness::Older), _) => "older",
        (Some(Freshness::Undecided), _) => "undecided",
        (None, "forged") => "forged",
        (None, "other_mode") => "other mode",
        (None, _) => "not verified",
    }
}
