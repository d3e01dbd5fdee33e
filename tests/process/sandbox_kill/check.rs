//! Invariants of a sandbox that was killed and started again.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use serde_json::Value;

use crate::sandbox_kill::ask::{Caller, Keys};
use crate::sandbox_kill::client::{Answered, CLOCK};

/// Kinds that the checks read.
const KINDS: [&str; 6] =
    ["contacts", "cards", "transactions", "recurring_charges", "occurrences", "events"];

/// Fields that may differ from the answer, since a later change may have set them.
const MAY_CHANGE: [&str; 8] = [
    "status",
    "modified",
    "amount_refunded",
    "refunds",
    "occurrences",
    "next_payment",
    "total_amount",
    "total_occurrences",
];

/// Everything that a sandbox holds, by kind and id.
struct House {
    objects: BTreeMap<&'static str, BTreeMap<String, Value>>,
}

/// Reads and checks everything. Objects in `lately` are also read by their own path.
pub(crate) async fn whole(
    address: SocketAddr,
    keys: &Keys,
    answered: &[Answered],
    lately: &[Answered],
) {
    let mut caller = Caller::new(address);
    let house = House::read(&mut caller).await;
    let now = caller.get("/_sandbox/clock", "").await;
    for one in answered {
        match one.kind {
            CLOCK => assert!(word(&now, "now") >= word(&one.object, "now"), "time went back"),
            kind => same(&one.object, house.get(kind, &one.object["id"])),
        }
    }
    for one in lately {
        let Some(folder) = own_path(one.kind) else { continue };
        let path = format!("{folder}/{}", one.object["id"].as_str().unwrap());
        same(&one.object, &caller.get(&path, &keys.basic).await);
    }
    house.transactions_have_their_events();
    house.refunds_add_up();
    house.recurring_charges_are_in_step();
    house.lists_are_complete(&mut caller, keys).await;
    house.ledger_follows_events(&caller.get("/_sandbox/ledger", "").await);
}

/// Returns the path under which one object of a kind is read.
fn own_path(kind: &str) -> Option<&'static str> {
    match kind {
        "transactions" => Some("/v1/transactions"),
        "cards" => Some("/v1/cards"),
        "recurring_charges" => Some("/v1/recurring/charges"),
        _ => None,
    }
}

/// Asserts that an object is as it was answered. A void or a decline is final.
fn same(answer: &Value, now: &Value) {
    for (name, value) in answer.as_object().unwrap() {
        let is_final = name == "status" && ["VOIDED", "FAILED"].iter().any(|word| value == word);
        if is_final || !MAY_CHANGE.contains(&name.as_str()) {
            assert_eq!(now.get(name), Some(value), "{name} of {answer} has changed: {now}");
        }
    }
}

fn number(object: &Value, name: &str) -> i64 {
    object[name].as_i64().unwrap_or(0)
}

fn word<'a>(object: &'a Value, name: &str) -> &'a str {
    object[name].as_str().unwrap_or_default()
}

impl House {
    async fn read(caller: &mut Caller) -> Self {
        let mut objects = BTreeMap::new();
        for kind in KINDS {
            let lines = caller.text(&format!("/_sandbox/objects/{kind}"), "").await;
            let all = lines.lines().map(|line| {
                let object: Value = serde_json::from_str(line).unwrap();
                (word(&object, "id").to_owned(), object)
            });
            objects.insert(kind, all.collect());
        }
        Self { objects }
    }

    fn all(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.objects[kind].values()
    }

    fn get(&self, kind: &str, id: &Value) -> &Value {
        let found = id.as_str().and_then(|id| self.objects[kind].get(id));
        found.unwrap_or_else(|| panic!("{kind} {id} was answered and is missing"))
    }

    /// Returns the types of the events of each object, by its id, in no order.
    fn event_types(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut event_types: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for event in self.all("events") {
            event_types.entry(word(&event["data"], "id")).or_default().push(word(event, "type"));
        }
        event_types
    }

    /// Asserts that every status has exactly one event.
    fn transactions_have_their_events(&self) {
        let event_types = self.event_types();
        for one in self.all("transactions") {
            let of = event_types.get(word(one, "id")).map_or(&[][..], Vec::as_slice);
            let times = |name: &str| {
                let name = format!("transaction.{name}");
                of.iter().filter(|kind| **kind == name).count()
            };
            let changes = ["authorized", "completed", "voided", "failed"].map(times);
            let fits = match word(one, "status") {
                "PENDING" => changes == [0, 0, 0, 0] && times("pending_parent_settlement") == 1,
                "AUTHORIZED" => changes == [1, 0, 0, 0],
                "COMPLETED" => changes == [1, 1, 0, 0],
                "VOIDED" => changes[0] <= 1 && changes[1..] == [0, 1, 0],
                "FAILED" => changes == [0, 0, 0, 1],
                _ => false,
            };
            assert!(fits && times("created") == 1, "the events {of:?} do not fit {one}");
        }
    }

    /// Asserts that a charge counts its refunds, without those that were voided or failed.
    fn refunds_add_up(&self) {
        let mut sums: BTreeMap<&str, i64> = BTreeMap::new();
        for refund in self.all("transactions").filter(|one| one["type"] == "REFUND") {
            let counts = !["VOIDED", "FAILED"].contains(&word(refund, "status"));
            let sum = sums.entry(word(refund, "charge_id")).or_default();
            *sum += if counts { number(refund, "amount") } else { 0 };
        }
        for charge in self.all("transactions").filter(|one| one["type"] == "CHARGE") {
            let sum = sums.remove(word(charge, "id")).unwrap_or(0);
            assert_eq!(number(charge, "amount_refunded"), sum, "{charge}");
        }
        assert!(sums.is_empty(), "refunds without their charges: {sums:?}");
    }

    /// Asserts that one occurrence waits and that each of the others was tried. A paid one has a charge and is counted.
    fn recurring_charges_are_in_step(&self) {
        let event_types = self.event_types();
        for charge in self.all("recurring_charges") {
            assert_eq!(event_types[word(charge, "id")], ["recurring_charge.created"], "{charge}");
            let of = |one: &&Value| one["recurring_charge_id"] == charge["id"];
            let (waiting, tried): (Vec<&Value>, Vec<&Value>) =
                self.all("occurrences").filter(of).partition(|one| one["status"] == "PENDING");
            assert_eq!(waiting.len(), 1, "{charge}: {waiting:?}");
            assert_eq!(waiting[0]["due_date"], charge["next_payment"], "{charge}");
            let paid: Vec<&&Value> = tried.iter().filter(|one| one["status"] == "PAID").collect();
            assert_eq!(number(charge, "total_occurrences"), to_i64(paid.len()), "{charge}");
            let sum: i64 = paid.iter().map(|one| number(one, "amount")).sum();
            assert_eq!(number(charge, "total_amount"), sum, "{charge}");
        }
        let mut tries: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
        for charge in self.all("transactions") {
            let of = tries.entry(word(charge, "recurring_charge_occurrence_id")).or_default();
            of.push(number(charge, "amount"));
        }
        for one in self.all("occurrences") {
            let id = word(one, "id");
            was_tried_once(one, &event_types[id], tries.get(id).map_or(&[], Vec::as_slice));
        }
    }

    /// Asserts that every list has as many entries as its total, over all pages, and that they are the objects that
    /// exist.
    async fn lists_are_complete(&self, caller: &mut Caller, keys: &Keys) {
        let ids = |kind: &str, fits: &dyn Fn(&Value) -> bool| -> BTreeSet<String> {
            self.all(kind).filter(|one| fits(one)).map(|one| word(one, "id").to_owned()).collect()
        };
        let everything = |_: &Value| true;
        let is_hold = |one: &Value| one["auto_capture"] == false && one["status"] == "AUTHORIZED";
        let mut lists = vec![
            ("/v1/transactions".to_owned(), ids("transactions", &everything)),
            ("/v1/charges/holds".to_owned(), ids("transactions", &is_hold)),
            ("/v1/cards".to_owned(), ids("cards", &everything)),
            ("/v1/recurring/charges".to_owned(), ids("recurring_charges", &everything)),
            ("/v1/events".to_owned(), ids("events", &everything)),
        ];
        for charge in self.all("recurring_charges") {
            let of = |one: &Value| one["recurring_charge_id"] == charge["id"];
            let path = format!("/v1/recurring/charges/{}/occurrences", word(charge, "id"));
            lists.push((path, ids("occurrences", &of)));
        }
        for (path, expect) in lists {
            assert_eq!(listed(caller, keys, &path).await, expect, "{path}");
        }
    }

    /// Asserts that money moved for each authorised transaction, and for nothing else.
    fn ledger_follows_events(&self, ledger: &Value) {
        let entries = ledger["entries"].as_array().unwrap();
        let moved = entries.iter().filter(|one| ["CHARGE", "REFUND"].contains(&word(one, "type")));
        let mut moved: Vec<(&str, i64)> =
            moved.map(|one| (word(one, "transaction_id"), number(one, "amount"))).collect();
        let authorized = self.all("events").filter(|one| one["type"] == "transaction.authorized");
        let authorized = authorized.map(|event| &event["data"]);
        let mut authorized: Vec<(&str, i64)> =
            authorized.map(|one| (word(one, "id"), number(one, "amount"))).collect();
        moved.sort_unstable();
        authorized.sort_unstable();
        assert_eq!(moved, authorized);
    }
}

/// Asserts that an occurrence has an event of its end and one transaction, or neither.
fn was_tried_once(one: &Value, event_types: &[&str], amounts: &[i64]) {
    let created = "recurring_charge.occurrence.created";
    let (events, tries): (&[&str], i64) = match word(one, "status") {
        "PENDING" => (&[created], 0),
        "PAID" => (&[created, "recurring_charge.occurrence.paid"], 1),
        "FAILED" => (&[created, "recurring_charge.occurrence.failed"], 1),
        other => panic!("unexpected status {other} of {one}"),
    };
    let found: BTreeSet<&&str> = event_types.iter().collect();
    assert_eq!(found, events.iter().collect(), "{one}");
    assert_eq!(event_types.len(), events.len(), "{one}");
    assert_eq!((number(one, "attempts"), to_i64(amounts.len())), (tries, tries), "{one}");
    assert!(amounts.iter().all(|amount| *amount == number(one, "amount")), "{one}");
}

fn to_i64(count: usize) -> i64 {
    i64::try_from(count).unwrap()
}

/// Returns the ids of a list, over all pages.
async fn listed(caller: &mut Caller, keys: &Keys, path: &str) -> BTreeSet<String> {
    let mut ids: Vec<String> = Vec::new();
    for page in 1.. {
        let path = format!("{path}?page_size=100&page={page}");
        let list = caller.get(&path, &keys.basic).await;
        let results = list["results"].as_array().unwrap();
        ids.extend(results.iter().map(|one| word(one, "id").to_owned()));
        if results.len() < 100 {
            assert_eq!(number(&list, "total_entries"), to_i64(ids.len()), "{path}");
            break;
        }
    }
    let once: BTreeSet<String> = ids.iter().cloned().collect();
    assert_eq!(once.len(), ids.len(), "{path} shows an object twice");
    once
}
