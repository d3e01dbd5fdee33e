use serde_json::{Value, json};

use super::findings::ReportFindings;
use super::{annotations, junit, sarif};
use crate::model::issue::{PlacedIssue, ProblemCounts, RelatedPlace, Severity};

fn problem(file: &str, severity: Severity, message: &str) -> PlacedIssue {
    PlacedIssue {
        file: file.to_owned(),
        line: 3,
        column: 5,
        length: 4,
        code: "reckon::usage::output".to_owned(),
        severity,
        message: message.to_owned(),
        help: "write <text> & go".to_owned(),
        related: vec![RelatedPlace {
            file: "b.yaml".to_owned(),
            line: 7,
            column: 1,
            message: "first here".to_owned(),
        }],
    }
}

fn findings() -> ReportFindings {
    let items = [
        problem("specs/a b:c.yaml", Severity::Error, "100% wrong,\r\nreally"),
        problem("specs/a b:c.yaml", Severity::Error, "100% wrong,\r\nreally"),
        problem("b.yaml", Severity::Warning, "old\u{1b}[31m"),
    ];
    ReportFindings::of_files(2, &items, ProblemCounts::default())
}

#[test]
fn sarif_has_a_rule_with_help_and_a_region_for_each_finding() {
    let log = serde_json::to_value(sarif::log(&findings())).unwrap();
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), 1, "one rule for each code: {rules:?}");
    assert_eq!(rules[0]["id"], "reckon::usage::output");
    for text in ["shortDescription", "help"] {
        assert!(rules[0][text]["text"].as_str().is_some_and(|text| text.len() > 10), "{rules:?}");
    }
    let result = &run["results"][0];
    assert_eq!((&result["level"], &result["ruleIndex"]), (&json!("error"), &json!(0)));
    assert_eq!(run["results"][2]["level"], "warning");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "specs/a%20b%3Ac.yaml");
    assert_eq!(place["region"], json!({"startLine": 3, "startColumn": 5, "endColumn": 9}));
    assert_eq!(result["relatedLocations"][0]["message"]["text"], "first here");
    let prints: Vec<&Value> =
        run["results"].as_array().unwrap().iter().map(|one| &one["partialFingerprints"]).collect();
    assert!(prints[0] != prints[1] && prints[1] != prints[2], "{prints:?}");
}

#[test]
fn a_workflow_command_stays_on_its_line() {
    let text = annotations::github(&findings());
    assert_eq!(text.lines().count(), 3, "{text}");
    assert_eq!(
        text.lines().next(),
        Some(
            "::error file=specs/a b%3Ac.yaml,line=3,col=5,endColumn=8,title=reckon%3A%3Ausage%3A%3Aoutput\
             ::100%25 wrong,%0Areally%0Ahelp: write <text> & go"
        )
    );
    assert!(text.lines().all(|line| !line.contains('\u{1b}')), "{text}");
}

#[test]
fn code_quality_has_a_path_a_line_and_unique_fingerprints() {
    let report = serde_json::to_value(annotations::gitlab(&findings())).unwrap();
    let all = report.as_array().unwrap();
    assert_eq!(all[0]["location"], json!({"path": "specs/a b:c.yaml", "lines": {"begin": 3}}));
    assert_eq!((&all[0]["severity"], &all[2]["severity"]), (&json!("major"), &json!("minor")));
    assert_ne!(all[0]["fingerprint"], all[1]["fingerprint"]);
}

#[test]
fn junit_fails_for_errors_alone() {
    let text = junit::report(&findings());
    assert!(text.contains("tests=\"3\" failures=\"2\""), "{text}");
    assert!(text.contains("100% wrong,\nreally\nhelp: write &lt;text&gt; &amp; go"), "{text}");
    assert!(text.contains("<system-out>old"), "{text}");
    let clean = junit::report(&ReportFindings::of_files(2, &[], ProblemCounts::default()));
    assert!(
        clean.contains("tests=\"1\" failures=\"0\"") && clean.contains("2 documents"),
        "{clean}"
    );
}
