//! Descriptions: everything known, with the way on.

use serde_json::json;

use super::*;

fn items() -> Vec<ResourceView> {
    let items = json!([
        {
            "kind": "Invoice", "namespace": "default", "name": "jane", "ready": true, "standing": "ready",
            "reason": "InSync", "message": "the service matches the file", "verdict": "settled",
            "remote_id": "inv_1a2b", "file": "specs/jane.yaml", "line": 3,
            "last_known": "2026-11-20T12:34:56.000Z",
        },
        {
            "kind": "RecurringCharge", "namespace": "team-b", "name": "monthly", "ready": false, "standing": "unhealthy",
            "reason": "WaitsFor", "message": "waits for SavedMethod/card", "verdict": "create",
            "file": "specs/monthly.yaml",
        },
    ]);
    serde_json::from_value(items).unwrap()
}

#[test]
fn a_description_says_everything() {
    let mut item = items().remove(0);
    item.possible_orphans = 2;
    item.message = "the service matches the file ".repeat(5);
    item.facts.insert("status".to_owned(), json!("SENT"));
    item.facts.insert("accounts".to_owned(), json!([{ "id": "a1", "trust": false }]));
    insta::assert_snapshot!(describe(&item, None, Screen::PLAIN), @r"
    ✓ Invoice/jane  ready: InSync
      the service matches the file the service matches the file the service matches the file the service
      matches the file the service matches the file

      Change        none
      Doubles       created again 2 times without proof that the earlier try had failed; look for
                    duplicates at the service (`reckon intents` lists them)
      Document      specs/jane.yaml:3
      Remote id     inv_1a2b
      Last known    at 2026-11-20 12:34Z; later changes are not seen

    Facts from the service
      accounts[0].id: a1
      accounts[0].trust: false
      status: SENT
    ");
}

/// Closes M3.
#[test]
fn a_charge_that_collects_badly_says_so() {
    let item = json!({
        "kind": "RecurringCharge", "namespace": "default", "name": "monthly", "ready": false, "standing": "unhealthy",
        "reason": "PaymentFailed", "message": "the payment of 10.00 USD was declined",
        "verdict": "orphan", "conditions": [
            {"type": "Synced", "status": "Unknown", "reason": "Orphaned", "message": "left",
             "since": null},
            {"type": "Healthy", "status": "False", "reason": "PaymentFailed", "message": "declined",
             "since": "2026-11-20T12:00:00.000Z"},
        ],
        "payments": {"last": {"id": "t1", "result": "declined", "amount": 1000, "currency": "USD",
            "reason": "card_declined", "at": "2026-11-20T12:00:00.000Z"}, "failures": 3,
            "next": "2026-12-20"},
    });
    let item: ResourceView = serde_json::from_value(item).unwrap();
    insta::assert_snapshot!(describe(&item, None, Screen::PLAIN), @r"
    ✗ RecurringCharge/monthly  not ready: PaymentFailed
      the payment of 10.00 USD was declined

      Change        none: its document is gone and the object stays
      Last payment  10.00 USD declined at 2026-11-20 12:00Z (card_declined), t1; 3 payments failed in a
                    row
      Next payment  2026-12-20
      Document      none
      Remote id     not known

    Conditions
    TYPE       STATUS   SINCE              REASON
    ? Synced   Unknown  -                  Orphaned
    ✗ Healthy  False    2026-11-20 12:00Z  PaymentFailed
    ");
}

#[test]
fn what_it_waits_for_is_a_tree_and_its_conditions_stand_out() {
    let item = json!({
        "kind": "RecurringCharge", "namespace": "default", "name": "rent", "ready": false,
        "standing": "waiting", "reason": "WaitsFor", "message": "waits for SavedMethod/card",
        "verdict": "wait", "file": "specs/rent.yaml", "line": 3, "at": "2030-01-31T12:00:00Z",
        "amount": 12_500, "currency": "USD", "merchant": "Merchant/acme",
        "conditions": [
            {"type": "Synced", "status": "False", "reason": "WaitsFor", "message": "",
             "since": "2030-01-31T11:57:00.000Z"},
            {"type": "Suspended", "status": "False", "reason": "NotSuspended", "message": "",
             "since": null},
        ],
        "needs": [
            {"key": "Contact/default/jane", "ready": true, "reason": "InSync", "message": ""},
            {"key": "SavedMethod/default/card", "ready": false, "reason": "WaitsFor",
             "message": "waits for Merchant/acme", "needs": [
                {"key": "Merchant/default/acme", "ready": false, "reason": "AwaitsApplicant",
                 "message": "waits for the applicant", "is_cut": true},
            ]},
        ],
        "next": [{"command": "reckon describe SavedMethod/card", "purpose": "see what it waits for"}],
    });
    let item: ResourceView = serde_json::from_value(item).unwrap();
    insta::assert_snapshot!(describe(&item, None, Screen::PLAIN), @r"
    • RecurringCharge/rent  not ready: WaitsFor
      waits for SavedMethod/card

      Change        none until its dependencies are ready
      Amount        125.00 USD
      Merchant      Merchant/acme
      Document      specs/rent.yaml:3
      Remote id     not known

    Conditions
    TYPE         STATUS  SINCE                       REASON
    ✗ Synced     False   2030-01-31 11:57Z (3m ago)  WaitsFor
    ✓ Suspended  False   -                           NotSuspended

    Waits for
      └ SavedMethod/card  WaitsFor
        waits for Merchant/acme
        └ Merchant/acme  AwaitsApplicant
          waits for the applicant
          └ and more

    Next
      reckon describe SavedMethod/card  # see what it waits for
    ");
}

#[test]
fn long_sentences_fit_a_narrow_terminal() {
    let mut item = items().remove(0);
    item.message = "the service matches the file ".repeat(5);
    let narrow = Screen { color: false, width: Some(60) };
    let shown = describe(&item, None, narrow);
    assert!(shown.lines().all(|line| line.chars().count() <= 60), "{shown}");
}
