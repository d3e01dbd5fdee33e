//! Scripts and test cases with former names work, and `hooks check` warns.

use super::*;

const SCRIPT: &str = r#"fn on_recurring_charge_occurrence_created(event) {
    ignore_occurrence(event.data);
    pay_occurrence(event.data, #{ amount: "1.00 USD" });
    kv_set("a", 1);
}
"#;

const CASE: &str = r"cases:
- name: a
  event: {type: recurring_charge.occurrence.created, merchant: acme, data: {id: o1, recurring_charge_id: r1}}
  expect:
    actions:
    - {do: ignore, merchant: acme, recurring: r1, occurrence: o1}
    - {do: pay, merchant: acme, recurring: r1, occurrence: o1, amount: 1.00 USD}
    kept: {a: 1}
";

/// Returns the case with the present names.
fn present_case() -> String {
    CASE.replace("ignore", "skip_occurrence")
        .replace("do: pay", "do: pay_occurrence")
        .replace("kept", "kv")
}

fn write(folder: &Path, script: &str, case: &str) {
    fs::write(folder.join("scripts/skipping.rhai"), script).unwrap();
    fs::write(folder.join("scripts/skipping.test.yaml"), case).unwrap();
}

/// Runs the case, which passes, and returns the problems that the check reports.
fn problems(script: &str, case: &str) -> Vec<Value> {
    let folder = scaffolded();
    write(folder.path(), script, case);
    let tested = reckon(folder.path(), &["hooks", "test", "skipping"]);
    assert!(text(&tested).ends_with("\n1 case, 0 failed\n"), "{}", text(&tested));
    let checked = reckon(folder.path(), &["-o", "json", "hooks", "check"]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked));
    let report: Value = serde_json::from_slice(&checked.stdout).unwrap();
    report["problems"].as_array().unwrap().clone()
}

#[test]
fn former_names_in_scripts_and_cases_work_and_are_warned_about_at_their_places() {
    let expected = [
        (
            "scripts/skipping.rhai",
            2,
            5,
            "`ignore_occurrence` is the former name of `skip_occurrence`",
        ),
        ("scripts/skipping.test.yaml", 6, 12, "`ignore` is the former name of `skip_occurrence`"),
        ("scripts/skipping.test.yaml", 7, 12, "`pay` is the former name of `pay_occurrence`"),
        ("scripts/skipping.test.yaml", 8, 5, "`kept` is the former name of `kv`"),
    ];
    let warned = problems(SCRIPT, CASE);
    assert_eq!(warned.len(), expected.len(), "{warned:?}");
    for (one, (file, line, column, message)) in warned.iter().zip(expected) {
        let told = (&one["file"], &one["line"], &one["column"], &one["message"]);
        assert_eq!(told, (&json!(file), &json!(line), &json!(column), &json!(message)));
        let told = (&one["code"], &one["severity"]);
        assert_eq!(told, (&json!("reckon::hooks::former_name"), &json!("warning")));
    }
    assert!(problems(&SCRIPT.replace("ignore_", "skip_"), &present_case()).is_empty());
}

#[test]
fn a_warning_has_the_name_to_write_and_no_message_offers_a_former_one() {
    let folder = scaffolded();
    write(folder.path(), SCRIPT, CASE);
    let shown = text(&reckon(folder.path(), &["hooks", "check"]));
    assert!(shown.contains("help: write `kv`: `kept` works in this version"), "{shown}");
    write(folder.path(), SCRIPT, &present_case().replace("kv", "kvs"));
    let shown = text(&reckon(folder.path(), &["hooks", "test", "skipping"]));
    assert!(shown.contains("unknown field `kvs`") && !shown.contains("kept"), "{shown}");
    write(folder.path(), SCRIPT, &CASE.replace("do: pay", "do: cancel"));
    let shown = text(&reckon(folder.path(), &["hooks", "test", "skipping"]));
    assert!(
        shown.contains("do: cancel_recurring") && shown.contains("do: pay_occurrence"),
        "{shown}"
    );
}
