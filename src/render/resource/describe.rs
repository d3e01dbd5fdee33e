//! Renders everything about one resource: its conditions, money, history, what it waits for, and the
//! commands that lead on.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::base::wording::count_noun;
use crate::engine::protocol::next_steps::{NeedView, NextStep};
use crate::engine::protocol::payers::{PaymentView, PaymentsView};
use crate::engine::protocol::views::{Confidence, ResourceView};
use crate::model::state::health::{Condition, ConditionStatus};
use crate::render::resource::standing;
use crate::render::table::{Column, Line, push_table};
use crate::render::why::EffectHistoryView;
use crate::render::words::{
    self, Screen, clean, commands, file_place, format_amount, moment, money_text, or_not_known,
    push_line, resource_key, to_minute, value_text, wrap_text,
};

const LABEL_WIDTH: usize = 14;

/// Renders a resource with its newest effects, oldest first; `None` where the history was not read.
pub fn describe(
    item: &ResourceView,
    history: Option<&[EffectHistoryView]>,
    screen: Screen,
) -> String {
    let mut out = String::new();
    let page = &mut Description { out: &mut out, screen, now: now(item) };
    page.headline(item);
    page.money(item);
    page.place(item);
    page.observation(item);
    page.conditions(&item.conditions);
    page.needs(&item.needs);
    page.history(item, history);
    page.facts(item);
    let steps: Vec<&NextStep> = item.next.iter().collect();
    out.push_str(&commands(&steps, screen));
    out
}

fn now(item: &ResourceView) -> Option<DateTime<Utc>> {
    item.at.as_deref()?.parse().ok()
}

struct Description<'a> {
    out: &'a mut String,
    screen: Screen,
    /// The daemon's time, where it is known.
    now: Option<DateTime<Utc>>,
}

impl Description<'_> {
    fn headline(&mut self, item: &ResourceView) {
        let name = resource_key(&item.kind, &item.namespace, &item.name);
        let symbol = standing::symbol(item.standing, self.screen);
        let ready = if item.ready { "ready" } else { "not ready" };
        let reason = format!("{ready}: {}", clean(&item.reason));
        let reason = self.screen.paint(standing::style(item.standing), &reason);
        push_line!(self.out, "{symbol} {}  {reason}", self.screen.bold(&name));
        self.out.push_str(&words::wrap_indented(&item.message, 2, self.screen));
        self.out.push('\n');
        self.line("Change", action_meaning(&item.verdict));
        if item.possible_orphans > 0 {
            let times = count_noun(item.possible_orphans, "time");
            self.sentence(
                "Doubles",
                &format!(
                    "created again {times} without proof that the earlier try had failed; look for \
                    duplicates at the service (`reckon intents` lists them)"
                ),
            );
        }
    }

    fn money(&mut self, item: &ResourceView) {
        if let Some((amount, currency)) = item.amount.zip(item.currency.as_deref()) {
            self.line("Amount", &format_amount(amount, currency));
        }
        let Some(PaymentsView { last, failures, next }) = item.payments.as_deref() else { return };
        if let Some(last) = last {
            let text = self.payment(last, *failures);
            self.sentence("Last payment", &text);
        }
        if let Some(next) = next {
            self.line("Next payment", &clean(next));
        }
    }

    fn payment(&self, payment: &PaymentView, failures: u32) -> String {
        let PaymentView { id, result, amount, currency, reason, at } = payment;
        let money = amount.zip(currency.as_deref());
        let money = money.map(|(amount, currency)| format!("{} ", format_amount(amount, currency)));
        let why = reason.as_ref().map(|why| format!(" ({})", clean(why))).unwrap_or_default();
        let row = match failures {
            0 => String::new(),
            count => format!("; {} failed in a row", count_noun(count, "payment")),
        };
        let (money, at) = (money.unwrap_or_default(), moment(at, self.now));
        format!("{money}{} at {at}{why}, {}{row}", result.word(), clean(id))
    }

    fn place(&mut self, item: &ResourceView) {
        if let Some(merchant) = &item.merchant {
            self.line("Merchant", &clean(merchant));
        }
        let labels = item.labels.iter();
        let labels: Vec<String> =
            labels.map(|(key, value)| format!("{}={}", clean(key), clean(value))).collect();
        if !labels.is_empty() {
            self.line("Labels", &labels.join(", "));
        }
        let place = file_place(item.file.as_deref(), item.line);
        self.line("Document", &place.unwrap_or_else(|| "none".to_owned()));
        self.line("Remote id", &or_not_known(item.remote_id.as_deref()));
    }

    fn observation(&mut self, item: &ResourceView) {
        if let Some(time) = &item.verified_at {
            let text = format!("at {}: the service shows the known values", moment(time, self.now));
            return self.sentence("Verified", &text);
        }
        let Some(time) = &item.last_known else { return };
        let worth = match item.confidence {
            Some(Confidence::CannotBeVerified) => {
                "the service does not show it, so it cannot be verified"
            }
            Some(Confidence::Verified | Confidence::LastKnown) | None => {
                "later changes are not seen"
            }
        };
        self.sentence("Last known", &format!("at {}; {worth}", moment(time, self.now)));
    }

    fn conditions(&mut self, conditions: &[Condition]) {
        if conditions.is_empty() {
            return;
        }
        self.title("Conditions");
        let columns = ["TYPE", "STATUS", "SINCE", "REASON"].map(Column::new);
        let lines = conditions.iter().map(|condition| {
            let Condition { kind, status, reason, message: _, since } = condition;
            let since = since.as_deref().map_or_else(|| "-".to_owned(), |at| moment(at, self.now));
            let kind = format!("{} {}", condition_symbol(condition), kind.word());
            Line::from(vec![kind, status.word().to_owned(), since, clean(reason)])
        });
        push_table(self.out, self.screen, &columns, lines.collect());
    }

    /// Renders the tree of the resources that this one waits for.
    fn needs(&mut self, needs: &[NeedView]) {
        if needs.iter().any(|need| !need.ready) {
            self.title("Waits for");
            self.unready_needs(needs, 2);
        }
    }

    fn unready_needs(&mut self, needs: &[NeedView], indent: usize) {
        let below = indent.saturating_add(2);
        for need in needs.iter().filter(|need| !need.ready) {
            push_line!(
                self.out,
                "{:indent$}└ {}  {}",
                "",
                clean(&need.key.short()),
                clean(&need.reason)
            );
            self.out.push_str(&words::wrap_indented(&need.message, below, self.screen));
            self.unready_needs(&need.needs, below);
            if need.is_cut {
                push_line!(self.out, "{:below$}└ and more", "");
            }
        }
    }

    fn history(&mut self, item: &ResourceView, history: Option<&[EffectHistoryView]>) {
        let Some(effects) = history.filter(|effects| !effects.is_empty()) else { return };
        self.title("Effects, newest first");
        let columns = [
            Column::new("TIME"),
            Column::new("EFFECT").dispensable(),
            Column::new("OUTCOME"),
            Column::new("INTENT").dispensable(),
            Column::new("MONEY"),
        ];
        let lines = effects.iter().rev().map(|effect| {
            let money: Vec<String> = effect.money.iter().map(money_text).collect();
            let time = to_minute(&crate::base::clock::timestamp(&effect.at));
            let (outcome, intent) = (clean(&effect.outcome), clean(&effect.intent));
            Line::from(vec![time, clean(&effect.effect), outcome, intent, money.join(", ")])
        });
        push_table(self.out, self.screen, &columns, lines.collect());
        let name = resource_key(&item.kind, &item.namespace, &item.name);
        push_line!(
            self.out,
            "{}",
            self.screen.dim(&format!("the whole history: reckon why {name}"))
        );
    }

    fn facts(&mut self, item: &ResourceView) {
        if item.facts.is_empty() {
            return;
        }
        self.title("Facts from the service");
        for (path, value) in flat_facts(item) {
            push_line!(self.out, "  {}: {value}", clean(&path));
        }
    }

    fn title(&mut self, title: &str) {
        push_line!(self.out, "\n{}", self.screen.bold(title));
    }

    fn line(&mut self, label: &str, text: &str) {
        let label = self.screen.dim(&format!("{label:LABEL_WIDTH$}"));
        push_line!(self.out, "  {label}{text}");
    }

    /// Renders a sentence, over several lines if needed.
    fn sentence(&mut self, label: &str, text: &str) {
        let rows = wrap_text(text, LABEL_WIDTH.saturating_add(2), self.screen);
        for (number, row) in rows.iter().enumerate() {
            self.line(if number == 0 { label } else { "" }, row);
        }
    }
}

/// Returns `✓` for the status that a resource in order has, `?` for one that is not known.
fn condition_symbol(condition: &Condition) -> char {
    match condition.status {
        ConditionStatus::Unknown => '?',
        ConditionStatus::True | ConditionStatus::False if condition.is_good() => '✓',
        ConditionStatus::True | ConditionStatus::False => '✗',
    }
}

/// Returns the meaning of a planned action, as a clause.
pub(in crate::render) fn action_meaning(action: &str) -> &str {
    match action {
        "settled" => "none",
        "create" => "it is created at the service",
        "update" => "it is changed at the service",
        "delete" => "it is removed from the service",
        "read" => "it is read from the service",
        "orphan" => "none: its document is gone and the object stays",
        "wait" => "none until its dependencies are ready",
        "blocked" => "none until you change something",
        other => other,
    }
}

/// Returns the facts of a resource as paths and texts.
pub(in crate::render) fn flat_facts(item: &ResourceView) -> Vec<(String, String)> {
    let mut leaves = Vec::new();
    for (name, value) in &item.facts {
        flatten(name, value, &mut leaves);
    }
    leaves
}

/// Collects the leaves of a value with their paths.
fn flatten(path: &str, found: &Value, leaves: &mut Vec<(String, String)>) {
    if let Some(fields) = found.as_object().filter(|fields| !fields.is_empty()) {
        for (name, found) in fields {
            flatten(&format!("{path}.{name}"), found, leaves);
        }
    } else if let Some(items) = found.as_array().filter(|items| !items.is_empty()) {
        for (place, found) in items.iter().enumerate() {
            flatten(&format!("{path}[{place}]"), found, leaves);
        }
    } else {
        leaves.push((path.to_owned(), value_text(found)));
    }
}

#[cfg(test)]
mod tests;
