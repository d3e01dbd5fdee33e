//! Queries that settle each effect, and queries of each reading: none of them changes anything.

use serde_json::{Value, json};

use crate::api::call::Method;
use crate::base::id::RemoteId;
use crate::effects::core::row::{Baseline, LostReply, RemoteQuery};
use crate::effects::payments::void;
use crate::effects::register::{EFFECTS, READINGS};
use crate::effects::testing::{intent, obligation};
use crate::model::effect::Effect;
use crate::model::intent::{Intent, StoredBody};

/// Returns every field that a query may need.
fn about() -> Value {
    json!({"recurring": "r1", "charge": "r1", "occurrence": "o1", "bank_account": "b1", "amount": 500,
        "type": "card", "contact": "c1", "id": "f1"})
}

/// Renders a query in one line; a list that is read to its end has three dots.
fn line(query: &RemoteQuery) -> String {
    assert_eq!(query.call.method, Method::Get, "a question changes nothing");
    let pairs = query.call.query.iter().map(|(name, value)| format!("{name}={value}"));
    let pairs = pairs.collect::<Vec<_>>().join("&");
    let mark = if pairs.is_empty() { "" } else { "?" };
    let dots = if query.pages { " ..." } else { "" };
    format!("{}{mark}{pairs}{dots}", query.call.path)
}

fn lines(queries: &[RemoteQuery]) -> String {
    queries.iter().map(line).collect::<Vec<_>>().join(", ")
}

/// Returns an intent of this effect after an event at this time.
fn asked(name: &str) -> Intent {
    let before = json!({"results": [{"id": "e1", "created": "2030-01-01"}]});
    let mut asked = Intent { subject: about(), ..intent(name, &json!({}), before) };
    asked.request.body = StoredBody::Plain(r#"{"reference":"Rent"}"#.to_owned());
    asked
}

/// Returns the same as an effect that was not sent yet, sealed or not.
fn effect(name: &'static str, sealed: bool) -> Effect {
    let target = RemoteId::new("ch1").unwrap();
    Effect { name, subject: about(), sealed, ..void(obligation(), &target, None) }
}

#[test]
fn every_search_asks_for_what_could_show_the_effect() {
    let mut found = Vec::new();
    for row in EFFECTS {
        let LostReply::Lookup(search) = row.lost_reply else { continue };
        found.push(format!("{}: {}", row.name, lines(&(search.queries)(&asked(row.name)))));
    }
    let (mark, since) = ("rktnrsrlmyf7pwvdu6hq3doy2rp4", "/v1/events?start_date=2030-01-01 ...");
    let (charges, of) = ("/v1/recurring/charges", "/v1/transactions/ch1");
    let change = format!("{of}, {since}, /v1/charges/holds ...");
    let expect = [
        format!("card.save: /v1/cards?reference={mark} ..."),
        "card.change: /v1/cards/ch1".to_owned(),
        "card.delete: /v1/cards/ch1".to_owned(),
        format!("bank.save: /v1/banks?reference={mark} ..."),
        "bank.change: /v1/banks/ch1".to_owned(),
        "bank.delete: /v1/banks/ch1".to_owned(),
        format!("recurring.create: {charges} ..., {since}"),
        format!("recurring.change: {charges}/ch1"),
        format!("charge.recur: {charges} ..., /v1/transactions?qf=reference:{mark} ..., {since}"),
        format!("charge.schedule: {charges} ..."),
        format!("charge.create: /v1/transactions?qf=reference:Rent ..., {since}"),
        format!("charge.capture: {change}"),
        format!("charge.refund: {change}"),
        format!("credit.create: /v1/transactions?qf=reference:Rent ..., {since}"),
        format!("transaction.void: {change}"),
        format!("transaction.sign: {of}"),
        format!("recurring.cancel: {charges}/ch1, {charges}/ch1/occurrences ..."),
        format!("recurring.end: {charges}/ch1"),
        format!("occurrence.pay: {charges}/r1/occurrences/ch1"),
        format!("occurrence.ignore: {charges}/r1/occurrences/o1"),
        "account.change: /v1/merchant".to_owned(),
        "ach_account.change: /v1/merchant".to_owned(),
        "vault.save: ".to_owned(),
        format!("recurring.delete: {charges}/ch1"),
    ];
    assert_eq!(found, expect);
}

#[test]
fn every_baseline_asks_for_what_is_compared_later() {
    let newest = "/v1/events?page=1&page_size=1";
    let charges = "/v1/recurring/charges";
    let both = format!("{newest}, /v1/transactions/ch1");
    let expect = [
        ("card.change", String::new(), "/v1/cards/ch1".to_owned()),
        ("bank.change", String::new(), "/v1/banks/ch1".to_owned()),
        ("recurring.create", newest.to_owned(), newest.to_owned()),
        ("recurring.change", String::new(), format!("{charges}/ch1")),
        ("charge.recur", newest.to_owned(), newest.to_owned()),
        (
            "charge.schedule",
            format!("{charges}?page=1&page_size=1"),
            format!("{charges}?page=1&page_size=1"),
        ),
        ("charge.create", newest.to_owned(), newest.to_owned()),
        ("charge.capture", both.clone(), both.clone()),
        ("charge.refund", both.clone(), both.clone()),
        ("credit.create", newest.to_owned(), newest.to_owned()),
        ("transaction.void", both.clone(), both.clone()),
        ("transaction.sign", both.clone(), both),
        (
            "occurrence.pay",
            format!("{charges}/r1/occurrences/ch1"),
            format!("{charges}/r1/occurrences/ch1"),
        ),
    ];
    let rows = EFFECTS.iter().filter_map(|row| Some((row.name, row.baseline?)));
    let asked = |(name, baseline): (&'static str, Baseline)| {
        let lines = |sealed| lines(&(baseline.queries)(&effect(name, sealed)));
        (name, lines(false), lines(true))
    };
    assert_eq!(rows.map(asked).collect::<Vec<_>>(), expect);
}

#[test]
fn every_reading_asks_for_what_it_is_about() {
    let asked = |row: &crate::effects::core::row::ReadingRow| {
        format!("{}: {}", row.name, lines(&(row.queries)(&about())))
    };
    let expect = [
        "merchant.credentials: /gateway-credentials, /bank-accounts",
        "merchant.keys: /v1/merchant",
        "merchant.accounts: /v1/merchant",
        "merchant.survey: /v1/cards ..., /v1/banks ..., /v1/recurring/charges ...",
        "charge.surcharge: /bank-accounts/b1/surcharge?amount=500",
        "file.state: /contacts/c1/files/f1",
        "recurring.look: /v1/recurring/charges/r1, /v1/recurring/charges/r1/occurrences ...",
    ];
    assert_eq!(READINGS.iter().map(asked).collect::<Vec<_>>(), expect);
}
