//! Renders the differences between the present scripts' actions and the real ones, event by event.

use serde::Serialize;
use serde_json::{Value, json};

use super::tried::action_line;
use crate::base::wording::count_noun;
use crate::render::words::{Paint, clean, push_line};
use crate::scripting::tools::comparison::RunDifferences;
use crate::scripting::tools::testcases::render_named_action;

/// Result of a comparison.
#[derive(Debug, Default, Serialize)]
pub struct HooksDiff {
    /// Version of this form.
    pub version: u8,
    /// Start of the compared events.
    pub since: String,
    /// Compared events.
    pub events: usize,
    /// Events with unchanged results.
    pub same: usize,
    /// Events whose body was erased.
    pub unreadable: usize,
    /// Reads with a recorded answer.
    #[serde(rename = "reads_of_then")]
    pub recorded_reads: usize,
    /// Reads without a recorded answer, which used the present state.
    #[serde(rename = "reads_of_now")]
    pub present_reads: usize,
    /// Events with changed results.
    pub items: Vec<EventDiff>,
}

/// One event with a changed result.
#[derive(Debug, Serialize)]
pub struct EventDiff {
    pub event: String,
    /// Type of the event.
    #[serde(rename = "type")]
    pub kind: String,
    pub merchant: String,
    /// Time of the event.
    pub created: String,
    /// Reads of this event that used the present state.
    #[serde(rename = "reads_of_now")]
    pub present_reads: usize,
    /// Actions and stored values that differ.
    #[serde(serialize_with = "differences")]
    pub differences: RunDifferences,
    /// Scripts that fail only now, with their messages.
    pub fails: Vec<(String, String)>,
    /// Scripts that failed before and succeed now.
    #[serde(rename = "mended")]
    pub fixed: Vec<String>,
}

fn differences<S: serde::Serializer>(found: &RunDifferences, out: S) -> Result<S::Ok, S::Error> {
    let RunDifferences { added, removed: gone, changed, kept } = found;
    let all = |wishes: &[_]| wishes.iter().map(render_named_action).collect::<Vec<Value>>();
    let changed: Vec<Value> = changed
        .iter()
        .map(|(one, other)| json!({"before": render_named_action(one), "after": render_named_action(other)}))
        .collect();
    let kept: Vec<Value> = kept
        .iter()
        .map(|(script, key, one, other)| json!({"script": script, "key": key, "before": one, "after": other}))
        .collect();
    json!({"added": all(added), "gone": all(gone), "changed": changed, "kept": kept}).serialize(out)
}

impl HooksDiff {
    /// Returns true if no result differs.
    pub fn is_unchanged(&self) -> bool {
        self.items.is_empty()
    }
}

/// Renders for people: each changed event as a diff, then the counts.
pub fn text(shadow: &HooksDiff, color: bool) -> String {
    let paint = Paint { color };
    let mut out = String::new();
    for item in &shadow.items {
        event_diff(&mut out, paint, item);
    }
    let (events, differ) = (count_noun(shadow.events, "event"), shadow.items.len());
    let since = &shadow.since;
    push_line(
        &mut out,
        &format!("{events} since {since}: {} the same, {differ} different.", shadow.same),
    );
    if shadow.unreadable > 0 {
        push_line(
            &mut out,
            &format!("{} can no longer be read.", count_noun(shadow.unreadable, "event")),
        );
    }
    if shadow.present_reads > 0 {
        let (now, then) = (shadow.present_reads, shadow.recorded_reads);
        let text = format!(
            "{} answered from the present state, {then} as recorded: the former can cause \
            differences.",
            count_noun(now, "read")
        );
        push_line(&mut out, &text);
    }
    out
}

fn event_diff(out: &mut String, paint: Paint, item: &EventDiff) {
    let EventDiff { event, kind, merchant, created, .. } = item;
    push_line(out, &paint.bold(&clean(&format!("{created} {kind} {event} {merchant}"))));
    let RunDifferences { added, removed: gone, changed, kept } = &item.differences;
    for wish in gone {
        push_line(out, &format!("  - {}", action_line(wish)));
    }
    for (before, after) in changed {
        push_line(out, &format!("  - {}", action_line(before)));
        push_line(out, &format!("  + {}", action_line(after)));
    }
    for wish in added {
        push_line(out, &format!("  + {}", action_line(wish)));
    }
    let value =
        |value: &Option<Value>| value.as_ref().map_or("nothing".to_owned(), Value::to_string);
    for (script, key, before, after) in kept {
        let text = format!("  ~ {script} keeps {key}: {} → {}", value(before), value(after));
        push_line(out, &clean(&text));
    }
    for (script, why) in &item.fails {
        push_line(out, &clean(&format!("  ! {script} fails now: {why}")));
    }
    for script in &item.fixed {
        push_line(out, &clean(&format!("  ! {script} failed then, and succeeds now")));
    }
    if item.present_reads > 0 {
        push_line(
            out,
            &format!("    ({} from the present state)", count_noun(item.present_reads, "read")),
        );
    }
}
