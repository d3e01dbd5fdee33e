//! Documents of a merchant that pays, its accounts, and the requests to the service.

use serde_json::{Value, json};

use crate::support::world::World;

pub(crate) const START: &str = "2029-12-01T10:00:00Z";

pub(crate) const MERCHANT: &str = r"
apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec:
  mode: test
  timezone: America/Chicago
  credentials: {authorization_code: {env: CODE_ACME}}
";

pub(crate) const LATER: &str =
    "schedule: {start: 2030-02-01, interval_unit: MONTH, interval_delay: 1}";

/// Returns a document of the one merchant.
pub(crate) fn document(kind: &str, name: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: reckon.dev/v1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n  merchant: acme\n  {spec}\n"
    )
}

pub(crate) fn card(name: &str, number: &str) -> String {
    let source = format!("{{card: {{number: \"{number}\", exp_month: 12, exp_year: 2031}}}}");
    document("SavedMethod", name, &format!("type: card\n  source: {source}"))
}

pub(crate) fn bank(name: &str) -> String {
    let source = "{bank: {routing_number: '000000013', account_number: '12345678', account_type: CHECKING, given_name: Jane, surname: Doe}}";
    document("SavedMethod", name, &format!("type: bank\n  source: {source}"))
}

pub(crate) fn recurring(name: &str, method: &str, more: &str) -> String {
    let spec = format!("method: {method}\n  amount: \"20.00 USD\"\n  {more}{LATER}");
    document("RecurringCharge", name, &spec)
}

/// Adds a test account in the sandbox. Returns it with its keys.
pub(crate) fn account(world: &World, fields: Value) -> Value {
    let mut fields = fields;
    fields["merchant"] = json!("acme");
    world.control("POST", "accounts", &fields)
}

/// Returns the merchant's account of this type that existed from the beginning.
pub(crate) fn first(world: &World, kind: &str) -> Value {
    let all = world.control("GET", "credentials", &Value::Null);
    let merchants = all["merchants"].as_array().unwrap();
    let acme = merchants.iter().find(|one| one["name"] == "acme").unwrap();
    let accounts = acme["test"]["accounts"].as_array().unwrap();
    accounts.iter().find(|one| one["type"] == kind).unwrap()["id"].clone()
}

/// Returns every request of a method to paths with this beginning.
pub(crate) fn requests(world: &World, method: &str, path: &str) -> Vec<Value> {
    let all = world.control("GET", "requests", &Value::Null)["requests"].clone();
    let fits =
        |one: &&Value| one["method"] == method && one["path"].as_str().unwrap().starts_with(path);
    all.as_array().unwrap().iter().filter(fits).cloned().collect()
}

pub(crate) fn only(world: &World, kind: &str) -> Value {
    let all = world.objects(kind);
    assert_eq!(all.len(), 1, "{all:?}");
    all[0].clone()
}
