//! Finds private values of a document that does not parse, by the names before each `:`.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::spec::text::split::next_line;

/// Returns the bytes after every private name of `range`: to the end of its line, and the deeper
/// lines below. Lines that start within `open` are skipped.
pub fn private_lines(
    text: &str,
    range: &Range<usize>,
    names: &BTreeSet<&str>,
    open: &Range<usize>,
) -> Vec<Range<usize>> {
    let mut hidden = Vec::new();
    let mut beneath: Option<usize> = None;
    let mut start = range.start;
    while start < range.end {
        let end = next_line(text, start).min(range.end);
        let line = text.get(start..end).unwrap_or_default();
        let indent = line.len().saturating_sub(line.trim_start_matches([' ', '\t']).len());
        let item = line.trim_start().starts_with('-');
        beneath = beneath
            .filter(|depth| line.trim().is_empty() || indent > *depth || item && indent == *depth);
        if beneath.is_some() {
            hidden.push(start.saturating_add(indent)..end);
        } else if !open.contains(&start)
            && let Some((key, value)) = private_key(line, names)
        {
            hidden.push(start.saturating_add(value)..end);
            beneath = Some(key);
        }
        start = end;
    }
    hidden
}

/// Returns the bytes of a line at which its first private key, and the value after it, start.
fn private_key(line: &str, names: &BTreeSet<&str>) -> Option<(usize, usize)> {
    line.match_indices(':').find_map(|(colon, _)| {
        let before = line.get(..colon)?.trim_end().trim_end_matches(['"', '\'']);
        let word = |found: char| found.is_ascii_alphanumeric() || found == '_';
        let key = before
            .len()
            .saturating_sub(before.chars().rev().take_while(|found| word(*found)).count());
        let name = before.get(key..)?;
        let value = line.get(colon.saturating_add(1)..)?;
        let blank = value.len().saturating_sub(value.trim_start_matches([' ', '\t']).len());
        let value = colon.saturating_add(1).saturating_add(blank);
        names.contains(name).then_some((key, value))
    })
}
