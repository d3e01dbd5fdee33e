use super::*;

fn warned(text: &str) -> Vec<(usize, usize, String)> {
    let path = "a.test.yaml".to_owned();
    let source = ScriptSource { display_path: format!("scripts/{path}"), path, text: text.into() };
    let place = |one: PlacedIssue| (one.line, one.column, one.message);
    former_name_warnings(&source).into_iter().map(place).collect()
}

#[test]
fn each_former_name_of_a_case_is_warned_about_at_its_place() {
    let text = "cases:
- name: \"é do: pay, kept: 1\"
  event: {kept: {}, do: pay}
  state: {kv: {kept: 1}}
  expect:
    actions:
    - {é: kept, do: pay, kept: cancel}
    - do: ignore
      body: [{do: pay}, \"do: pay\"]
    - do: cancel
    - {do: refund}
    kept: {kept: {do: pay}}
";
    let of = |former: &str, name: &str| format!("`{former}` is the former name of `{name}`");
    let expected = [
        (7, 21, of("pay", "pay_occurrence")),
        (8, 11, of("ignore", "skip_occurrence")),
        (10, 11, of("cancel", "cancel_recurring")),
        (12, 5, of("kept", "kv")),
    ];
    assert_eq!(warned(text), expected);
}

#[test]
fn the_present_names_have_no_warning_and_neither_has_a_text_that_is_no_yaml() {
    let text = "cases: [{name: a, event: {}, expect: {kv: {}, actions: [{do: pay_occurrence}, \
                {do: suspend}, {do: skip_occurrence}, {do: nothing}]}}]";
    assert_eq!(warned(text), []);
    assert_eq!(warned("cases: [{expect: {kept: {}}}"), []);
}
