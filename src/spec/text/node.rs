//! A YAML document as a tree in which every value has its place.
//!
//! Built for headers, for `reckon.yaml`, and for documents that have an issue; good specs never
//! become such a tree. The header of a clean document has no places.

use std::ops::Range;

use serde_yaml::Value;

use crate::model::issue::{Path, PathSegment, UnderlinedPart};

/// One value and its bytes in the whole text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The bytes of the value; empty where it is left out.
    pub span: Range<usize>,
    pub value: NodeValue,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeValue {
    Scalar {
        /// The text, unescaped.
        text: String,
        /// True if the scalar has no quotes, so that it may be a number or null.
        plain: bool,
    },
    Map(Vec<NodeEntry>),
    Seq(Vec<Node>),
    /// A value that the pass did not keep.
    Skipped,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeEntry {
    /// The key, unescaped.
    pub key: String,
    pub key_span: Range<usize>,
    pub value: Node,
}

impl Node {
    /// Returns a clean document as a tree without places; `skipped` is a field whose value is not
    /// kept. `None` where a scalar is no text, since only its value is known.
    pub(crate) fn of_values(value: &Value, skipped: &str) -> Option<Self> {
        let value = match value {
            Value::String(text) => NodeValue::Scalar { text: text.clone(), plain: false },
            Value::Sequence(items) => {
                let items = items.iter().map(|item| Self::of_values(item, skipped));
                NodeValue::Seq(items.collect::<Option<_>>()?)
            }
            Value::Mapping(entries) => {
                let entries = entries.iter().map(|(key, value)| {
                    let key = key.as_str()?.to_owned();
                    let value = if key == skipped {
                        Self { span: 0..0, value: NodeValue::Skipped }
                    } else {
                        Self::of_values(value, skipped)?
                    };
                    Some(NodeEntry { key, key_span: 0..0, value })
                });
                NodeValue::Map(entries.collect::<Option<_>>()?)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Tagged(_) => return None,
        };
        Some(Self { span: 0..0, value })
    }

    /// Returns the entry of a mapping; none for other values.
    pub fn entry(&self, key: &str) -> Option<&NodeEntry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// Returns the entry of a mapping, unless its value is null.
    pub fn present(&self, key: &str) -> Option<&NodeEntry> {
        self.entry(key).filter(|entry| !entry.value.is_null())
    }

    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// Returns the entries of a mapping; none for other values.
    pub fn entries(&self) -> &[NodeEntry] {
        if let NodeValue::Map(entries) = &self.value { entries } else { &[] }
    }

    /// Returns the items of a sequence; none for other values.
    pub fn items(&self) -> &[Self] {
        if let NodeValue::Seq(items) = &self.value { items } else { &[] }
    }

    /// Returns the text of a scalar that is not null.
    pub fn text(&self) -> Option<&str> {
        let NodeValue::Scalar { text, plain } = &self.value else { return None };
        (!is_null(text, *plain)).then_some(text)
    }

    /// Returns whether the value is null: left out, `~` or `null`.
    pub fn is_null(&self) -> bool {
        matches!(&self.value, NodeValue::Scalar { text, plain } if is_null(text, *plain))
    }
}

fn is_null(text: &str, plain: bool) -> bool {
    plain && matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// Returns the bytes that an issue at `path` underlines. A value that is missing, left out or
/// multi-line is replaced by its own key or that of its nearest ancestor.
pub fn locate(root: &Node, text: &str, path: &Path, at: UnderlinedPart) -> Range<usize> {
    let mut found = FoundSpans { key: root.span.clone(), value: root.span.clone(), whole: true };
    let mut node = root;
    for segment in &path.0 {
        let Some(next) = step(node, segment, &found.key) else { return found.key };
        (node, found) = next;
    }
    match at {
        UnderlinedPart::Value if found.is_one_line(text) || path.0.is_empty() => found.value,
        UnderlinedPart::Key | UnderlinedPart::Value => found.key,
    }
}

/// Returns the bytes of the value at a path, or those of the nearest existing value around it.
pub fn nearest_span(root: &Node, path: &Path) -> Range<usize> {
    let mut node = root;
    for segment in &path.0 {
        let Some((next, _)) = step(node, segment, &node.span) else { break };
        node = next;
    }
    node.span.clone()
}

struct FoundSpans {
    key: Range<usize>,
    value: Range<usize>,
    whole: bool,
}

impl FoundSpans {
    fn is_one_line(&self, text: &str) -> bool {
        let block = self.whole
            && text.get(self.value.clone()).is_some_and(|value| value.contains(['\n', '\r']));
        !self.value.is_empty() && !block
    }
}

fn step<'a>(
    node: &'a Node,
    segment: &PathSegment,
    key: &Range<usize>,
) -> Option<(&'a Node, FoundSpans)> {
    match segment {
        PathSegment::Key(name) => {
            let entry = node.entry(name)?;
            let value = entry.value.span.clone();
            let whole = matches!(entry.value.value, NodeValue::Map(_) | NodeValue::Seq(_));
            Some((&entry.value, FoundSpans { key: entry.key_span.clone(), value, whole }))
        }
        PathSegment::Index(index) => {
            let item = node.items().get(*index)?;
            let span = item.span.clone();
            let key = if span.is_empty() { key.clone() } else { span.clone() };
            Some((item, FoundSpans { key, value: span, whole: false }))
        }
    }
}

#[cfg(test)]
mod tests;
