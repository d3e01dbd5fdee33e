//! Merchants' events in the worlds that have them: misdelivered posts, decided before a run, and
//! forged posts that the service never sent.
//!
//! The module draws from dice of its own, so that worlds without events stay as they are.

use std::fmt;

use serde_json::{Value, json};

use super::post_office::{Detour, Misdelivery};
use crate::sandbox::state::webhook_delivery::OutgoingWebhook;
use crate::sim::actors::sandbox_control::text;
use crate::sim::world::dice::Dice;

/// Address to which the sandbox posts a merchant's events; the merchant's name is appended.
pub const GATEWAY_URL: &str = "http://127.0.0.1:8780/gateway/";
/// Label of the dice.
const DICE: u64 = 12;
/// Worlds in which events are posted, in percent of the worlds with network behaviour beyond single
/// calls.
const WORLDS: u64 = 30;
/// Posts of one run that may be misdelivered: about as many as a run has.
const POSTS: u64 = 60;
/// Posts that are misdelivered, in percent.
const MISDELIVERED_PERCENT: u64 = 40;

/// Detours of posts. Every post may be missed, since the list of events shows its event all the
/// same.
const DETOURS: &[Detour] = &[
    Detour::Doubled,
    Detour::Echoed,
    Detour::Missed,
    Detour::Late,
    Detour::Late,
    Detour::Forged,
    Detour::Forged,
    Detour::Swallowed,
];

/// Posts of merchants' events in one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventPosts {
    /// Misdelivered posts, by their number among event posts.
    pub misdelivered: Vec<Misdelivery>,
}

/// Draws the posts of a seed; some seeds have none.
pub(crate) fn draw_event_posts(seed: u64) -> Option<EventPosts> {
    let mut dice = Dice::new(seed, DICE);
    if !dice.percent(WORLDS) {
        return None;
    }
    Some(draw_posts(&mut dice))
}

/// Draws the posts of a seed that has them in any case.
pub(in crate::sim) fn draw_always(seed: u64) -> EventPosts {
    draw_posts(&mut Dice::new(seed, DICE))
}

fn draw_posts(dice: &mut Dice) -> EventPosts {
    EventPosts { misdelivered: (1..=POSTS).filter_map(|nth| draw_misdelivery(nth, dice)).collect() }
}

fn draw_misdelivery(nth: u64, dice: &mut Dice) -> Option<Misdelivery> {
    let detour = dice.pick(DETOURS).copied()?;
    let seconds = match dice.below(4) {
        0 | 1 => dice.between(1, 90),
        2 => dice.between(100, 900),
        _ => dice.between(1_800, 7_200),
    };
    dice.percent(MISDELIVERED_PERCENT).then_some(Misdelivery { nth, detour, seconds })
}

impl EventPosts {
    /// Returns the number of parts that can be removed.
    pub(crate) fn part_count(&self) -> usize {
        self.misdelivered.len().saturating_add(1)
    }

    /// Removes the `nth` part; the posting itself comes last. If `nth` is too high, nothing is
    /// removed, and `nth` is reduced by the number of parts.
    pub(crate) fn remove_part(own: &mut Option<Self>, nth: &mut usize) -> bool {
        let Some(gateway) = own else { return false };
        if *nth >= gateway.part_count() {
            *nth = nth.saturating_sub(gateway.part_count());
            return false;
        }
        if *nth < gateway.misdelivered.len() {
            gateway.misdelivered.remove(*nth);
        } else {
            *own = None;
        }
        true
    }
}

impl fmt::Display for EventPosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "events  are posted")?;
        self.misdelivered.iter().try_for_each(|misdelivery| writeln!(f, "event   {misdelivery}"))
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

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
