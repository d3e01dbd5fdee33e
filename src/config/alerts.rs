//! `notify.NAME.alerts`: the problems that a target is notified of. Written in the file itself.

use std::path::Path;

use schemars::JsonSchema;
use serde_json::Value;

use crate::config::reader::ConfigReader;
use crate::config::setting::{FromText, InvalidValue, parse_word, word_schema};
use crate::config::time_forms::WrittenValue;
use crate::model::alerts::{AlertChoices, AlertClass, RECOVERED};
use crate::spec::text::node::{Node, NodeEntry, NodeValue};

/// The word for every state.
const ALL: &str = "all";
const EXAMPLE: &str = "write `alerts: all`, or a list such as `alerts: [held, blocked, recovered]`";

/// The forms of `alerts`.
#[derive(JsonSchema)]
#[schemars(untagged, extend("title" = "`all` or list of states"))]
#[expect(dead_code, reason = "declares a schema")]
pub(crate) enum AlertsForm {
    All(WrittenValue<AllAlerts>),
    List(Vec<WrittenValue<AlertWord>>),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct AllAlerts;

impl FromText for AllAlerts {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        parse_word(text, &[(ALL, Self)]).map_err(|wrong| InvalidValue::new(wrong.message, EXAMPLE))
    }

    fn schema() -> Value {
        word_schema(&[ALL])
    }
}

/// One state: a class of problems, or the end of a reported problem.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AlertWord {
    Class(AlertClass),
    Recovered,
}

fn alert_words() -> Vec<(&'static str, AlertWord)> {
    let classes = AlertClass::ALL.into_iter();
    let classes = classes.map(|class| (class.word(), AlertWord::Class(class)));
    classes.chain([(RECOVERED, AlertWord::Recovered)]).collect()
}

impl FromText for AlertWord {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        parse_word(text, &alert_words())
    }

    fn schema() -> Value {
        let words: Vec<&str> = alert_words().into_iter().map(|(word, _)| word).collect();
        word_schema(&words)
    }
}

impl ConfigReader<'_> {
    /// Reads `alerts` of a target; without it the target takes none.
    pub(crate) fn alerts(&mut self, target: &Node) -> AlertChoices {
        let Some(entry) = target.present("alerts") else { return AlertChoices::default() };
        match &entry.value.value {
            NodeValue::Seq(items) => self.listed_alerts(entry, items),
            NodeValue::Scalar { .. } | NodeValue::Map(_) | NodeValue::Skipped => {
                let all: Option<AllAlerts> = self.written(&entry.value, EXAMPLE);
                all.map(|_| AlertChoices::all()).unwrap_or_default()
            }
        }
    }

    fn listed_alerts(&mut self, entry: &NodeEntry, items: &[Node]) -> AlertChoices {
        let mut choices = AlertChoices::default();
        for item in items {
            match self.written(item, EXAMPLE) {
                Some(AlertWord::Class(class)) => {
                    choices.classes.insert(class);
                }
                Some(AlertWord::Recovered) => choices.recovered = true,
                None => {}
            }
        }
        let is_read = items.iter().all(|item| item.text().is_some());
        if choices.is_empty() && choices.recovered && is_read && items.len() == 1 {
            let message =
                format!("`{RECOVERED}` alone has no effect: it reports the end of other states");
            self.invalid(entry.value.span.clone(), &message, EXAMPLE);
        }
        choices
    }

    /// Reads a word that no variable may hold.
    fn written<T: FromText>(&mut self, node: &Node, help: &str) -> Option<T> {
        let Some(text) = node.text() else {
            self.invalid(node.span.clone(), "the value must be a word in the file itself", help);
            return None;
        };
        let read = T::from_text(text, &self.dir);
        let wrong =
            |InvalidValue { message, help }| self.invalid(node.span.clone(), &message, &help);
        read.map_err(wrong).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::settings::Config;

    /// Reads `alerts` of a web target; returns the messages and helps of mistakes.
    fn read(alerts: &str) -> Result<AlertChoices, Vec<String>> {
        let text = format!(
            "apiVersion: reckon.dev/v1\nkind: Config\nnotify:\n  ops: {{url: https://c.example, type: chat{alerts}}}\n"
        );
        match Config::parse("reckon.yaml", Path::new("."), text.into_bytes()) {
            Ok(config) => Ok(config.notify.values().next().unwrap().alerts().clone()),
            Err(broken) => {
                let problems = broken.problems.into_iter();
                Err(problems
                    .map(|one| format!("{}: {} {}", one.line, one.message, one.help))
                    .collect())
            }
        }
    }

    #[test]
    fn a_target_without_alerts_takes_none_and_one_with_all_takes_every_class() {
        assert_eq!(read(""), Ok(AlertChoices::default()));
        assert_eq!(read(", alerts: []"), Ok(AlertChoices::default()));
        assert_eq!(read(", alerts: all"), Ok(AlertChoices::all()));
        let classes = [AlertClass::Held, AlertClass::OverLimit].into();
        let chosen = AlertChoices { classes, recovered: true };
        assert_eq!(read(", alerts: [over_limit, held, recovered]"), Ok(chosen));
        let every = "held, in_doubt, service, blocked, over_limit, drift, recovered";
        assert_eq!(read(&format!(", alerts: [{every}]")), Ok(AlertChoices::all()));
    }

    #[test]
    fn a_mail_target_takes_alerts_beside_its_mail() {
        let text = "apiVersion: reckon.dev/v1\nkind: Config\nnotify:\n  ops:\n    alerts: [drift]\n    mail: {to: \
            [a@a.example], from: f@f.example, host: s.example}\n";
        let config = Config::parse("reckon.yaml", Path::new("."), text.into()).unwrap();
        let target = config.notify.values().next().unwrap();
        assert_eq!(target.alerts().classes, [AlertClass::Drift].into());
    }

    #[test]
    fn a_wrong_word_is_reported_with_its_place_and_the_nearest_one() {
        for (alerts, expect) in [
            (", alerts: [hold]", "4: unknown value `hold` did you mean `held`?"),
            (", alerts: every", "4: unknown value `every` write `alerts: all`, or a list"),
            (", alerts: {env: ALERTS}", "4: the value must be a word in the file itself"),
            (", alerts: [{env: ALERTS}]", "4: the value must be a word in the file itself"),
            (", alerts: [recovered]", "4: `recovered` alone has no effect"),
            (", alert: all", "4: unknown key `alert` did you mean `alerts`?"),
        ] {
            let problems = read(alerts).unwrap_err();
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert!(problems[0].starts_with(expect), "{problems:?}");
        }
    }
}
