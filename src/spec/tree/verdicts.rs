//! Computes the verdict over touched keys and their dependants: good or broken, and why.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::id::Key;
use crate::model::issue::{Issue, Path, Related, Severity};
use crate::model::manifest::{Desired, PackedManifest};
use crate::spec::document::ParsedDocument;
use crate::spec::tree::file::{DocumentSpot, LinkIssue};
use crate::spec::tree::links::{
    DocumentLink, cycle_issue, duplicate_issue, link_targets, links, missing_issue,
};
use crate::spec::tree::loader::{LoadChange, Loader};

/// The entry of a key in `desired`: its manifest, and whether it is broken.
type KeyState = (Option<Arc<PackedManifest>>, bool);

impl Loader {
    pub(crate) fn update_verdicts(&mut self, touched: &BTreeSet<Key>) -> LoadChange {
        let mut concerned = touched.clone();
        let mut codes = BTreeSet::new();
        for key in touched {
            if self.by_key.get(key).is_some_and(Vec::is_empty) {
                self.by_key.remove(key);
            }
            let manifests = self.documents_of(key).flat_map(|(_, document)| &document.manifest);
            let targets = manifests.flat_map(|manifest| link_targets(manifest)).cloned().collect();
            self.graph.set(key, targets);
            let documents = self.documents_of(key);
            let has = documents
                .filter_map(|(spot, document)| Some((document.unique_field?, spot.clone())))
                .collect();
            codes.extend(self.unique_fields.set(key, has));
        }
        concerned
            .extend(codes.into_iter().flat_map(|code| self.unique_fields.holders(code)).cloned());
        let mut change = LoadChange::default();
        for group in self.graph.affected_groups(&concerned) {
            let circle: &[Key] = if self.graph.is_cycle(&group) { &group } else { &[] };
            for key in &group {
                let before = self.take_state(key);
                self.update_verdict(key, circle);
                if !self.has_state(key, &before) {
                    change.touched.insert(key.clone());
                }
            }
        }
        let coverage = self.coverage();
        if coverage != self.desired.tree_state {
            Arc::make_mut(&mut self.desired).tree_state = coverage;
        }
        change
    }

    /// Removes the verdict of a key, and returns it.
    fn take_state(&mut self, key: &Key) -> KeyState {
        let Desired { manifests, broken, tree_state: _, recent: _ } =
            Arc::make_mut(&mut self.desired);
        (manifests.remove(key), broken.remove(key))
    }

    fn has_state(&self, key: &Key, (manifest, is_broken): &KeyState) -> bool {
        let Desired { manifests, broken, tree_state: _, recent: _ } = &*self.desired;
        manifests.get(key) == manifest.as_ref() && broken.contains(key) == *is_broken
    }

    pub(crate) fn documents_of(
        &self,
        key: &Key,
    ) -> impl Iterator<Item = (&DocumentSpot, &ParsedDocument)> {
        let spots = self.by_key.get(key).into_iter().flatten();
        spots.filter_map(|spot| {
            self.files.get(&spot.path)?.documents.get(spot.index).map(|document| (spot, document))
        })
    }

    fn update_verdict(&mut self, key: &Key, circle: &[Key]) {
        self.link_issues.remove(key);
        let mut issues: Vec<LinkIssue> = self.duplicates(key);
        let mut blocked = !circle.is_empty();
        let mut found = None;
        for (spot, document) in self.documents_of(key) {
            blocked |= !document.is_good();
            let mut targets = document.manifest.iter().flat_map(|found| link_targets(found));
            blocked |= targets.clone().any(|target| self.desired.broken.contains(target));
            if !circle.is_empty() || targets.any(|target| !self.by_key.contains_key(target)) {
                let links = document.manifest.iter().flat_map(|found| links(found));
                issues.extend(self.unmet_links(spot, &links.collect::<Vec<_>>(), circle));
            }
            let unique = document.unique_field;
            let taken = unique.and_then(|field| self.unique_fields.issue(field, key, spot));
            issues.extend(taken.map(|issue| LinkIssue::new(spot, issue)));
            found = document.manifest.clone().map(|manifest| (spot.clone(), manifest));
        }
        if issues.is_empty()
            && !blocked
            && let Some((spot, manifest)) = &found
        {
            let own = self.check_links(manifest);
            issues.extend(own.into_iter().map(|issue| LinkIssue::new(spot, issue)));
        }
        blocked |= issues.iter().any(|found| found.issue.severity == Severity::Error);
        match found {
            Some((_, manifest)) if !blocked => {
                Arc::make_mut(&mut self.desired).manifests.insert(key.clone(), manifest);
            }
            _ if self.by_key.contains_key(key) => {
                Arc::make_mut(&mut self.desired).broken.insert(key.clone());
            }
            _ => {}
        }
        if !issues.is_empty() {
            self.link_issues.insert(key.clone(), issues);
        }
    }

    /// Reports every document of a name but the first, each with the first as second place.
    fn duplicates(&self, key: &Key) -> Vec<LinkIssue> {
        let mut spots = self.by_key.get(key).into_iter().flatten();
        if spots.next().is_none() {
            return Vec::new();
        }
        let related = Related {
            key: Some(key.clone()),
            path: Path::parse("metadata.name"),
            message: "the first definition is here".to_owned(),
        };
        let issue = Issue { related: vec![related], ..duplicate_issue(key) };
        spots.map(|spot| LinkIssue::new(spot, issue.clone())).collect()
    }

    /// Returns the issues of one document's links: missing targets, and a cycle.
    fn unmet_links(
        &self,
        spot: &DocumentSpot,
        links: &[DocumentLink],
        circle: &[Key],
    ) -> Vec<LinkIssue> {
        let absent = links.iter().filter(|link| !self.by_key.contains_key(&link.target));
        let mut issues: Vec<_> = absent
            .map(|link| LinkIssue {
                missing: Some(link.target.clone()),
                ..LinkIssue::new(spot, missing_issue(link))
            })
            .collect();
        let inside = links.iter().find(|link| circle.binary_search(&link.target).is_ok());
        issues.extend(inside.map(|link| LinkIssue::new(spot, cycle_issue(link, circle))));
        issues
    }

    fn check_links(&self, manifest: &PackedManifest) -> Vec<Issue> {
        let row = self.cx.kinds.iter().find(|row| row.name == manifest.key.kind.as_str());
        row.map(|row| (row.check_links)(manifest, &self.desired)).unwrap_or_default()
    }
}
