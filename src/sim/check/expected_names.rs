//! Expected names of the documents' objects, derived from the documents alone.

use std::collections::BTreeMap;

use super::laws::RunEvidence;

/// Names of effects, each with its document and generation.
pub(crate) type ExpectedNames = BTreeMap<String, (String, u32)>;

/// Returns the `source_id` of every document of a kind, in every generation that it ever had.
pub(crate) fn source_ids(evidence: &RunEvidence<'_>, kind: &str) -> ExpectedNames {
    names(evidence, kind, |doc, generation| {
        doc.source_id(generation).map(|source| source.to_string())
    })
}

/// Returns the mark of every document of a kind, in every generation that it ever had.
pub(crate) fn marks(evidence: &RunEvidence<'_>, kind: &str) -> ExpectedNames {
    names(evidence, kind, |doc, generation| doc.mark(generation).map(|mark| mark.to_string()))
}

fn names(
    evidence: &RunEvidence<'_>,
    kind: &str,
    name: impl Fn(&crate::sim::world::documents::Doc, u32) -> Option<String>,
) -> ExpectedNames {
    let mut names = ExpectedNames::new();
    for doc in evidence.all_documents().into_values().filter(|doc| doc.kind() == kind) {
        for generation in evidence.generations(&doc.name) {
            if let Some(name) = name(doc, generation) {
                names.insert(name, (doc.name.clone(), generation));
            }
        }
    }
    names
}
