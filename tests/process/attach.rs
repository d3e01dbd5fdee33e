//! `link` and `attach` as people run them, and as a script reads the state meanwhile.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::shell::{Shell, code, stderr, stdout};

const TREE: &str = "apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec: {mode: test, timezone: America/Chicago, credentials: {authorization_code: {env: CODE_ACME}}}
---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: jane}
spec: {merchant: acme, type: card, source: intake}
---
apiVersion: reckon.dev/v1
kind: RecurringCharge
metadata: {name: club}
spec:
  merchant: acme
  method: jane
  amount: \"20.00 USD\"
  schedule: {start: 2040-02-01, interval_unit: MONTH, interval_delay: 1}
";
/// A token that the service never made.
const UNKNOWN: &str = "canary_unknown_token";

/// Applies a tree in which only the payer's part is missing.
fn waiting() -> Shell {
    let shell = Shell::start();
    shell.write("specs/tree.yaml", TREE);
    let applied = shell.reckon(&["apply", "--yes"]);
    assert_eq!(code(&applied), 0, "waiting for a payer is no failure: {}", stderr(&applied));
    assert!(stdout(&applied).contains("reckon link SavedMethod/jane"), "{}", stdout(&applied));
    shell
}

/// Returns whether a resource is ready, and the reason.
fn condition(shell: &Shell, name: &str) -> (Value, Value) {
    let output = shell.reckon(&["-o", "json", "get", name]);
    let view: Value = serde_json::from_str(&stdout(&output)).unwrap();
    (view["items"][0]["ready"].clone(), view["items"][0]["reason"].clone())
}

/// Makes a one-time token of a card, as the service's hosted fields do.
fn token(shell: &Shell) -> String {
    let all: Value = serde_json::from_str(&shell.ask("GET", "credentials", "")).unwrap();
    let merchants = all["merchants"].as_array().unwrap();
    let acme = merchants.iter().find(|one| one["name"] == "acme").unwrap();
    let key = acme["test"]["public_key"].as_str().unwrap();
    let basic = data_encoding::BASE64.encode(format!("{key}:").as_bytes());
    let config = std::fs::read_to_string(shell.path("reckon.yaml")).unwrap();
    let address = config.split("base_url: http://").nth(1).unwrap().lines().next().unwrap();
    let body =
        r#"{"type": "card", "number": "4242424242424242", "exp_month": 8, "exp_year": 2031}"#;
    let request = format!(
        "POST /v1/tokens HTTP/1.0\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         authorization: Basic {basic}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let made: Value = serde_json::from_str(body).unwrap();
    made["id"].as_str().expect("a token").to_owned()
}

/// Returns the output of both streams.
fn said(output: &Output) -> String {
    format!("{}{}", stdout(output), stderr(output))
}

#[test]
fn a_token_is_brought_and_saved_and_is_shown_nowhere() {
    let shell = waiting();
    assert_eq!(condition(&shell, "savedmethod/jane"), (json!(false), json!("AwaitsIntake")));
    assert_eq!(condition(&shell, "recurringcharge/club"), (json!(false), json!("WaitsFor")));
    let token = token(&shell);
    let mut all = String::new();
    for (arguments, exit, words) in [
        (vec!["-vvv", "attach", "savedmethod/jane", "--token", UNKNOWN], 0, "within five minutes"),
        (vec!["-vvv", "plan"], 0, "+ SavedMethod/jane"),
        (vec!["attach", "savedmethod/jane", "--token", token.as_str()], 1, "being saved"),
        (vec!["-vvv", "apply", "--yes"], 0, "used or has expired: supply another one"),
        (vec!["attach", "SavedMethod/jane", "--token", token.as_str()], 0, "within five minutes"),
        (vec!["-vvv", "apply", "--yes"], 0, ""),
        (vec!["why", "SavedMethod/jane"], 0, "attached"),
        (vec!["-o", "json", "describe", "SavedMethod/jane"], 0, "last4"),
        (vec!["attach", "SavedMethod/jane", "--token", token.as_str()], 0, "within five minutes"),
        (vec!["-vvv", "apply", "--yes"], 0, ""),
    ] {
        let output = shell.reckon(&arguments);
        let said = said(&output);
        assert_eq!(code(&output), exit, "{arguments:?}: {said}");
        assert!(said.to_lowercase().contains(&words.to_lowercase()), "{arguments:?}: {said}");
        all.push_str(&said);
    }
    assert_eq!(condition(&shell, "savedmethod/jane"), (json!(true), json!("InSync")));
    assert_eq!(condition(&shell, "recurringcharge/club").0, json!(true));
    assert_eq!((shell.count("cards"), shell.count("recurring_charges")), (1, 1));
    assert!(!all.contains(&token) && !all.contains(UNKNOWN), "{all}");
}

#[test]
fn a_stored_card_is_replaced_at_a_word_or_under_a_link_that_says_so() {
    let shell = waiting();
    let first = token(&shell);
    shell.reckon(&["attach", "savedmethod/jane", "--token", &first]);
    assert_eq!(code(&shell.reckon(&["apply", "--yes"])), 0);
    let link = shell.reckon(&["link", "savedmethod/jane"]);
    assert!(stdout(&link).contains("/intake/default_jane_0_"), "{}", said(&link));
    let message = "SavedMethod/jane is saved already: the details given under this link replace it";
    assert!(stderr(&link).contains(message), "{}", said(&link));
    let other = [token(&shell), token(&shell)];
    let [own, of_charge] = other.each_ref().map(String::as_str);
    let attach = ["attach", "savedmethod/jane", "--token", own, "--token", of_charge];
    let asked = shell.reckon(&attach);
    assert_eq!(code(&asked), 1);
    assert!(said(&asked).contains("saved already: say --replace"), "{}", said(&asked));
    let replaced = shell.reckon(&[&attach[..], &["--replace"]].concat());
    assert_eq!(code(&replaced), 0, "{}", said(&replaced));
    assert!(stdout(&replaced).contains("in place of the saved details"), "{}", said(&replaced));
    let applied = shell.reckon(&["apply", "--yes"]);
    assert_eq!(code(&applied), 0, "{}", said(&applied));
    for name in ["savedmethod/jane", "recurringcharge/club"] {
        assert_eq!(condition(&shell, name), (json!(true), json!("InSync")), "{name}");
    }
    assert_eq!((shell.count("cards"), shell.count("recurring_charges")), (1, 1));
    let printed = said(&shell.reckon(&["why", "RecurringCharge/club"]));
    assert!(printed.contains("a one-time token, supplied by "), "{printed}");
    assert!(printed.contains("with that of SavedMethod/jane"), "{printed}");
    assert!(!printed.contains(own) && !printed.contains(of_charge), "{printed}");
}

#[test]
fn a_link_is_made_while_its_method_waits_and_for_nothing_else() {
    let shell = waiting();
    let link = shell.reckon(&["link", "savedmethod/jane", "--days", "1"]);
    assert_eq!(code(&link), 0, "{}", said(&link));
    let first = stdout(&link);
    assert!(first.starts_with("http://") && first.contains("/intake/default_jane_0_"), "{first}");
    let other = stdout(&shell.reckon(&["-o", "json", "link", "SavedMethod/jane"]));
    let other: Value = serde_json::from_str(&other).unwrap();
    assert!(other["link"].as_str().unwrap().contains("/intake/default_jane_0_"), "{other}");
    for (arguments, words) in [
        (vec!["link", "SavedMethod/jane", "--days", "0"], "1..=90"),
        (vec!["link", "SavedMethod/jane", "--days", "91"], "1..=90"),
        (vec!["link", "SavedMethod/absent"], "no good document says SavedMethod/absent"),
        (vec!["link", "Merchant/acme"], "has no link for a payer"),
        (vec!["link", "Invoice/any", "--days", "3"], "leave --days out"),
        (vec!["attach", "Merchant/acme", "--token", "a"], "does not say `source: intake`"),
        (vec!["attach", "SavedMethod/jane", "--token", "-"], "not a one-time token"),
        (vec!["attach", "SavedMethod/jane", "--token", "a b"], "not a one-time token"),
        (vec!["attach", "SavedMethod/jane"], "--token"),
    ] {
        let output = shell.reckon(&arguments);
        let said = said(&output);
        assert_eq!(code(&output), 1, "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
    assert_eq!(condition(&shell, "savedmethod/jane").1, json!("AwaitsIntake"));
}
