//! The main path, end to end in one process: files are read, and the service is made to match.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::world::World;
use reckon::model::change::PlannedAction;
use reckon::sandbox::options::ServiceSurface;
use reckon::store::disk::traits::Disk;
use reckon::store::index::ordered::Index;

const TREE: &str = r#"
apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec:
  mode: test
  timezone: America/Chicago
  credentials: {authorization_code: {env: CODE_ACME}}
---
apiVersion: reckon.dev/v1
kind: Contact
metadata: {name: jane}
spec:
  merchant: acme
  first_name: Jane
  last_name: Doe
  email_addresses: [{address: jane@example.com}]
---
apiVersion: reckon.dev/v1
kind: Invoice
metadata: {name: jane-1}
spec:
  merchant: acme
  contact: jane
  bank_account: Operating
  invoice_date: 2030-01-15
  line_items:
    - {description: Retainer, rate_per_quantity: "125.00 USD"}
    - {description: Filing, rate_per_quantity: "10.50 USD"}
  invoice_messages: [{email_addresses: [jane@example.com]}]
---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata:
  name: jane-card
  annotations: {reckon.dev/deletion: delete}
spec:
  merchant: acme
  type: card
  description: first
  source: {card: {number: "4242424242424242", exp_month: 12, exp_year: 2031, name: Jane Doe}}
---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata:
  name: jane-bank
  annotations: {reckon.dev/deletion: delete}
spec:
  merchant: acme
  type: bank
  source:
    bank: {routing_number: "000000013", account_number: "1234567890", account_type: CHECKING, given_name: Jane, surname: Doe}
---
apiVersion: reckon.dev/v1
kind: RecurringCharge
metadata: {name: jane-monthly}
spec:
  merchant: acme
  method: jane-card
  amount: "20.00 USD"
  description: Membership
  schedule: {start: 2030-02-01, interval_unit: MONTH, interval_delay: 1, days: ["1", "LAST"]}
"#;

/// Builds a world with the tree. A resource is given up after five failures.
fn spine() -> World {
    let mut world = World::new(ServiceSurface::Public, "2029-12-01T10:00:00Z");
    world.failures_max = Some(5);
    world.write(TREE);
    world
}

/// Returns every request that the service served.
fn requests(world: &World) -> Value {
    world.control("GET", "requests", &Value::Null)
}

#[tokio::test(start_paused = true)]
async fn a_tree_becomes_objects_once_and_a_second_run_does_nothing() {
    let world = spine();
    assert_eq!(world.settle().await, Vec::<String>::new());
    let counts = ["contacts", "invoices", "cards", "banks", "recurring_charges"]
        .map(|kind| world.objects(kind).len());
    assert_eq!(counts, [1, 1, 1, 1, 1]);
    let before = requests(&world);
    assert_eq!(world.settle().await, Vec::<String>::new());
    let after = requests(&world);
    assert_eq!(before, after, "a settled tree asks the service nothing");
}

#[tokio::test(start_paused = true)]
async fn an_edit_is_applied_and_what_cannot_change_is_told() {
    let world = spine();
    world.settle().await;
    let edited =
        TREE.replace("20.00 USD", "25.00 USD").replace("description: first", "description: second");
    world.write(&edited);
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(world.objects("recurring_charges")[0]["amount"], json!(2500));
    assert_eq!(world.objects("cards")[0]["description"], json!("second"));
    world.write(&edited.replace("10.50 USD", "11.50 USD"));
    let told = world.settle().await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("CannotChange") && told[0].contains("line_items[1].rate_per_quantity"),
        "{told:?}"
    );
}

/// Returns these fields of the only object of a kind.
fn said(world: &World, kind: &str, fields: &[&str]) -> Vec<Value> {
    let objects = world.objects(kind);
    assert_eq!(objects.len(), 1, "{kind}");
    fields.iter().map(|field| objects[0][*field].clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn what_only_a_fresh_token_changes_is_changed_by_one() {
    let world = spine();
    world.settle().await;
    let ids = [said(&world, "cards", &["id"]), said(&world, "banks", &["id"])];
    let edited = TREE
        .replace("exp_year: 2031, name: Jane Doe", "exp_year: 2034, name: Jane Roe")
        .replace("1234567890", "99990000")
        .replace("surname: Doe", "surname: Roe");
    world.write(&edited);
    let planned = format!("{:?}", world.engine().view().plan_view());
    assert!(planned.contains("Renewed") && planned.contains("new one-time token"), "{planned}");
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(
        said(&world, "cards", &["exp_year", "name", "number", "description"]),
        [json!(2034), json!("Jane Roe"), json!("************4242"), json!("first")]
    );
    assert_eq!(
        said(&world, "banks", &["account_number", "surname"]),
        [json!("****0000"), json!("Roe")]
    );
    assert_eq!([said(&world, "cards", &["id"]), said(&world, "banks", &["id"])], ids);
    assert_eq!(world.objects("tokens").len(), 0, "both tokens are used");
    world.write(&edited.replace("type: bank", "type: card"));
    assert!(world.settle().await.iter().any(|told| told.contains("BrokenDocument")));
}

/// Plants this fault at the next requests of a method to the path.
fn strike(world: &World, method: &str, path: &str, fault: &str, times: u32) {
    let order = json!({"method": method, "path": path, "fault": fault, "times": times});
    world.control("POST", "faults", &order);
}

/// Counts the requests of a method to paths with this beginning.
fn served(world: &World, method: &str, path: &str) -> usize {
    let all = requests(world);
    let fits = |one: &&Value| {
        one["method"] == json!(method) && one["path"].as_str().unwrap().starts_with(path)
    };
    all["requests"].as_array().unwrap().iter().filter(fits).count()
}

/// Builds a world whose card gets another holder; the journal shows nothing of that.
async fn renamed() -> World {
    let world = spine();
    world.settle().await;
    tokio::time::advance(Duration::from_mins(1)).await;
    world.write(&TREE.replace("name: Jane Doe", "name: Jane Roe"));
    world
}

/// The last token belongs to the recurring charge that the card pays.
#[tokio::test(start_paused = true)]
async fn a_lost_token_or_change_is_settled_without_a_second_use_of_a_token() {
    for (method, path, fault, tokens, changes) in [
        ("PATCH", "/v1/cards/", "drop_after", 2, 1),
        ("PATCH", "/v1/cards/", "error_before", 3, 2),
        ("POST", "/v1/tokens", "drop_after", 3, 1),
        ("POST", "/v1/tokens", "error_before", 3, 1),
    ] {
        let world = renamed().await;
        strike(&world, method, path, fault, 1);
        assert_eq!(world.settle().await, Vec::<String>::new(), "{path} {fault}");
        assert_eq!(said(&world, "cards", &["name"]), [json!("Jane Roe")], "{path} {fault}");
        let sent = (served(&world, "POST", "/v1/tokens"), served(&world, "PATCH", "/v1/cards/"));
        assert_eq!(sent, (tokens, changes), "{path} {fault}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_that_grew_old_is_not_sent_but_another_one_made() {
    let world = renamed().await;
    strike(&world, "GET", "/v1/cards/", "error_before", 1000);
    assert_ne!(
        world.settle().await,
        Vec::<String>::new(),
        "the card cannot be read before its change"
    );
    assert_eq!(served(&world, "POST", "/v1/tokens"), 1);
    world.control("DELETE", "faults", &Value::Null);
    tokio::time::advance(Duration::from_mins(4)).await;
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(
        served(&world, "POST", "/v1/tokens"),
        3,
        "one more token for the card, one for its charge"
    );
    assert_eq!(served(&world, "PATCH", "/v1/cards/"), 1);
    assert_eq!(said(&world, "cards", &["name"]), [json!("Jane Roe")]);
}

#[tokio::test(start_paused = true)]
async fn a_refused_token_or_change_is_told_and_sent_once() {
    let world = spine();
    world.settle().await;
    world.write(&TREE.replace("exp_year: 2031", "exp_year: 2028"));
    let told = world.settle().await;
    assert!(told.len() == 2 && told[0].contains("Refused"), "{told:?}");
    assert!(told[1].contains("waits for SavedMethod/jane-card"), "{told:?}");
    let before = requests(&world);
    assert_eq!(world.settle().await, told);
    assert_eq!(requests(&world), before);
    world.write(TREE);
    assert_eq!(world.settle().await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_document_that_goes_away_removes_only_what_it_said_may_be_removed() {
    let world = spine();
    world.settle().await;
    let merchant_only = TREE.split("---").next().unwrap();
    world.write_beside("broken.yaml", "kind: [");
    world.write(merchant_only);
    let told = world.settle().await;
    assert_eq!(
        world.objects("cards").iter().filter(|card| card["deleted"] != json!(true)).count(),
        1,
        "{told:?}"
    );
    assert!(told.iter().all(|step| step.contains("AbsenceNotBelieved")), "{told:?}");
    world.remove("broken.yaml");
    let told = world.settle().await;
    assert!(
        told.iter().all(|step| step.starts_with(&format!("{:?}", PlannedAction::Orphan))),
        "{told:?}"
    );
    let live =
        world.objects("cards").into_iter().filter(|card| card["deleted"] != json!(true)).count();
    assert_eq!(live, 0, "the card's document has `deletion: delete`");
    assert_eq!(world.objects("banks").len(), 0, "the bank's document has the same annotation");
}

#[tokio::test(start_paused = true)]
async fn no_secret_and_no_personal_value_is_in_journal_index_or_vault() {
    let world = spine();
    world.settle().await;
    let all = world.control("GET", "credentials", &Value::Null);
    let secret = |path: &str| all.pointer(path).unwrap().as_str().unwrap().to_owned();
    let merchants = all["merchants"].as_array().unwrap();
    let acme = merchants.iter().position(|merchant| merchant["name"] == "acme").unwrap();
    let canaries = [
        "4242424242424242".to_owned(),
        "1234567890".to_owned(),
        "Jane".to_owned(),
        "jane@example.com".to_owned(),
        secret("/partner/client_secret"),
        secret(&format!("/merchants/{acme}/test/secret_key")),
    ];
    for disk in [&world.journal, &world.vault] {
        for name in disk.list().unwrap() {
            let length = disk.len(&name).unwrap();
            let bytes = disk.read_at(&name, 0, usize::try_from(length).unwrap()).unwrap();
            for canary in &canaries {
                assert!(!shows(&bytes, canary), "{name} shows {canary}");
            }
        }
    }
    for (key, value) in world.index.scan(b"").unwrap() {
        for canary in &canaries {
            assert!(!shows(&value, canary), "{} shows {canary}", String::from_utf8_lossy(&key));
        }
    }
    let described = format!("{:?}", world.engine().view().plan_view());
    assert!(canaries.iter().all(|canary| !described.contains(canary.as_str())));
}

/// Returns true if bytes hold a text in plain, in hex or in base64.
fn shows(bytes: &[u8], canary: &str) -> bool {
    let forms = [
        canary.to_owned(),
        data_encoding::HEXLOWER.encode(canary.as_bytes()),
        data_encoding::BASE64.encode(canary.as_bytes()).trim_end_matches('=').to_owned(),
    ];
    forms.iter().any(|form| bytes.windows(form.len()).any(|window| window == form.as_bytes()))
}
