//! Tests of hook runs, seen from their caller.

mod keeping;
mod renamed;
mod rights;

use serde_json::json;

use crate::effects::register::action_row;
use crate::effects::testing::obligation;
use crate::model::issue::Severity;
use crate::policy::Rights;
use crate::scripting::engine::FailureCause;
use crate::scripting::hooks::*;
use crate::scripting::language::limits::{TIME_MAX, on_stack};
use crate::scripting::language::names::ConfiguredNames;
use crate::scripting::language::source::ScriptSource;
use crate::scripting::tools::testcases::CaseState;

fn known() -> ConfiguredNames {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    ConfiguredNames {
        targets: words(&["ops"]),
        kinds: words(&["Merchant", "Invoice", "SavedMethod", "MerchantApplication"]),
        rights: Rights::all(),
        ..ConfiguredNames::default()
    }
}

fn source(path: &str, text: &str) -> ScriptSource {
    ScriptSource {
        path: path.to_owned(),
        display_path: format!("scripts/{path}"),
        text: text.into(),
    }
}

fn hooks(body: &str) -> Hooks {
    let text = format!("fn on_event(event) {{\n{body}\n}}\n");
    Hooks::load(&[source("a.rhai", &text)], &known()).unwrap()
}

fn event() -> Value {
    json!({"id": "e1", "type": "transaction.failed", "created": "2026-11-30T12:00:00Z", "mode": "test",
        "merchant": "acme", "data": {"id": "t1", "amount": 12500, "currency": "USD", "amount_refunded": 500,
        "rate": 1.5, "method": {"id": "c1"}}})
}

fn ran_with(hooks: &Hooks, state: CaseState) -> Result<HookRun, Box<RunFailure>> {
    let reads: Arc<dyn Reads> = Arc::new(state);
    let handler = EventHandler { script: "a".to_owned(), function: "on_event".to_owned() };
    on_stack(|| hooks.run(&handler, &event(), &reads, Some(TIME_MAX))).unwrap()
}

fn ran(body: &str) -> Result<HookRun, Box<RunFailure>> {
    ran_with(&hooks(body), CaseState::default())
}

/// Returns the message of a failed run.
fn failed(body: &str) -> String {
    ran(body).unwrap_err().message
}

/// Returns the log of a run.
fn logged(body: &str) -> Vec<String> {
    ran(body).unwrap().log
}

#[test]
fn every_action_on_money_is_one_that_the_register_of_actions_reads() {
    let run = ran(r#"
        refund(event.data);
        refund("t9", #{ amount: "1.00 USD", name: "part" });
        void(event.data, #{ reference: "again" });
        capture(event.data, #{ next_run: true });
        charge("jane", money("3.00 USD"), #{ hold: true, account: "a1", reference: "r" });
        credit("jane", "4.00 USD");
        pay_occurrence("o1", #{ recurring: "r1", amount: "5.00 USD" });
        skip_occurrence(#{ id: "o1", recurring_charge_id: "r1" });
        cancel_recurring(#{ remote_id: "r1" });
    "#);
    let wishes = run.unwrap().requests;
    let verbs: Vec<&str> = wishes.iter().map(|wish| wish.verb.as_str()).collect();
    let expected =
        ["refund", "refund", "void", "capture", "charge", "credit", "pay", "ignore", "cancel"];
    assert_eq!(verbs, expected);
    for wish in &wishes {
        let row = action_row(&wish.verb).unwrap();
        let deed = (row.make)(obligation(), &wish.fields);
        assert!(deed.is_ok(), "{}: {:?}", wish.verb, deed.err());
        assert_eq!(wish.merchant.as_ref().unwrap().short(), "Merchant/acme");
    }
    assert_eq!(wishes[0].fields["amount"], json!({"minor": 12000, "currency": "USD"}));
    assert_eq!(wishes[1].name.as_str(), "part");
}

#[test]
fn the_same_event_and_answers_give_the_same_run_whatever_the_file_is_called() {
    let text = "fn on_event(event) {\n    refund(event.data);\n    notify(\"ops\", #{ b: 1, a: 2 }, #{ at: \"2026-12-01\" });\n}\n";
    let of = |name: &str| {
        let hooks = Hooks::load(&[source(&format!("{name}.rhai"), text)], &known()).unwrap();
        let reads: Arc<dyn Reads> = Arc::new(CaseState::default());
        let handler = hooks.handlers("transaction.failed").remove(0);
        on_stack(|| hooks.run(&handler, &event(), &reads, None)).unwrap().unwrap()
    };
    let (one, other) = (of("one"), of("other"));
    assert_eq!(one, of("one"));
    assert_eq!(one.requests, other.requests);
    assert!(one.operations > 0);
    assert!(
        one.requests.iter().all(crate::model::events::hook::ActionRequest::is_named_by_content)
    );
    assert_ne!(one.hash, other.hash);
}

#[test]
fn asking_twice_for_the_same_is_asking_once_and_one_name_is_one_action() {
    assert_eq!(ran("notify(\"ops\", \"a\"); notify(\"ops\", \"a\");").unwrap().requests.len(), 1);
    let two = r#"notify("ops", "a", #{ name: "x" }); notify("ops", "b", #{ name: "x" });"#;
    assert_eq!(failed(two), "two different actions are named `x`: give one of them another `name`");
}

#[test]
fn a_run_that_fails_asks_for_nothing_and_says_where() {
    let failure = ran("log(\"first\");\nnotify(\"ops\", \"a\");\nthrow \"enough\";").unwrap_err();
    assert_eq!((failure.cause, failure.message.as_str()), (FailureCause::Script, "enough"));
    assert_eq!((failure.place, failure.log), (Some((4, 1)), vec!["first".to_owned()]));
    assert_eq!(failed("log(event.data.reference);"), "Property not found: reference");
    assert!(
        failed("let m = money(\"1.00 USD\") + money(\"1.00 EUR\");")
            .contains("USD and EUR do not add up")
    );
    assert!(failed("let a = event.data.id; charge(a, a);").contains("`amount` of `charge`"));
    assert!(failed("refund(event.data.id);").contains("does not say how much"));
    assert!(failed("let t = \"opps\"; notify(t, \"x\");").contains("did you mean `ops`?"));
}

#[test]
fn money_and_dates_are_reckoned_without_fractions_and_without_a_clock() {
    let lines = logged(
        r#"
        let m = amount_of(event.data);
        log(m); log(m - money("25.00 USD")); log(m * 3); log(m > money(1, "USD")); log(m.minor); log(m.currency);
        log(m == money("125.00 USD"));
        log(event.data.rate);
        let d = date(event.created);
        log(d); log(add_days(d, -30)); log(add_months("2026-01-31", 1)); log(days_between("2026-11-01", d));
        log(month_of(d)); log(format(d, "%d %B %Y")); log(minutes_between(d, "2026-11-30T12:05:59Z"));
        log(retry_at("card_declined", 1, d)); log(retry_at("card_expired", 1, d) == ());
        log(why_no_retry("card_expired", 1)); log(new_card_link("SavedMethod/jane"));
    "#,
    );
    let expected = [
        "125.00 USD",
        "100.00 USD",
        "375.00 USD",
        "true",
        "12500",
        "USD",
        "true",
        "1.5",
        "2026-11-30T12:00:00.000Z",
        "2026-10-31T12:00:00.000Z",
        "2026-02-28T00:00:00.000Z",
        "29",
        "2026-11",
        "30 November 2026",
        "5",
        "2026-12-01T12:00:00.000Z",
        "true",
        "the card has expired: it is never tried again with these details",
        "{{intake:SavedMethod/default/jane}}",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn reads_are_written_down_and_what_a_run_keeps_it_reads_back() {
    let state: CaseState = serde_json::from_value(json!({
        "resources": [{"kind": "Invoice", "name": "b", "labels": {"a": "1"}}, {"kind": "Invoice", "name": "a", "labels": {}}],
        "transactions": [{"id": "t1", "status": "FAILED"}],
        "kv": {"n": 4},
    }))
    .unwrap();
    let hooks = hooks(
        r#"
        log(resource("Invoice/a").namespace);
        log(find("Invoice", #{ labels: #{ a: "1" } }).len());
        log(find("Invoice", #{})[0].name);
        log(transaction(event.data).status);
        log(kv_get("n")); kv_set("n", kv_get("n") + 1); log(kv_get("n")); log(kv_get("m") == ());
    "#,
    );
    let run = ran_with(&hooks, state).unwrap();
    assert_eq!(run.log, ["default", "1", "a", "FAILED", "4", "5", "true"]);
    assert_eq!(run.kept, [("n".to_owned(), json!(5))]);
    let whats: Vec<&str> = run.reads.iter().map(|look| look.what.as_str()).collect();
    assert_eq!(whats, ["resource", "find", "find", "transaction", "kv_get", "kv_get", "kv_get"]);
}

#[test]
fn an_event_goes_to_its_own_function_and_only_else_to_any() {
    let sources = [
        source("a.rhai", "fn on_event(event) {}\nfn on_transaction_failed(event) {}\n"),
        source("b.rhai", "fn on_event(event) {}\n"),
        source("c.rhai", "fn on_transaction_voided(event) {}\n"),
    ];
    let hooks = Hooks::load(&sources, &known()).unwrap();
    let told = |kind: &str| -> Vec<String> {
        let handlers = hooks.handlers(kind).into_iter();
        handlers.map(|handler| format!("{}.{}", handler.script, handler.function)).collect()
    };
    assert_eq!(told("transaction.failed"), ["a.on_transaction_failed", "b.on_event"]);
    assert_eq!(told("transaction.voided"), ["a.on_event", "b.on_event", "c.on_transaction_voided"]);
    assert_eq!(told("dispute.opened"), ["a.on_event", "b.on_event"]);
    let gone = EventHandler { script: "z".to_owned(), function: "on_event".to_owned() };
    let reads: Arc<dyn Reads> = Arc::new(CaseState::default());
    let told = hooks.run(&gone, &event(), &reads, None).unwrap_err();
    assert_eq!(told.cause, FailureCause::Missing);
}

#[test]
fn modules_are_shared_and_a_change_of_one_changes_the_hash_of_who_imports_it() {
    let of = |number: &str| {
        let sources = [
            source(
                "a.rhai",
                "import \"lib/one\" as one;\nconst MORE = 2;\nfn on_event(event) {\n    log(one::sum_up(global::MORE));\n}\n",
            ),
            source(
                "lib/one.rhai",
                "import \"lib/two\" as two;\nfn sum_up(n) { n + two::sum_up() }\n",
            ),
            source("lib/two.rhai", &format!("fn sum_up() {{ {number} }}\n")),
        ];
        ran_with(&Hooks::load(&sources, &known()).unwrap(), CaseState::default()).unwrap()
    };
    let (one, other) = (of("40"), of("41"));
    assert_eq!((one.log, other.log), (vec!["42".to_owned()], vec!["43".to_owned()]));
    assert_ne!(one.hash, other.hash);
}

#[test]
fn functions_without_a_name_see_what_is_around_them() {
    let lines = logged(
        "let more = 2;\nlog([1, 2, 3].filter(|n| n >= more).len());\nlog([\"a\"].map(|t| t + event.id));",
    );
    assert_eq!(lines, ["2", "[\"ae1\"]"]);
}

#[test]
fn what_others_wrote_asks_for_no_link_of_a_payer() {
    let evil = "{{{intake:SavedMethod/jane}} {intake:x";
    let state = CaseState {
        transactions: vec![json!({"id": "t1", "reference": evil, evil: 1})],
        ..CaseState::default()
    };
    let text = r#"
        let known = transaction("t1");
        log(`${known.reference} ${known}`);
        log(new_card_link("SavedMethod/jane"));
        kv_set("link", new_card_link("SavedMethod/jane"));
        log(kv_get("link"));
    "#;
    let log = ran_with(&hooks(text), state).unwrap().log;
    assert!(!log[0].contains("{{") && !log[0].contains("{intake"), "{log:?}");
    assert_eq!((log[1].as_str(), &log[1]), ("{{intake:SavedMethod/default/jane}}", &log[2]));
}

#[test]
fn fields_of_data_that_the_service_does_not_document_are_warned_about() {
    let text = "fn on_transaction_failed(event) {
        log(event.data.failure_cod);
        log(event.data.get(\"attempts\"));
        log(event.data[\"amount\"]);
        log(event.data.method.anything);
    }
    fn on_event(event) {
        log(event.data.attempts);
        log(event.data.zzzzzzzzzz);
    }
    ";
    let hooks = Hooks::load(&[source("a.rhai", text)], &known()).unwrap();
    let found: Vec<(usize, &str)> =
        hooks.warnings().iter().map(|warning| (warning.line, warning.message.as_str())).collect();
    let expected = [
        (2, "the service documents no field `failure_cod` in the data of a transaction"),
        (3, "the service documents no field `attempts` in the data of a transaction"),
        (9, "the service documents no field `zzzzzzzzzz` in any event"),
    ];
    assert_eq!(found, expected);
    assert_eq!(hooks.warnings()[0].help.as_str(), "did you mean `failure_code`?");
}
