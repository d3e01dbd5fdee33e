//! `wait` and `reconcile`, with and without a daemon.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::daemon_process;

/// Runs `reckon` with an empty environment and expects this code; returns both outputs.
fn run(folder: &Path, line: &str, code: i32) -> [String; 2] {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
    let output = command.current_dir(folder).env_clear().args(line.split(' ')).output().unwrap();
    let printed = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(output.status.code(), Some(code), "{line}: {printed:?}");
    printed
}

fn ends(folder: &Path, line: &str, code: i32) -> String {
    run(folder, line, code).concat()
}

fn json(folder: &Path, line: &str, code: i32) -> Value {
    let [printed, errors] = run(folder, &format!("{line} -o json"), code);
    // Progress is for terminals alone.
    assert!(!errors.contains(" ready"), "{errors}");
    serde_json::from_str(&printed).unwrap()
}

#[test]
fn when_the_time_is_over_the_command_lists_what_is_not_ready_and_why() {
    let folder = tempfile::tempdir().unwrap();
    ends(folder.path(), "init", 0);
    let over = json(folder.path(), "wait --timeout 0s", 3);
    assert_eq!(
        (&over["for"], &over["met"], &over["resources"]),
        (&"ready".into(), &false.into(), &3.into())
    );
    assert_eq!(over["unmet"].as_array().map(Vec::len), Some(3), "{over}");
    let text = ends(folder.path(), "wait --for synced --timeout 0s Contact/jane Contact/joe", 3);
    assert!(text.contains("Contact/jane  ") && text.contains("Contact/joe  Unknown: "), "{text}");
    assert!(text.contains("2 resources: 0 synced, 2 not synced"), "{text}");
    assert!(ends(folder.path(), "wait --timeout soon", 1).contains("such as 90s, 5m or 2h"));
    let alone = ends(folder.path(), "reconcile", 4);
    assert!(
        alone.contains("reckon::reconcile::no_daemon") && alone.contains("reckon run"),
        "{alone}"
    );
}

#[test]
fn a_daemon_reconciles_at_once_and_a_wait_ends_when_it_has() {
    let folder = tempfile::tempdir().unwrap();
    ends(folder.path(), "init", 0);
    let tree = fs::read_to_string(folder.path().join("specs/acme.yaml")).unwrap();
    fs::remove_file(folder.path().join("specs/acme.yaml")).unwrap();
    let _daemon = daemon_process::start(folder.path(), &tree).expect("a daemon");
    let met = json(folder.path(), "wait --for synced --timeout 2m", 0);
    assert_eq!((&met["met"], &met["resources"]), (&true.into(), &3.into()), "{met}");
    let more = tree.split("---\n").nth(1).unwrap().replace("name: jane", "name: joe");
    fs::write(folder.path().join("specs/joe.yaml"), more).unwrap();
    ends(folder.path(), "reconcile", 0);
    ends(folder.path(), "wait --timeout 0s Contact/joe", 0);
    let again = json(folder.path(), "reconcile Contact/joe", 0);
    assert_eq!(
        (&again["resource"]["ready"], &again["status"]["resources"]),
        (&true.into(), &4.into())
    );
    let wrong = ends(folder.path(), "reconcile Contact/jo", 1);
    assert!(wrong.contains("did you mean Contact/joe?"), "{wrong}");
}
