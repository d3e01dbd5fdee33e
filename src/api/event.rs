//! The service's record of changes (gateway-api, Event).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::call::endpoints;
use super::query::Page;
use crate::api::query::{PAGE, PAGE_SIZE, Parameter, ParameterType};
use crate::api::wire::Timestamp;

/// One change of an object.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Event {
    /// 22 characters.
    pub id: String,
    /// Time of the change.
    pub created: Option<Timestamp>,
    /// Such as `transaction.authorized`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The changed record, masked.
    pub data: Option<serde_json::Value>,
}

const START: Parameter =
    Parameter::new("start_date", ParameterType::Moment, "events from this time on, oldest first");

endpoints! {
    /// Lists events: newest first, or from `start_date` in rising order (service-facts, 75).
    ListEvents "event.list": Get Base "/v1/events" by SecretKey,
        () => Page<Event>, [PAGE, PAGE_SIZE, START];
    /// Reads one event again.
    GetEvent "event.get": Get Base "/v1/events/{id}" by SecretKey, () => Event;
}
