//! Saved plans through the built program and a sandbox: applied once, outdated, interrupted, edited, and of another
//! state.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use reckon::control::handle::Control;
use reckon::control::socket::ControlSocket;
use reckon::engine::core::coordinator::RunUntil;
use reckon::engine::protocol::input::EngineInput;
use reckon::sandbox::options::ServiceSurface;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::support::shell::{Shell, code, stderr, stdout};
use crate::support::world::World;

const TREE: &str = r#"apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec: {mode: test, timezone: America/Chicago, credentials: {authorization_code: {env: CODE_ACME}}}
---
apiVersion: reckon.dev/v1
kind: Contact
metadata: {name: jane}
spec: {merchant: acme, first_name: Jane, last_name: Doe, email_addresses: [{address: jane@example.com}]}
---
apiVersion: reckon.dev/v1
kind: Invoice
metadata: {name: first}
spec:
  merchant: acme
  contact: jane
  bank_account: Operating
  invoice_date: 2030-01-15
  line_items: [{description: Retainer, rate_per_quantity: "125.00 USD"}]
"#;

const CARD: &str = r#"apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: card}
spec:
  merchant: acme
  type: card
  description: office
  source: {card: {number: "4242424242424242", exp_month: 12, exp_year: 2031}}
"#;

/// Starts a sandbox, writes a tree, and saves its plan as `p.json`.
fn planned() -> Shell {
    let shell = Shell::start();
    shell.write("specs/tree.yaml", TREE);
    // A plan is sealed with the key of the state, which a command that only reads does not make.
    assert_eq!(code(&shell.reckon(&["init", "--empty-remote", "--yes"])), 0);
    let plan = shell.reckon(&["plan", "--out", "p.json"]);
    assert_eq!(code(&plan), 0, "{}", stderr(&plan));
    assert!(stderr(&plan).contains("saved as p.json"), "{}", stderr(&plan));
    shell
}

/// Closes M2: `apply` reports its effects to programs, each once.
#[test]
fn m2_apply_tells_programs_what_it_did() {
    let shell = planned();
    let applied = shell.reckon(&["apply", "--yes", "-o", "json"]);
    assert_eq!(code(&applied), 0, "{}", stderr(&applied));
    let applied = json(&stdout(&applied));
    let done = applied["done"].as_array().unwrap();
    let of = |name: &str| done.iter().find(|one| one["key"].as_str().unwrap().ends_with(name));
    let invoice = of("Invoice/default/first").unwrap_or_else(|| panic!("{done:?}"));
    assert_eq!(
        (&invoice["verb"], &invoice["effect"]),
        (&"created".into(), &"invoice.create".into())
    );
    assert_eq!(
        (&invoice["money"][0]["amount"], &invoice["money"][0]["currency"]),
        (&12500.into(), &"USD".into())
    );
    assert!(invoice["remote_id"].is_string() && of("Contact/default/jane").is_some(), "{done:?}");
    let again = json(&stdout(&shell.reckon(&["apply", "--yes", "-o", "json"])));
    assert_eq!(again["done"].as_array().map(Vec::len), Some(0), "{again}");
}

#[test]
fn a_saved_plan_is_applied_once_and_says_what_became_of_it() {
    use std::os::unix::fs::PermissionsExt;
    let shell = planned();
    let saved = shell.path("p.json");
    assert_eq!(fs::metadata(&saved).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&saved).unwrap();
    for private in ["Jane", "jane@example.com", "Doe"] {
        assert!(!text.contains(private), "{private}");
    }
    let unconfirmed = shell.reckon(&["apply", "p.json"]);
    assert_eq!(code(&unconfirmed), 1, "{}", stderr(&unconfirmed));
    let applied = shell.reckon(&["apply", "p.json", "--yes"]);
    assert_eq!(code(&applied), 0, "{}", stderr(&applied));
    assert_eq!((shell.count("contacts"), shell.count("invoices")), (1, 1));
    let again = shell.reckon(&["apply", "p.json", "--yes"]);
    assert_eq!(code(&again), 1);
    let told = stderr(&again);
    assert!(told.contains("reckon::plan_file::used"), "{told}");
    assert!(told.contains("of its 3 steps 3 are done"), "{told}");
    let id = json(&text)["id"].as_str().unwrap().to_owned();
    assert!(told.contains(&id), "{told}");
}

#[test]
fn show_needs_the_file_alone_and_works_for_used_and_outdated_plans() {
    let shell = planned();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::copy(shell.path("p.json"), elsewhere.path().join("p.json")).unwrap();
    drop(shell);
    let shown = bare(elsewhere.path(), &["plan", "show", "p.json"]);
    assert_eq!(code(&shown), 0, "{}", stderr(&shown));
    let text = stdout(&shown);
    assert!(text.contains("Saved plan plan-") && text.contains("Plan: 3 to create"), "{text}");
    let detailed = bare(elsewhere.path(), &["plan", "show", "p.json", "--detailed-exitcode"]);
    assert_eq!(code(&detailed), 2);
    let programs = bare(elsewhere.path(), &["plan", "show", "p.json", "-o", "json"]);
    let view = json(&stdout(&programs));
    assert_eq!((&view["changes"], view.get("token")), (&Value::Bool(true), None));
    assert_eq!(view["plan"]["steps"].as_array().unwrap().len(), 3);
    let markdown = bare(elsewhere.path(), &["plan", "show", "p.json", "-o", "markdown"]);
    assert!(stdout(&markdown).contains("### Plan: 3 to create"), "{}", stdout(&markdown));
    fs::write(elsewhere.path().join("q.json"), "{\n  \"saved_plan\": 1,\n").unwrap();
    let damaged = bare(elsewhere.path(), &["plan", "show", "q.json"]);
    assert_eq!(code(&damaged), 1);
    assert!(stderr(&damaged).contains("damaged"), "{}", stderr(&damaged));
}

#[test]
fn an_outdated_plan_is_refused_with_what_moved_and_nothing_is_done() {
    let shell = planned();
    shell.write("specs/tree.yaml", &TREE.replace("125.00", "126.00"));
    shell.write("specs/card.yaml", CARD);
    let stale = shell.reckon(&["apply", "p.json", "--yes"]);
    assert_eq!(code(&stale), 1);
    let told = stderr(&stale);
    for moved in [
        "specs/tree.yaml:11 Invoice/first: its document changed",
        "specs/card.yaml:1 SavedMethod/card: new step: create",
    ] {
        assert!(told.contains(moved), "{moved}\n{told}");
    }
    assert_eq!(told.matches("\n  ").count(), 3, "two changed steps, and the help: {told}");
    assert_eq!(shell.count("contacts"), 0);
    let programs = shell.reckon(&["apply", "p.json", "--yes", "-o", "json"]);
    let problems = json(&stderr(&programs))["error"]["problems"].clone();
    assert_eq!(problems[0]["line"], 11);
    shell.write("specs/tree.yaml", TREE);
    fs::remove_file(shell.path("specs/card.yaml")).unwrap();
    let applied = shell.reckon(&["apply", "p.json", "--yes"]);
    assert_eq!(code(&applied), 0, "the tree matches the plan again: {}", stderr(&applied));
}

#[test]
fn what_the_service_holds_by_now_makes_a_plan_outdated_and_unrelated_records_do_not() {
    let shell = planned();
    assert_eq!(code(&shell.reckon(&["apply", "--yes"])), 0);
    shell.write("specs/card.yaml", CARD);
    let card = shell.reckon(&["plan", "--target", "SavedMethod/card", "--out", "c.json"]);
    assert_eq!(code(&card), 0, "{}", stderr(&card));
    // Effects of other resources add records to the journal.
    let more = CARD.replace("name: card", "name: other");
    shell.write("specs/other.yaml", &more);
    assert_eq!(code(&shell.reckon(&["apply", "--yes", "--target", "SavedMethod/other"])), 0);
    assert_eq!(shell.count("cards"), 1);
    let applied = shell.reckon(&["apply", "c.json", "--yes"]);
    assert_eq!(code(&applied), 0, "{}", stderr(&applied));
    assert_eq!(shell.count("cards"), 2);
    let stale = shell.reckon(&["apply", "p.json", "--yes"]);
    let told = stderr(&stale);
    assert_eq!(code(&stale), 1);
    assert!(told.contains("Contact/jane: its known state changed: its id"), "{told}");
}

#[test]
fn an_edited_plan_and_another_state_s_are_refused() {
    let shell = planned();
    let text = fs::read_to_string(shell.path("p.json")).unwrap();
    shell.write("edited.json", &text.replace("\"exclude\": []", "\"exclude\": [], \"more\": 1"));
    let edited = shell.reckon(&["apply", "edited.json", "--yes"]);
    assert_eq!(code(&edited), 1);
    assert!(stderr(&edited).contains("reckon::plan_file::edited"), "{}", stderr(&edited));
    // Another state makes a key of its own.
    fs::remove_dir_all(shell.path(".reckon")).unwrap();
    fs::remove_file(shell.path(".reckon.key")).unwrap();
    let other = shell.reckon(&["apply", "p.json", "--yes"]);
    assert_eq!(code(&other), 4);
    assert!(stderr(&other).contains("reckon::plan_file::other_state"), "{}", stderr(&other));
    assert_eq!(shell.count("contacts"), 0);
}

#[test]
fn a_plan_that_broke_off_is_not_applied_again_and_says_what_is_left() {
    let shell = planned();
    // Nothing can be sent. The plan is used up, and none of its steps is done.
    let down = shell.reckon_with(&["apply", "p.json", "--yes"], &[("CODE_ACME", None)]);
    assert_eq!(code(&down), 4, "{}", stderr(&down));
    let again = shell.reckon(&["apply", "p.json", "--yes"]);
    let told = stderr(&again);
    assert_eq!(code(&again), 1);
    assert!(told.contains("of its 3 steps 0 are done, 3 not done"), "{told}");
    assert!(told.contains("reckon plan --out"), "{told}");
    assert_eq!(code(&shell.reckon(&["plan", "--out", "q.json"])), 0);
    let anew = shell.reckon(&["apply", "q.json", "--yes"]);
    assert_eq!(code(&anew), 0, "{}", stderr(&anew));
    assert_eq!(shell.count("invoices"), 1);
}

#[test]
fn what_is_in_doubt_of_a_used_plan_is_told() {
    let shell = Shell::start();
    let held = "{name: jane, annotations: {reckon.dev/on-doubt: hold}}";
    shell.write("specs/tree.yaml", &TREE.replace("{name: jane}", held));
    assert_eq!(code(&shell.reckon(&["init", "--empty-remote", "--yes"])), 0);
    assert_eq!(code(&shell.reckon(&["plan", "--out", "p.json"])), 0);
    let lost = r#"{"method": "POST", "path": "/contacts", "fault": "drop_after", "times": 1}"#;
    shell.ask("POST", "faults", lost);
    let applied = shell.reckon(&["apply", "p.json", "--yes"]);
    assert_eq!(code(&applied), 3, "{}", stderr(&applied));
    let again = shell.reckon(&["apply", "p.json", "--yes"]);
    let told = stderr(&again);
    let words = "1 is done, 1 in flight or in doubt (Contact/jane), 1 not done (Invoice/first)";
    assert!(told.contains(words), "{told}");
    assert_eq!(shell.count("contacts"), 1, "the contact exists, and is not created again");
}

#[tokio::test]
async fn beside_a_daemon_a_plan_is_saved_and_none_is_applied() {
    let shell = Shell::start();
    shell.write("specs/tree.yaml", TREE);
    fs::create_dir(shell.path(".reckon")).unwrap();
    let door = ControlSocket::bind(&shell.path(".reckon/control.sock")).await.unwrap();
    let world = World::new(ServiceSurface::Public, "2029-12-01T10:00:00Z");
    world.write(TREE);
    let mut engine = world.engine();
    engine.select_targets([].into());
    let (sender, events) = mpsc::channel(8);
    let serving = tokio::spawn(door.serve(Control::new(sender.clone()), std::future::pending()));
    let commands = tokio::task::spawn_blocking(move || {
        let saved = shell.reckon(&["plan", "--target", "Contact/jane", "--out", "p.json"]);
        let shown = shell.reckon(&["plan", "show", "p.json"]);
        let unknown = shell.reckon(&["plan", "--exclude", "Contact/jame"]);
        let applied = shell.reckon(&["apply", "--yes"]);
        let merchant = shell.reckon(&["plan", "--target", "Merchant/acme", "--out", "p.json"]);
        let refused = shell.reckon(&["apply", "p.json", "--yes"]);
        [saved, shown, unknown, applied, merchant, refused]
    });
    let acting = async {
        let outputs = commands.await.unwrap();
        sender.send(EngineInput::Stop).await.unwrap();
        outputs
    };
    let (ran, outputs) = tokio::join!(engine.run(events, RunUntil::Stopped), acting);
    serving.abort();
    ran.unwrap();
    let codes = outputs.each_ref().map(code);
    assert_eq!(codes, [0, 0, 1, 0, 0, 4], "{outputs:?}");
    let [_, shown, unknown, _, _, refused] = outputs;
    let words = "waits for Merchant/acme, which is not selected";
    assert!(stdout(&shown).contains(words), "{}", stdout(&shown));
    assert!(stderr(&unknown).contains("did you mean Contact/jane?"), "{}", stderr(&unknown));
    assert!(stderr(&refused).contains("reckon::apply::daemon"), "{}", stderr(&refused));
}

#[test]
fn an_empty_plan_is_said_to_be_empty_and_applied_without_a_word() {
    let shell = planned();
    assert_eq!(code(&shell.reckon(&["apply", "--yes"])), 0);
    assert_eq!(code(&shell.reckon(&["plan", "--out", "p.json"])), 0);
    let shown = shell.reckon(&["plan", "show", "p.json", "--detailed-exitcode"]);
    assert_eq!(code(&shown), 0);
    assert!(stdout(&shown).contains("It is empty"), "{}", stdout(&shown));
    for _ in 0..2 {
        let applied = shell.reckon(&["apply", "p.json"]);
        assert_eq!(code(&applied), 0, "{}", stderr(&applied));
    }
}

#[test]
fn what_is_excluded_is_not_done_and_what_needs_it_waits_and_says_so() {
    let shell = planned();
    let plan = shell.reckon(&["plan", "--exclude", "Contact/jane"]);
    let text = stdout(&plan);
    assert!(text.contains("waits for Contact/jane, which is excluded"), "{text}");
    assert!(text.contains("Plan: 1 to create") && text.contains("1 waiting"), "{text}");
    assert!(!text.contains("125.00 USD invoiced"), "no money moves: {text}");
    let applied = shell.reckon(&["apply", "--yes", "--exclude", "Contact/jane"]);
    assert_eq!(code(&applied), 0, "{}", stderr(&applied));
    assert_eq!((shell.count("contacts"), shell.count("invoices")), (0, 0));
    for command in ["plan", "apply"] {
        for flag in ["--exclude", "--target"] {
            let wrong = shell.reckon(&[command, flag, "Contact/jame"]);
            assert_eq!(code(&wrong), 1);
            assert!(stderr(&wrong).contains("did you mean Contact/jane?"), "{}", stderr(&wrong));
        }
    }
    assert_eq!(code(&shell.reckon(&["apply", "--yes"])), 0);
    assert_eq!((shell.count("contacts"), shell.count("invoices")), (1, 1));
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("the output is JSON")
}

/// Runs the program in this folder, with an empty environment.
fn bare(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
    command.current_dir(folder).env_clear().args(arguments).output().expect("the program runs")
}
