//! The service's record of changes (gateway-api, Event).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::{Auth, Endpoint, Host, Method};
use super::query::Page;
use crate::api::query::{PAGE, PAGE_SIZE, Parameter, ParameterType};
use crate::api::wire::Timestamp;

/// One change of an object.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Event {
    /// 22 characters.
    pub id: String,
    /// Time of the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Timestamp>,
    /// Such as `transaction.authorized`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The changed record, masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<serde_json::Value>,
}

const START: Parameter =
    Parameter::new("start_date", ParameterType::Moment, "events from this time on, oldest first");

/// Lists events: newest first, or from `start_date` in rising order (service-facts, 75).
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct ListEvents;

impl Endpoint for ListEvents {
    const NAME: &'static str = "event.list";
    const METHOD: Method = Method::Get;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/events";
    const AUTH: Auth = Auth::SecretKey;
    const QUERY: &'static [Parameter] = &[PAGE, PAGE_SIZE, START];
    type Request = ();
    type Reply = Page<Event>;
}

/// Reads one event again.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct GetEvent;

impl Endpoint for GetEvent {
    const NAME: &'static str = "event.get";
    const METHOD: Method = Method::Get;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/events/{id}";
    const AUTH: Auth = Auth::SecretKey;
    type Request = ();
    type Reply = Event;
}
