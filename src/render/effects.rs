//! Renders effects as they happen, and their closing table with the sums.

use std::collections::BTreeMap;

use crate::engine::protocol::actions::{EffectReport, EffectVerb};
use crate::engine::protocol::views::MoneyView;
use crate::engine::queries::scoped::sum_money;
use crate::render::log::{LinePart, join_parts, verb_style};
use crate::render::table::{Column, Line, push_table};
use crate::render::words::{
    Screen, clean, file_place, money_text, push_line, resource_key, to_second,
};

/// Renders one effect, as the daemon's log does: time, verb, resource, money, id and place.
pub fn effect_line(happened: &EffectReport, screen: Screen) -> String {
    let EffectReport { at, verb, remote_id, refusal, money: moves, cause, .. } = happened;
    let key = &happened.key;
    let name = resource_key(key.kind.as_str(), key.namespace.as_str(), key.name.as_str());
    let prepared =
        (*verb == EffectVerb::Prepared).then(|| format!("({})", clean(&happened.effect)));
    let moves: Vec<String> = moves.iter().map(money_text).collect();
    let refusal = refusal.as_ref().map(|why| format!("({})", clean(why)));
    let actor = cause.actor.as_ref().map(|actor| format!("by {}", clean(actor)));
    let parts = [
        LinePart::word(verb.word(), verb_style(verb.word())),
        LinePart::plain(name),
        LinePart::plain(prepared.unwrap_or_default()),
        LinePart::plain(moves.join(", ")),
        LinePart::plain(refusal.unwrap_or_default()),
        LinePart::plain(remote_id.as_deref().map(clean).unwrap_or_default()),
        LinePart::plain(actor.unwrap_or_default()),
        LinePart::dim(file_place(cause.file.as_deref(), cause.line).unwrap_or_default()),
    ];
    format!("{}  {}", to_second(at), join_parts(&parts, screen))
}

/// Renders the closing table, a row for each kind and a column for each outcome, and the summary; the
/// summary alone for a few effects.
pub fn applied(done: &[EffectReport], screen: Screen) -> String {
    let mut out = String::new();
    let mut kinds: BTreeMap<&str, BTreeMap<EffectVerb, usize>> = BTreeMap::new();
    let outcomes = last_outcomes(done);
    for one in &outcomes {
        let count = kinds.entry(one.key.kind.as_str()).or_default().entry(one.verb).or_default();
        *count = count.saturating_add(1);
    }
    if outcomes.len() > FEW {
        out.push('\n');
        push_kinds(&mut out, &kinds, screen);
        out.push('\n');
    }
    push_line!(out, "{}", screen.bold(&applied_summary(done)));
    out
}

/// Effects that need no table.
const FEW: usize = 5;

fn title(verb: EffectVerb) -> &'static str {
    match verb {
        EffectVerb::Created => "CREATED",
        EffectVerb::Changed => "CHANGED",
        EffectVerb::Removed => "REMOVED",
        EffectVerb::Prepared => "PREPARED",
        EffectVerb::Refused => "REFUSED",
        EffectVerb::InDoubt => "IN DOUBT",
        EffectVerb::OnHold => "ON HOLD",
        EffectVerb::NotSent => "NOT SENT",
        EffectVerb::GivenUp => "GIVEN UP",
    }
}

fn push_kinds(
    out: &mut String,
    kinds: &BTreeMap<&str, BTreeMap<EffectVerb, usize>>,
    screen: Screen,
) {
    let verbs: BTreeMap<EffectVerb, &'static str> =
        kinds.values().flat_map(BTreeMap::keys).map(|verb| (*verb, title(*verb))).collect();
    let titles = verbs.values().map(|title| Column::new(title).right());
    let columns: Vec<Column> = [Column::new("KIND")].into_iter().chain(titles).collect();
    let lines = kinds.iter().map(|(kind, counts)| {
        let counts = verbs.keys().map(|verb| counts.get(verb).copied().unwrap_or(0));
        let counts =
            counts.map(|count| if count == 0 { "-".to_owned() } else { count.to_string() });
        Line::from([clean(kind)].into_iter().chain(counts).collect::<Vec<_>>())
    });
    push_table(out, screen, &columns, lines.collect());
}

/// Renders `Applied: 1 created; 10.00 USD invoiced (test)`; an effect counts by its last outcome.
fn applied_summary(done: &[EffectReport]) -> String {
    let mut counts: BTreeMap<EffectVerb, usize> = BTreeMap::new();
    for one in last_outcomes(done) {
        let count = counts.entry(one.verb).or_default();
        *count = count.saturating_add(1);
    }
    let counts: Vec<String> =
        counts.iter().map(|(verb, count)| format!("{count} {}", verb.word())).collect();
    let what = if counts.is_empty() { "nothing".to_owned() } else { counts.join(", ") };
    let sums: Vec<String> = done_money(done).iter().map(money_text).collect();
    let sums = if sums.is_empty() { String::new() } else { format!("; {}", sums.join(", ")) };
    format!("Applied: {what}{sums}")
}

/// Returns the last outcome of each effect, in order.
fn last_outcomes(done: &[EffectReport]) -> Vec<&EffectReport> {
    let mut last: BTreeMap<&str, &EffectReport> = BTreeMap::new();
    for one in done {
        last.insert(&one.intent, one);
    }
    done.iter()
        .filter(|one| last.get(one.intent.as_str()).is_some_and(|last| last == one))
        .collect()
}

/// Returns the money that the finished effects moved, by currency, mode and meaning.
fn done_money(done: &[EffectReport]) -> Vec<MoneyView> {
    sum_money(
        last_outcomes(done).into_iter().filter(|one| one.verb.is_done()).flat_map(|one| &one.money),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn happened(intent: &str, verb: &str, amount: Option<i64>) -> EffectReport {
        let money = amount.map(|amount| {
            json!({"currency": "USD", "mode": "test", "meaning": "invoiced", "amount": amount})
        });
        let one = json!({
            "position": 7, "at": "2026-11-20T12:34:56.000Z", "verb": verb, "intent": intent,
            "key": "Invoice/default/jane", "effect": "invoice.create", "remote_id": "inv_1",
            "money": money.into_iter().collect::<Vec<_>>(),
            "cause": {"file": "specs/jane.yaml", "line": 3},
        });
        serde_json::from_value(one).unwrap()
    }

    /// Closes M2.
    #[test]
    fn each_effect_is_one_line_and_the_sum_counts_each_once() {
        let one = happened("i-1", "created", Some(1000));
        let text = "12:34:56Z  created   Invoice/jane  10.00 USD invoiced (test)  inv_1  specs/jane.yaml:3";
        assert_eq!(effect_line(&one, Screen::PLAIN), text);
        let done = [
            happened("i-2", "in_doubt", None),
            one,
            happened("i-2", "created", Some(250)),
            happened("i-3", "changed", None),
            happened("i-4", "refused", None),
        ];
        let text = "Applied: 2 created, 1 changed, 1 refused; 12.50 USD invoiced (test)";
        assert_eq!(applied_summary(&done), text);
        assert_eq!(applied_summary(&[]), "Applied: nothing");
    }

    #[test]
    fn many_effects_are_counted_by_kind() {
        let mut done: Vec<EffectReport> =
            (0..6).map(|number| happened(&format!("i-{number}"), "created", Some(100))).collect();
        done[1].key = "Contact/default/jane".parse().unwrap();
        done[2].verb = EffectVerb::Refused;
        insta::assert_snapshot!(applied(&done, Screen::PLAIN), @r"
        KIND     CREATED  REFUSED
        Contact        1        -
        Invoice        4        1

        Applied: 5 created, 1 refused; 5.00 USD invoiced (test)
        ");
    }
}
