//! Renders effects for people as they happen, and their sums.

use std::collections::BTreeMap;

use super::words::{clean, money_text, resource_key};
use crate::base::id::Key;
use crate::engine::protocol::queries::effect_log::{EffectReport, EffectVerb};
use crate::engine::protocol::queries::views::MoneyView;
use crate::engine::queries::plans::scoped::sum_money;

/// Renders one effect: `2026-11-20T12:34:56.000Z created Invoice/jane 10.00 USD invoiced (test)
/// inv_1`.
pub fn effect_line(happened: &EffectReport) -> String {
    let EffectReport { at, verb, remote_id, refusal, money: moves, .. } = happened;
    let mut parts = vec![clean(at), verb.word().to_owned(), resource_name(&happened.key)];
    if happened.verb == EffectVerb::Prepared {
        parts.push(format!("({})", clean(&happened.effect)));
    }
    parts.extend(moves.iter().map(money_text));
    parts.extend(remote_id.iter().map(|id| clean(id)));
    parts.extend(refusal.iter().map(|why| format!("({})", clean(why))));
    parts.join(" ")
}

fn resource_name(of: &Key) -> String {
    resource_key(of.kind.as_str(), of.namespace.as_str(), of.name.as_str())
}

/// Renders a summary: `Applied: 1 created, 2 changed; 10.00 USD invoiced (test)`. Each effect
/// counts once, by its last outcome.
pub fn summary(done: &[EffectReport]) -> String {
    let mut counts: BTreeMap<EffectVerb, usize> = BTreeMap::new();
    for one in last_outcomes(done) {
        let count = counts.entry(one.verb).or_default();
        *count = count.saturating_add(1);
    }
    let counts: Vec<String> =
        counts.iter().map(|(verb, count)| format!("{count} {}", verb.word())).collect();
    let what = if counts.is_empty() { "nothing".to_owned() } else { counts.join(", ") };
    let sums = done_money(done);
    let sums: Vec<String> = sums.iter().map(money_text).collect();
    let sums = if sums.is_empty() { String::new() } else { format!("; {}", sums.join(", ")) };
    format!("Applied: {what}{sums}")
}

/// Returns the last outcome of each effect, in order.
pub fn last_outcomes(done: &[EffectReport]) -> Vec<&EffectReport> {
    let mut last: BTreeMap<&str, &EffectReport> = BTreeMap::new();
    for one in done {
        last.insert(&one.intent, one);
    }
    done.iter()
        .filter(|one| last.get(one.intent.as_str()).is_some_and(|last| last == one))
        .collect()
}

/// Returns the money that the finished effects moved, by currency, mode and meaning.
pub fn done_money(done: &[EffectReport]) -> Vec<MoneyView> {
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
        let text = "2026-11-20T12:34:56.000Z created Invoice/jane 10.00 USD invoiced (test) inv_1";
        assert_eq!(effect_line(&one), text);
        let done = [
            happened("i-2", "in_doubt", None),
            one,
            happened("i-2", "created", Some(250)),
            happened("i-3", "changed", None),
            happened("i-4", "refused", None),
        ];
        let text = "Applied: 2 created, 1 changed, 1 refused; 12.50 USD invoiced (test)";
        assert_eq!(summary(&done), text);
        assert_eq!(summary(&[]), "Applied: nothing");
    }
}
