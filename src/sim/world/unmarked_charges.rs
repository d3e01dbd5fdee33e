//! Recurring charges made from an earlier charge, which carry no mark at the service. In some
//! worlds a third party charges payers before the run begins, and documents name these charges.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write as _;

use data_encoding::BASE64;
use serde_json::{Value, json};

use super::dice::Dice;
use super::documents::{Doc, DocBody, DocTree, FileChange, money};
use super::removal::crash;
use super::script::{ScriptStep, SimScript};
use crate::sim::actors::sandbox_control::{SandboxControl, text};

/// Merchant whose payers are charged before the run.
const MERCHANT: &str = "earlier";
/// Charges before the run begins.
const CHARGES: usize = 2;
/// Worlds with earlier charges, in percent.
const WORLDS: u64 = 30;
/// Effect that makes a recurring charge from an earlier charge.
pub(crate) const EFFECT: &str = "charge.schedule";

/// Earlier charges of each merchant, in order.
pub(crate) type Charges = BTreeMap<String, Vec<String>>;

/// Document of a recurring charge from an earlier charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FromCharge {
    pub merchant: String,
    /// Index of the charge among the merchant's earlier charges.
    pub nth: usize,
    /// Id of that charge; empty until the run begins.
    pub charge: String,
    /// Amount of each occurrence, in minor units.
    pub amount: i64,
    /// Version of the description; without a description nothing ever marks the charge.
    pub text: Option<u32>,
}

impl FromCharge {
    /// Writes the spec as its author does.
    pub(crate) fn write_spec(&self, said: Option<&str>, out: &mut String) -> fmt::Result {
        let Self { merchant, nth: _, charge, amount, text: _ } = self;
        if let Some(said) = said {
            writeln!(out, "  description: {said}")?;
        }
        writeln!(
            out,
            "  merchant: {merchant}\n  from_charge: {charge}\n  amount: {}\n  schedule: {{start: \
             2027-02-01, interval_unit: MONTH, interval_delay: 1, days: [\"1\"]}}",
            money(*amount)
        )
    }
}

/// Adds documents from earlier charges to some worlds; usually two alike from one charge.
pub(crate) fn add_to_script(script: &mut SimScript, dice: &mut Dice) {
    if !dice.percent(WORLDS) {
        return;
    }
    script.files.insert(MERCHANT.to_owned(), Doc::new(MERCHANT, DocBody::Merchant));
    let amount = amount(dice);
    let mut docs: Vec<Doc> =
        (0..dice.between(2, 4)).map(|number| document(number, amount, dice)).collect();
    let late = docs.split_off(docs.len().saturating_sub(1));
    for doc in &docs {
        script.files.insert(doc.name.clone(), doc.clone());
    }
    let mut changes: Vec<FileChange> =
        late.into_iter().filter(|_| dice.percent(60)).map(FileChange::Write).collect();
    changes.extend(docs.into_iter().filter_map(|doc| draw_change(doc, dice)));
    let step =
        |wait_ms, changes| ScriptStep { wait_ms, restart: false, changes, requests: Vec::new() };
    script.steps.push(step(dice.between(0, 90_000), changes));
    script.steps.push(step(dice.between(0, 500_000), Vec::new()));
    if dice.percent(50) {
        script.crashes.push(crash(EFFECT, dice));
    }
}

fn document(number: u64, amount_of_all: i64, dice: &mut Dice) -> Doc {
    let one = FromCharge {
        merchant: MERCHANT.to_owned(),
        nth: usize::from(dice.percent(30)),
        charge: String::new(),
        amount: if dice.percent(70) { amount_of_all } else { amount(dice) },
        text: dice.percent(40).then_some(0),
    };
    Doc::new(&format!("k{number}-{MERCHANT}"), DocBody::FromCharge(one))
}

/// Returns a change of a document by its author, if any.
fn draw_change(mut doc: Doc, dice: &mut Dice) -> Option<FileChange> {
    let DocBody::FromCharge(one) = &mut doc.body else { return None };
    match dice.below(10) {
        0 => doc.generation = doc.generation.saturating_add(1),
        1 => one.amount = amount(dice),
        2 => one.text = Some(one.text.map_or(0, |text| text.saturating_add(1))),
        3 => return Some(FileChange::Remove(doc.name)),
        _ => return None,
    }
    Some(FileChange::Write(doc))
}

fn amount(dice: &mut Dice) -> i64 {
    i64::try_from(dice.between(100, 250_000)).unwrap_or(100)
}

/// Charges the payers of the merchant `earlier`, over the service's own path and with the
/// merchant's own key, as its till would.
pub(crate) async fn charge_payers(desk: &SandboxControl, script: &SimScript) -> Charges {
    if !script.files.contains_key(MERCHANT) {
        return Charges::new();
    }
    desk.post_control("credentials", &json!({ "merchant": MERCHANT })).await;
    let key = authorization_header(&desk.get_control("credentials").await, MERCHANT);
    let mut made = Vec::new();
    for _ in 0..CHARGES {
        let card = json!({
            "type": "card", "number": "4242424242424242", "exp_month": 1, "exp_year": 2032,
        });
        let body = json!({"amount": 700, "method": card});
        made.push(text(&desk.post_service("/v1/charges", &key, &body).await, "id").to_owned());
    }
    Charges::from([(MERCHANT.to_owned(), made)])
}

/// Returns the `Authorization` header of a merchant.
pub(crate) fn authorization_header(credentials: &Value, merchant: &str) -> String {
    let all = credentials.get("merchants").and_then(Value::as_array);
    let own = all.into_iter().flatten().find(|one| text(one, "name") == merchant);
    let key = own.and_then(|own| own.pointer("/test/secret_key")?.as_str()).unwrap_or_default();
    format!("Basic {}", BASE64.encode(format!("{key}:").as_bytes()))
}

/// Writes the ids of the earlier charges into the documents that name them.
pub(crate) fn fill_charge_ids(tree: &mut DocTree, charges: &Charges) {
    for doc in tree.values_mut() {
        if let DocBody::FromCharge(one) = &mut doc.body {
            let of = charges.get(&one.merchant).and_then(|made| made.get(one.nth));
            one.charge = of.cloned().unwrap_or_default();
        }
    }
}

/// Removes the earlier charges from a ledger.
pub(crate) fn without_earlier(mut ledger: Vec<Value>, charges: &Charges) -> Vec<Value> {
    let earlier = |id: &str| charges.values().flatten().any(|charge| charge == id);
    ledger.retain(|entry| !earlier(text(entry, "transaction_id")));
    ledger
}
