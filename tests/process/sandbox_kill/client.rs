//! A client that sends requests without a pause until the sandbox is gone.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use crate::connection::Connection;
use crate::random::Random;
use crate::sandbox_kill::ask::{ApiRequest, Keys, send};

/// An answered object, with the kind as `/_sandbox/objects/KIND` calls it.
#[derive(Clone)]
pub(crate) struct Answered {
    pub(crate) kind: &'static str,
    pub(crate) object: Value,
}

/// Kind of the answer when a client advances the clock; its object is the time.
pub(crate) const CLOCK: &str = "clock";

/// Sends random requests for new objects and for `known` ones, and passes on what was answered.
pub(crate) async fn run(
    address: SocketAddr,
    keys: Keys,
    mut random: Random,
    mut known: Vec<Answered>,
    sender: UnboundedSender<Answered>,
) {
    let mut connection = Connection::new(address);
    loop {
        let (kind, next_request) = next_request(&keys, &mut random, &known);
        let Ok((status, text)) = send(&mut connection, address, &next_request).await else {
            return;
        };
        let object = serde_json::from_str(&text).unwrap();
        let Some(object) = kept(status, object, &next_request.path) else { continue };
        let answered = Answered { kind, object };
        known.push(answered.clone());
        if sender.send(answered).is_err() {
            return;
        }
    }
}

/// Returns what must exist after an answer: its object, or the transaction that a decline left. A refusal leaves
/// nothing.
fn kept(status: u16, object: Value, path: &str) -> Option<Value> {
    match status {
        200 => Some(object),
        422 => {
            let id = object["messages"][0].get("entity_id")?;
            Some(json!({"id": id, "status": "FAILED"}))
        }
        other => panic!("{path}: {other} {object}"),
    }
}

/// Returns the next request, and the kind of the object in its answer.
fn next_request(
    keys: &Keys,
    random: &mut Random,
    known: &[Answered],
) -> (&'static str, ApiRequest) {
    let gateway = |path: &str, body: Value| ApiRequest {
        method: "POST",
        path: path.to_owned(),
        auth: keys.basic.clone(),
        body,
    };
    let one = one_of("transactions", random, known);
    match (random.below(24), one) {
        (0, _) => {
            let path = "/_sandbox/clock".to_owned();
            let body = json!({"advance": "P1D"});
            (CLOCK, ApiRequest { method: "POST", path, auth: String::new(), body })
        }
        (1..3, _) => {
            let auth = keys.bearer.clone();
            let body = json!({"first_name": "Jane", "last_name": format!("Doe {}", random.below(99)),
                "email_addresses": [{"address": "jane@example.com"}], "type": "person"});
            ("contacts", ApiRequest { method: "POST", path: "/contacts".to_owned(), auth, body })
        }
        (3..6, _) => ("cards", gateway("/v1/cards", card(random))),
        (6..8, _) => ("recurring_charges", gateway("/v1/recurring/charges", recurring(random))),
        (8..10, _) => ("transactions", gateway("/v1/charges", recurring_at_once(random))),
        (10..15, Some(one)) => {
            let body = json!({"amount": amount(random)});
            ("transactions", gateway(&format!("/v1/charges/{}/refund", id(one)), body))
        }
        (15..17, Some(one)) => {
            ("transactions", gateway(&format!("/v1/transactions/{}/void", id(one)), Value::Null))
        }
        (_, _) => ("transactions", gateway("/v1/charges", charge(random, known))),
    }
}

fn one_of<'a>(kind: &str, random: &mut Random, known: &'a [Answered]) -> Option<&'a Answered> {
    let all: Vec<&Answered> = known.iter().filter(|one| one.kind == kind && is_open(one)).collect();
    let at = random.below(u64::try_from(all.len()).unwrap());
    all.get(usize::try_from(at).unwrap()).copied()
}

/// Charges that can be refunded, all transactions that can be voided, and all other objects.
fn is_open(one: &Answered) -> bool {
    one.object.get("type").is_none_or(|kind| kind != "REFUND") && one.object["status"] != "FAILED"
}

fn id(one: &Answered) -> &str {
    one.object["id"].as_str().unwrap()
}

fn amount(random: &mut Random) -> u64 {
    random.below(5_000) + 1
}

/// Returns a card; one in five is declined when it is charged.
fn card(random: &mut Random) -> Value {
    let number = if random.below(5) == 0 { "4000000000000002" } else { "4242424242424242" };
    json!({"type": "card", "number": number, "exp_month": 10, "exp_year": 2090, "name": "Jane Doe",
        "postal_code": "62701", "address1": "1 Main Street"})
}

fn bank() -> Value {
    json!({"type": "bank", "routing_number": "000000013", "account_number": "1234567890",
        "account_type": "CHECKING", "account_holder_type": "business", "name": "Acme"})
}

/// Returns a charge of a card, a saved card or a bank account; some are holds.
fn charge(random: &mut Random, known: &[Answered]) -> Value {
    let saved = one_of("cards", random, known).map(|one| one.object["id"].clone());
    let (choice, amount) = (random.below(6), amount(random));
    match (choice, saved) {
        (0, _) => json!({"amount": amount, "method": card(random), "auto_capture": false}),
        (1 | 2, _) => json!({"amount": amount, "method": bank(), "reference": "by check"}),
        (3 | 4, Some(saved)) => json!({"amount": amount, "method": saved}),
        (_, _) => json!({"amount": amount, "method": card(random)}),
    }
}

fn recurring_at_once(random: &mut Random) -> Value {
    let recur = json!({"interval_unit": "WEEK", "interval_delay": 1, "amount": amount(random)});
    json!({"amount": amount(random), "method": card(random), "recur": recur})
}

fn recurring(random: &mut Random) -> Value {
    let schedule = json!({"start": "2020-01-31", "interval_unit": "DAY", "interval_delay": 2});
    json!({"amount": amount(random), "method": card(random), "schedule": schedule})
}
