//! Renders the scripts that the state knows, for people.

use crate::base::counted::{counted, verbed};
use crate::engine::ScriptView;
use crate::model::kept::{BYTES_MAX, KEYS_MAX};
use crate::model::ran::FAILED_MAX;
use crate::render::words::{clean, line};

/// Renders all scripts, one line each; an absent or stopped one also with the way out.
pub fn text(known: &[ScriptView]) -> String {
    let mut out = String::new();
    for one in known {
        let (name, waiting) = (clean(&one.script), waiting(one));
        let kept = kept(one);
        match &one.absent {
            None if one.stopped > 0 => stop(&mut out, one),
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

/// Returns true if a script needs a person: its file is missing, or too many of its runs failed.
pub fn needs_attention(known: &[ScriptView]) -> bool {
    known.iter().any(|one| one.absent.is_some() || one.stopped > 0)
}

/// Renders only the absent and stopped scripts.
pub fn waited_for(out: &mut String, known: &[ScriptView]) {
    for one in known {
        match &one.absent {
            Some(absent) => absence(out, one, absent),
            None if one.stopped > 0 => stop(out, one),
            None => {}
        }
    }
}

fn stop(out: &mut String, one: &ScriptView) {
    let name = clean(&one.script);
    let merchants = counted(usize::try_from(one.stopped).unwrap_or(usize::MAX), "merchant");
    let (waiting, kept) = (waiting(one), kept(one));
    line(
        out,
        &format!("{name}  STOPPED for {merchants}: {FAILED_MAX} runs failed, {waiting}; {kept}"),
    );
    line(
        out,
        &format!(
            "    correct it, then run `reckon events replay --script {name}`; what is not needed any more, `reckon events dead --forget-script {name}` drops"
        ),
    );
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

/// Renders the data that is lost with a forgotten script.
pub fn forgetting(script: &ScriptView) -> String {
    let name = clean(&script.script);
    let (waiting, keys) = (waiting(script), counted(script.kept_keys, "kept key"));
    format!(
        "`{name}` is absent: {waiting} for it. To forget it drops its place in the events and {keys}; a script of \
         this name that comes later is a new one."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Closes K11: a script that was stopped after too many failed runs is shown with both ways
    /// out, in `hooks list` and in `events dead`. A running script is only in the list.
    #[test]
    fn k11_a_stopped_script_is_shown_with_its_ways_out() {
        let script = |name: &str, stopped: u64| ScriptView {
            script: name.to_owned(),
            since: "2026-11-22T10:00:00.000Z".to_owned(),
            absent: None,
            stopped,
            waiting: stopped,
            kept_keys: 0,
            kept_bytes: 0,
        };
        let known = [script("runs", 0), script("fails", 1)];
        let mut dead = String::new();
        waited_for(&mut dead, &known);
        insta::assert_snapshot!(dead, @"
        fails  STOPPED for 1 merchant: 500 runs failed, 1 event waits; keeps 0 of 10000 keys, 0 of 8388608 bytes
            correct it, then run `reckon events replay --script fails`; what is not needed any more, `reckon events dead --forget-script fails` drops
        ");
        let all = text(&known);
        assert_eq!(all.split_once('\n').map(|(_, rest)| rest), Some(&*dead), "{all}");
        assert!(all.starts_with("runs  in use since "), "{all}");
        assert!(needs_attention(&known) && !needs_attention(&known[..1]));
    }
}
