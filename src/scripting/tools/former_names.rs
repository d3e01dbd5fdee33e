//! Warnings about former names in test cases, with their places.
//!
//! Serde reads the cases, and has no places of keys and values. This pass reads the events of the
//! same text. A file that is no YAML has no warnings.

use std::borrow::Cow;

use saphyr_parser::{Event, Parser, Span};

use crate::model::issue::{PlacedIssue, Severity};
use crate::scripting::engine::function_name;
use crate::scripting::language::names::former_name_words;
use crate::scripting::language::source::ScriptSource;
use crate::scripting::tools::testcases::DO;

/// Former key of the stored values, below [`EXPECT`], and the present one.
const STORED: (&str, &str) = ("kept", "kv");
/// Keys above the expected result of a case.
const EXPECT: [&str; 2] = ["cases", "expect"];
/// Keys of the function of an expected action.
const FUNCTION: [&str; 4] = ["cases", "expect", "actions", DO];

/// Returns a warning for each former name in the cases of a file.
pub fn warnings(source: &ScriptSource) -> Vec<PlacedIssue> {
    let mut walk = CaseWalk { source, frames: Vec::new(), warnings: Vec::new() };
    for event in Parser::new_from_str(&source.text) {
        let Ok((event, span)) = event else { return Vec::new() };
        walk.event(event, span);
    }
    walk.warnings
}

/// An open collection.
struct Frame {
    is_map: bool,
    /// The key whose value comes next.
    key: Option<String>,
}

struct CaseWalk<'a> {
    source: &'a ScriptSource,
    /// Open collections, the innermost one last.
    frames: Vec<Frame>,
    warnings: Vec<PlacedIssue>,
}

impl CaseWalk<'_> {
    fn event(&mut self, event: Event<'_>, span: Span) {
        match event {
            Event::MappingStart(..) => self.frames.push(Frame { is_map: true, key: None }),
            Event::SequenceStart(..) => self.frames.push(Frame { is_map: false, key: None }),
            Event::MappingEnd | Event::SequenceEnd => {
                self.frames.pop();
                self.end_value();
            }
            Event::Scalar(text, ..) => self.scalar(&text, span),
            Event::Alias(_) => self.scalar(&Cow::Borrowed(""), span),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => {}
        }
    }

    /// Notes that the value of the innermost key is complete.
    fn end_value(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.key = None;
        }
    }

    fn scalar(&mut self, text: &str, span: Span) {
        let is_key = self.frames.last().is_some_and(|frame| frame.is_map && frame.key.is_none());
        let keys = self.frames.iter().filter_map(|frame| frame.key.as_deref());
        if is_key && text == STORED.0 && keys.clone().eq(EXPECT) {
            self.warn(text, STORED.1, span);
        } else if !is_key && keys.eq(FUNCTION) && function_name(text) != text {
            self.warn(text, function_name(text), span);
        }
        match self.frames.last_mut() {
            Some(frame) if is_key => frame.key = Some(text.to_owned()),
            _ => self.end_value(),
        }
    }

    fn warn(&mut self, former: &str, name: &str, span: Span) {
        let (message, help) = former_name_words(former, name);
        let place = (span.start.line(), span.start.col().saturating_add(1));
        let problem = self.source.problem(place, "former_name", &message, &help);
        self.warnings.push(PlacedIssue { severity: Severity::Warning, ..problem });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warned(text: &str) -> Vec<(usize, usize, String)> {
        let path = "a.test.yaml".to_owned();
        let source =
            ScriptSource { display_path: format!("scripts/{path}"), path, text: text.into() };
        let place = |one: PlacedIssue| (one.line, one.column, one.message);
        warnings(&source).into_iter().map(place).collect()
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
}
