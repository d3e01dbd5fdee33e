//! `policy.zone`, `policy.windows` and `policy.freezes`: when changes of documents may begin. Every
//! mistake is reported with its place.

use chrono_tz::Tz;

use crate::base::id::Name;
use crate::config::reader::ConfigReader;
use crate::config::setting::{FromText, Setting};
use crate::config::time_forms::{ClockTime, DAYS, FREEZE_KEYS, LocalMoment, WINDOW_KEYS, ZoneName};
use crate::policy::time_rules::{MerchantPattern, RuleSpan, TimeRule};
use crate::spec::text::node::{Node, NodeEntry, NodeValue};

const WINDOW_EXAMPLE: &str =
    "write `{name: office, days: [mon, fri], from: \"09:00\", to: \"17:00\"}`";
const FREEZE_EXAMPLE: &str =
    "write `{name: year-end, from: 2026-12-20 18:00, to: 2027-01-02 08:00}`";

impl ConfigReader<'_> {
    pub(crate) fn read_policy_zone(&mut self, policy: &Node) -> Option<Tz> {
        self.literal_field::<ZoneName>(policy, "zone").map(|zone| zone.0)
    }

    pub(crate) fn read_windows(&mut self, policy: &Node) -> Vec<TimeRule> {
        let items = self.items(policy, "windows");
        self.report_repeated_names(&[], items);
        items.iter().filter_map(|node| self.window(policy, node)).collect()
    }

    pub(crate) fn read_freezes(&mut self, policy: &Node) -> Vec<TimeRule> {
        let windows = policy.present("windows").map_or(&[][..], |entry| entry.value.items());
        let items = self.items(policy, "freezes");
        self.report_repeated_names(windows, items);
        items.iter().filter_map(|node| self.scheduled_freeze(policy, node)).collect()
    }

    /// Reports each name that an earlier window or freeze has.
    fn report_repeated_names(&mut self, before: &[Node], items: &[Node]) {
        let name = |node: &Node| node.get("name")?.text().map(str::to_owned);
        let mut known: Vec<String> = before.iter().filter_map(name).collect();
        for node in items {
            let Some(text) = name(node) else { continue };
            if known.contains(&text)
                && let Some(entry) = node.present("name")
            {
                let message = format!("two windows or freezes have the name `{text}`");
                let help = "write another name: messages and metrics name the rule";
                self.invalid(entry.value.span.clone(), &message, help);
            }
            known.push(text);
        }
    }

    fn window(&mut self, policy: &Node, node: &Node) -> Option<TimeRule> {
        self.check_rule(node, &WINDOW_KEYS, WINDOW_EXAMPLE)?;
        let name = self.required::<Name>(node, "name", "office");
        let days = self.window_days(node);
        let from = self.required::<ClockTime>(node, "from", "\"09:00\"");
        let to = self.required::<ClockTime>(node, "to", "\"17:00\"");
        let (zone, merchants) = (self.rule_zone(policy, node), self.rule_merchants(node));
        let (from, to) = (from?, to?);
        self.check_clock_times(node, from, to);
        let span = RuleSpan::Window { days: days?, from: from.time, to: to.time };
        Some(TimeRule { name: name?.as_str().into(), zone: zone?, merchants: merchants?, span })
    }

    fn check_clock_times(&mut self, node: &Node, from: ClockTime, to: ClockTime) {
        if let Some(entry) = node.present("from").filter(|_| from.is_end_of_day) {
            let help = "write `\"00:00\"` and the day after it";
            self.invalid(
                entry.value.span.clone(),
                "a window cannot open at the end of a day",
                help,
            );
        }
        if let Some(entry) = node.present("to").filter(|_| from == to) {
            let message = "the window closes at the time at which it opens";
            let help = "write another time; a whole day is from `\"00:00\"` to `\"24:00\"`";
            self.invalid(entry.value.span.clone(), message, help);
        }
    }

    fn scheduled_freeze(&mut self, policy: &Node, node: &Node) -> Option<TimeRule> {
        self.check_rule(node, &FREEZE_KEYS, FREEZE_EXAMPLE)?;
        let name = self.required::<Name>(node, "name", "year-end");
        let from = self.required::<LocalMoment>(node, "from", "2026-12-20 18:00");
        let to = self.required::<LocalMoment>(node, "to", "2027-01-02 08:00");
        let reason = self.literal_field::<String>(node, "reason");
        let (zone, merchants) = (self.rule_zone(policy, node), self.rule_merchants(node));
        let (LocalMoment(from), LocalMoment(to)) = (from?, to?);
        if let Some(entry) = node.present("to").filter(|_| to <= from) {
            let help = "write a later time; no change begins from `from` on, until before `to`";
            self.invalid(entry.value.span.clone(), "the freeze ends before it begins", help);
        }
        let span = RuleSpan::Freeze { from, to, reason };
        Some(TimeRule { name: name?.as_str().into(), zone: zone?, merchants: merchants?, span })
    }

    fn check_rule(&mut self, node: &Node, keys: &[&str], example: &str) -> Option<()> {
        if !matches!(node.value, NodeValue::Map(_)) {
            self.invalid(node.span.clone(), "a window or freeze must be a mapping", example);
            return None;
        }
        self.report_unknown_keys(node, keys);
        Some(())
    }

    /// Returns the days of a window: every day where it names none.
    fn window_days(&mut self, node: &Node) -> Option<Vec<chrono::Weekday>> {
        let every_day = || DAYS.map(|(_, day)| day).to_vec();
        let Some(entry) = node.present("days") else { return Some(every_day()) };
        self.listed(
            node,
            entry,
            "with no day, the window never opens",
            "leave out `days` for every day",
        )
    }

    fn rule_merchants(&mut self, node: &Node) -> Option<Vec<MerchantPattern>> {
        let Some(entry) = node.present("merchants") else { return Some(Vec::new()) };
        let help = "leave out `merchants` to cover everything";
        self.listed(node, entry, "the rule covers no merchant", help)
    }

    /// Reads a list that may not be empty.
    fn listed<T: FromText>(
        &mut self,
        node: &Node,
        entry: &NodeEntry,
        message: &str,
        help: &str,
    ) -> Option<Vec<T>> {
        let items = self.items(node, &entry.key);
        if items.is_empty() && matches!(entry.value.value, NodeValue::Seq(_)) {
            self.invalid(entry.key_span.clone(), message, help);
        }
        let values: Vec<Option<T>> = items.iter().map(|item| self.literal_value(item)).collect();
        values.into_iter().collect()
    }

    /// Returns the zone of a rule, else that of the policy. A rule without either is a mistake.
    fn rule_zone(&mut self, policy: &Node, node: &Node) -> Option<Tz> {
        if node.present("zone").is_some() {
            return self.literal_field::<ZoneName>(node, "zone").map(|zone| zone.0);
        }
        let Some(entry) = policy.present("zone") else {
            let help =
                "write `zone: Europe/Paris` here, or in `policy` for all windows and freezes";
            self.missing(node.span.clone(), "the rule has no time zone", help);
            return None;
        };
        // The place of the policy's zone reports its mistake.
        ZoneName::from_text(entry.value.text()?, &self.dir).ok().map(|zone| zone.0)
    }

    fn required<T: FromText>(&mut self, node: &Node, key: &str, example: &str) -> Option<T> {
        if node.present(key).is_none() {
            let help = format!("write `{key}: {example}`");
            self.missing(node.span.clone(), &format!("`{key}` is missing"), &help);
        }
        self.literal_field(node, key)
    }

    fn literal_field<T: FromText>(&mut self, node: &Node, key: &str) -> Option<T> {
        self.literal_value(&node.present(key)?.value)
    }

    /// Reads a value that is written in the file itself.
    fn literal_value<T: FromText>(&mut self, node: &Node) -> Option<T> {
        match self.scalar(node, node.span.clone())? {
            Setting::Literal(value) => Some(value),
            Setting::Env(_) => {
                let message = "a window or freeze cannot name a variable";
                self.invalid(node.span.clone(), message, "write the value itself");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests;
