//! Conditions of a list of events, as values and as the text that people and programs write.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::parse_moment;
use crate::base::id::Key;
use crate::base::wording::suggestion_help;
use crate::scripting::language::names::EVENTS;

/// State of an event: of its verification, or of its hooks once it is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum EventState {
    /// A hook failed for good, and waits for a person.
    Failed,
    /// A hook failed, and will be run again.
    Retrying,
    /// An action ended without being done, and no person has acknowledged it.
    NotDone,
    /// An action is not settled yet.
    Acting,
    /// A script has yet to handle it, or a person requested a run.
    ToRun,
    /// Every requested action is settled.
    Done,
    /// No script requested an action.
    NoAction,
    /// It was posted, and waits to be verified.
    NotVerified,
    /// It was posted, and the service does not have it.
    Forged,
}

impl EventState {
    /// Returns the words that a filter takes.
    fn words() -> impl Iterator<Item = String> {
        let all = <Self as clap::ValueEnum>::value_variants().iter();
        all.filter_map(|state| {
            Some(clap::ValueEnum::to_possible_value(state)?.get_name().to_owned())
        })
    }
}

/// Conditions of a list of events; an empty one permits every event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EventFilter {
    /// Types, such as `transaction.failed`, or their first words, such as `transaction`.
    pub kinds: Vec<String>,
    pub states: Vec<EventState>,
    /// Resources, one of which the event concerns.
    pub resources: Vec<Key>,
    /// Earliest time of the event, by the service's clock.
    pub since: Option<DateTime<Utc>>,
    /// Latest time of the event, by the service's clock.
    pub until: Option<DateTime<Utc>>,
}

impl EventFilter {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub fn permits_kind(&self, kind: &str) -> bool {
        let is_below = |wanted: &str| {
            kind.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.kinds.is_empty() || self.kinds.iter().any(|wanted| is_below(wanted))
    }

    pub fn permits_resources(&self, about: &[Key]) -> bool {
        self.resources.is_empty() || self.resources.iter().any(|wanted| about.contains(wanted))
    }

    pub fn permits_time(&self, at: DateTime<Utc>) -> bool {
        self.since.is_none_or(|since| at >= since) && self.until.is_none_or(|until| at <= until)
    }

    pub fn permits_state(&self, state: EventState) -> bool {
        self.states.is_empty() || self.states.contains(&state)
    }
}

/// The parts of a filter that people and programs write as text.
#[derive(Debug, Clone, Copy, Default)]
pub struct EventFilterText<'a> {
    pub kinds: &'a [String],
    pub states: &'a [String],
    /// Resources: KIND/NAME, or KIND/NAMESPACE/NAME.
    pub resources: &'a [String],
    /// A moment, a date, or a time before now such as `7d`.
    pub since: Option<&'a str>,
    pub until: Option<&'a str>,
}

/// A part of a filter that is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EventFilterError {
    pub code: &'static str,
    pub message: String,
    pub help: String,
}

impl EventFilterText<'_> {
    /// Returns the filter; times are relative to `now`.
    ///
    /// # Errors
    /// A text names no type, status or resource, or is no time.
    pub fn parse(&self, now: DateTime<Utc>) -> Result<EventFilter, EventFilterError> {
        let Self { kinds, states, resources, since, until } = *self;
        let time = |text: &str| parse_time(text, now);
        Ok(EventFilter {
            kinds: kinds.iter().map(|kind| parse_kind(kind)).collect::<Result<_, _>>()?,
            states: states.iter().map(|state| parse_state(state)).collect::<Result<_, _>>()?,
            resources: resources.iter().map(|key| parse_key(key)).collect::<Result<_, _>>()?,
            since: since.map(time).transpose()?,
            until: until.map(time).transpose()?,
        })
    }
}

fn parse_kind(kind: &str) -> Result<String, EventFilterError> {
    let names = EVENTS.iter().map(|row| row.name);
    let wanted = EventFilter { kinds: vec![kind.to_owned()], ..EventFilter::default() };
    if names.clone().any(|name| wanted.permits_kind(name)) {
        return Ok(kind.to_owned());
    }
    let (code, message) = ("reckon::events::type", format!("there is no event type {kind}"));
    Err(EventFilterError { code, message, help: suggestion_help(kind, names) })
}

fn parse_state(text: &str) -> Result<EventState, EventFilterError> {
    let plain = text.replace('_', "-");
    <EventState as clap::ValueEnum>::from_str(&plain, true).map_err(|_| {
        let names: Vec<String> = EventState::words().collect();
        let message = format!("there is no event status {text}");
        let help = suggestion_help(text, names.iter().map(String::as_str));
        EventFilterError { code: "reckon::events::status", message, help }
    })
}

fn parse_key(text: &str) -> Result<Key, EventFilterError> {
    text.parse::<Key>().map_err(|why| EventFilterError {
        code: "reckon::usage::key",
        message: why.to_string(),
        help: "write KIND/NAME or KIND/NAMESPACE/NAME".to_owned(),
    })
}

fn parse_time(text: &str, now: DateTime<Utc>) -> Result<DateTime<Utc>, EventFilterError> {
    let moment = parse_moment(text, |time| now.checked_sub_signed(time));
    moment.ok_or_else(|| EventFilterError {
        code: "reckon::since",
        message: format!("{text:?} is not a time"),
        help: "write a moment such as 2026-11-30T12:00:00Z, a date, or a time before now: 90m, \
            12h, 7d, 2w"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(
        kinds: &[&str],
        states: &[&str],
        since: Option<&str>,
    ) -> Result<EventFilter, EventFilterError> {
        let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (kinds, states) = (owned(kinds), owned(states));
        let text =
            EventFilterText { kinds: &kinds, states: &states, since, ..EventFilterText::default() };
        text.parse("2026-11-21T12:00:00Z".parse().unwrap())
    }

    #[test]
    fn a_type_is_whole_or_its_first_words() {
        let filter = parse(&["recurring_charge.occurrence", "refund"], &[], None);
        assert!(filter.unwrap_err().help.contains("write one of"));
        let filter = parse(&["recurring_charge.occurrence"], &[], None).unwrap();
        assert!(filter.permits_kind("recurring_charge.occurrence.paid"));
        assert!(!filter.permits_kind("recurring_charge.created"));
        let mistyped = parse(&["transaction.fialed"], &[], None).unwrap_err();
        assert_eq!(mistyped.help, "did you mean `transaction.failed`?");
    }

    #[test]
    fn a_status_is_written_with_a_hyphen_or_an_underscore() {
        let filter = parse(&[], &["not-done", "not_verified"], None).unwrap();
        assert_eq!(filter.states, [EventState::NotDone, EventState::NotVerified]);
        assert!(
            filter.permits_state(EventState::NotDone) && !filter.permits_state(EventState::Done)
        );
        assert_eq!(parse(&[], &["faild"], None).unwrap_err().help, "did you mean `failed`?");
    }

    #[test]
    fn times_include_their_ends() {
        let filter = parse(&[], &[], Some("1d")).unwrap();
        let at = |text: &str| filter.permits_time(text.parse().unwrap());
        assert!(at("2026-11-20T12:00:00Z") && !at("2026-11-20T11:59:59Z"));
        assert_eq!(parse(&[], &[], Some("soon")).unwrap_err().code, "reckon::since");
    }
}
