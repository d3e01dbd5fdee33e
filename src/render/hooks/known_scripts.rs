//! Renders the scripts that the state knows, and growing data against its quotas, for people.

use crate::base::wording::{count_noun, count_verb};
use crate::engine::protocol::hooks::{QuotasView, ScriptView};
use crate::model::events::hook_run::FAILED_MAX;
use crate::model::events::scripts::{BYTES_MAX, KEYS_MAX};
use crate::render::words::{clean, push_line};

/// Renders all scripts, one line each; an absent or stopped one also with the way out.
pub fn script_lines(known: &[ScriptView]) -> String {
    let mut out = String::new();
    for one in known {
        if !attention_lines(&mut out, one) {
            let (name, waiting, kept) = (clean(&one.script), waiting_events(one), stored_size(one));
            push_line!(out, "{name}  in use since {}, {waiting}; {kept}", one.since);
        }
    }
    if out.is_empty() {
        push_line!(out, "There are no scripts.");
    }
    out
}

/// Returns true if a script needs a person: its file is missing, or too many of its runs failed.
pub fn needs_attention(known: &[ScriptView]) -> bool {
    known.iter().any(|one| one.absent.is_some() || one.stopped > 0)
}

/// Renders only the absent and stopped scripts.
pub fn needing_attention(out: &mut String, known: &[ScriptView]) {
    for one in known {
        attention_lines(out, one);
    }
}

/// Renders an absent or stopped script; returns false for any other.
fn attention_lines(out: &mut String, one: &ScriptView) -> bool {
    match &one.absent {
        Some(absent) => absent_lines(out, one, absent),
        None if one.stopped > 0 => stopped_lines(out, one),
        None => return false,
    }
    true
}

fn stopped_lines(out: &mut String, one: &ScriptView) {
    let name = clean(&one.script);
    let merchants = count_noun(usize::try_from(one.stopped).unwrap_or(usize::MAX), "merchant");
    let (waiting, kept) = (waiting_events(one), stored_size(one));
    push_line!(out, "{name}  STOPPED for {merchants}: {FAILED_MAX} runs failed, {waiting}; {kept}");
    push_line!(
        out,
        "    correct it and run `reckon events replay --script {name}`, or drop the failed \
            runs: `reckon events failed --ack-script {name}`"
    );
}

fn absent_lines(out: &mut String, one: &ScriptView, absent: &str) {
    let name = clean(&one.script);
    push_line!(out, "{name}  ABSENT since {absent}, {}; {}", waiting_events(one), stored_size(one));
    push_line!(out, "    put its file back, or run `reckon hooks forget {name}`");
}

fn waiting_events(one: &ScriptView) -> String {
    count_verb(one.waiting, "event waits", "events wait")
}

fn stored_size(one: &ScriptView) -> String {
    let (keys, bytes) = (one.kept_keys, one.kept_bytes);
    format!("keeps {keys} of {KEYS_MAX} keys, {bytes} of {BYTES_MAX} bytes")
}

/// Renders the data that is lost with a forgotten script.
pub fn forget_request(script: &ScriptView) -> String {
    let name = clean(&script.script);
    let (waiting, keys) = (waiting_events(script), count_noun(script.kept_keys, "kept key"));
    format!(
        "`{name}` is absent: {waiting} for it. Forgetting it drops its position in the events and \
        {keys}; a later script of this name is a new one."
    )
}

/// Renders one line for the stored values of scripts, and one for the events of each merchant.
pub fn quota_lines(quotas: &QuotasView) -> String {
    let QuotasView { kept, kept_max, .. } = quotas;
    let mut out = String::new();
    push_line!(
        out,
        "All scripts together keep {} of {} keys, {} of {} bytes.",
        kept.keys,
        kept_max.keys,
        kept.bytes,
        kept_max.bytes
    );
    for one in &quotas.merchants {
        let (held, dropped) = (one.held, one.dropped);
        let (waiting, failed) = (one.waiting, one.failed);
        let horizon = one.horizon.as_ref();
        let horizon = horizon.map(|at| format!("; settled ones up to {at} are dropped"));
        push_line!(
            out,
            "{}: events held {held}, dropped {dropped}; actions waiting {waiting}; hooks failed {failed}{}",
            clean(&one.merchant),
            horizon.unwrap_or_default()
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::protocol::hooks::MerchantQuota;
    use crate::model::events::scripts::ScriptValuesSize;

    /// Closes K11: a script that was stopped after too many failed runs is shown with both ways
    /// out, in `hooks list` and in `events failed`. A running script is only in the list.
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
        needing_attention(&mut dead, &known);
        insta::assert_snapshot!(dead, @"
        fails  STOPPED for 1 merchant: 500 runs failed, 1 event waits; keeps 0 of 10000 keys, 0 of 8388608 bytes
            correct it and run `reckon events replay --script fails`, or drop the failed runs: `reckon events failed --ack-script fails`
        ");
        let all = script_lines(&known);
        assert_eq!(all.split_once('\n').map(|(_, rest)| rest), Some(&*dead), "{all}");
        assert!(all.starts_with("runs  in use since "), "{all}");
        assert!(needs_attention(&known) && !needs_attention(&known[..1]));
    }

    /// Closes K11: quotas are shown with their limits.
    #[test]
    fn quotas_are_told_with_their_bounds_and_each_merchant_s_horizon() {
        let merchants = vec![MerchantQuota {
            merchant: "Merchant/acme".to_owned(),
            held: 7,
            dropped: 2,
            waiting: 1,
            failed: 3,
            horizon: Some("2026-11-22T10:00:00.000Z".to_owned()),
        }];
        let kept = ScriptValuesSize { keys: 4, bytes: 90 };
        let kept_max = ScriptValuesSize { keys: 100, bytes: 1000 };
        let quotas = QuotasView { kept, kept_max, merchants, ..QuotasView::default() };
        insta::assert_snapshot!(quota_lines(&quotas), @r"
        All scripts together keep 4 of 100 keys, 90 of 1000 bytes.
        Merchant/acme: events held 7, dropped 2; actions waiting 1; hooks failed 3; settled ones up to 2026-11-22T10:00:00.000Z are dropped
        ");
    }
}
