//! Parameters that the API and the page take alike: those of lists of events, and parts of all.

use crate::base::clock::{Clock, SystemClock};
use crate::base::id::{Key, KeyError};
use crate::engine::protocol::event_filter::{EventFilter, EventFilterError, EventFilterText};
use crate::engine::protocol::events::EventsWanted;

/// Parameters of a list of events, as the options of `events list`. An empty text is no filter.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EventsParameters {
    pub limit: Option<usize>,
    pub merchant: String,
    /// Types with commas between them.
    pub r#type: String,
    /// States with commas between them.
    pub status: String,
    /// Resources with commas between them.
    pub resource: String,
    pub since: String,
    pub until: String,
}

impl EventsParameters {
    /// Returns the list that these parameters select, of at most `most` events.
    ///
    /// # Errors
    /// A parameter names no merchant, type, status or resource, or is no time.
    pub fn wanted(&self, most: usize) -> Result<EventsWanted, EventFilterError> {
        let [kinds, states, resources] =
            [&self.r#type, &self.status, &self.resource].map(|text| parts(text));
        let text = EventFilterText {
            kinds: &kinds,
            states: &states,
            resources: &resources,
            since: non_empty(&self.since),
            until: non_empty(&self.until),
        };
        let filter: EventFilter = text.parse(SystemClock.now())?;
        Ok(EventsWanted { merchant: self.merchant()?, most, filter })
    }

    fn merchant(&self) -> Result<Option<Key>, EventFilterError> {
        let Some(name) = non_empty(&self.merchant) else { return Ok(None) };
        merchant_key(name).map(Some).map_err(|why| EventFilterError {
            code: "reckon::usage::key",
            message: why.to_string(),
            help: "write the name of a merchant's document: NAME, or NAMESPACE/NAME".to_owned(),
        })
    }
}

const MERCHANT_PREFIX: &str = "Merchant/";

/// Returns a merchant's name alone. A name in the form of a list, `Merchant/acme`, means the same.
pub(crate) fn merchant_name(text: &str) -> &str {
    text.strip_prefix(MERCHANT_PREFIX).unwrap_or(text)
}

/// Parses the name of a merchant's document.
///
/// # Errors
/// The text is no name.
pub(crate) fn merchant_key(text: &str) -> Result<Key, KeyError> {
    format!("{MERCHANT_PREFIX}{}", merchant_name(text)).parse()
}

/// Returns a text without the spaces around it; `None` if nothing is left.
pub(crate) fn non_empty(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}

fn parts(text: &str) -> Vec<String> {
    text.split(',').filter_map(non_empty).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_parameters_select_everything_and_commas_separate_several() {
        let all = EventsParameters::default().wanted(7).unwrap();
        assert_eq!(all, EventsWanted { most: 7, ..EventsWanted::default() });
        let some = EventsParameters {
            merchant: "Merchant/acme".to_owned(),
            r#type: "transaction.failed, transaction.voided".to_owned(),
            resource: "Invoice/jane".to_owned(),
            ..EventsParameters::default()
        };
        let wanted = some.wanted(7).unwrap();
        assert_eq!(wanted.filter.kinds, ["transaction.failed", "transaction.voided"]);
        assert_eq!(wanted.filter.resources, ["Invoice/jane".parse().unwrap()]);
        assert_eq!(wanted.merchant, Some("Merchant/acme".parse().unwrap()));
        let wrong = EventsParameters { merchant: "no name".to_owned(), ..some };
        assert_eq!(wrong.wanted(7).unwrap_err().code, "reckon::usage::key");
    }
}
