use serde_json::{Value, json};

use super::*;

fn list(items: &Value) -> ResourceList {
    serde_json::from_value(json!({ "items": items, "at": "2026-11-20T13:34:56Z" })).unwrap()
}

fn resource(kind: &str, name: &str, ready: bool, more: &Value) -> Value {
    let mut item = json!({
        "kind": kind, "namespace": "default", "name": name, "ready": ready,
        "standing": if ready { "ready" } else { "changing" }, "reason": "InSync",
        "message": "", "verdict": "settled", "file": "specs/jane.yaml", "line": 3,
    });
    item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    item
}

fn mixed() -> ResourceList {
    list(&json!([
        resource(
            "Invoice",
            "jane-10",
            true,
            &json!({
                "amount": 500, "currency": "USD", "remote_id": "inv_1a2b",
                "merchant": "Merchant/acme", "last_known": "2026-11-20T12:34:56.000Z",
            })
        ),
        resource("Invoice", "jane-2", true, &json!({"amount": 125_000, "currency": "USD"})),
        resource(
            "RecurringCharge",
            "jane-retainer",
            false,
            &json!({
                "reason": "PaymentFailed", "standing": "needs_attention", "namespace": "team-b", "amount": 9900, "currency": "USD",
                "conditions": [{"type": "NeedsAttention", "status": "True", "reason": "PaymentFailed",
                    "message": "", "since": null}],
                "payments": {"failures": 2, "next": "2026-12-20", "last": {"id": "t1",
                    "result": "declined", "amount": null, "currency": null, "reason": null,
                    "at": "2026-11-17T12:00:00.000Z"}},
            })
        ),
        resource(
            "RecurringCharge",
            "rent",
            true,
            &json!({
                "amount": 1000, "currency": "JPY", "payments": {"failures": 0, "next": "2026-12-20"},
            })
        ),
        resource("Contact", "jane", false, &json!({"reason": "NotCreated"})),
        resource(
            "Contact",
            "old",
            false,
            &json!({"reason": "Orphaned", "standing": "undocumented", "file": null})
        ),
    ]))
}

#[test]
fn what_is_not_in_order_comes_first_and_the_counts_add_up() {
    insta::assert_snapshot!(table(&mixed(), Screen::PLAIN, false), @r"
    NAME                                  READY  STATUS              AMOUNT  PAYMENT          AGE
    RecurringCharge/team-b/jane-retainer  no     PaymentFailed    99.00 USD  declined 3d ago    -
    Contact/jane                          no     NotCreated               -  -                  -
    Contact/old                           -      Orphaned                 -  -                  -
    Invoice/jane-2                        yes    InSync         1250.00 USD  -                  -
    Invoice/jane-10                       yes    InSync            5.00 USD  -                 1h
    RecurringCharge/rent                  yes    InSync            1000 JPY  next 2026-12-20    -

    6 resources: 3 ready, 1 to change, 1 without a document, 1 needs attention
    ");
    assert_eq!(table(&list(&json!([])), Screen::PLAIN, false), "There are no such resources.\n");
}

#[test]
fn a_wide_list_shows_ids_merchants_and_places() {
    let narrow = Screen { width: Some(40), ..Screen::PLAIN };
    insta::assert_snapshot!(table(&mixed(), narrow, true), @r"
    NAME                                  READY  STATUS              AMOUNT  PAYMENT          AGE  MERCHANT       REMOTE ID  LAST KNOWN         DOCUMENT
    RecurringCharge/team-b/jane-retainer  no     PaymentFailed    99.00 USD  declined 3d ago    -  -              -          -                  specs/jane.yaml:3
    Contact/jane                          no     NotCreated               -  -                  -  -              -          -                  specs/jane.yaml:3
    Contact/old                           -      Orphaned                 -  -                  -  -              -          -                  -
    Invoice/jane-2                        yes    InSync         1250.00 USD  -                  -  -              -          -                  specs/jane.yaml:3
    Invoice/jane-10                       yes    InSync            5.00 USD  -                 1h  Merchant/acme  inv_1a2b   2026-11-20 12:34Z  specs/jane.yaml:3
    RecurringCharge/rent                  yes    InSync            1000 JPY  next 2026-12-20    -  -              -          -                  specs/jane.yaml:3

    6 resources: 3 ready, 1 to change, 1 without a document, 1 needs attention
    ");
}

#[test]
fn a_terminal_of_80_columns_breaks_no_line() {
    let shown = table(&mixed(), Screen { width: Some(80), ..Screen::PLAIN }, false);
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    assert!(shown.contains("1250.00 USD") && shown.contains("PaymentFailed"), "{shown}");
}

#[test]
fn colour_changes_no_word() {
    let colored = table(&mixed(), Screen { color: true, ..Screen::PLAIN }, false);
    assert!(colored.contains('\u{1b}'));
    let stripped = anstream::adapter::strip_str(&colored).to_string();
    assert_eq!(stripped, table(&mixed(), Screen::PLAIN, false));
}

#[test]
fn names_are_as_other_commands_take_them() {
    insta::assert_snapshot!(names(&mixed()), @r"
    RecurringCharge/team-b/jane-retainer
    Contact/jane
    Contact/old
    Invoice/jane-2
    Invoice/jane-10
    RecurringCharge/rent
    ");
}

#[test]
fn csv_has_a_column_for_each_fact_and_quotes_what_needs_it() {
    let mut list = mixed();
    list.items.truncate(3);
    list.items[0].reason = "a,\"b\"".to_owned();
    insta::assert_snapshot!(csv(&list).unwrap(), @r#"
    kind,namespace,name,ready,reason,amount,currency,next_payment,last_payment,last_payment_at,merchant,remote_id,last_known,document
    RecurringCharge,team-b,jane-retainer,false,PaymentFailed,99.00,USD,2026-12-20,declined,2026-11-17T12:00:00.000Z,,,,specs/jane.yaml:3
    Invoice,default,jane-2,true,InSync,1250.00,USD,,,,,,,specs/jane.yaml:3
    Invoice,default,jane-10,true,"a,""b""",5.00,USD,,,,Merchant/acme,inv_1a2b,2026-11-20T12:34:56.000Z,specs/jane.yaml:3
    "#);
}

#[test]
fn a_changed_resource_is_one_line() {
    let mut list = mixed();
    list.items.truncate(1);
    insta::assert_snapshot!(changed_lines(&list, Screen::PLAIN), @r"
    Invoice/jane-10                   yes    InSync                      5.00 USD  -
    ");
}
