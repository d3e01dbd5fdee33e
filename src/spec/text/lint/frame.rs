//! The parts of the pass: the open collections, the parser's complaints as findings with a fitting
//! help, and the parser's places, in characters, as bytes of the whole text.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use saphyr_parser::Span;

use crate::spec::text::decode::Finding;
use crate::spec::text::node::{Node, NodeEntry, NodeValue};
use crate::spec::text::source::{Slice, next_line};

/// Beyond this many keys a mapping looks them up by hash.
const FEW_KEYS: usize = 16;

pub(super) enum CollectionFrame<'a> {
    Map(MapFrame<'a>),
    Seq(SeqFrame),
}

pub(super) struct MapFrame<'a> {
    pub(super) start: usize,
    pub(super) keep: bool,
    pub(super) entries: Vec<NodeEntry>,
    pub(super) key: Option<(Cow<'a, str>, Range<usize>)>,
    seen: Vec<(Cow<'a, str>, Range<usize>)>,
    index: HashMap<Cow<'a, str>, Range<usize>>,
}

pub(super) struct SeqFrame {
    pub(super) start: usize,
    pub(super) keep: bool,
    pub(super) items: Vec<Node>,
}

impl CollectionFrame<'_> {
    pub(super) fn start(&self) -> usize {
        match self {
            Self::Map(map) => map.start,
            Self::Seq(seq) => seq.start,
        }
    }

    pub(super) fn into_node(self, span: Range<usize>) -> Node {
        let value = match self {
            Self::Map(map) if map.keep => NodeValue::Map(map.entries),
            Self::Seq(seq) if seq.keep => NodeValue::Seq(seq.items),
            Self::Map(_) | Self::Seq(_) => NodeValue::Skipped,
        };
        Node { span, value }
    }
}

impl<'a> MapFrame<'a> {
    pub(super) fn new(start: usize, keep: bool) -> Self {
        let (entries, seen, index) = (Vec::new(), Vec::new(), HashMap::new());
        Self { start, keep, entries, key: None, seen, index }
    }

    /// Takes the key of the next value; returns its finding, if any.
    pub(super) fn take_key(
        &mut self,
        key: Cow<'a, str>,
        plain: bool,
        span: Range<usize>,
    ) -> Option<Finding> {
        let finding = if plain && key == "<<" {
            Some(Finding::error(
                "reckon::yaml::merge_key",
                span.clone(),
                "merge keys are not supported",
                "write the merged fields out",
            ))
        } else if plain && !is_text(&key) {
            Some(not_text(&key, span.clone()))
        } else {
            self.duplicate(key.clone(), &span)
        };
        self.key = Some((key, span));
        finding
    }

    /// Takes a collection as the key of the next value; returns its finding.
    pub(super) fn take_collection_key(&mut self, key: &Node) -> Finding {
        self.key = Some((Cow::Borrowed(""), key.span.clone()));
        Finding::error(
            "reckon::yaml::key_not_text",
            key.span.clone(),
            "a list or mapping is used as a key",
            "write a word as key; quote text that starts with `{` or `[`",
        )
    }

    pub(super) fn attach(&mut self, value: Node) {
        if let Some((key, key_span)) = self.key.take()
            && self.keep
        {
            self.entries.push(NodeEntry { key: key.into_owned(), key_span, value });
        }
    }

    fn duplicate(&mut self, key: Cow<'a, str>, span: &Range<usize>) -> Option<Finding> {
        let first = if self.seen.len() < FEW_KEYS {
            self.seen.iter().find(|(seen, _)| *seen == key).map(|(_, first)| first.clone())
        } else {
            if self.index.is_empty() {
                self.index.extend(self.seen.iter().cloned());
            }
            self.index.get(&key).cloned()
        };
        if let Some(first) = first {
            let (code, message) = ("reckon::yaml::duplicate_key", format!("duplicate key `{key}`"));
            let finding = Finding::error(code, span.clone(), message, "keep one of the two");
            return Some(finding.with_related(first, "the first one is here"));
        }
        if self.seen.len() < FEW_KEYS {
            self.seen.push((key, span.clone()));
        } else {
            self.index.insert(key, span.clone());
        }
        None
    }
}

fn not_text(key: &str, span: Range<usize>) -> Finding {
    let help = if key.is_empty() {
        "write a word before the `:`".to_owned()
    } else {
        format!("quote it: `\"{key}\"`")
    };
    Finding::error("reckon::yaml::key_not_text", span, "the key is not text", help)
}

/// Returns whether every YAML parser reads a plain scalar as text: no number, truth value or null.
pub(crate) fn is_text(plain: &str) -> bool {
    let word =
        " ~ null Null NULL true True TRUE false False FALSE".split(' ').any(|word| word == plain);
    !word && !is_number(plain)
}

fn is_number(plain: &str) -> bool {
    let bare = plain.strip_prefix(['-', '+']).unwrap_or(plain);
    if matches!(bare, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let based = ["0x", "0o", "0b"].iter().find_map(|prefix| bare.strip_prefix(prefix));
    if let Some(digits) = based {
        return !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    }
    let (mantissa, exponent) = bare.split_once(['e', 'E']).unwrap_or((bare, "0"));
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let any = !whole.is_empty() || !part.is_empty();
    any && digits(whole) && digits(part) && !exponent.is_empty() && digits(exponent)
}

/// Returns the finding for a complaint at byte `at` of the text.
pub(super) fn syntax_finding(text: &str, slice: &Slice, at: usize, complaint: &str) -> Finding {
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
        return alias_finding(span);
    }
    Finding::error(
        "reckon::yaml::syntax",
        span,
        format!("invalid YAML: {}", complaint.replace('`', "'")),
        help(complaint),
    )
}

pub(super) fn alias_finding(span: Range<usize>) -> Finding {
    Finding::error(
        "reckon::yaml::alias",
        span,
        "anchors and aliases are not supported",
        "write the value where it is used",
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

/// Finds the first tab in the indentation of the line of `at`, or of the next one.
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

/// Walks along with the parser, so that neighbouring places are found in a few steps.
pub(super) struct Offsets<'a> {
    document: &'a str,
    base: usize,
    ascii: bool,
    character: usize,
    byte: usize,
}

impl<'a> Offsets<'a> {
    /// `base` is the document's first byte in the whole text.
    pub(super) fn new(document: &'a str, base: usize) -> Self {
        Self { document, base, ascii: document.is_ascii(), character: 0, byte: 0 }
    }

    pub(super) fn bytes(&mut self, span: Span) -> Range<usize> {
        let start = self.byte(span.start.index());
        start..self.byte(span.end.index()).max(start)
    }

    /// Returns the byte at which a character starts; the end for characters that do not exist.
    pub(super) fn byte(&mut self, character: usize) -> usize {
        let within =
            if self.ascii { character.min(self.document.len()) } else { self.walk(character) };
        self.base.saturating_add(within)
    }

    fn walk(&mut self, character: usize) -> usize {
        let (before, after) = self.document.split_at_checked(self.byte).unwrap_or_default();
        if character >= self.character {
            let steps = character.saturating_sub(self.character);
            let mut rest = after.chars();
            let walked = rest.by_ref().take(steps).count();
            self.character = self.character.saturating_add(walked);
            self.byte = self.document.len().saturating_sub(rest.as_str().len());
        } else {
            let steps = self.character.saturating_sub(character);
            let mut rest = before.chars();
            let walked = rest.by_ref().rev().take(steps).count();
            self.character = self.character.saturating_sub(walked);
            self.byte = rest.as_str().len();
        }
        self.byte
    }
}
