//! Events of the service: its record of changes (gateway-api, Event), and its webhooks to the
//! partner (partner-api, Events).
//!
//! Parsing a webhook accepts everything but JSON that is no object. It ignores an unknown type, a
//! field of another form and undocumented fields, because the service repeats a refused webhook 25
//! times. No signature protects the body: it is a hint, never a proof.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use serde_with::skip_serializing_none;

use crate::api::call::ParameterType::Moment;
use crate::api::call::{PAGE, PAGE_SIZE, Page, Parameter, endpoints, objects};
use crate::api::onboarding::application::ApplicationId;
use crate::api::wire::{self, Timestamp, words};
use crate::base::secret::Secret;

objects! {
    /// One change of an object.
    pub struct Event {
        /// 22 characters.
        pub id: String,
        /// Time of the change.
        pub created: Option<Timestamp>,
        /// Such as `transaction.authorized`.
        #[serde(rename = "type")]
        pub kind: String,
        /// The changed record, masked.
        pub data: Option<Value>,
    }
}

const START: Parameter =
    Parameter::new("start_date", Moment, "events from this time on, oldest first");

endpoints! {
    /// Lists events: newest first, or from `start_date` in rising order (service-facts, 75).
    ListEvents "event.list": Get Base "/v1/events" by SecretKey,
        () => Page<Event>, [PAGE, PAGE_SIZE, START];
    /// Reads one event again.
    GetEvent "event.get": Get Base "/v1/events/{id}" by SecretKey, () => Event;
}

words! {
    /// Type of a partner event.
    PartnerEventType {
        /// An application was approved and its merchant created.
        Provisioned = "merchant.provisioned",
        /// An application was denied.
        Declined = "merchant_application.declined",
    }

    /// Reason for a denied application; the service discloses no more.
    DeclineReason {
        /// The same applicant applied before.
        DuplicateApplication = "duplicate_application",
        /// The merchant exists already.
        DuplicateMerchant = "duplicate_merchant",
        /// Any other reason.
        Unexplained = "other",
    }
}

/// The body of a webhook.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Notification {
    /// The events, in no order.
    pub events: Vec<PartnerEvent>,
}

/// One event.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PartnerEvent {
    /// Type of the event.
    #[serde(rename = "type")]
    pub kind: PartnerEventType,
    /// Reason for a denied application; the service sends it beside the data.
    pub reason: Option<DeclineReason>,
    pub data: PartnerEventData,
}

/// Subject of an event.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PartnerEventData {
    /// The code to exchange for the new merchant's token.
    #[serde(serialize_with = "wire::serialize_exposed")]
    pub auth_code: Option<Secret>,
    /// The application's number.
    pub id: Option<ApplicationId>,
    /// The partner's own name of the application.
    pub reference: Option<String>,
}

impl PartnerEvent {
    /// Makes the event of an approved application.
    pub fn new_provisioned(reference: &str, auth_code: Secret) -> Self {
        let reference = Some(reference.to_owned());
        let data = PartnerEventData { auth_code: Some(auth_code), id: None, reference };
        Self { kind: PartnerEventType::Provisioned, reason: None, data }
    }

    /// Makes the event of a denied application.
    pub fn new_declined(reference: &str, id: ApplicationId, reason: DeclineReason) -> Self {
        let reference = Some(reference.to_owned());
        let data = PartnerEventData { auth_code: None, id: Some(id), reference };
        Self { kind: PartnerEventType::Declined, reason: Some(reason), data }
    }

    fn read(event: &Map<String, Value>) -> Self {
        let text = |name: &str| event.get(name).and_then(Value::as_str);
        let data = event.get("data").and_then(Value::as_object);
        Self {
            kind: text("type").unwrap_or_default().into(),
            reason: text("reason").map(DeclineReason::from),
            data: data.map(PartnerEventData::read).unwrap_or_default(),
        }
    }
}

impl PartnerEventData {
    fn read(data: &Map<String, Value>) -> Self {
        let text = |name: &str| data.get(name).and_then(Value::as_str);
        Self {
            auth_code: text("auth_code").map(Secret::from),
            id: data.get("id").and_then(ApplicationId::read),
            reference: text("reference").map(str::to_owned),
        }
    }
}

impl<'de> Deserialize<'de> for PartnerEvent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self::read(&Map::deserialize(from)?))
    }
}

impl<'de> Deserialize<'de> for Notification {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let body: Map<String, Value> = Map::deserialize(from)?;
        let events = body.get("events").and_then(Value::as_array);
        let events = events.into_iter().flatten().filter_map(Value::as_object);
        Ok(Self { events: events.map(PartnerEvent::read).collect() })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_events_are_written_as_the_reference_shapes_them() {
        let body = Notification {
            events: vec![
                PartnerEvent::new_provisioned("rk1", Secret::from("code")),
                PartnerEvent::new_declined(
                    "rk2",
                    ApplicationId(7),
                    DeclineReason::DuplicateMerchant,
                ),
            ],
        };
        let written = json!({"events": [
            {"type": "merchant.provisioned", "data": {"auth_code": "code", "reference": "rk1"}},
            {"type": "merchant_application.declined", "reason": "duplicate_merchant",
                "data": {"id": 7, "reference": "rk2"}},
        ]});
        assert_eq!(serde_json::to_value(&body).unwrap(), written);
        assert_eq!(serde_json::from_value::<Notification>(written).unwrap(), body);
        assert!(!format!("{body:?}").contains("code\""), "{body:?}");
    }

    #[test]
    fn what_is_not_known_is_passed_over() {
        let body = json!({"version": 2, "events": [
            7, null,
            {"type": "merchant.renamed", "data": ["x"], "reason": {}},
            {"type": "merchant_application.declined", "reason": "too_new", "more": 1,
                "data": {"id": "0042", "reference": "r", "extra": {}}},
            {},
        ]});
        let read: Notification = serde_json::from_value(body).unwrap();
        assert_eq!(read.events.len(), 3);
        assert_eq!(read.events[0].kind, PartnerEventType::Other("merchant.renamed".to_owned()));
        assert_eq!(read.events[0].data, PartnerEventData::default());
        assert_eq!(read.events[1].data.id, Some(ApplicationId(42)));
        assert_eq!(read.events[1].reason, Some(DeclineReason::Other("too_new".to_owned())));
        assert_eq!(serde_json::from_value::<Notification>(json!({})).unwrap().events, []);
        assert!(serde_json::from_value::<Notification>(json!([])).is_err());
    }
}
