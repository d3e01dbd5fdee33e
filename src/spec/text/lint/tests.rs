//! Laws of the lint pass.
#![expect(
    clippy::format_push_string,
    clippy::format_collect,
    clippy::arithmetic_side_effects,
    reason = "a test that writes small texts"
)]

use proptest::prelude::*;

use crate::spec::text::lint::*;
use crate::spec::text::source::split;

fn first(text: &str) -> Linted {
    let (slices, _) = split(text);
    lint(text, &slices[0], Keep::All)
}

fn check(text: &str, code: &str, guilty: &str) {
    let findings = first(text).findings;
    let found: Vec<_> = findings.iter().map(|f| (f.code, &text[f.span.clone()])).collect();
    let code = format!("reckon::yaml::{code}");
    assert_eq!(found, [(code.as_str(), guilty)], "{text:?}");
}

#[test]
fn every_finding_points_at_the_guilty_bytes() {
    check("a: 1\nä: 2\na: 3\n", "duplicate_key", "a");
    check("x: {k: 1, 'k': 2}\n", "duplicate_key", "'k'");
    check("a: !x b\n", "tag", "!x");
    check("a: &n b\n", "alias", "&n");
    check("a: &n {b: 1}\n", "alias", "&n");
    check("a: *n\n", "alias", "*");
    check("<<: {a: 1}\n", "merge_key", "<<");
    check("1: a\n", "key_not_text", "1");
    check("true: a\n", "key_not_text", "true");
    check("[a]: b\n", "key_not_text", "[a]");
    check("a:\n\tb: 1\n", "tab", "\t");
    check("a: 1\n\tb: 2\n", "tab", "\t");
    check("é: b: c\n", "syntax", ":");
    check("a: 'x\n", "syntax", "'");
    check("a: [1, 2\n", "syntax", "2");
}

#[test]
fn depth_and_size_are_limited() {
    let deep = format!("a: {}\n", "[".repeat(DEPTH_MAX + 1));
    check(&deep, "too_deep", "[");
    let block: String = (0..70).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    check(&block, "too_deep", "a");
    let many = format!("a: [{}]\n", "1,".repeat(NODES_MAX));
    assert_eq!(first(&many).findings[0].code, "reckon::yaml::too_many_values");
}

#[test]
fn a_bomb_of_aliases_is_refused_and_its_findings_are_limited() {
    let mut bomb = String::from("a0: &a0 [x, x]\n");
    for level in 1..60 {
        let before = level - 1;
        bomb.push_str(&format!("a{level}: &a{level} [*a{before}, *a{before}]\n"));
    }
    let findings = first(&bomb).findings;
    assert_eq!(findings.len(), FINDINGS_MAX);
    assert!(findings.iter().all(|finding| finding.code == "reckon::yaml::alias"));
}

#[test]
fn a_hundred_thousand_keys_are_compared_in_linear_time() {
    let many: String = (0..40_000).map(|n| format!("k{n}: \n")).collect();
    assert_eq!(first(&many).findings, []);
    assert_eq!(first(&format!("{many}k3: 1\n")).findings[0].code, "reckon::yaml::duplicate_key");
}

#[test]
fn a_broken_document_keeps_the_entries_that_were_complete() {
    let root = first("kind: X\nmetadata: {name: a}\nspec:\n  a: 'x\n").root.unwrap();
    let keys: Vec<_> = root.entries().iter().map(|entry| entry.key.as_str()).collect();
    assert_eq!(keys, ["kind", "metadata"]);
}

#[test]
fn only_the_head_is_kept_when_asked() {
    let text = "kind: X\nspec: {a: [1]}\n";
    let (slices, _) = split(text);
    let root = lint(text, &slices[0], Keep::Head).root.unwrap();
    assert_eq!(root.get("kind").and_then(Node::text), Some("X"));
    assert_eq!(root.get("spec").unwrap().value, NodeValue::Skipped);
}

const GOOD: &str = "apiVersion: reckon.dev/v1\nkind: Invoice\nmetadata: {name: é, labels: {a: b}}\nspec:\n  \
     - a: |\n      text\n  - b: >-\n      fold\n    c: \"q\\n\"\n---\nx: ['1', {y: }]\n";

fn lint_all(text: &str) {
    let (slices, _) = split(text);
    for slice in &slices {
        for finding in lint(text, slice, Keep::All).findings {
            assert!(text.get(finding.span.clone()).is_some(), "{finding:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_is_survived(text in "[ \\-?:,\\[\\]{}#&*!|>'\"%@`\\n\\r\\tab1é~<.]{0,80}") {
        lint_all(&text);
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let decoded = crate::spec::text::decode::decode(bytes);
        lint_all(&decoded.text);
    }

    #[test]
    fn any_damage_to_a_good_file_is_survived(
        at in 0..GOOD.len(),
        length in 0_usize..9,
        with in "[ \\-?:,\\[\\]{}#&*!|>'\"\\n\\ta]{0,4}",
    ) {
        let mut bytes = GOOD.as_bytes().to_vec();
        bytes.splice(at..(at + length).min(GOOD.len()), with.bytes());
        lint_all(&String::from_utf8_lossy(&bytes));
    }
}
