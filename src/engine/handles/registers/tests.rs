//! Tests of the log line of an effect, and of the lists that were read.

use std::io;
use std::io::Write;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::base::id::Key;
use crate::engine::executor::progress::log_effect;
use crate::engine::handles::registers::ReadLists;
use crate::engine::protocol::actions::EffectReport;

/// Collects the output of a subscriber.
#[derive(Clone, Default)]
struct LogLines(Arc<Mutex<Vec<u8>>>);

impl Write for LogLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the log line of an effect with this money and this refusal.
fn log_line(money: &Value, refusal: Option<&str>) -> String {
    let happened: EffectReport = serde_json::from_value(json!({
        "position": 7, "at": "2026-11-20T12:34:56.000Z", "verb": "created", "intent": "i-000002",
        "key": "Action/default/back", "effect": "charge.refund", "money": money, "refusal": refusal,
        "cause": {"file": null, "line": null, "commit": null, "actor": "hook half"},
    }))
    .unwrap();
    // A place of logging that a thread without a subscriber makes known while this one has one is
    // off for all threads: it is known before.
    log_effect(&happened);
    let lines = LogLines::default();
    let writer = lines.clone();
    let writer = move || writer.clone();
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(writer).finish();
    tracing::subscriber::with_default(subscriber, || log_effect(&happened));
    let bytes = lines.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

/// Closes M2 in the log: 1,000 minor units are 10.00 USD.
#[test]
fn the_log_shows_money_with_its_decimals_currency_and_mode() {
    let money = json!([{"currency": "USD", "mode": "test", "meaning": "refunded", "amount": 1000}]);
    let line = log_line(&money, None);
    assert!(line.contains("money=\"10.00 USD refunded (test)\""), "{line}");
    assert!(line.contains("actor=\"hook half\""), "{line}");
}

#[test]
fn the_log_leaves_out_what_has_no_value() {
    let line = log_line(&json!([]), None);
    for absent in ["money=", "refusal=", "file=", "line=", "commit=", "uncommitted=", " id="] {
        assert!(!line.contains(absent), "{absent} in {line}");
    }
    let refused = log_line(&json!([]), Some("HTTP 422 invalid"));
    assert!(refused.contains("refusal=\"HTTP 422 invalid\""), "{refused}");
}

#[test]
fn a_list_is_read_once_by_all_and_every_merchant_has_its_own() {
    let lists = ReadLists::default();
    let (acme, other): (Key, Key) =
        ("Merchant/acme".parse().unwrap(), "Merchant/other".parse().unwrap());
    let is_read = |merchant: &Key, list| lists.cell(merchant, list).initialized();
    lists.note_read(&acme, "cards");
    lists.note_read(&acme, "cards");
    assert!(is_read(&acme, "cards") && !is_read(&acme, "banks") && !is_read(&other, "cards"));
    lists.note_all_read(&other);
    assert!(is_read(&other, "cards") && is_read(&other, "banks"));
}
