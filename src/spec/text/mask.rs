//! Masks the parts of a file's text that may not be shown.
//!
//! Guarantees: in a snippet, one `•` replaces every character of a secret or personal value. It
//! also replaces every digit on a line with a number that passes Luhn, and every control character,
//! so that columns stay. In doubt (a document that does not parse, an unknown field) a value is
//! hidden by its key's name.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::base::secret::{mask_digits, masked};
use crate::base::wording::nearest;
use crate::kinds::schema::kind::{Privacy, SpecField};
use crate::kinds::secrets::covering;
use crate::kinds::secrets::secret_source::is_name;
use crate::model::issue::PlacedIssue;
use crate::spec::text::node::{Node, NodeValue};
use crate::spec::text::source::{SourceText, next_line};

pub const HIDDEN: char = '•';

/// The text of a file as it may be shown, with the lines and columns of the file on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaskedSource(SourceText);

impl MaskedSource {
    /// Masks the private ranges of a text, numbers that pass Luhn, and control characters.
    pub fn new(source: &SourceText, private: &[Range<usize>]) -> Self {
        let private = merge_ranges(private);
        let text: String = (1..=source.count())
            .map(|line| {
                let range = source.start(line)..source.start(line.saturating_add(1));
                mask_line(&source.text, range, &private)
            })
            .collect();
        Self(SourceText::new(source.file.clone(), Arc::from(text)))
    }

    pub fn source(&self) -> &SourceText {
        let Self(source) = self;
        source
    }
}

/// Sorts and merges the ranges, so that a byte is found by bisection.
fn merge_ranges(ranges: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut sorted = ranges.to_vec();
    sorted.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(sorted.len());
    for range in sorted {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// Returns whether a byte lies in one of the ranges, which are in order and do not overlap.
fn is_within(ranges: &[Range<usize>], byte: usize) -> bool {
    let next = ranges.partition_point(|range| range.end <= byte);
    ranges.get(next).is_some_and(|range| range.contains(&byte))
}

fn mask_line(text: &str, range: Range<usize>, private: &[Range<usize>]) -> String {
    let line = text.get(range.clone()).unwrap_or_default();
    let card = masked(line).is_some();
    let indent = line.len().saturating_sub(line.trim_start_matches(' ').len());
    let hide = |at: usize, found: char| match found {
        '\n' | '\r' | '\t' => false,
        _ if found.is_control() => true,
        _ if card && found.is_ascii_digit() => true,
        _ => {
            let byte = range.start.saturating_add(at);
            at >= indent && is_within(private, byte)
        }
    };
    line.char_indices().map(|(at, found)| if hide(at, found) { HIDDEN } else { found }).collect()
}

/// The private parts of the documents of one kind.
#[derive(Debug, Clone)]
pub struct PrivacyRules<'a> {
    fields: &'a [SpecField],
    names: BTreeSet<&'a str>,
    root: &'a str,
    open: &'a [&'a str],
}

impl<'a> PrivacyRules<'a> {
    /// Returns the rules of a manifest of the kind with these fields. For an unknown kind, every
    /// name that is private in one of `others` is private.
    pub fn for_manifest(
        fields: Option<&'a [SpecField]>,
        others: impl Iterator<Item = &'a [SpecField]>,
    ) -> Self {
        let names = match fields {
            Some(fields) => private_names(fields).collect(),
            None => others.flat_map(private_names).collect(),
        };
        let fields = fields.unwrap_or_default();
        Self { fields, names, root: "spec", open: &["apiVersion", "kind", "metadata"] }
    }

    /// Returns the rules of a document whose fields are at its top.
    pub fn flat(fields: &'a [SpecField]) -> Self {
        Self { fields, names: private_names(fields).collect(), root: "", open: &[] }
    }

    pub fn names(&self) -> &BTreeSet<&'a str> {
        &self.names
    }

    /// Returns the private leaves of a document: bytes and text.
    pub fn private_leaves<'n>(&self, document: &'n Node) -> Vec<(Range<usize>, &'n str)> {
        let mut leaves = Vec::new();
        for entry in document.entries() {
            let open = self.open.contains(&entry.key.as_str());
            if !open {
                let pattern = if entry.key == self.root { "" } else { &entry.key };
                let known = entry.key == self.root || self.root.is_empty();
                let at = WalkPosition {
                    pattern: pattern.to_owned(),
                    known,
                    is_private_name: self.is_private(&entry.key),
                };
                self.walk(&entry.value, &at, &mut leaves);
            }
        }
        leaves
    }

    fn walk<'n>(
        &self,
        node: &'n Node,
        at: &WalkPosition,
        leaves: &mut Vec<(Range<usize>, &'n str)>,
    ) {
        match &node.value {
            NodeValue::Scalar { text, .. } => {
                if self.is_hidden(at) {
                    leaves.push((node.span.clone(), text));
                }
            }
            NodeValue::Map(_) if is_reference(node) => {}
            NodeValue::Map(entries) => {
                for entry in entries {
                    let named = at.is_private_name || self.is_private(&entry.key);
                    let dot = if at.pattern.is_empty() { "" } else { "." };
                    let pattern = format!("{}{dot}{}", at.pattern, entry.key);
                    let at = WalkPosition { pattern, is_private_name: named, ..*at };
                    self.walk(&entry.value, &at, leaves);
                }
            }
            NodeValue::Seq(items) => {
                let pattern = format!("{}[]", at.pattern);
                let at = WalkPosition { pattern, ..*at };
                for item in items {
                    self.walk(item, &at, leaves);
                }
            }
            NodeValue::Skipped => {}
        }
    }

    fn is_hidden(&self, at: &WalkPosition) -> bool {
        let field = covering(self.fields, &at.pattern).filter(|_| at.known);
        match field.map(|field| field.privacy) {
            Some(Privacy::Plain) => false,
            Some(Privacy::Personal | Privacy::Secret) => true,
            None => at.is_private_name,
        }
    }

    fn is_private(&self, key: &str) -> bool {
        self.names.contains(key) || nearest(key, self.names.iter().copied()).is_some()
    }
}

struct WalkPosition {
    pattern: String,
    known: bool,
    is_private_name: bool,
}

/// Returns whether the node is `{env: NAME}` or a similar reference, which names a secret and holds
/// none. Its text must have the form of a name.
fn is_reference(node: &Node) -> bool {
    match node.entries() {
        [entry] => entry.value.text().is_some_and(|name| is_name(&entry.key, name)),
        _ => false,
    }
}

fn private_names(fields: &[SpecField]) -> impl Iterator<Item = &str> {
    fields.iter().filter(|field| field.privacy != Privacy::Plain).filter_map(|field| {
        let path: &str = field.path;
        path.trim_end_matches("[]").rsplit('.').next().map(|name| name.trim_end_matches("[]"))
    })
}

/// Returns a message without private words, card numbers and control characters.
fn mask_words(message: &str, words: &[&str]) -> String {
    let mut text = message.to_owned();
    for word in words.iter().filter(|word| word.trim().chars().count() > 1) {
        text = without_word(&text, word.trim());
    }
    let text = mask_digits(&text);
    text.chars().map(|found| if found.is_control() { HIDDEN } else { found }).collect()
}

/// Removes a long word anywhere, a short one only as a separate word.
fn without_word(text: &str, word: &str) -> String {
    const LONG: usize = 8;
    let long = word.chars().count() >= LONG;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(word) {
        let inside = |found: Option<char>| found.is_some_and(char::is_alphanumeric);
        let alone = !inside(before.chars().next_back()) && !inside(after.chars().next());
        out.push_str(before);
        out.push_str(if long || alone { "•••" } else { word });
        rest = after;
    }
    out.push_str(rest);
    out
}

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

pub(crate) fn without_private_words(mut problem: PlacedIssue, words: &[&str]) -> PlacedIssue {
    problem.message = mask_words(&problem.message, words);
    problem.help = mask_words(&problem.help, words);
    for related in &mut problem.related {
        related.message = mask_words(&related.message, words);
    }
    problem
}

#[cfg(test)]
mod tests;
