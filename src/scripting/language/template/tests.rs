use serde_json::json;

use super::*;
use crate::scripting::language::source::ScriptSource;

fn source(path: &str, text: &str) -> ScriptSource {
    ScriptSource {
        path: path.to_owned(),
        display_path: format!("scripts/{path}"),
        text: text.into(),
    }
}

fn read(files: &[(&str, &str)]) -> (BTreeMap<String, Template>, Vec<String>) {
    let sources: Vec<ScriptSource> = files.iter().map(|(path, text)| source(path, text)).collect();
    let mut problems = Vec::new();
    let all = parse_templates(&sources, &mut problems);
    let told = problems
        .iter()
        .map(|one| format!("{}:{}:{} {}", one.file, one.line, one.column, one.message));
    (all, told.collect())
}

#[test]
fn a_template_is_filled_in_and_in_html_what_is_filled_in_is_text() {
    let text = "Subject: For {{ payer.name }}\n\n{{payer.name}} owes {{amount}}.\n";
    let html = "<p title=\"{{payer.name}}\">{{payer.name}}: {{amount}}</p>";
    let (all, problems) = read(&[("templates/due.txt", text), ("templates/due.html", html)]);
    assert_eq!(problems, [""; 0]);
    let due = &all["due"];
    assert_eq!(due.names(), ["amount", "payer"].into());
    let filled =
        due.fill(&json!({"payer": {"name": "<b>\"O'Neil\" & {{amount}}"}, "amount": 3})).unwrap();
    assert_eq!(filled.subject.as_deref(), Some("For <b>\"O'Neil\" & {{amount}}"));
    assert_eq!(
        filled.text, "<b>\"O'Neil\" & {{amount}} owes 3.",
        "what is filled in is not filled in again"
    );
    let safe = "&lt;b&gt;&quot;O&#39;Neil&quot; &amp; {{amount}}";
    assert_eq!(filled.html, Some(format!("<p title=\"{safe}\">{safe}: 3</p>")));
}

#[test]
fn what_is_missing_or_no_text_is_told_by_its_name() {
    let (all, _) = read(&[("templates/due.txt", "{{payer.name}}")]);
    let fill = |values| all["due"].fill(&values).unwrap_err();
    assert_eq!(fill(json!({})), "nothing is given for `{{payer.name}}`");
    assert_eq!(fill(json!({"payer": {"name": null}})), "nothing is given for `{{payer.name}}`");
    assert!(fill(json!({"payer": {"name": [1]}})).ends_with("is a list or a map, and no text"));
}

#[test]
fn everything_that_is_wrong_with_templates_is_told_with_its_place() {
    let text = "Subject: {{#if x}}\n\nok {{fine}} {{}}\n  {{ not fine }}\n{{open\n";
    let (_, problems) = read(&[("templates/a.txt", text), ("templates/b.html", "{{ä}}")]);
    let expect = [
        "scripts/templates/a.txt:1:10 `{{#if x}}` is not a placeholder: only names are possible",
        "scripts/templates/a.txt:3:13 `{{}}` is not a placeholder: only names are possible",
        "scripts/templates/a.txt:4:3 `{{not fine}}` is not a placeholder: only names are possible",
        "scripts/templates/a.txt:5:1 this placeholder is not closed",
        "scripts/templates/b.html:1:1 `{{ä}}` is not a placeholder: only names are possible",
        "scripts/templates/b.html:1:1 this template has no text part",
    ];
    assert_eq!(problems, expect);
}

#[test]
fn only_files_of_its_folder_are_templates() {
    let is: Vec<bool> =
        ["templates/a.txt", "templates/a.html", "templates/a.rhai", "a.txt", "lib/templates/a.txt"]
            .map(is_template)
            .into();
    assert_eq!(is, [true, true, false, false, false]);
}
