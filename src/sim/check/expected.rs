//! Expected names of the documents' objects, derived from the documents alone.

use std::collections::BTreeMap;

use super::Evidence;

/// Names of effects, each with its document and generation.
pub(super) type Names = BTreeMap<String, (String, u32)>;

/// Returns the `source_id` of every document of a kind, in every generation that it ever had.
pub(super) fn source_ids(evidence: &Evidence<'_>, kind: &str) -> Names {
    names(evidence, kind, |doc, generation| {
        doc.source_id(generation).map(|source| source.to_string())
    })
}

/// Returns the mark of every document of a kind, in every generation that it ever had.
pub(super) fn marks(evidence: &Evidence<'_>, kind: &str) -> Names {
    names(evidence, kind, |doc, generation| doc.mark(generation).map(|mark| mark.to_string()))
}

fn names(
    evidence: &Evidence<'_>,
    kind: &str,
    name: impl Fn(&crate::sim::world::Doc, u32) -> Option<String>,
) -> Names {
    let mut names = Names::new();
    for doc in evidence.ever().into_values().filter(|doc| doc.kind() == kind) {
        for generation in evidence.generations(&doc.name) {
            if let Some(name) = name(doc, generation) {
                names.insert(name, (doc.name.clone(), generation));
            }
        }
    }
    names
}
