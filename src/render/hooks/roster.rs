//! The scripts that the state knows, for people.

use crate::base::counted::{counted, verbed};
use crate::engine::ScriptView;
use crate::model::kept::{BYTES_MAX, KEYS_MAX};
use crate::render::words::{clean, line};

/// All of them, a line each; below an absent one the way out.
pub fn text(known: &[ScriptView]) -> String {
    let mut out = String::new();
    for one in known {
        let (name, waiting) = (clean(&one.script), waiting(one));
        let kept = kept(one);
        match &one.absent {
            None => {
                line(&mut out, &format!("{name}  in use since {}, {waiting}; {kept}", one.since));
            }
            Some(absent) => absence(&mut out, one, absent),
        }
    }
    if out.is_empty() {
        line(&mut out, "No script is known.");
    }
    out
}

/// The absent ones alone.
pub fn absent(out: &mut String, known: &[ScriptView]) {
    for one in known {
        if let Some(absent) = &one.absent {
            absence(out, one, absent);
        }
    }
}

fn absence(out: &mut String, one: &ScriptView, absent: &str) {
    let name = clean(&one.script);
    line(out, &format!("{name}  ABSENT since {absent}, {}; {}", waiting(one), kept(one)));
    line(out, &format!("    put its file back, or run `reckon hooks forget {name}`"));
}

fn waiting(one: &ScriptView) -> String {
    verbed(one.waiting, "event waits", "events wait")
}

fn kept(one: &ScriptView) -> String {
    let (keys, bytes) = (one.kept_keys, one.kept_bytes);
    format!("keeps {keys} of {KEYS_MAX} keys, {bytes} of {BYTES_MAX} bytes")
}

/// What is lost with a script that is let go.
pub fn forgetting(script: &ScriptView) -> String {
    let name = clean(&script.script);
    let (waiting, keys) = (waiting(script), counted(script.kept_keys, "kept key"));
    format!(
        "`{name}` is absent: {waiting} for it. To forget it drops its place in the events and {keys}; a script of \
         this name that comes later is a new one."
    )
}
