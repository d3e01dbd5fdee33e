//! The verdict over touched keys and their dependants: who is good, who is broken, and why.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::id::{Key, Kind, Name};
use crate::base::nearest::nearest;
use crate::kinds::Find;
use crate::model::desired::Desired;
use crate::model::issue::{At, Issue, Path, Problem, Related, RelatedPlace, Severity};
use crate::model::manifest::Kept;
use crate::spec::document::{Document, Placed, cleaned};
use crate::spec::lines::Source;
use crate::spec::links::{Link, cycle, duplicate, links, missing};
use crate::spec::loader::{Change, Loader, Spot, file::problem_at};
use crate::spec::split::split;

/// After this many missing references the nearest name is no longer looked for: it takes a look at
/// every name of the kind.
const SUGGESTIONS_MAX: usize = 100;

/// A problem between documents.
#[derive(Debug)]
pub(super) struct LinkProblem {
    problem: Problem,
    /// The name that no document has; what looks like it is found when the problem is told.
    missing: Option<Key>,
}

/// What `desired` says of a key.
type Verdict = (Option<Arc<Kept>>, bool);

impl Loader {
    /// Brings everything that hangs on the touched keys up to date.
    pub(super) fn relink(&mut self, touched: &BTreeSet<Key>) -> Change {
        let mut concerned = touched.clone();
        for key in touched {
            if self.by_key.get(key).is_some_and(Vec::is_empty) {
                self.by_key.remove(key);
            }
            let targets = self.documents_of(key).flat_map(|(_, document)| targets(document));
            let targets = targets.collect();
            self.graph.set(key, targets);
            let has = self
                .documents_of(key)
                .filter_map(|(spot, document)| Some((document.sole?, spot.clone())));
            let has = has.collect();
            concerned.extend(self.soles.set(key, has));
        }
        let mut change = Change::default();
        for group in self.graph.affected(&concerned) {
            let circle: &[Key] = if self.graph.is_cycle(&group) { &group } else { &[] };
            for key in &group {
                let before = self.verdict(key);
                self.judge(key, circle);
                if self.verdict(key) != before {
                    change.touched.insert(key.clone());
                }
            }
        }
        self.desired.coverage = self.coverage();
        change
    }

    fn verdict(&self, key: &Key) -> Verdict {
        let Desired { manifests, broken, coverage: _ } = &self.desired;
        (manifests.get(key).cloned(), broken.contains(key))
    }

    fn documents_of(&self, key: &Key) -> impl Iterator<Item = (&Spot, &Document)> {
        let spots = self.by_key.get(key).into_iter().flatten();
        spots.filter_map(|spot| {
            let file = self.files.get(&spot.path)?;
            file.documents.get(spot.index).map(|document| (spot, document))
        })
    }

    fn judge(&mut self, key: &Key, circle: &[Key]) {
        self.link_problems.remove(key);
        self.desired.manifests.remove(key);
        self.desired.broken.remove(key);
        let mut issues: Vec<Told> = self.duplicates(key);
        let mut blocked = !circle.is_empty();
        let mut found = None;
        for (spot, document) in self.documents_of(key) {
            let links: Vec<Link> =
                document.manifest.iter().flat_map(|found| links(found)).collect();
            blocked |= !document.is_good();
            blocked |= links.iter().any(|link| self.desired.broken.contains(&link.target));
            issues.extend(self.unmet(spot, &links, circle));
            issues.extend(self.second(key, spot, document));
            found = document.manifest.clone().map(|manifest| (spot.clone(), manifest));
        }
        if issues.is_empty()
            && !blocked
            && let Some((spot, manifest)) = &found
        {
            let own = self.check_links(manifest);
            issues.extend(own.into_iter().map(|issue| Told::new(spot, issue)));
        }
        blocked |= issues.iter().any(|told| told.issue.severity == Severity::Error);
        match found {
            Some((_, manifest)) if !blocked => {
                self.desired.manifests.insert(key.clone(), manifest);
            }
            _ if self.by_key.contains_key(key) => {
                self.desired.broken.insert(key.clone());
            }
            _ => {}
        }
        if !issues.is_empty() {
            let problems = issues.into_iter().map(|told| self.told(told)).collect();
            self.link_problems.insert(key.clone(), problems);
        }
    }

    /// Every document of a name but the first one is told, each with the first as second place.
    fn duplicates(&self, key: &Key) -> Vec<Told> {
        let mut spots = self.by_key.get(key).into_iter().flatten();
        if spots.next().is_none() {
            return Vec::new();
        }
        let related = Related {
            key: Some(key.clone()),
            path: Path::parse("metadata.name"),
            message: "it is defined here first".to_owned(),
        };
        let issue = Issue { related: vec![related], ..duplicate(key) };
        spots.map(|spot| Told::new(spot, issue.clone())).collect()
    }

    /// What the links of one document lack: a target, or an end of going in circles.
    fn unmet(&self, spot: &Spot, links: &[Link], circle: &[Key]) -> Vec<Told> {
        let absent = links.iter().filter(|link| !self.by_key.contains_key(&link.target));
        let mut issues: Vec<_> = absent
            .map(|link| Told {
                missing: Some(link.target.clone()),
                ..Told::new(spot, missing(link))
            })
            .collect();
        let inside = links.iter().find(|link| circle.contains(&link.target));
        issues.extend(inside.map(|link| Told::new(spot, cycle(link, circle))));
        issues
    }

    /// What only one document of the tree may have, and another one has before this.
    fn second(&self, key: &Key, spot: &Spot, document: &Document) -> Option<Told> {
        self.soles.issue(document.sole?, key, spot).map(|issue| Told::new(spot, issue))
    }

    fn told(&self, told: Told) -> LinkProblem {
        let Told { spot, issue, missing } = told;
        LinkProblem { problem: self.problem(&spot, &issue), missing }
    }

    /// The problems between documents, with the nearest names of what is missing.
    pub(super) fn link_problems(&self) -> Vec<Problem> {
        let all = self.link_problems.iter();
        let all = all.flat_map(|(key, problems)| problems.iter().map(move |found| (key, found)));
        let mut suggestions = 0_usize;
        let told = all.map(|(key, LinkProblem { problem, missing })| {
            let mut problem = problem.clone();
            if let Some(missing) = missing {
                suggestions = suggestions.saturating_add(1);
                if let Some(name) = self.suggestion(key, missing, suggestions) {
                    problem.help = format!("did you mean `{name}`?");
                }
            }
            problem
        });
        told.collect()
    }

    /// The existing name of the same kind that looks most like the missing one.
    fn suggestion(&self, key: &Key, missing: &Key, number: usize) -> Option<String> {
        if number > SUGGESTIONS_MAX {
            return None;
        }
        let seen_from_key = |found: &Key| {
            let same = found.namespace == key.namespace;
            if same {
                found.name.to_string()
            } else {
                format!("{}/{}", found.namespace, found.name)
            }
        };
        let first = lowest(missing.kind.clone());
        let same_kind =
            self.by_key.range(first..).take_while(|(found, _)| found.kind == missing.kind);
        let names: Vec<String> = same_kind.map(|(found, _)| seen_from_key(found)).collect();
        nearest(&seen_from_key(missing), names.iter().map(String::as_str)).map(str::to_owned)
    }

    fn check_links(&self, manifest: &Kept) -> Vec<Issue> {
        let row = self.cx.kinds.iter().find(|row| row.name == manifest.key.kind.as_str());
        let find: Find<'_> = &|key| self.desired.manifest(key).map(Arc::new);
        row.map(|row| (row.check_links)(&manifest.unpack(), find)).unwrap_or_default()
    }

    /// An issue between documents with its places.
    fn problem(&self, spot: &Spot, issue: &Issue) -> Problem {
        let document = self.files.get(&spot.path).and_then(|file| file.documents.get(spot.index));
        let line = document.map_or(1, |document| document.place.line);
        let name = self.name_of(&spot.path);
        let mut problem = self
            .source(&spot.path)
            .and_then(|source| self.placed(&source, spot.index, |placed| placed.issue(issue)))
            .unwrap_or_else(|| problem_at(&name, line, issue.code, &issue.message, &issue.help));
        problem.severity = issue.severity;
        problem.related.extend(issue.related.iter().filter_map(|related| self.related(related)));
        cleaned(problem, &[])
    }

    fn placed<T>(
        &self,
        source: &Source,
        index: usize,
        make: impl FnOnce(&Placed<'_>) -> T,
    ) -> Option<T> {
        let (slices, _) = split(&source.text);
        let slice = slices.get(index)?;
        Some(make(&Placed::new(&self.cx, source, slice)))
    }

    /// An issue of a resource's document with its place.
    pub fn place(&self, key: &Key, issue: &Issue) -> Option<Problem> {
        let (spot, _) = self.documents_of(key).next()?;
        Some(self.problem(spot, issue))
    }

    /// The second place of an issue, in another document.
    fn related(&self, related: &Related) -> Option<RelatedPlace> {
        let Related { key, path, message } = related;
        let (spot, _) = self.documents_of(key.as_ref()?).next()?;
        let source = self.source(&spot.path)?;
        let span = self.placed(&source, spot.index, |placed| placed.span(path, At::Value))?;
        let (line, column) = source.position(span.start);
        Some(RelatedPlace { file: source.file.to_string(), line, column, message: message.clone() })
    }
}

/// An issue on its way to its place.
struct Told {
    spot: Spot,
    issue: Issue,
    missing: Option<Key>,
}

impl Told {
    fn new(spot: &Spot, issue: Issue) -> Self {
        Self { spot: spot.clone(), issue, missing: None }
    }
}

fn targets(document: &Document) -> Vec<Key> {
    let manifest = document.manifest.iter();
    manifest.flat_map(|manifest| links(manifest)).map(|link| link.target).collect()
}

/// A key that sorts before every other one of its kind.
fn lowest(kind: Kind) -> Key {
    let name: Name = "0".parse().unwrap_or_else(|_| Name::default_namespace());
    Key::new(kind, &name, &name)
}
