//! What has to be true of a sandbox that was killed and started again.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use serde_json::Value;

use crate::sandbox_kill::ask::{Caller, Keys};
use crate::sandbox_kill::client::{Answered, CLOCK};

/// Kinds that are read.
const KINDS: [&str; 6] =
    ["contacts", "cards", "transactions", "recurring_charges", "occurrences", "events"];

/// What may differ from the answer, since something else may have happened to the object.
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

/// Looks at everything. What was answered `lately` is asked for by its own path, too.
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

/// Where one object of a kind is read.
fn own_path(kind: &str) -> Option<&'static str> {
    match kind {
        "transactions" => Some("/v1/transactions"),
        "cards" => Some("/v1/cards"),
        "recurring_charges" => Some("/v1/recurring/charges"),
        _ => None,
    }
}

/// Is an object there as it was answered? A void or a decline is final.
fn same(answer: &Value, now: &Value) {
    for (name, value) in answer.as_object().unwrap() {
        let is_final = name == "status" && ["VOIDED", "FAILED"].iter().any(|word| value == word);
        if is_final || !MAY_CHANGE.contains(&name.as_str()) {
            assert_eq!(now.get(name), Some(value), "{name} of {answer} is another: {now}");
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
        found.unwrap_or_else(|| panic!("{kind} {id} was answered and is not there"))
    }

    /// What was told of each object, by its id: the types of its events, in no order.
    fn told(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut told: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for event in self.all("events") {
            told.entry(word(&event["data"], "id")).or_default().push(word(event, "type"));
        }
        told
    }

    /// Every status has been told, once.
    fn transactions_have_their_events(&self) {
        let told = self.told();
        for one in self.all("transactions") {
            let of = told.get(word(one, "id")).map_or(&[][..], Vec::as_slice);
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
            assert!(fits && times("created") == 1, "{of:?} were told of {one}");
        }
    }

    /// A charge counts its refunds, but for those that were voided or failed.
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

    /// One occurrence waits, each of the others was tried, and what was paid is a charge and counted.
    fn recurring_charges_are_in_step(&self) {
        let told = self.told();
        for charge in self.all("recurring_charges") {
            assert_eq!(told[word(charge, "id")], ["recurring_charge.created"], "{charge}");
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
            was_tried_once(one, &told[id], tries.get(id).map_or(&[], Vec::as_slice));
        }
    }

    /// Every list has so many entries as it says, over all pages, and they are the objects that there are.
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

    /// Money moved for what was authorised, and for nothing else.
    fn ledger_follows_events(&self, ledger: &Value) {
        let entries = ledger["entries"].as_array().unwrap();
        let moved = entries.iter().filter(|one| ["CHARGE", "REFUND"].contains(&word(one, "type")));
        let mut moved: Vec<(&str, i64)> =
            moved.map(|one| (word(one, "transaction_id"), number(one, "amount"))).collect();
        let told = self.all("events").filter(|one| one["type"] == "transaction.authorized");
        let told = told.map(|event| &event["data"]);
        let mut told: Vec<(&str, i64)> =
            told.map(|one| (word(one, "id"), number(one, "amount"))).collect();
        moved.sort_unstable();
        told.sort_unstable();
        assert_eq!(moved, told);
    }
}

/// An occurrence has an event of its end and one transaction, or neither.
fn was_tried_once(one: &Value, told: &[&str], amounts: &[i64]) {
    let created = "recurring_charge.occurrence.created";
    let (events, tries): (&[&str], i64) = match word(one, "status") {
        "PENDING" => (&[created], 0),
        "PAID" => (&[created, "recurring_charge.occurrence.paid"], 1),
        "FAILED" => (&[created, "recurring_charge.occurrence.failed"], 1),
        other => panic!("{other} of {one}"),
    };
    let found: BTreeSet<&&str> = told.iter().collect();
    assert_eq!(found, events.iter().collect(), "{one}");
    assert_eq!(told.len(), events.len(), "{one}");
    assert_eq!((number(one, "attempts"), to_i64(amounts.len())), (tries, tries), "{one}");
    assert!(amounts.iter().all(|amount| *amount == number(one, "amount")), "{one}");
}

fn to_i64(count: usize) -> i64 {
    i64::try_from(count).unwrap()
}

/// The ids of a list, over all pages.
async fn listed(caller: &mut Caller, keys: &Keys, path: &str) -> BTreeSet<String> {
    let mut ids: Vec<String> = Vec::new();
    for page in 1.. {
        let path = format!("{path}?page_size=100&page={page}");
        let told = caller.get(&path, &keys.basic).await;
        let results = told["results"].as_array().unwrap();
        ids.extend(results.iter().map(|one| word(one, "id").to_owned()));
        if results.len() < 100 {
            assert_eq!(number(&told, "total_entries"), to_i64(ids.len()), "{path}");
            break;
        }
    }
    let once: BTreeSet<String> = ids.iter().cloned().collect();
    assert_eq!(once.len(), ids.len(), "{path} shows something twice");
    once
}
