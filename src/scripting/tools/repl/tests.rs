use serde_json::json;

use super::*;
use crate::scripting::language::limits::{TIME_MAX, on_stack};
use crate::scripting::language::names::ConfiguredNames;
use crate::scripting::tools::testcases::CaseState;

fn repl() -> Repl {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let known = ConfiguredNames {
        targets: words(&["ops"]),
        kinds: words(&["Merchant"]),
        rights: crate::policy::Rights::all(),
        ..ConfiguredNames::default()
    };
    let module = "fn twice(n) { n * 2 }".into();
    let path = "lib/sums.rhai".to_owned();
    let sources = [ScriptSource { display_path: format!("scripts/{path}"), path, text: module }];
    Repl::new(&Hooks::load(&sources, &known).unwrap(), &sources)
}

fn answer(repl: &mut Repl, text: &str) -> ReplOutcome {
    let kv = [("count".to_owned(), json!(7))].into();
    let reads: Arc<dyn Reads> = Arc::new(CaseState { kv, ..CaseState::default() });
    on_stack(|| repl.evaluate(text, reads, Some(TIME_MAX))).unwrap()
}

fn done(repl: &mut Repl, text: &str) -> Evaluated {
    match answer(repl, text) {
        ReplOutcome::Done(done) => done,
        other @ (ReplOutcome::Incomplete | ReplOutcome::Failed(_)) => panic!("{text}: {other:?}"),
    }
}

fn wrong(repl: &mut Repl, text: &str) -> (usize, usize, String) {
    match answer(repl, text) {
        ReplOutcome::Failed(problem) => (problem.line, problem.column, problem.message),
        other @ (ReplOutcome::Done(_) | ReplOutcome::Incomplete) => panic!("{text}: {other:?}"),
    }
}

fn value(repl: &mut Repl, text: &str) -> Option<String> {
    done(repl, text).value
}

#[test]
fn variables_functions_and_modules_of_earlier_lines_are_there() {
    let repl = &mut repl();
    assert_eq!(value(repl, "let a = 20;"), None);
    assert_eq!(value(repl, "fn plus(x) { x + 1 }"), None);
    assert_eq!(value(repl, "import \"lib/sums\" as sums;"), None);
    assert_eq!(value(repl, "sums::twice(plus(a))").as_deref(), Some("42"));
    assert_eq!(
        value(repl, "[money(\"1.50 USD\"), #{a: \"x\"}]").as_deref(),
        Some("[\"1.50 USD\",{\"a\":\"x\"}]")
    );
    assert_eq!(value(repl, "money(\"1.50 USD\") * 2").as_deref(), Some("3.00 USD"));
    assert_eq!(wrong(repl, "sums::twice(b)").1, 13, "the imports before it are not counted");
}

#[test]
fn what_goes_on_in_the_next_line_is_waited_for() {
    let repl = &mut repl();
    for text in ["if true {", "fn f(x) {\n  x", "notify(\"ops\",", "let a = ", "#{a: 1"] {
        assert!(matches!(answer(repl, text), ReplOutcome::Incomplete), "{text}");
    }
    assert_eq!(value(repl, "if true {\n  5\n}").as_deref(), Some("5"));
}

#[test]
fn actions_are_collected_and_a_line_that_fails_has_asked_for_nothing() {
    let repl = &mut repl();
    repl.bind(&json!({"id": "e1", "merchant": "acme", "data": {"id": "tr_1"}}));
    let first = done(repl, "void(event.data.id, #{name: \"stop\"}); kv_set(\"n\", 1); log(\"hi\")");
    assert_eq!((first.actions.len(), first.stored.len(), first.log.len()), (1, 1, 1));
    assert_eq!(first.actions[0].merchant.as_ref().unwrap().short(), "Merchant/acme");
    let (line, column, message) = wrong(repl, "notify(\"ops\", \"x\");\n  throw \"no\"");
    assert_eq!((line, column, message.as_str()), (2, 3, "no"));
    assert!(wrong(repl, "notify(\"absent\", \"x\")").2.contains("`absent`"));
    assert!(wrong(repl, "nothing(1)").2.contains("nothing"));
    assert_eq!(wrong(repl, "let x = unknown;").1, 9);
    assert_eq!((repl.actions().len(), repl.stored().len()), (1, 1));
    assert_eq!(
        value(repl, "kv_get(\"n\")").as_deref(),
        Some("1"),
        "what was kept here is read back"
    );
    let read = done(repl, "kv_get(\"count\")");
    assert_eq!((read.value.as_deref(), read.reads, read.stored.len()), (Some("7"), 1, 0));
    repl.clear();
    assert_eq!((repl.actions().len(), repl.stored().len()), (0, 0));
}

#[test]
fn the_bounds_are_those_of_a_run_and_nothing_ends_the_session() {
    let repl = &mut repl();
    assert!(wrong(repl, "loop { }").2.contains("took"));
    assert!(wrong(repl, "fn f(n) { f(n + 1) } f(0)").2.contains("nest"));
    assert!(wrong(repl, "eval(\"1\")").2.contains("eval"));
    assert!(wrong(repl, "for n in 0..100 { notify(\"ops\", `${n}`); }").2.contains("64"));
    assert_eq!(value(repl, "1 + 1").as_deref(), Some("2"));
}
