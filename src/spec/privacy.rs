//! The parts of a document that must not be shown: those that its kind names, and those of every
//! kind where the kind is unknown.

use std::ops::Range;

use crate::kinds::row::KindRow;
use crate::spec::text::lint::{Keep, lint};
use crate::spec::text::mask::{PrivacyRules, private_lines};
use crate::spec::text::node::Node;
use crate::spec::text::source::Slice;

/// Returns the rules for one document.
pub(crate) fn privacy_rules(
    kinds: &'static [KindRow],
    root: Option<&Node>,
) -> PrivacyRules<'static> {
    let kind = root.and_then(|root| root.get("kind")).and_then(Node::text);
    let row = kinds.iter().find(|row| Some(row.name) == kind);
    PrivacyRules::for_manifest(row.map(|row| row.fields), kinds.iter().map(|row| row.fields))
}

/// Returns the bytes of one document that must not be shown.
pub fn private_ranges(kinds: &'static [KindRow], text: &str, slice: &Slice) -> Vec<Range<usize>> {
    let linted = lint(text, slice, Keep::All);
    let rules = privacy_rules(kinds, linted.root.as_ref());
    match &linted.root {
        Some(root) if linted.complete => {
            rules.private_leaves(root).into_iter().map(|(range, _)| range).collect()
        }
        root => {
            let metadata = root.as_ref().and_then(|root| root.get("metadata"));
            let open = metadata.map_or(0..0, |node| node.span.clone());
            private_lines(text, &slice.range, rules.names(), &open)
        }
    }
}
