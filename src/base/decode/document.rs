//! Decodes a YAML document into a type, with every misfit of the document as data.
//!
//! A clean document is parsed once, by [`serde_yaml`]. Only a document that does not fit becomes a
//! tree. One decoding of the tree stops at its first misfit. So the decoder reports the misfit, makes
//! a hole in its place, and decodes the tree again.
//!
//! Guarantees: a document that does not fit has at least one problem. A value beneath a reported one
//! is never reported. The number of decodings is bounded, so the time is linear in the document.

use serde::de::DeserializeOwned;

use super::problem::{DecodeProblem, Misfit, PathSegment, format_path};
use super::tree::Node;

/// Decodings of one document: each reports a problem, or gives up one level of the tree.
const DECODINGS_MAX: usize = 100;

/// A misfit with its place in the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentMisfit {
    /// The path of the offending value or unknown field, or of the mapping that lacks a field:
    /// `spec.schedule.start`; the document itself is `.`.
    pub path: String,
    pub problem: DecodeProblem,
}

/// The reason why a document cannot be decoded.
#[derive(Debug)]
pub enum InvalidDocument {
    /// The text is no YAML.
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
    let mut tree = Node::parse(yaml).map_err(InvalidDocument::Broken)?;
    let misfits = misfits::<T>(&mut tree);
    Err(if misfits.is_empty() {
        InvalidDocument::Broken(error)
    } else {
        InvalidDocument::Misfits(misfits)
    })
}

fn misfits<T: DeserializeOwned>(tree: &mut Node) -> Vec<DocumentMisfit> {
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
    tree: &mut Node,
    path: &[PathSegment],
    problem: DecodeProblem,
    found: &mut Vec<DocumentMisfit>,
) -> bool {
    let depth = tree.depth_of(path);
    let at = path.get(..depth).unwrap_or_default();
    let Some(node) = tree.node_mut(at) else { return false };
    if depth < path.len() || matches!(node, Node::Hole) {
        return give_up_parent(tree, at);
    }
    match (&problem, &mut *node) {
        (DecodeProblem::UnknownField { name, .. }, Node::Mapping(entries)) => {
            let before = entries.len();
            entries.retain(|(key, _)| key != name);
            let name = [PathSegment::Field(name.clone())];
            let path = format_path(path.iter().chain(&name));
            if entries.len() == before {
                *node = Node::Hole;
            }
            found.push(DocumentMisfit { path, problem });
        }
        (DecodeProblem::MissingField { name }, Node::Mapping(entries))
            if entries.iter().all(|(key, _)| key != name) =>
        {
            entries.push((name.clone(), Node::Hole));
            found.push(DocumentMisfit { path: format_path(path), problem });
        }
        (_, node) => {
            // A mapping's own refusal may be one of the values that fill its holes.
            if !node.has_hole() {
                found.push(DocumentMisfit { path: format_path(path), problem });
            }
            *node = Node::Hole;
            return !path.is_empty();
        }
    }
    true
}

/// Gives up the value around a hole that does not fit. Returns false at the root.
fn give_up_parent(tree: &mut Node, hole: &[PathSegment]) -> bool {
    let Some((_, parent)) = hole.split_last() else { return false };
    if let Some(node) = tree.node_mut(parent) {
        *node = Node::Hole;
    }
    !parent.is_empty()
}

#[cfg(test)]
mod tests;
