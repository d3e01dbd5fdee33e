//! Decodes a YAML document into a type, with every misfit of the document as data.
//!
//! A clean document is parsed once, by [`serde_yaml`], which alone decides what a value is. Only a
//! document that does not fit becomes a tree. One decoding of the tree stops at its first misfit.
//! So the decoder reports the misfit, makes a hole in its place, and decodes the tree again. A
//! scalar keeps its text beside its value, because a plain `+1555` is a number where a number is
//! expected, and exactly this text where text is.
//!
//! Guarantees: a document that does not fit has at least one problem. A value beneath a reported
//! one is never reported. The number of decodings is bounded.

use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess,
    SeqAccess, Unexpected, Visitor,
};
use serde_yaml::{Number, Value};

use crate::base::decode::problem::{DecodeProblem, DocumentSegment, Misfit, format_path};

/// Decodings of one document: each reports a problem, or gives up one level of the tree.
const DECODINGS_MAX: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentMisfit {
    /// The path of the offending value or unknown field, or of the mapping that lacks a field:
    /// `spec.schedule.start`; the document itself is `.`.
    pub path: String,
    pub problem: DecodeProblem,
}

#[derive(Debug)]
pub enum InvalidDocument {
    Broken(serde_yaml::Error),
    /// The values do not fit the type; never empty.
    Misfits(Vec<DocumentMisfit>),
}

/// Decodes a document.
///
/// # Errors
/// The text is no YAML, or does not fit the type.
pub fn decode<T: DeserializeOwned>(yaml: &str) -> Result<T, InvalidDocument> {
    let error = match serde_yaml::from_str(yaml) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let mut tree = DocumentNode::parse(yaml).map_err(InvalidDocument::Broken)?;
    let misfits = misfits::<T>(&mut tree);
    Err(if misfits.is_empty() {
        InvalidDocument::Broken(error)
    } else {
        InvalidDocument::Misfits(misfits)
    })
}

fn misfits<T: DeserializeOwned>(tree: &mut DocumentNode) -> Vec<DocumentMisfit> {
    let mut found = Vec::new();
    for _ in 0..DECODINGS_MAX {
        let Err(Misfit { mut path, problem }) = T::deserialize(&*tree) else { break };
        path.reverse();
        if !repair(tree, &path, problem, &mut found) {
            break;
        }
    }
    found
}

/// Reports a misfit and makes the next decoding pass its place. Returns false where none can.
fn repair(
    tree: &mut DocumentNode,
    path: &[DocumentSegment],
    problem: DecodeProblem,
    found: &mut Vec<DocumentMisfit>,
) -> bool {
    let depth = tree.depth_of(path);
    let at = path.get(..depth).unwrap_or_default();
    let Some(node) = tree.node_mut(at) else { return false };
    if depth < path.len() || matches!(node, DocumentNode::Hole) {
        return give_up_parent(tree, at);
    }
    match (&problem, &mut *node) {
        (DecodeProblem::UnknownField { name, .. }, DocumentNode::Mapping(entries)) => {
            let before = entries.len();
            entries.retain(|(key, _)| key != name);
            let name = [DocumentSegment::Field(name.clone())];
            let path = format_path(path.iter().chain(&name));
            if entries.len() == before {
                *node = DocumentNode::Hole;
            }
            found.push(DocumentMisfit { path, problem });
        }
        (DecodeProblem::MissingField { name }, DocumentNode::Mapping(entries))
            if entries.iter().all(|(key, _)| key != name) =>
        {
            entries.push((name.clone(), DocumentNode::Hole));
            found.push(DocumentMisfit { path: format_path(path), problem });
        }
        (_, node) => {
            // A mapping's own refusal may be one of the values that fill its holes.
            if !node.has_hole() {
                found.push(DocumentMisfit { path: format_path(path), problem });
            }
            *node = DocumentNode::Hole;
            return !path.is_empty();
        }
    }
    true
}

/// Gives up the value around a hole that does not fit. Returns false at the root.
fn give_up_parent(tree: &mut DocumentNode, hole: &[DocumentSegment]) -> bool {
    let Some((_, parent)) = hole.split_last() else { return false };
    if let Some(node) = tree.node_mut(parent) {
        *node = DocumentNode::Hole;
    }
    !parent.is_empty()
}

#[derive(Debug, Clone)]
pub(super) enum DocumentNode {
    Scalar {
        value: Scalar,
        text: String,
    },
    Sequence(Vec<DocumentNode>),
    Mapping(Vec<(String, DocumentNode)>),
    /// The place of a reported value: it fits every type that it can.
    Hole,
}

#[derive(Debug, Clone)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Number(Number),
    Text,
}

impl DocumentNode {
    fn parse(yaml: &str) -> Result<Self, serde_yaml::Error> {
        let value: Value = serde_yaml::from_str(yaml)?;
        NodeSeed(&value).deserialize(serde_yaml::Deserializer::from_str(yaml))
    }

    fn child_mut(&mut self, segment: &DocumentSegment) -> Option<&mut Self> {
        match (self, segment) {
            (Self::Mapping(entries), DocumentSegment::Field(name)) => {
                entries.iter_mut().find(|(key, _)| key == name).map(|(_, node)| node)
            }
            (Self::Sequence(items), DocumentSegment::Item(place)) => items.get_mut(*place),
            _ => None,
        }
    }

    /// Returns the number of segments of a path that lead to an existing node.
    fn depth_of(&mut self, path: &[DocumentSegment]) -> usize {
        let mut node = self;
        for (depth, segment) in path.iter().enumerate() {
            let Some(next) = node.child_mut(segment) else { return depth };
            node = next;
        }
        path.len()
    }

    fn node_mut(&mut self, path: &[DocumentSegment]) -> Option<&mut Self> {
        path.iter().try_fold(self, |node, segment| node.child_mut(segment))
    }

    fn has_hole(&self) -> bool {
        match self {
            Self::Hole => true,
            Self::Scalar { .. } => false,
            Self::Sequence(items) => items.iter().any(Self::has_hole),
            Self::Mapping(entries) => entries.iter().any(|(_, node)| node.has_hole()),
        }
    }
}

/// Reads a document a second time, with its known values as the guide, for the texts of scalars.
struct NodeSeed<'v>(&'v Value);

impl<'de> DeserializeSeed<'de> for NodeSeed<'_> {
    type Value = DocumentNode;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<DocumentNode, D::Error> {
        let scalar = match self.0 {
            Value::Null => Scalar::Null,
            Value::Bool(word) => Scalar::Bool(*word),
            Value::Number(number) => Scalar::Number(number.clone()),
            Value::String(_) => Scalar::Text,
            Value::Sequence(_) => return deserializer.deserialize_seq(self),
            Value::Mapping(_) => return deserializer.deserialize_map(self),
            Value::Tagged(_) => {
                return Err(D::Error::invalid_type(Unexpected::Enum, &"a value without a tag"));
            }
        };
        let text = <String as de::Deserialize>::deserialize(deserializer)?;
        Ok(DocumentNode::Scalar { value: scalar, text })
    }
}

impl<'de> Visitor<'de> for NodeSeed<'_> {
    type Value = DocumentNode;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<DocumentNode, A::Error> {
        let mut nodes = Vec::new();
        for value in self.0.as_sequence().into_iter().flatten() {
            match items.next_element_seed(NodeSeed(value))? {
                Some(node) => nodes.push(node),
                None => break,
            }
        }
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(DocumentNode::Sequence(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<DocumentNode, A::Error> {
        let mut nodes = Vec::new();
        for (_, value) in self.0.as_mapping().into_iter().flatten() {
            match entries.next_key::<String>()? {
                Some(key) => nodes.push((key, entries.next_value_seed(NodeSeed(value))?)),
                None => break,
            }
        }
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(DocumentNode::Mapping(nodes))
    }
}

#[cfg(test)]
mod tests;
