use serde_json::json;

use super::*;

fn items() -> Vec<ResourceView> {
    let items = json!([
        {
            "kind": "Invoice", "namespace": "default", "name": "jane", "ready": true,
            "reason": "InSync", "message": "the service matches the file", "verdict": "settled",
            "remote_id": "inv_1a2b", "file": "specs/jane.yaml", "line": 3,
            "last_known": "2026-11-20T12:34:56.000Z",
        },
        {
            "kind": "RecurringCharge", "namespace": "team-b", "name": "monthly", "ready": false,
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
    insta::assert_snapshot!(describe(&item, Screen::PLAIN), @r#"
    Invoice/jane
      Ready           yes
      Why             the service matches the file the service matches the file the service
                      matches the file the service matches the file the service matches the file
      Next            nothing
      Document        specs/jane.yaml:3
      Remote id       inv_1a2b
      Last known      at 2026-11-20T12:34:56.000Z; later changes are not seen
      Doubles         created again 2 times without proof that the earlier try had failed; look
                      for duplicates at the service (`reckon intents` lists them)
      Facts
        accounts[0].id: a1
        accounts[0].trust: false
        status: SENT
    "#);
}

/// Closes M3.
#[test]
fn a_charge_that_collects_badly_says_so() {
    let item = json!({
        "kind": "RecurringCharge", "namespace": "default", "name": "monthly", "ready": false,
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
    insta::assert_snapshot!(describe(&item, Screen::PLAIN), @r"
    RecurringCharge/monthly
      Ready           no (PaymentFailed)
      Why             the payment of 10.00 USD was declined
      Synced          Unknown: Orphaned
      Healthy         False since 2026-11-20T12:00:00.000Z: PaymentFailed
      Last payment    10.00 USD declined at 2026-11-20T12:00:00.000Z (card_declined), t1; 3
                      payments failed in a row
      Next payment    2026-12-20
      Next            nothing: its document is gone and the object stays
      Document        none
      Remote id       not known
    ");
}

#[test]
fn what_is_printed_can_be_pasted() {
    let yaml =
        sealed_yaml("SavedMethod/default/jane/source.card.number", "source.card.number", "a\nb\n");
    let read: Value = serde_yaml::from_str(&yaml).unwrap();
    assert_eq!(read, json!({"number": {"age": "a\nb\n"}}));
    assert!(yaml.starts_with(
        "# opens in spec.source.card.number of SavedMethod/default/jane, and nowhere else\n"
    ));
}
