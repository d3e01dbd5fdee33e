//! Renders the gateway's events, and the state of their receivers.

pub mod detail;
pub mod list;
pub mod replay;

use crate::base::wording::count_noun;
use crate::engine::protocol::events::{
    EventView, EventsView, IgnoredView, ReceiverView, ResyncedEvents,
};
use crate::engine::protocol::hooks::{
    ActionView, FailedActionView, FailedRunView, HooksView, RequestedRunView,
};
use crate::model::events::hook_run::ActionOutcome;
use crate::render::words::{Screen, clean, push_line};

pub fn text(view: &EventsView, is_filtered: bool, screen: Screen) -> String {
    let mut out = String::new();
    if view.items.is_empty() {
        let all = "No event of the gateway is known yet.";
        push_line!(out, "{}", if is_filtered { "No verified event fits." } else { all });
    } else {
        let now = view.at.as_deref().and_then(|at| at.parse().ok());
        list::push_events(&mut out, screen, &view.items, now);
    }
    if let Some(searched) = view.searched {
        let events = count_noun(searched, "event");
        push_line!(
            out,
            "The search ended after the newest {events}; name a --merchant to search further back."
        );
    }
    let title = |text: &str| format!("\n{}", screen.bold(text));
    titled(&mut out, &title("Posted, not yet verified:"), &view.waiting, post_row);
    titled(&mut out, &title("Forged (the service has no such event):"), &view.forged, post_row);
    titled(&mut out, &title("Ignored partner webhooks:"), &view.ignored, ignored_webhook);
    if !view.receivers.is_empty() {
        push_line!(out, "");
    }
    for receiver in &view.receivers {
        push_line!(out, "{}", receiver_line(receiver));
    }
    if let Some(away) = &view.away {
        push_line!(out, "While this daemon did not run, {}.", clean(away));
    }
    out
}

/// Renders a title, and its items below; nothing if there are none.
fn titled<T>(out: &mut String, title: &str, items: &[T], render: impl Fn(&mut String, &T)) {
    if !items.is_empty() {
        push_line!(out, "{title}");
    }
    for item in items {
        render(out, item);
    }
}

fn ignored_webhook(out: &mut String, one: &IgnoredView) {
    let (reference, reason) = (clean(&one.reference), clean(&one.reason));
    push_line!(out, "  {reference}  {}: {reason}", one.at);
}

pub fn resync_result(read: &[ResyncedEvents], since: &str) -> String {
    let mut out = String::new();
    for one in read {
        let name = clean(&one.merchant);
        if let Some(why) = &one.waits {
            push_line!(out, "{name}: {}", clean(why));
            continue;
        }
        let oldest = one.oldest.as_ref().map(|oldest| format!(", the oldest of {oldest}"));
        let (all, oldest) = (count_noun(one.read, "event"), oldest.unwrap_or_default());
        push_line!(out, "{name}: {all} since {since}{oldest}; {} of them new", one.new);
        if let Some(horizon) = &one.horizon {
            push_line!(
                out,
                "  events up to {horizon} are older than `events.keep` and do not count as new"
            );
        }
        if let Some(why) = &one.trouble {
            push_line!(out, "  read only in part: {}", clean(why));
        }
    }
    if read.is_empty() {
        push_line!(out, "No merchant has events to read.");
    }
    out
}

pub fn failed_runs(view: &HooksView) -> String {
    let mut out = String::new();
    if view.problems > 0 {
        push_line!(
            out,
            "The scripts in the folder have errors (`reckon hooks check`); the last valid ones \
            are in use."
        );
    }
    crate::render::hooks::needing_attention(&mut out, &view.known);
    let title = "Failed; `reckon events replay ID` runs them again:";
    titled(&mut out, title, &view.dead, failed_run);
    hidden_count(&mut out, view.dead.len(), view.totals.dead);
    titled(&mut out, "Failed, will be retried:", &view.failed, failed_run);
    hidden_count(&mut out, view.failed.len(), view.totals.failed);
    titled(&mut out, "Requested by a person, not run yet:", &view.requested, requested_run);
    hidden_count(&mut out, view.requested.len(), view.totals.requested);
    let title =
        "Requested by a hook, not done; acknowledge with `reckon events failed --ack EVENT`:";
    titled(&mut out, title, &view.undone, failed_action);
    titled(&mut out, "Requested by a hook, not done yet:", &view.waiting, waiting_action);
    hidden_count(&mut out, view.waiting.len(), view.totals.waiting);
    if out.is_empty() {
        push_line!(out, "No hook failed, and no action waits.");
    }
    out
}

/// Renders the number of entries that a list omits.
fn hidden_count(out: &mut String, shown: usize, total: u64) {
    let hidden = usize::try_from(total).unwrap_or(usize::MAX).saturating_sub(shown);
    if hidden > 0 {
        push_line!(out, "  and {hidden} more");
    }
}

fn failed_run(out: &mut String, one: &FailedRunView) {
    let again = one.again.as_ref().map(|again| format!("; again at {again}"));
    let (script, event, why) = (clean(&one.script), clean(&one.event), clean(&one.message));
    let tries = count_noun(one.tries, "time");
    push_line!(out, "  {script}, event {event}: {why} ({tries}{})", again.unwrap_or_default());
}

fn requested_run(out: &mut String, one: &RequestedRunView) {
    let (script, event, actor) = (clean(&one.script), clean(&one.event), clean(&one.actor));
    push_line!(out, "  {script}, event {event}: requested by {actor} at {}", one.at);
}

fn waiting_action(out: &mut String, wish: &ActionView) {
    let until = wish.at.as_ref().map(|at| format!(", not before {at}"));
    let (verb, name) = (clean(&wish.verb), clean(&wish.name));
    let (script, event) = (clean(&wish.script), clean(&wish.event));
    push_line!(out, "  {verb} {name} of {script}, event {event}{}", until.unwrap_or_default());
    if let Some(held) = &wish.on_hold {
        push_line!(out, "    needs attention: {}", clean(held));
    }
    if let Some(waits) = &wish.waits {
        push_line!(out, "    must be looked for first: {}", clean(waits));
    }
}

/// Renders an action that ended undone, with the next step for a person.
fn failed_action(out: &mut String, one: &FailedActionView) {
    let (verb, name, script) = (clean(&one.verb), clean(&one.name), clean(&one.script));
    let (event, why) = (clean(&one.event), clean(&one.message));
    let fate = match one.fate {
        ActionOutcome::Done => "done",
        ActionOutcome::Skipped => "skipped",
        ActionOutcome::Refused => "refused",
        ActionOutcome::Invalid => "invalid",
        ActionOutcome::Unknown => "unknown",
    };
    push_line!(out, "  {verb} {name} of {script}, event {event}: {fate}: {why}");
    push_line!(out, "    {}", one.help);
}

fn post_count(posts: u32) -> String {
    match posts {
        0 => "in the list of events".to_owned(),
        posts => format!("posted {}", count_noun(posts, "time")),
    }
}

fn post_row(out: &mut String, post: &EventView) {
    let (id, merchant) = (clean(&post.id), clean(&post.merchant));
    push_line!(out, "  {id}  {merchant}, {} ({})", post.first, post_count(post.posts));
}

fn receiver_line(receiver: &ReceiverView) -> String {
    let ledger = &receiver.ledger;
    let name = clean(&receiver.merchant);
    let Some(lag) = receiver.lag_seconds else {
        return format!("{name}: its events were not read yet.");
    };
    let newest =
        receiver.age_seconds.map_or_else(String::new, |age| format!(", the newest {age} s old"));
    let events = count_noun(ledger.verified, "event");
    let mut line = format!("{name}: {events}{newest}; the list was read {lag} s ago");
    for (number, what) in [
        (ledger.missed, "found only in the list"),
        (ledger.stale, "older than the known version"),
        (ledger.waiting, "posted and not verified"),
        (ledger.forged, "forged"),
        (ledger.malformed, "malformed"),
    ] {
        if number > 0 {
            line = format!("{line}; {number} {what}");
        }
    }
    format!("{line}.")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::engine::protocol::event_detail::{EventDelivery, EventDetail, EventVerification};
    use crate::engine::protocol::event_filter::EventState;
    use crate::engine::protocol::events::EventHooks;
    use crate::engine::protocol::next_steps::NextStep;
    use crate::model::events::event::EventLedger;
    use crate::model::remote_object::Freshness;

    fn event(id: &str, standing: Option<Freshness>, stands: &str) -> EventView {
        EventView {
            merchant: "merchant/acme".to_owned(),
            id: id.to_owned(),
            kind: standing.map(|_| "transaction.authorized".to_owned()),
            created: standing.map(|_| "2026-11-22T10:00:00.000Z".to_owned()),
            status: stands.to_owned(),
            freshness: standing,
            via: None,
            posts: 2,
            first: "2026-11-22T10:00:01.000Z".to_owned(),
            about: vec!["recurringcharge/rent".to_owned()],
            object: None,
            hooks: standing.map(|_| EventHooks {
                state: EventState::NotDone,
                acting: 0,
                done: 2,
                not_done: 1,
                failed: Vec::new(),
            }),
        }
    }

    fn detail() -> EventDetail {
        let data = json!({"id": "t1", "status": "FAILED", "reference": "a\u{1b}[31m"});
        let action = json!({"name": "stop", "verb": "suspend", "fields": {"key": "Contact/default/jane"}, "due": null,
            "state": "refused", "message": "not allowed", "settled": "2026-11-22T10:00:05.000Z", "key": "Action/hook-1",
            "effects": [{"intent": "i-000012", "effect": "charge.create", "state": "refused",
                "at": "2026-11-22T10:00:05.000Z"}],
            "attempts": [{"at": "2026-11-22T10:00:03.000Z", "started": true}]});
        let run = |tries: u32, outcome: &str, more: Value| {
            let mut run = json!({"at": "2026-11-22T10:00:02.000Z", "record": 9, "script": "answers",
                "function": "on_event", "outcome": outcome, "tries": tries, "message": null, "again": null,
                "log": ["seen"], "log_omitted": 3, "reads": null, "operations": null, "stored": [], "actions": []});
            let Value::Object(more) = more else { panic!() };
            run.as_object_mut().unwrap().extend(more);
            run
        };
        let failed = run(
            1,
            "failed",
            json!({"message": "no such field (line 3)", "again": "2026-11-22T10:00:32.000Z"}),
        );
        let reads = json!([{"read": "transaction", "arguments": "\"t1\""}]);
        let done = run(
            2,
            "done",
            json!({"reads": reads, "operations": 40, "stored": ["count"], "actions": [action]}),
        );
        EventDetail {
            event: event("evt_1", Some(Freshness::Older), "told"),
            at: "2026-11-22T13:30:00.000Z".to_owned(),
            data,
            verified: Some(EventVerification {
                at: "2026-11-22T10:00:01.000Z".to_owned(),
                without_hooks: false,
            }),
            deliveries: vec![EventDelivery {
                at: "2026-11-22T10:00:00.000Z".to_owned(),
                record: 7,
                other_mode: false,
            }],
            runs: serde_json::from_value(json!([failed, done])).unwrap(),
            replays: Vec::new(),
            not_known: vec!["the times of some posts are not known".to_owned()],
            next: vec![NextStep::new("acknowledge the action", "reckon events failed --ack evt_1")],
        }
    }

    #[test]
    fn events_are_told_with_what_they_are_worth() {
        let ledger = EventLedger { verified: 2, forged: 1, stale: 1, ..EventLedger::default() };
        let view = EventsView {
            at: Some("2026-11-22T13:30:00.000Z".to_owned()),
            searched: Some(5000),
            receivers: vec![ReceiverView {
                merchant: "merchant/acme".to_owned(),
                age_seconds: Some(9),
                lag_seconds: Some(4),
                ledger,
            }],
            away: None,
            items: vec![
                event("evt_2", Some(Freshness::Newer), "told"),
                event("evt_1", Some(Freshness::Older), "told"),
            ],
            waiting: Vec::new(),
            forged: vec![event("evt_x", None, "forged")],
            ignored: Vec::new(),
        };
        insta::assert_snapshot!(text(&view, false, Screen::PLAIN));
        insta::assert_snapshot!(detail::text(&detail(), Screen::PLAIN));
    }

    #[test]
    fn requested_runs_are_listed_apart_from_failed_ones() {
        let run = RequestedRunView {
            merchant: "merchant/acme".to_owned(),
            event: "evt_1".to_owned(),
            script: "answers".to_owned(),
            actor: "ann".to_owned(),
            at: "2026-11-22T10:00:00.000Z".to_owned(),
        };
        let mut view = HooksView { requested: vec![run], ..HooksView::default() };
        view.totals.requested = 3;
        let expect = "Requested by a person, not run yet:\n  answers, event evt_1: requested by ann at \
            2026-11-22T10:00:00.000Z\n  and 2 more\n";
        assert_eq!(failed_runs(&view), expect);
    }
}
