use super::*;
use crate::effects::testing::obligation;

/// Returns the name of the effect, its path and its body.
///
/// # Errors
///
/// The problem of the fields.
fn made(
    make: fn(EffectContext, &Value) -> Result<ActionEffect, String>,
    new: EffectContext,
    fields: &Value,
) -> Result<String, String> {
    let effect = make(new, fields)?.effect;
    Ok(format!("{} {} {}", effect.name, effect.request.path, effect.request.body))
}

#[test]
fn a_purge_of_nothing_in_particular_is_one_of_everything_and_live_data_stays() {
    let check = |fields: Value| made(purge, obligation(), &fields).unwrap();
    let both = r#"{"delete_transactions":true,"delete_payment_methods":true}"#;
    for fields in [json!({}), json!({"transactions": true, "methods": true})] {
        let told = check(fields);
        assert_eq!(told, format!("merchant.purge /v1/merchant/purge-test-data {both}"));
    }
    let methods = check(json!({"methods": true}));
    assert!(methods.ends_with(r#" {"delete_payment_methods":true}"#), "{methods}");
    let live = EffectContext { mode: Mode::Live, ..obligation() };
    let told = made(purge, live, &json!({})).unwrap_err();
    assert_eq!(told, "only test data can be purged, and Merchant/acme is a live merchant");
}

#[test]
fn a_bank_account_takes_nothing_that_is_for_cards() {
    let fields = |kind: &str, set: Value| json!({"account": "a1", "type": kind, "set": set});
    let cvv = json!({"cvv_policy": "DISABLED"});
    let told = made(account, obligation(), &fields("card", cvv.clone())).unwrap();
    assert_eq!(told, r#"account.change /v1/accounts/a1 {"cvv_policy":"DISABLED"}"#);
    let told = made(account, obligation(), &fields("bank", cvv)).unwrap_err();
    assert_eq!(told, "there is no `cvv_policy` to set");
    assert!(made(account, obligation(), &fields("till", json!({"name": "x"}))).is_err());
    assert!(made(account, obligation(), &json!({"account": "a1", "type": "card"})).is_err());
}

#[test]
fn what_is_deleted_is_named_by_its_type_and_id() {
    let told = |kind: &str| {
        let fields = json!({"type": kind, "id": "x1"});
        made(delete, obligation(), &fields)
    };
    assert_eq!(told("card").unwrap(), "card.delete /v1/cards/x1 null");
    assert_eq!(told("bank").unwrap(), "bank.delete /v1/banks/x1 null");
    let recurring = "recurring.delete /v1/recurring/charges/x1 null";
    assert_eq!(told("recurring").unwrap(), recurring);
    assert!(told("invoice").is_err());
    assert!(made(merchant, obligation(), &json!({"set": {"nickname": "x"}})).is_err());
}

const TOKEN: &str = "abcdefghijklmnopqrst-_";

#[test]
fn a_token_is_saved_under_the_mark_and_is_sealed() {
    let make = |fields: Value| save(obligation(), &fields).map(|deed| deed.effect);
    let effect = make(json!({"type": "card", "token": TOKEN, "description": "Visa"})).unwrap();
    assert_eq!((effect.name, effect.request.path.as_str()), ("card.save", "/v1/cards"));
    let mark = json!(effect.source_id.mark());
    let body = json!({"type": "card", "token_id": TOKEN, "reference": mark, "description": "Visa"});
    assert_eq!((&effect.request.body, effect.sealed), (&body, true));
    assert_eq!(
        (&effect.expect["reference"], &effect.expect["description"]),
        (&mark, &json!("Visa"))
    );
    let bank = make(json!({"type": "bank", "token": TOKEN})).unwrap();
    assert_eq!((bank.name, bank.request.path.as_str()), ("bank.save", "/v1/banks"));
    assert_eq!(bank.request.body.get("description"), None);
    assert!(make(json!({"type": "card"})).is_err());
}

#[test]
fn what_is_no_token_is_refused_and_not_told() {
    for token in [json!("4242424242424242"), json!(4_242_424_242_424_242_u64), json!("a b")] {
        let fields = json!({"type": "card", "token": token, "contact": "p_1"});
        let told = vault(obligation(), &fields).unwrap_err();
        assert!(told.starts_with("the token is no one-time token"), "{told}");
        assert!(!told.contains("4242"), "{told}");
    }
}

#[test]
fn everything_wrong_with_a_file_is_told_at_once() {
    let wrong = json!({"contact": "p_1", "file_name": "../a", "content": ""});
    let told = upload(obligation(), &wrong).unwrap_err();
    assert_eq!(told, "file_name: File name is invalid; content: Content cannot be blank");
    let good = json!({"contact": "p_1", "file_name": "a.pdf", "content": "JVBERg=="});
    assert_eq!(upload(obligation(), &good).unwrap().effect.name, "file.upload");
}

fn usd(minor: i64) -> Value {
    json!({"minor": minor, "currency": "USD"})
}

#[test]
fn what_is_changed_is_what_is_named_and_nothing_else() {
    let make = |kind: &str, set: Value| {
        let deed = change(obligation(), &json!({"type": kind, "id": "x1", "set": set}))?;
        let request = &deed.effect.request;
        Ok::<_, String>((format!("{} {}", request.path, request.body), deed.money.len()))
    };
    let card = make("card", json!({"description": "Visa"})).unwrap();
    assert_eq!(card, (r#"/v1/cards/x1 {"description":"Visa"}"#.to_owned(), 0));
    let bank = make("bank", json!({"reference": ""})).unwrap();
    assert_eq!(bank.0, r#"/v1/banks/x1 {"reference":""}"#);
    let more = json!({"amount": usd(700), "max_occurrences": 3});
    let rent = make("recurring", more).unwrap();
    let body = r#"/v1/recurring/charges/x1 {"amount":700,"max_occurrences":3}"#;
    assert_eq!(rent, (body.to_owned(), 1));
    let two = json!({"amount": usd(7), "max_amount": {"minor": 7, "currency": "CAD"}});
    assert!(make("recurring", two).unwrap_err().contains("two currencies"));
    let date = make("recurring", json!({"exp_month": 7, "exp_year": 2034})).unwrap();
    let card = r#"{"method":{"type":"card","exp_month":7,"exp_year":2034}}"#;
    assert_eq!(date, (format!("/v1/recurring/charges/x1 {card}"), 0));
    assert!(make("recurring", json!({"exp_year": 2034})).unwrap_err().contains("together"));
    assert!(make("recurring", json!({"exp_month": 13, "exp_year": 2034})).is_err());
    assert!(make("card", json!({"amount": usd(7)})).unwrap_err().contains("no `amount`"));
    assert!(make("card", json!({})).is_err());
    assert!(make("invoice", json!({"description": "x"})).is_err());
}
