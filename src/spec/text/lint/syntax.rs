//! Turns a parser's complaint into a finding with a fitting help.

use std::ops::Range;

use crate::spec::text::finding::Finding;
use crate::spec::text::split::{Slice, next_line};

/// Returns the finding for a complaint at byte `at` of the text.
pub(super) fn finding(text: &str, slice: &Slice, at: usize, complaint: &str) -> Finding {
    if let Some(tab) = tab_indentation(text, slice, at) {
        return Finding::error(
            "reckon::yaml::tab",
            tab,
            "the indentation contains a tab",
            "indent with spaces",
        );
    }
    let span = character_at(text, slice, at);
    if complaint.contains("unknown anchor") {
        return Finding::error(
            "reckon::yaml::alias",
            span,
            "anchors and aliases are not supported",
            "write the value where it is used",
        );
    }
    Finding::error(
        "reckon::yaml::syntax",
        span,
        format!("invalid YAML: {}", complaint.replace('`', "'")),
        help(complaint),
    )
}

fn help(complaint: &str) -> &'static str {
    if complaint.contains("mapping values are not allowed") {
        "quote a text that holds `: `, or check the indentation of this line"
    } else if complaint.contains("quoted scalar") && complaint.contains("escape") {
        "inside double quotes write `\\\\` for a backslash, or use single quotes"
    } else if complaint.contains("quoted scalar") {
        "close the quote"
    } else if complaint.contains("unexpected character") {
        "quote a text that starts with this character"
    } else if complaint.contains("flow") || complaint.contains("']'") || complaint.contains("'}'") {
        "close every `[` and `{`, and put `,` between the items"
    } else {
        "check the indentation, the quotes and the `:` around this place"
    }
}

/// Finds the first tab in the white space before a line's text, on the line of `at` or the next
/// one.
fn tab_indentation(text: &str, slice: &Slice, at: usize) -> Option<Range<usize>> {
    let document = text.get(slice.range.start..at.min(slice.range.end))?;
    let line = document.rfind(['\n', '\r']).map_or(0, |before| before.saturating_add(1));
    let line = slice.range.start.saturating_add(line);
    let next = next_line(text, line);
    [line, next].into_iter().filter(|start| *start < slice.range.end).find_map(|start| {
        let content = text.get(start..slice.range.end)?;
        let indent = content.len().saturating_sub(content.trim_start_matches([' ', '\t']).len());
        let tab = content.get(..indent)?.find('\t')?;
        let tab = start.saturating_add(tab);
        Some(tab..tab.saturating_add(1))
    })
}

/// Returns the character at `at`, or the last visible one before it.
fn character_at(text: &str, slice: &Slice, at: usize) -> Range<usize> {
    let rest = text.get(at..slice.range.end).unwrap_or_default();
    match rest.chars().next().filter(|found| !found.is_whitespace()) {
        Some(found) => at..at.saturating_add(found.len_utf8()),
        None => last_before(text, slice, at),
    }
}

fn last_before(text: &str, slice: &Slice, at: usize) -> Range<usize> {
    let before = text.get(slice.range.start..at).unwrap_or_default().trim_end();
    let width = before.chars().next_back().map_or(0, char::len_utf8);
    let end = slice.range.start.saturating_add(before.len());
    end.saturating_sub(width)..end
}
