//! `validate` and `plan` as reports for code hosts. These tests need no service.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn reckon(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
    command.current_dir(folder).env_clear().args(arguments).output().expect("the program runs")
}

/// Runs the program, which ends with this code, and returns its standard output.
fn prints(folder: &Path, arguments: &[&str], ends: i32) -> String {
    let output = reckon(folder, arguments);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(ends), "{arguments:?}: {told}");
    String::from_utf8(output.stdout).unwrap()
}

/// Makes a repository whose limit blocks the invoice of `init`.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    prints(folder.path(), &["init"], 0);
    let config = folder.path().join("reckon.yaml");
    let text = std::fs::read_to_string(&config).unwrap();
    let limits = "policy:\n  limits: {per_object: [\"100.00 USD\"]}\n";
    assert!(text.contains("policy:\n"), "{text}");
    std::fs::write(&config, text.replace("policy:\n", limits)).unwrap();
    folder
}

fn results(log: &str) -> Vec<Value> {
    let log: Value = serde_json::from_str(log).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap().clone();
    for result in &results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(rules[index]["help"]["text"].is_string(), "{rules:?}");
    }
    results
}

#[test]
fn a_problem_of_a_file_is_a_finding_in_each_form() {
    let folder = repository();
    let specs = folder.path().join("specs/acme.yaml");
    let text = std::fs::read_to_string(&specs).unwrap();
    std::fs::write(&specs, text.replace("mode: test", "mode: tset")).unwrap();
    let found = results(&prints(folder.path(), &["validate", "-o", "sarif"], 1));
    let place = &found[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "specs/acme.yaml");
    assert_eq!((&place["region"]["startLine"], found.len()), (&9.into(), 1));
    let github = prints(folder.path(), &["validate", "-o", "github"], 1);
    assert!(github.starts_with("::error file=specs/acme.yaml,line=9,col=9,"), "{github}");
    let gitlab = prints(folder.path(), &["validate", "-o", "gitlab"], 1);
    let gitlab: Value = serde_json::from_str(&gitlab).unwrap();
    assert_eq!(gitlab[0]["location"]["lines"]["begin"], 9);
    let junit = prints(folder.path(), &["validate", "-o", "junit"], 1);
    assert!(junit.contains("<testcase classname=\"specs/acme.yaml\" name=\"9:9 "), "{junit}");
}

#[test]
fn a_step_that_a_limit_stops_is_a_finding_at_its_document() {
    let folder = repository();
    let found = results(&prints(folder.path(), &["plan", "-o", "sarif"], 3));
    assert_eq!((found.len(), &found[0]["ruleId"]), (1, &"reckon::plan::over_limit".into()));
    let region = &found[0]["locations"][0]["physicalLocation"]["region"];
    let text = std::fs::read_to_string(folder.path().join("specs/acme.yaml")).unwrap();
    let line = usize::try_from(region["startLine"].as_u64().unwrap()).unwrap();
    assert!(text.lines().nth(line - 1).unwrap().starts_with("apiVersion:"), "line {line}");
    let junit = prints(folder.path(), &["plan", "-o", "junit"], 3);
    assert!(junit.contains("tests=\"3\" failures=\"1\""), "{junit}");
    assert!(junit.contains("name=\"create Contact/jane\"/>"), "{junit}");
    let github = prints(folder.path(), &["plan", "-o", "github"], 3);
    assert!(github.contains("reckon approve "), "{github}");
}

#[test]
fn other_commands_have_no_findings() {
    let folder = repository();
    for arguments in [["get", "-o", "sarif"], ["apply", "-o", "github"], ["intents", "-o", "junit"]]
    {
        let output = reckon(folder.path(), &arguments);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains("reckon::usage::output"), "{told}");
    }
}
