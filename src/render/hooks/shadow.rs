//! Renders the differences between the present scripts' actions and the real ones, event by event.

use serde::Serialize;
use serde_json::{Value, json};

use super::tried::action;
use crate::base::counted::counted;
use crate::hooks::cases::named;
use crate::hooks::shadow::Differences;
use crate::render::words::{Paint, clean, line};

/// Result of a comparison.
#[derive(Debug, Default, Serialize)]
pub struct Shadow {
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
    pub reads_of_then: usize,
    /// Reads without a recorded answer, which used the present state.
    pub reads_of_now: usize,
    /// Events with changed results.
    pub items: Vec<Item>,
}

/// One event with a changed result.
#[derive(Debug, Serialize)]
pub struct Item {
    pub event: String,
    /// Type of the event.
    #[serde(rename = "type")]
    pub kind: String,
    pub merchant: String,
    /// Time of the event.
    pub created: String,
    /// Reads of this event that used the present state.
    pub reads_of_now: usize,
    /// Actions and stored values that differ.
    #[serde(serialize_with = "differences")]
    pub differences: Differences,
    /// Scripts that fail only now, with their messages.
    pub fails: Vec<(String, String)>,
    /// Scripts that failed before and succeed now.
    pub mended: Vec<String>,
}

fn differences<S: serde::Serializer>(found: &Differences, out: S) -> Result<S::Ok, S::Error> {
    let Differences { added, gone, changed, kept } = found;
    let all = |wishes: &[_]| wishes.iter().map(named).collect::<Vec<Value>>();
    let changed: Vec<Value> = changed
        .iter()
        .map(|(one, other)| json!({"before": named(one), "after": named(other)}))
        .collect();
    let kept: Vec<Value> = kept
        .iter()
        .map(|(script, key, one, other)| json!({"script": script, "key": key, "before": one, "after": other}))
        .collect();
    json!({"added": all(added), "gone": all(gone), "changed": changed, "kept": kept}).serialize(out)
}

impl Shadow {
    /// Returns true if no result differs.
    pub fn is_same(&self) -> bool {
        self.items.is_empty()
    }
}

/// Renders for people: each changed event as a diff, then the counts.
pub fn text(shadow: &Shadow, color: bool) -> String {
    let paint = Paint { color };
    let mut out = String::new();
    for item in &shadow.items {
        one(&mut out, paint, item);
    }
    let (events, differ) = (counted(shadow.events, "event"), shadow.items.len());
    let since = &shadow.since;
    line(
        &mut out,
        &format!("{events} since {since}: {} as then, {differ} otherwise.", shadow.same),
    );
    if shadow.unreadable > 0 {
        line(
            &mut out,
            &format!("{} cannot be read any more.", counted(shadow.unreadable, "event")),
        );
    }
    if shadow.reads_of_now > 0 {
        let (now, then) = (shadow.reads_of_now, shadow.reads_of_then);
        let text = format!(
            "{} answered by what is known now, {then} as then: what rests on those may differ by itself.",
            counted(now, "read")
        );
        line(&mut out, &text);
    }
    out
}

fn one(out: &mut String, paint: Paint, item: &Item) {
    let Item { event, kind, merchant, created, .. } = item;
    line(out, &paint.bold(&clean(&format!("{created} {kind} {event} {merchant}"))));
    let Differences { added, gone, changed, kept } = &item.differences;
    for wish in gone {
        line(out, &format!("  - {}", action(wish)));
    }
    for (before, after) in changed {
        line(out, &format!("  - {}", action(before)));
        line(out, &format!("  + {}", action(after)));
    }
    for wish in added {
        line(out, &format!("  + {}", action(wish)));
    }
    let value =
        |value: &Option<Value>| value.as_ref().map_or("nothing".to_owned(), Value::to_string);
    for (script, key, before, after) in kept {
        let text = format!("  ~ {script} keeps {key}: {} → {}", value(before), value(after));
        line(out, &clean(&text));
    }
    for (script, why) in &item.fails {
        line(out, &clean(&format!("  ! {script} fails now: {why}")));
    }
    for script in &item.mended {
        line(out, &clean(&format!("  ! {script} failed then, and ends well now")));
    }
    if item.reads_of_now > 0 {
        line(out, &format!("    ({} of now)", counted(item.reads_of_now, "read")));
    }
}
