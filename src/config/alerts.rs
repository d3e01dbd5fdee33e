//! `notify.NAME.alerts`: the states of the daemon that a target is told. Written in the file itself.

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

/// One state: a class of problems, or the end of a problem that was told.
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
            let message = format!("`{RECOVERED}` alone tells nothing: no problem is told before");
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
