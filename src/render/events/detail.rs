//! Renders one event with all that became of it.

use chrono::{DateTime, Utc};

use crate::base::wording::count_noun;
use crate::engine::protocol::event_detail::{
    EventAction, EventActionState, EventDetail, EventRun, EventRunOutcome,
};
use crate::engine::protocol::next_steps::NextStep;
use crate::model::events::event::Via;
use crate::render::events::list::{amount, freshness_word, hooks_word};
use crate::render::words::{
    Screen, clean, commands, moment, or_not_known, push_line, to_minute, to_second, wrap_text,
};
use crate::scripting::engine::function_name;

pub fn text(detail: &EventDetail, screen: Screen) -> String {
    let mut out = String::new();
    head(&mut out, detail);
    data(&mut out, detail, screen);
    deliveries(&mut out, detail, screen);
    if !detail.runs.is_empty() || !detail.replays.is_empty() {
        push_line!(out, "\n{}", screen.bold("Hook runs"));
    }
    for run in &detail.runs {
        hook_run(&mut out, run, screen);
    }
    for replay in &detail.replays {
        let script = replay.script.as_deref().map(|script| format!("{} ", clean(script)));
        let (script, actor) = (script.unwrap_or_default(), clean(&replay.actor));
        push_line!(out, "  {}  {script}replayed by {actor}", to_minute(&replay.at));
    }
    for gap in &detail.not_known {
        for line in wrap_text(&format!("Not known: {gap}."), 0, screen) {
            push_line!(out, "{line}");
        }
    }
    let next: Vec<&NextStep> = detail.next.iter().collect();
    out.push_str(&commands(&next, screen));
    out
}

fn head(out: &mut String, detail: &EventDetail) {
    let event = &detail.event;
    let now = detail.at.parse::<DateTime<Utc>>().ok();
    let mut say = |name: &str, value: String| push_line!(out, "{name:<9} {value}");
    say("event", clean(&event.id));
    say("merchant", clean(&event.merchant));
    say("type", or_not_known(event.kind.as_deref()));
    let created = event.created.as_deref().map(|created| moment(created, now));
    say("created", created.unwrap_or_else(|| "not known".to_owned()));
    say("received", moment(&event.first, now));
    say("verified", verification(detail, now));
    say("version", freshness_word(event).to_owned());
    if let Some(object) = &event.object {
        let words =
            [Some(object.id.clone()), object.status.clone(), amount(event), object.failure.clone()];
        let words: Vec<String> = words.into_iter().flatten().map(|word| clean(&word)).collect();
        say("object", words.join(" "));
    }
    if !event.about.is_empty() {
        say("about", clean(&event.about.join(", ")));
    }
    if let Some(hooks) = &event.hooks {
        say("hooks", hooks_word(hooks));
    }
}

/// Returns the way and the time in which the service itself showed the event.
pub(in crate::render) fn verification(detail: &EventDetail, now: Option<DateTime<Utc>>) -> String {
    let Some(verified) = &detail.verified else { return "no".to_owned() };
    let via = match detail.event.via {
        Some(Via::Poll) => "read in the service's list of events",
        Some(Via::ReadBack) => "read by its id, after a post named it",
        Some(Via::Post) => "posted with the mark of our application",
        None => "in a way that is not known",
    };
    let quiet = if verified.without_hooks { "; hooks were excluded" } else { "" };
    format!("{via}, {}{quiet}", moment(&verified.at, now))
}

fn data(out: &mut String, detail: &EventDetail, screen: Screen) {
    if detail.data.is_null() {
        return;
    }
    push_line!(out, "\n{} (without secret and personal values)", screen.bold("Data"));
    for line in crate::render::json(&detail.data).lines() {
        push_line!(out, "  {}", clean(line));
    }
}

fn deliveries(out: &mut String, detail: &EventDetail, screen: Screen) {
    push_line!(out, "\n{}", screen.bold("Posts"));
    for post in &detail.deliveries {
        let other = if post.other_mode { ", at the address of the other mode" } else { "" };
        push_line!(out, "  {}  record {}{other}", to_minute(&post.at), post.record);
    }
    match detail.event.posts {
        0 => push_line!(out, "  none: only the list of events contained it"),
        posts if detail.deliveries.is_empty() => {
            push_line!(out, "  {}, at times that are not known", count_noun(posts, "post"));
        }
        _ => push_line!(out, "  further posts of a known event are answered, and not recorded"),
    }
}

fn hook_run(out: &mut String, run: &EventRun, screen: Screen) {
    let (script, function) = (clean(&run.script), clean(&run.function));
    let outcome = run_outcome(run);
    let tries = if run.tries > 1 { format!(", try {}", run.tries) } else { String::new() };
    let title = format!("{script}: {function}, {outcome}{tries}");
    push_line!(out, "  {} {}  {}", day(&run.at), to_second(&run.at), screen.bold(&title));
    if let Some(message) = &run.message {
        push_line!(out, "    {}", clean(message));
    }
    for read in run.reads.iter().flatten() {
        let call = format!("{}({})", function_name(&read.read), read.arguments);
        push_line!(out, "    reads {}", clean(&call));
    }
    for line in &run.log {
        push_line!(out, "    log: {}", clean(line));
    }
    if run.log_omitted > 0 {
        push_line!(out, "    log: {} more", count_noun(run.log_omitted, "line"));
    }
    if !run.stored.is_empty() {
        push_line!(out, "    stores {}", clean(&run.stored.join(", ")));
    }
    for action in &run.actions {
        event_action(out, action);
    }
}

/// Returns the outcome of a run in words: `done (2 reads, 40 operations)`.
pub(in crate::render) fn run_outcome(run: &EventRun) -> String {
    let again = run.again.as_deref().map(|again| format!(", again at {}", to_minute(again)));
    match run.outcome {
        EventRunOutcome::Failed => format!("failed{}", again.unwrap_or_default()),
        EventRunOutcome::Done => {
            let reads = run.reads.as_ref().map(|reads| count_noun(reads.len(), "read"));
            let operations = run.operations.map(|count| count_noun(count, "operation"));
            let counts: Vec<String> = reads.into_iter().chain(operations).collect();
            format!("done ({})", counts.join(", "))
        }
    }
}

fn day(time: &str) -> String {
    clean(time.get(..10).unwrap_or_default())
}

fn event_action(out: &mut String, action: &EventAction) {
    let (verb, name) = (clean(&action.verb), clean(&action.name));
    push_line!(out, "    {verb} {name}: {}", action_state(action));
    if let Some(fields) = action.fields.as_object().filter(|fields| !fields.is_empty()) {
        let field = |(name, value): (&String, &serde_json::Value)| format!("{name}: {value}");
        let fields: Vec<String> = fields.iter().map(field).collect();
        push_line!(out, "      {}", clean(&fields.join(", ")));
    }
    for attempt in &action.attempts {
        let what = if attempt.started { "delivery started" } else { "not delivered" };
        push_line!(out, "      {} {what}", to_second(&attempt.at));
    }
    for effect in &action.effects {
        let (intent, name, state) =
            (clean(&effect.intent), clean(&effect.effect), clean(&effect.state));
        push_line!(out, "      {intent} {name}: {state} at {}", to_minute(&effect.at));
    }
}

/// Returns the state of an action, with the message of its result.
pub(in crate::render) fn action_state(action: &EventAction) -> String {
    let due = action.due.as_deref().map(|due| format!(", not before {}", to_minute(due)));
    let word = match action.state {
        EventActionState::Open => format!("not settled yet{}", due.unwrap_or_default()),
        EventActionState::Done => "done".to_owned(),
        EventActionState::Refused => "refused".to_owned(),
        EventActionState::Invalid => "invalid".to_owned(),
        EventActionState::Unknown => "outcome unknown".to_owned(),
        EventActionState::Skipped => "skipped".to_owned(),
        EventActionState::NotKnown => "its result is not known here".to_owned(),
    };
    let settled = action.settled.as_deref().map(|at| format!(" at {}", to_minute(at)));
    let message = action.message.as_deref().filter(|message| !message.is_empty());
    let message = message.map(|message| format!(": {}", clean(message)));
    format!("{word}{}{}", settled.unwrap_or_default(), message.unwrap_or_default())
}
