//! Merchants' events in the worlds that have them: misdelivered posts, decided before a run, and
//! forged posts that the service never sent.
//!
//! The module draws from dice of its own, so that worlds without events stay as they are.

use std::fmt;

use serde_json::{Value, json};

use super::post::{Detour, Stray};
use crate::sandbox::Notice;
use crate::sim::desk::text;
use crate::sim::dice::Dice;

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
const ASTRAY: u64 = 40;

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
pub struct Gateway {
    /// Misdelivered posts, by their number among event posts.
    pub strays: Vec<Stray>,
}

/// Draws the posts of a seed; some seeds have none.
pub(super) fn gateway(seed: u64) -> Option<Gateway> {
    let mut dice = Dice::new(seed, DICE);
    if !dice.percent(WORLDS) {
        return None;
    }
    Some(posts(&mut dice))
}

/// Draws the posts of a seed that has them in any case.
pub(in crate::sim) fn always(seed: u64) -> Gateway {
    posts(&mut Dice::new(seed, DICE))
}

fn posts(dice: &mut Dice) -> Gateway {
    Gateway { strays: (1..=POSTS).filter_map(|nth| stray(nth, dice)).collect() }
}

fn stray(nth: u64, dice: &mut Dice) -> Option<Stray> {
    let detour = dice.pick(DETOURS).copied()?;
    let seconds = match dice.below(4) {
        0 | 1 => dice.between(1, 90),
        2 => dice.between(100, 900),
        _ => dice.between(1_800, 7_200),
    };
    dice.percent(ASTRAY).then_some(Stray { nth, detour, seconds })
}

impl Gateway {
    /// Returns the number of parts that can be removed.
    pub(super) fn cuts(&self) -> usize {
        self.strays.len().saturating_add(1)
    }

    /// Removes the `nth` part; the posting itself comes last. If `nth` is too high, nothing is
    /// removed, and `nth` is reduced by the number of parts.
    pub(super) fn cut(own: &mut Option<Self>, nth: &mut usize) -> bool {
        let Some(gateway) = own else { return false };
        if *nth >= gateway.cuts() {
            *nth = nth.saturating_sub(gateway.cuts());
            return false;
        }
        if *nth < gateway.strays.len() {
            gateway.strays.remove(*nth);
        } else {
            *own = None;
        }
        true
    }
}

impl fmt::Display for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "events  are posted")?;
        self.strays.iter().try_for_each(|stray| writeln!(f, "event   {stray}"))
    }
}

/// Returns posts that the service never sent to this address: an unknown event, another merchant's
/// event, this event with other content, and malformed JSON.
pub(super) fn forgeries(letter: &Notice, earlier: &[Notice]) -> Vec<Notice> {
    let event: Value = serde_json::from_slice(&letter.body).unwrap_or_default();
    let with = |body: Vec<u8>| Notice { url: letter.url.clone(), body };
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

    fn letter(merchant: &str, id: &str) -> Notice {
        let event = json!({"id": id, "type": "transaction.created", "created": "2027-01-15T08:00:00.000Z",
            "data": {"id": "t1", "status": "PENDING", "amount": 700}});
        Notice { url: format!("{GATEWAY_URL}{merchant}"), body: event.to_string().into_bytes() }
    }

    #[test]
    fn forged_posts_come_to_the_address_of_the_real_one_and_are_none_of_its_own() {
        let (own, theirs) = (letter("m0", "abc"), letter("m1", "xyz"));
        let forged = forgeries(&own, &[own.clone(), theirs.clone()]);
        assert!(forged.iter().all(|one| one.url == own.url && one.body != own.body));
        let said = |one: &Notice| serde_json::from_slice::<Value>(&one.body).unwrap_or_default();
        let ids: Vec<String> = forged.iter().map(|one| text(&said(one), "id").to_owned()).collect();
        assert_eq!(ids, ["cba", "", "xyz", "abc"]);
        let last = said(forged.last().unwrap());
        let told = |path: &str| last.pointer(path).cloned().unwrap_or_default();
        assert_eq!((told("/data/status"), told("/data/amount")), (json!("VOIDED"), json!(701)));
        assert_eq!(forged[2].body, theirs.body);
    }
}
