//! The gateway's events over HTTP: a list that parameters select.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;

use crate::base::clock::{Clock, SystemClock};
use crate::base::id::Key;
use crate::engine::protocol::event_filter::{EventFilter, EventFilterError, EventFilterText};
use crate::engine::protocol::events::EventsWanted;
use crate::engine::protocol::query::EventsQuery;
use crate::http::private::answer::{self, AppState, ok};

/// Events in an answer by default, and at most.
const EVENTS_SHOWN: usize = 50;
const EVENTS_SHOWN_MAX: usize = 1000;

const HELP: &str =
    "send merchant, type, status, resource (several with commas), since, until or limit";

/// Parameters of a list of events, as the options of `events list`. An empty text is no filter.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
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
    /// Returns the filter of these parameters, without the merchant.
    ///
    /// # Errors
    /// A parameter names no type, status or resource, or is no time.
    pub fn filter(&self) -> Result<EventFilter, EventFilterError> {
        let list = |text: &str| -> Vec<String> {
            let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
            parts.map(str::to_owned).collect()
        };
        let [kinds, states, resources] =
            [&self.r#type, &self.status, &self.resource].map(|text| list(text));
        let time = |text: &'_ str| (!text.trim().is_empty()).then(|| text.trim().to_owned());
        let (since, until) = (time(&self.since), time(&self.until));
        let text = EventFilterText {
            kinds: &kinds,
            states: &states,
            resources: &resources,
            since: since.as_deref(),
            until: until.as_deref(),
        };
        text.parse(SystemClock.now())
    }

    fn merchant(&self) -> Result<Option<Key>, String> {
        let name = Some(self.merchant.trim()).filter(|name| !name.is_empty());
        let key = name.map(|name| format!("Merchant/{name}").parse::<Key>()).transpose();
        key.map_err(|why| why.to_string())
    }
}

/// Answers the gateway's events, newest first, and the status of their receiver.
pub(super) async fn list(
    State(door): State<AppState>,
    asked: Result<Query<EventsParameters>, QueryRejection>,
) -> Response {
    let asked = match asked {
        Ok(Query(asked)) => asked,
        Err(why) => return answer::bad_request(why.body_text(), HELP),
    };
    let merchant = match asked.merchant() {
        Ok(merchant) => merchant,
        Err(why) => return answer::bad_key(&why),
    };
    let filter = match asked.filter() {
        Ok(filter) => filter,
        Err(why) => return answer::bad_request(why.message, &why.help),
    };
    let most = asked.limit.unwrap_or(EVENTS_SHOWN).min(EVENTS_SHOWN_MAX);
    door.respond(EventsQuery(EventsWanted { merchant, most, filter }), |events| ok(&events)).await
}
