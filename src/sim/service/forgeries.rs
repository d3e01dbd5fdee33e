//! Forged webhooks and event posts, which the service never sent.

use serde_json::{Value, json};

use super::control::{EVENT_URL, text};
use crate::sandbox::webhooks::OutgoingWebhook;

/// Returns posts that the service never sent to this address: an unknown event, another merchant's
/// event, this event with other content, and malformed JSON.
pub(crate) fn forged_posts(
    letter: &OutgoingWebhook,
    earlier: &[OutgoingWebhook],
) -> Vec<OutgoingWebhook> {
    let event: Value = serde_json::from_slice(&letter.body).unwrap_or_default();
    let with = |body: Vec<u8>| OutgoingWebhook { url: letter.url.clone(), body };
    let mut unknown = event.clone();
    let id: String = text(&event, "id").chars().rev().collect();
    put(&mut unknown, "id", json!(id));
    let mut all = vec![with(unknown.to_string().into_bytes()), with(b"{".to_vec())];
    let theirs = earlier.iter().rev().find(|one| one.url != letter.url);
    all.extend(theirs.map(|one| with(one.body.clone())));
    let mut other = event;
    if let Some(data) = other.get_mut("data") {
        let amount = data.get("amount").and_then(Value::as_i64);
        put(data, "status", json!("VOIDED"));
        put(data, "amount", json!(amount.unwrap_or(0).saturating_add(1)));
    }
    all.push(with(other.to_string().into_bytes()));
    all
}

fn put(object: &mut Value, field: &str, value: Value) {
    if let Some(object) = object.as_object_mut() {
        object.insert(field.to_owned(), value);
    }
}

/// A code that was never issued.
pub const FORGED: &str = "forged-code";

/// Returns webhooks that the service never sent: one with an unknown reference, ones whose path and
/// content differ, and one of an event without meaning.
pub(crate) fn forged_webhooks(letter: &OutgoingWebhook) -> Vec<OutgoingWebhook> {
    let approval = |reference: &str| {
        let data = json!({"auth_code": FORGED, "reference": reference});
        json!({"type": "merchant.provisioned", "data": data})
    };
    let of = |url: String, event: Value| OutgoingWebhook {
        url,
        body: json!({"events": [event]}).to_string().into_bytes(),
    };
    let reference = letter.url.strip_prefix(EVENT_URL).unwrap_or_default();
    let asks = json!({"type": "merchant_application.information_needed",
        "data": {"reference": reference, "auth_code": FORGED}});
    vec![
        of(format!("{EVENT_URL}rk000"), approval("rk000")),
        of(format!("{EVENT_URL}rk000"), approval(reference)),
        of(letter.url.clone(), approval("rk000")),
        of(letter.url.clone(), asks),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::service::control::GATEWAY_URL;

    fn letter(merchant: &str, id: &str) -> OutgoingWebhook {
        let event = json!({"id": id, "type": "transaction.created", "created": "2027-01-15T08:00:00.000Z",
            "data": {"id": "t1", "status": "PENDING", "amount": 700}});
        OutgoingWebhook {
            url: format!("{GATEWAY_URL}{merchant}"),
            body: event.to_string().into_bytes(),
        }
    }

    #[test]
    fn forged_posts_come_to_the_address_of_the_real_one_and_are_none_of_its_own() {
        let (own, theirs) = (letter("m0", "abc"), letter("m1", "xyz"));
        let forged = forged_posts(&own, &[own.clone(), theirs.clone()]);
        assert!(forged.iter().all(|one| one.url == own.url && one.body != own.body));
        let said =
            |one: &OutgoingWebhook| serde_json::from_slice::<Value>(&one.body).unwrap_or_default();
        let ids: Vec<String> = forged.iter().map(|one| text(&said(one), "id").to_owned()).collect();
        assert_eq!(ids, ["cba", "", "xyz", "abc"]);
        let last = said(forged.last().unwrap());
        let told = |path: &str| last.pointer(path).cloned().unwrap_or_default();
        assert_eq!((told("/data/status"), told("/data/amount")), (json!("VOIDED"), json!(701)));
        assert_eq!(forged[2].body, theirs.body);
    }
}
