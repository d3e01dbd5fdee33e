//! Renders the overall state in a line or two, the causes for which calls to the service wait, and
//! effects as they happen with their sums.

use std::collections::BTreeMap;

use crate::base::wording::{count_noun, count_verb};
use crate::engine::protocol::actions::{EffectReport, EffectVerb};
use crate::engine::protocol::views::{MoneyView, Overview, TrafficView};
use crate::engine::queries::scoped::sum_money;
use crate::model::manifest::TreeState;
use crate::render::words::{clean, money_text, push_line, resource_key, short_hash};

pub fn overview(overview: &Overview) -> String {
    let left = if_any(overview.changes, |count| format!(", {count} to change"));
    let stuck = if_any(overview.stuck, |count| {
        format!(", {}", count_verb(count, "needs attention", "need attention"))
    });
    let open = if_any(overview.open_intents, |count| {
        format!("; {} not settled", count_noun(count, "intent"))
    });
    let suspended = if_any(overview.suspended, |count| format!("; {count} suspended"));
    let broken =
        if_any(overview.broken, |count| format!("; {} invalid", count_noun(count, "document")));
    let orphaned = if_any(overview.orphaned, |count| {
        format!(
            "{} left as {} at the service: {} gone (reckon.dev/deletion: orphan)\n",
            count_noun(count, "object"),
            if count == 1 { "it is" } else { "they are" },
            if count == 1 { "its document is" } else { "their documents are" }
        )
    });
    let (all, ready) = (count_noun(overview.resources, "resource"), overview.ready);
    let (position, head) = (overview.position, short_hash(&overview.head));
    let partial = match overview.coverage {
        TreeState::Complete => "",
        TreeState::Incomplete => {
            "Some files are invalid: nothing is removed until `reckon validate` passes.\n"
        }
    };
    format!(
        "{all}: {ready} ready{left}{stuck}{open}{suspended}{broken} (position {position}, head {head})\n\
         {orphaned}{partial}{}",
        traffic_lines(&overview.traffic)
    )
}

/// Returns words about a count, or an empty text for 0.
fn if_any(count: usize, words: impl FnOnce(usize) -> String) -> String {
    if count == 0 { String::new() } else { words(count) }
}

/// Renders hosts that do not answer, and merchants that are throttled.
pub(super) fn traffic_lines(traffic: &TrafficView) -> String {
    let TrafficView { slowed, throttled, silent } = traffic;
    let mut out = String::new();
    for silent in silent {
        let (host, since, next) = (clean(&silent.host), &silent.since, &silent.next);
        push_line!(
            out,
            "The service at {host} has been failing since {since}: calls pause; the next try is \
            at {next}."
        );
    }
    if *slowed > 0 {
        let (who, answers) = (count_noun(*slowed, "merchant"), count_noun(*throttled, "time"));
        push_line!(out, "The service throttles {who} ({answers} so far): calls wait.");
    }
    out
}

/// Renders one effect: `2026-11-20T12:34:56.000Z created Invoice/jane 10.00 USD invoiced (test)
/// inv_1`.
pub fn effect_line(happened: &EffectReport) -> String {
    let EffectReport { at, verb, remote_id, refusal, money: moves, .. } = happened;
    let key = &happened.key;
    let name = resource_key(key.kind.as_str(), key.namespace.as_str(), key.name.as_str());
    let mut parts = vec![clean(at), verb.word().to_owned(), name];
    if happened.verb == EffectVerb::Prepared {
        parts.push(format!("({})", clean(&happened.effect)));
    }
    parts.extend(moves.iter().map(money_text));
    parts.extend(remote_id.iter().map(|id| clean(id)));
    parts.extend(refusal.iter().map(|why| format!("({})", clean(why))));
    parts.join(" ")
}

/// Renders `Applied: 1 created; 10.00 USD invoiced (test)`; an effect counts by its last outcome.
pub fn applied_summary(done: &[EffectReport]) -> String {
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
    use crate::control::testing;
    use crate::engine::protocol::views::DownHostView;

    #[test]
    fn things_are_counted_and_what_is_missing_is_left_out() {
        let mut some = testing::overview();
        insta::assert_snapshot!(overview(&some), @"5 resources: 3 ready, 1 to change, 1 needs attention; 2 intents not settled (position 42, head 9f86d081884c)");
        some = Overview { changes: 0, stuck: 0, open_intents: 0, resources: 1, ready: 1, ..some };
        insta::assert_snapshot!(overview(&some), @"1 resource: 1 ready (position 42, head 9f86d081884c)");
        some = Overview { orphaned: 1, ..some };
        insta::assert_snapshot!(overview(&some), @r"
        1 resource: 1 ready (position 42, head 9f86d081884c)
        1 object left as it is at the service: its document is gone (reckon.dev/deletion: orphan)
        ");
        some = Overview { broken: 1, orphaned: 0, coverage: TreeState::Incomplete, ..some };
        insta::assert_snapshot!(overview(&some), @r#"
        1 resource: 1 ready; 1 document invalid (position 42, head 9f86d081884c)
        Some files are invalid: nothing is removed until `reckon validate` passes.
        "#);
    }

    #[test]
    fn what_calls_wait_for_is_told_and_nothing_else() {
        let mut traffic = TrafficView { throttled: 3, ..TrafficView::default() };
        assert_eq!(traffic_lines(&traffic), "");
        traffic.slowed = 1;
        traffic.silent.push(DownHostView {
            host: "pay.example:443".to_owned(),
            since: "2026-11-22T01:00:00.000Z".to_owned(),
            next: "2026-11-22T01:00:30.000Z".to_owned(),
        });
        insta::assert_snapshot!(traffic_lines(&traffic), @r"
        The service at pay.example:443 has been failing since 2026-11-22T01:00:00.000Z: calls pause; the next try is at 2026-11-22T01:00:30.000Z.
        The service throttles 1 merchant (3 times so far): calls wait.
        ");
    }

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
        assert_eq!(applied_summary(&done), text);
        assert_eq!(applied_summary(&[]), "Applied: nothing");
    }
}
