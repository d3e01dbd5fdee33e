//! Tests of former names of functions and options: they do exactly as the present ones do.

use crate::model::events::hook::{NOTIFY, RECONCILE};
use crate::scripting::engine::host_functions;
use crate::scripting::hooks::tests::*;

/// A call by its former and its present name, and the stored form of its request. Journals hold
/// these forms, and actions are done once by the name in them: they never change, byte for byte.
const RENAMED: [(&str, &str, &str); 8] = [
    (
        r#"hold("Invoice/a", "late");"#,
        r#"suspend("Invoice/a", "late");"#,
        r#"{"name":"suspend-xacbse3vwxfvjqwp","verb":"suspend","merchant":"Merchant/default/acme","fields":{"key":"Invoice/default/a","reason":"late"}}"#,
    ),
    (
        r#"hold("Invoice/a", "late", #{ "until": "2026-12-01" });"#,
        r#"suspend("Invoice/a", "late", #{ ends: "2026-12-01" });"#,
        r#"{"name":"suspend-ws365l3lz7zkzk5f","verb":"suspend","merchant":"Merchant/default/acme","fields":{"key":"Invoice/default/a","reason":"late","until":"2026-12-01T00:00:00.000Z"}}"#,
    ),
    (
        r#""Invoice/a".hold("late", #{ name: "stop" });"#,
        r#""Invoice/a".suspend("late", #{ name: "stop" });"#,
        r#"{"name":"stop","verb":"suspend","merchant":"Merchant/default/acme","fields":{"key":"Invoice/default/a","reason":"late"},"content":"b804191375b5cb54c2cfaa60282a5a3918033ef5d369145d3327b1b68f86a247"}"#,
    ),
    (
        r#"release("Invoice/a");"#,
        r#"resume("Invoice/a");"#,
        r#"{"name":"resume-tw6camdwdfcbv4nd","verb":"resume","merchant":"Merchant/default/acme","fields":{"key":"Invoice/default/a"}}"#,
    ),
    (
        r#"ignore_occurrence(#{ id: "o1", recurring_charge_id: "r1" });"#,
        r#"skip_occurrence(#{ id: "o1", recurring_charge_id: "r1" });"#,
        r#"{"name":"ignore-mlv7n2rm3vgtogu5","verb":"ignore","merchant":"Merchant/default/acme","fields":{"recurring":"r1","occurrence":"o1"}}"#,
    ),
    (
        r#"cancel(#{ remote_id: "r1" });"#,
        r#"cancel_recurring(#{ remote_id: "r1" });"#,
        r#"{"name":"cancel-w2f5276mqczl5nmi","verb":"cancel","merchant":"Merchant/default/acme","fields":{"recurring":"r1"}}"#,
    ),
    (
        r#"notify("ops", remote("event.get", #{ id: "e1" }).id);"#,
        r#"notify("ops", gateway_get("event.get", #{ id: "e1" }).id);"#,
        r#"{"name":"notify-gjyxqesxjnt5idxi","verb":"notify","merchant":"Merchant/default/acme","fields":{"target":"ops","body":"e9"}}"#,
    ),
    (
        r#"notify("ops", intake_link("SavedMethod/jane"));"#,
        r#"notify("ops", new_card_link("SavedMethod/jane"));"#,
        r#"{"name":"notify-xg4jeh77ezb7d5gt","verb":"notify","merchant":"Merchant/default/acme","fields":{"target":"ops","body":"{{intake:SavedMethod/default/jane}}"}}"#,
    ),
];

/// The one read in the table, as journals hold it.
const READ: &str = r#"[{"what":"remote","arguments":["event.get",{"id":"e1","merchant":"acme"}],"answer":"1f18b363631ce05c8c19996708994320ae50ea9d088bc4de4cd2eae33c8c575f"}]"#;

fn ran_on_event(body: &str) -> HookRun {
    let answers = json!({"remote": [{"read": "event.get", "answer": {"id": "e9"}}]});
    ran_with(&hooks(body), serde_json::from_value(answers).unwrap()).unwrap()
}

#[test]
fn a_former_name_and_the_present_one_make_the_same_stored_request_byte_for_byte() {
    for (former, present, stored) in RENAMED {
        let (old, new) = (ran_on_event(former), ran_on_event(present));
        assert_eq!(serde_json::to_string(&old.requests[0]).unwrap(), stored, "{former}");
        assert_eq!((&old.requests, &old.reads), (&new.requests, &new.reads), "{present}");
        let both = ran_on_event(&format!("{former}\n{present}"));
        assert_eq!(both.requests, new.requests, "asked for twice, and requested once");
        if !new.reads.is_empty() {
            assert_eq!(serde_json::to_string(&new.reads).unwrap(), READ);
        }
    }
    let verbs = ran_on_event(r#"notify("ops", "x"); reconcile("Invoice/a");"#).requests;
    assert_eq!((&*verbs[0].verb, &*verbs[1].verb), (NOTIFY, RECONCILE));
}

#[test]
fn every_former_name_is_warned_about_once_at_its_place() {
    for (former, present, _) in RENAMED {
        let warned = hooks(former).warnings().to_vec();
        let count = if former.contains("until") { 2 } else { 1 };
        assert_eq!(warned.len(), count, "{former}: {warned:?}");
        for one in &warned {
            let name: String = former.chars().skip(one.column - 1).take(one.length).collect();
            let told = (one.code.as_str(), one.severity, one.file.as_str(), one.line);
            let expected = ("reckon::hooks::former_name", Severity::Warning, "scripts/a.rhai", 2);
            assert_eq!(told, expected, "{former}");
            let text = format!("`{}` is the former name of `", name.trim_matches('"'));
            assert!(one.message.starts_with(&text), "{former}: {one:?}");
        }
        assert_eq!(hooks(present).warnings(), [], "{present}");
    }
    let two = hooks("release(\"Invoice/a\");\nrelease(\"Invoice/a\");");
    assert_eq!(two.warnings().iter().map(|one| one.line).collect::<Vec<_>>(), [2, 3]);
    let own = "fn on_event(event) { hold(1); }\nfn hold(x) { x }\n";
    let own = Hooks::load(&[source("a.rhai", own)], &known()).unwrap();
    assert_eq!(own.warnings(), [], "a function of the script itself");
}

#[test]
fn the_table_has_every_former_name() {
    for row in host_functions() {
        let options = row.options().filter_map(|option| option.former_name);
        for name in row.former_name.into_iter().chain(options) {
            assert!(RENAMED.iter().any(|(former, ..)| former.contains(name)), "{name}");
        }
    }
}

#[test]
fn a_former_name_is_kept_in_messages_of_runs_and_of_the_checker_and_its_type_is_known() {
    let failed_with = |body: &str| ran(body).unwrap_err().message;
    assert!(failed_with("let a = 1; release(a);").starts_with("`resource` of `release`"));
    assert!(failed_with("let a = 1; resume(a);").starts_with("`resource` of `resume`"));
    for name in ["intake_link", "new_card_link"] {
        let text = format!(
            "fn on_event(event) {{ log({name}(\"SavedMethod/a\") + money(\"1.00 USD\")); }}"
        );
        let problems = Hooks::load(&[source("a.rhai", &text)], &known()).unwrap_err();
        assert!(problems.iter().any(|one| one.code.ends_with("text_and_money")), "{problems:?}");
    }
    let near = "fn on_event(event) { hodl(\"Invoice/a\", \"x\"); supend(\"Invoice/a\", \"x\"); }";
    let near = Hooks::load(&[source("a.rhai", near)], &known()).unwrap_err();
    assert!(near.iter().all(|one| !one.help.contains("`hold`")), "{near:?}");
    assert_eq!(near[1].help, "did you mean `suspend`?");
}
