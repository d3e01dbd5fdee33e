//! Renders the cost of `events replay --since`: the runs, and what they would do now.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::money::{Currency, Money};
use crate::base::wording::count_noun;
use crate::engine::protocol::replay::RequestedName;
use crate::model::events::hook::ActionRequest;
use crate::render::words::{clean, push_line};

/// Output of `events replay --since` without `--yes`.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct ReplayCost {
    pub version: u8,
    pub script: String,
    pub since: String,
    pub until: Option<String>,
    pub merchant: Option<String>,
    pub limit: usize,
    /// Events for which the script would run, each once.
    pub events: usize,
    /// Further events of the period, which the limit leaves out.
    pub beyond_limit: usize,
    /// The time of the first of these events: the start of the next period.
    pub next_since: Option<String>,
    /// The period has too many events; the oldest ones were not searched.
    pub search_cut: bool,
    pub earlier: EarlierRuns,
    pub left_out: LeftOutEvents,
    /// The actions that the runs would request now, by their verbs.
    pub actions: Vec<ReplayedActions>,
    /// Values that the runs would store.
    pub keeps: usize,
    /// Additions to stored values that the runs would make. Another run adds again.
    pub adds: usize,
    /// Runs that would fail now.
    pub failures: usize,
    /// The first of them.
    pub failing: Vec<FailingTrial>,
    /// The daemon uses other scripts than this folder has.
    pub other_scripts: bool,
    /// The command that makes just these runs; null: there are none.
    pub confirm: Option<String>,
}

/// The script's last runs for the events, as far as they are recorded.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct EarlierRuns {
    pub failed: usize,
    pub succeeded: usize,
    /// Events without a recorded run of the script.
    pub not_run: usize,
}

/// Events of the period for which the script would not run.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct LeftOutEvents {
    /// The script has yet to handle them: it does so without a request.
    pub waiting: usize,
    /// A person has requested their run already.
    pub requested: usize,
    /// Their data was erased with their merchant.
    pub erased: usize,
    /// Retention dropped them: only the journal still has them.
    pub dropped: usize,
}

/// Actions of one verb.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReplayedActions {
    pub verb: String,
    /// Actions that would be done.
    pub new: usize,
    /// Actions that were requested before under the same name: they are dropped.
    pub repeated: usize,
    /// Actions whose name another action of the event has: they are refused.
    pub refused: usize,
    /// New notifications with `at_most`, which may leave some of them out.
    pub bounded: usize,
    /// The amounts of the new actions, one for each currency.
    pub amounts: Vec<Money>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct FailingTrial {
    pub event: String,
    pub message: String,
}

impl ReplayedActions {
    pub fn of(verb: String) -> Self {
        Self { verb, new: 0, repeated: 0, refused: 0, bounded: 0, amounts: Vec::new() }
    }

    pub fn count(&mut self, request: &ActionRequest, name: RequestedName) {
        let count = match name {
            RequestedName::New => &mut self.new,
            RequestedName::Repeated => &mut self.repeated,
            RequestedName::Taken => &mut self.refused,
        };
        *count = count.saturating_add(1);
        if name == RequestedName::New {
            self.bounded = self.bounded.saturating_add(usize::from(request.at_most.is_some()));
            self.add_amount(request);
        }
    }

    /// Adds the amount of a request to the sum of its currency.
    fn add_amount(&mut self, request: &ActionRequest) {
        let amount = request.fields.get("amount").cloned().unwrap_or_default();
        let Ok(amount) = serde_json::from_value::<Money>(amount) else { return };
        let sums = self.amounts.iter().map(|sum| (sum.currency(), sum.minor()));
        let mut sums: BTreeMap<Currency, i64> = sums.collect();
        let sum = sums.entry(amount.currency()).or_default();
        *sum = sum.saturating_add(amount.minor());
        self.amounts = sums.into_iter().map(|(code, minor)| Money::new(minor, code)).collect();
    }
}

impl ReplayCost {
    /// Returns the command that makes just these runs; `None` if there are none.
    pub fn confirmation(&self) -> Option<String> {
        let mut command = format!("reckon events replay --script {}", clean(&self.script));
        let merchant = self.merchant.as_deref();
        let merchant = merchant.map(|key| key.strip_prefix("Merchant/").unwrap_or(key).to_owned());
        let options = [
            ("since", Some(self.since.clone())),
            ("until", self.until.clone()),
            ("merchant", merchant),
            ("limit", Some(self.limit.to_string())),
        ];
        for (name, value) in options {
            command.extend(value.map(|value| format!(" --{name} {value}")));
        }
        (self.events > 0).then(|| format!("{command} --yes"))
    }
}

pub fn cost_text(cost: &ReplayCost) -> String {
    let mut out = String::new();
    let (script, events) = (clean(&cost.script), count_noun(cost.events, "event"));
    push_line!(out, "{script} would run again for {events} since {}.", cost.since);
    push_line!(out, "Nothing is done yet.");
    earlier_runs(&mut out, cost);
    left_out(&mut out, cost);
    requested_actions(&mut out, cost);
    warnings(&mut out, cost);
    if let Some(command) = &cost.confirm {
        push_line!(out, "\nTo run it: {command}");
    }
    out
}

fn earlier_runs(out: &mut String, cost: &ReplayCost) {
    let EarlierRuns { failed, succeeded, not_run } = cost.earlier;
    if cost.events > 0 {
        push_line!(
            out,
            "  before: {failed} failed, {succeeded} succeeded, {not_run} without a recorded run"
        );
    }
    if cost.beyond_limit > 0 {
        let more = count_noun(cost.beyond_limit, "more event");
        let next = cost.next_since.as_deref().unwrap_or_default();
        push_line!(out, "  {more} beyond the limit of {}: --since {next}", cost.limit);
    }
    if cost.search_cut {
        push_line!(out, "  the period has too many events; choose a shorter one");
    }
}

fn left_out(out: &mut String, cost: &ReplayCost) {
    let LeftOutEvents { waiting, requested, erased, dropped } = cost.left_out;
    let reasons = [
        (waiting, "not handled yet: the script does that by itself"),
        (requested, "requested already"),
        (erased, "without data: it was erased with the merchant"),
        (dropped, "dropped by retention"),
    ];
    for (count, reason) in reasons {
        if count > 0 {
            push_line!(out, "  left out: {} {reason}", count_noun(count, "event"));
        }
    }
}

fn requested_actions(out: &mut String, cost: &ReplayCost) {
    if cost.events > 0 {
        push_line!(out, "The runs would request:");
    }
    for actions in &cost.actions {
        push_line!(out, "  {}", action_counts(actions));
    }
    if cost.events > 0 && cost.actions.is_empty() {
        push_line!(out, "  no action");
    }
    if cost.keeps > 0 {
        push_line!(out, "  {} kept", count_noun(cost.keeps, "value"));
    }
    if cost.adds > 0 {
        let adds = count_noun(cost.adds, "addition");
        push_line!(out, "  {adds} to kept values; a second run adds a second time");
    }
}

/// Renders `refund: 2 new (14.00 USD), 1 requested before (dropped)`.
fn action_counts(actions: &ReplayedActions) -> String {
    let ReplayedActions { verb, new, repeated, refused, bounded, amounts } = actions;
    let sums: Vec<String> = amounts.iter().map(Money::to_string).collect();
    let sums = if sums.is_empty() { String::new() } else { format!(" ({})", sums.join(", ")) };
    let mut parts = vec![format!("{new} new{sums}")];
    let others = [
        (*repeated, "requested before (dropped)"),
        (*refused, "whose name another action has (refused)"),
        (*bounded, "of the new ones with `at_most`, which may leave some out"),
    ];
    let others = others.into_iter().filter(|(count, _)| *count > 0);
    parts.extend(others.map(|(count, what)| format!("{count} {what}")));
    format!("{}: {}", clean(verb), parts.join(", "))
}

fn warnings(out: &mut String, cost: &ReplayCost) {
    if cost.failures > 0 {
        push_line!(out, "{} would fail:", count_noun(cost.failures, "run"));
    }
    for failing in &cost.failing {
        push_line!(out, "  event {}: {}", clean(&failing.event), clean(&failing.message));
    }
    if cost.other_scripts {
        push_line!(out, "The daemon uses other scripts than this folder has.");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refund(minor: i64) -> ActionRequest {
        let fields = json!({"amount": {"minor": minor, "currency": "USD"}});
        let request = json!({"name": "give-back", "verb": "refund", "fields": fields});
        serde_json::from_value(request).unwrap()
    }

    fn cost() -> ReplayCost {
        let mut refunds = ReplayedActions::of("refund".to_owned());
        for (minor, name) in [(700, RequestedName::New), (300, RequestedName::New)] {
            refunds.count(&refund(minor), name);
        }
        for name in [RequestedName::Repeated, RequestedName::Taken] {
            refunds.count(&refund(900), name);
        }
        let mut cost = ReplayCost {
            script: "answers".to_owned(),
            since: "2026-11-26".to_owned(),
            merchant: Some("Merchant/books/acme".to_owned()),
            limit: 2,
            events: 2,
            beyond_limit: 1,
            next_since: Some("2026-11-27".to_owned()),
            earlier: EarlierRuns { failed: 1, succeeded: 1, not_run: 0 },
            left_out: LeftOutEvents { waiting: 0, requested: 0, erased: 0, dropped: 1 },
            actions: vec![refunds],
            adds: 1,
            ..ReplayCost::default()
        };
        cost.confirm = cost.confirmation();
        cost
    }

    #[test]
    fn the_cost_names_what_is_new_what_is_dropped_and_how_to_confirm() {
        let expect = "answers would run again for 2 events since 2026-11-26.
Nothing is done yet.
  before: 1 failed, 1 succeeded, 0 without a recorded run
  1 more event beyond the limit of 2: --since 2026-11-27
  left out: 1 event dropped by retention
The runs would request:
  refund: 2 new (10.00 USD), 1 requested before (dropped), 1 whose name another action has (refused)
  1 addition to kept values; a second run adds a second time

To run it: reckon events replay --script answers --since 2026-11-26 --merchant books/acme --limit 2 --yes
";
        assert_eq!(cost_text(&cost()), expect);
    }

    #[test]
    fn nothing_to_run_has_nothing_to_confirm() {
        let cost = ReplayCost { script: "answers".to_owned(), ..ReplayCost::default() };
        assert_eq!(cost.confirmation(), None);
        assert!(!cost_text(&cost).contains("To run it"));
    }
}
