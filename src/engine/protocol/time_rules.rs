//! The windows and freezes of the configuration in every view, with the changes that wait for them.

use chrono::{DateTime, FixedOffset, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::base::wording::count_noun;
use crate::model::holds::local_time;
use crate::policy::TimeRules;
use crate::policy::time_rules::{RuleState, TimeRule};

/// A window or a freeze of the configuration.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimeRuleView {
    pub name: String,
    pub kind: TimeRuleKind,
    /// The merchants that it covers, as the configuration names them; empty: everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merchants: Vec<String>,
    /// True while it holds changes back.
    pub holds: bool,
    /// The next moment at which it begins or ends to hold, in its zone.
    pub until: Option<DateTime<FixedOffset>>,
    pub reason: Option<String>,
    /// Resources whose change waits for it.
    pub waiting: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimeRuleKind {
    Window,
    Freeze,
}

impl TimeRuleView {
    pub(crate) fn new(rule: &TimeRule, state: RuleState, waiting: usize) -> Self {
        let kind = if rule.is_window() { TimeRuleKind::Window } else { TimeRuleKind::Freeze };
        Self {
            name: rule.name.to_string(),
            kind,
            merchants: rule.merchants.iter().map(ToString::to_string).collect(),
            holds: state.holds,
            until: state.until.map(|at| at.with_timezone(&rule.zone).fixed_offset()),
            reason: rule.reason().map(str::to_owned),
            waiting,
        }
    }

    /// Returns the rules that hold changes back at a moment, for a state in which nothing waits yet.
    pub fn holding(rules: &TimeRules, at: DateTime<Utc>) -> Vec<Self> {
        let states = rules.rules().iter().zip(rules.states(at));
        let views = states.map(|(rule, state)| Self::new(rule, state, 0));
        views.filter(|rule| rule.holds).collect()
    }

    /// Returns the state of the rule as a sentence.
    pub fn sentence(&self) -> String {
        let until = self.until.as_ref().map(local_time);
        let said = match (self.kind, self.holds, until) {
            (_, _, None) => "is over".to_owned(),
            (TimeRuleKind::Window, true, Some(until)) => format!("is closed until {until}"),
            (TimeRuleKind::Window, false, Some(until)) => format!("is open until {until}"),
            (TimeRuleKind::Freeze, true, Some(until)) => format!("holds changes until {until}"),
            (TimeRuleKind::Freeze, false, Some(from)) => format!("begins at {from}"),
        };
        format!("{} {said}{}{}", self.label(), self.reason_text(), self.waiting_text())
    }

    fn label(&self) -> String {
        let kind = match self.kind {
            TimeRuleKind::Window => "window",
            TimeRuleKind::Freeze => "freeze",
        };
        let merchants = match self.merchants.as_slice() {
            [] => String::new(),
            names => format!(" ({})", names.join(", ")),
        };
        format!("{kind} `{}`{merchants}", self.name)
    }

    fn reason_text(&self) -> String {
        self.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default()
    }

    fn waiting_text(&self) -> String {
        if self.waiting == 0 {
            return String::new();
        }
        let waits = if self.waiting == 1 { "waits" } else { "wait" };
        format!("; {} {waits}", count_noun(self.waiting, "change"))
    }
}

/// Returns the sentences of the rules that hold changes back.
pub fn holding_sentences(rules: &[TimeRuleView]) -> impl Iterator<Item = String> {
    rules.iter().filter(|rule| rule.holds).map(TimeRuleView::sentence)
}
