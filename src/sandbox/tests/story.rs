//! Helpers of the tests about money: initial charges, and views of their results.

use serde_json::{Value, json};

use super::{Reply, TestSandbox, visa, with};

/// Returns a bank account that is always accepted.
pub(super) fn bank() -> Value {
    json!({"type": "bank", "routing_number": "000000013", "account_number": "1234567890",
        "account_type": "CHECKING", "account_holder_type": "business", "name": "Acme"})
}

pub(super) fn id(object: &Value) -> &str {
    object["id"].as_str().unwrap()
}

impl TestSandbox {
    pub(super) async fn charged(&self, amount: i64, method: Value) -> Value {
        self.secret("POST", "/v1/charges", &json!({"amount": amount, "method": method})).await.ok()
    }

    pub(super) async fn held(&self, amount: i64) -> Value {
        let body = json!({"amount": amount, "method": visa(), "auto_capture": false});
        self.secret("POST", "/v1/charges", &body).await.ok()
    }

    /// POST to a charge.
    pub(super) async fn to_charge(&self, charge: &Value, act: &str, body: Value) -> Reply {
        self.secret("POST", &format!("/v1/charges/{}/{act}", id(charge)), &body).await
    }

    pub(super) async fn refund(&self, charge: &Value, amount: i64) -> Value {
        self.to_charge(charge, "refund", json!({ "amount": amount })).await.ok()
    }

    /// POST to a transaction of any type.
    pub(super) async fn to_transaction(&self, one: &Value, act: &str, body: Value) -> Reply {
        self.secret("POST", &format!("/v1/transactions/{}/{act}", id(one)), &body).await
    }

    pub(super) async fn void(&self, one: &Value) -> Reply {
        self.to_transaction(one, "void", Value::Null).await
    }

    /// Returns the current transaction.
    pub(super) async fn fetch(&self, one: &Value) -> Value {
        self.secret("GET", &format!("/v1/transactions/{}", id(one)), &Value::Null).await.ok()
    }

    pub(super) async fn status(&self, one: &Value) -> String {
        self.fetch(one).await["status"].as_str().unwrap().to_owned()
    }

    pub(super) async fn settle(&self, one: &Value, result: &str) -> Value {
        let path = format!("transactions/{}/settlement", id(one));
        self.control("POST", &path, &json!({ "result": result })).await
    }

    /// Sets a permission of the tenant for the demo merchant.
    pub(super) async fn allow(&self, word: &str, said: impl Into<Value>) -> Value {
        self.control("POST", "policy", &with(json!({"merchant": "demo"}), word, said)).await
    }

    /// Returns every movement, oldest first: its type, the type of its transaction, the amount.
    pub(super) async fn ledger_movements(&self) -> Vec<(String, String, i64)> {
        let ledger = self.control("GET", "ledger", &Value::Null).await;
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let of = |one: &Value| {
            (text(&one["type"]), text(&one["transaction_type"]), one["amount"].as_i64().unwrap())
        };
        ledger["entries"].as_array().unwrap().iter().map(of).collect()
    }

    /// Returns the total of a type of movement, over all accounts.
    pub(super) async fn total(&self, word: &str) -> i64 {
        let ledger = self.control("GET", "ledger", &Value::Null).await;
        let totals = ledger["totals"].as_array().unwrap();
        let of = totals.iter().filter(|one| one["type"] == word);
        of.map(|one| one["amount"].as_i64().unwrap()).sum()
    }

    /// Returns the events after the first `count`: type, and status of the transaction.
    pub(super) async fn events_since(&self, count: usize) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let all = self.objects("events").await;
        let later = all.iter().skip(count);
        later.map(|one| (text(&one["type"]), text(&one["data"]["status"]))).collect()
    }

    pub(super) async fn told(&self) -> usize {
        self.objects("events").await.len()
    }
}

/// Expands a short form of the result of [`TestSandbox::events_since`].
pub(super) fn events(expect: &[(&str, &str)]) -> Vec<(String, String)> {
    let whole =
        |(kind, status): &(&str, &str)| (format!("transaction.{kind}"), (*status).to_owned());
    expect.iter().map(whole).collect()
}

/// Converts a short form to the result of [`TestSandbox::ledger_movements`].
pub(super) fn movements(expect: &[(&str, &str, i64)]) -> Vec<(String, String, i64)> {
    let whole =
        |(kind, of, amount): &(&str, &str, i64)| ((*kind).to_owned(), (*of).to_owned(), *amount);
    expect.iter().map(whole).collect()
}
