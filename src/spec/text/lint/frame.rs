//! The open collections of the pass.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::spec::text::finding::Finding;
use crate::spec::text::node::{Node, NodeEntry, NodeValue};

/// Beyond this many keys a mapping looks them up by hash.
const FEW_KEYS: usize = 16;

/// One collection that is not closed yet.
pub(super) enum CollectionFrame<'a> {
    Map(MapFrame<'a>),
    Seq(SeqFrame),
}

/// An open mapping.
pub(super) struct MapFrame<'a> {
    pub(super) start: usize,
    pub(super) keep: bool,
    pub(super) entries: Vec<NodeEntry>,
    /// The key whose value comes next.
    pub(super) key: Option<(Cow<'a, str>, Range<usize>)>,
    seen: Vec<(Cow<'a, str>, Range<usize>)>,
    index: HashMap<Cow<'a, str>, Range<usize>>,
}

/// An open sequence.
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
            Some(merge(span.clone()))
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
            return Some(duplicate(&key, span.clone(), first));
        }
        if self.seen.len() < FEW_KEYS {
            self.seen.push((key, span.clone()));
        } else {
            self.index.insert(key, span.clone());
        }
        None
    }
}

fn duplicate(key: &str, span: Range<usize>, first: Range<usize>) -> Finding {
    Finding::error(
        "reckon::yaml::duplicate_key",
        span,
        format!("duplicate key `{key}`"),
        "keep one of the two",
    )
    .with_related(first, "the first one is here")
}

fn merge(span: Range<usize>) -> Finding {
    Finding::error(
        "reckon::yaml::merge_key",
        span,
        "merge keys are not supported",
        "write the merged fields out",
    )
}

fn not_text(key: &str, span: Range<usize>) -> Finding {
    Finding::error(
        "reckon::yaml::key_not_text",
        span,
        "the key is not text",
        if key.is_empty() {
            "write a word before the `:`".to_owned()
        } else {
            format!("quote it: `\"{key}\"`")
        },
    )
}

/// Returns whether every YAML parser reads a plain scalar as text: no number, truth value or null.
fn is_text(plain: &str) -> bool {
    let word = matches!(
        plain,
        "" | "~"
            | "null"
            | "Null"
            | "NULL"
            | "true"
            | "True"
            | "TRUE"
            | "false"
            | "False"
            | "FALSE"
    );
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
