//! Unique properties, which only one document of a tree may have: their holders, and the first one.
//!
//! They are indexed beside the documents, so that one changed document costs a check of the
//! documents with the same property and of no others.

use std::collections::{BTreeMap, BTreeSet};

use super::file::DocumentSpot;
use crate::base::id::Key;
use crate::kinds::schema::kind::UniqueField;
use crate::model::issue::{Issue, Path, Related};

type UniqueFieldHolder = (DocumentSpot, Key);

/// All holders of unique properties, by the code of the problem.
#[derive(Debug, Default)]
pub(crate) struct UniqueFields {
    holders: BTreeMap<&'static str, BTreeSet<UniqueFieldHolder>>,
    by_key: BTreeMap<Key, Vec<(&'static str, DocumentSpot)>>,
}

impl UniqueFields {
    /// Sets the unique properties of the documents of `key`; returns the codes of changed holders.
    pub(crate) fn set(
        &mut self,
        key: &Key,
        has: Vec<(&'static UniqueField, DocumentSpot)>,
    ) -> BTreeSet<&'static str> {
        let before = self.by_key.remove(key).unwrap_or_default();
        let has: Vec<_> = has.into_iter().map(|(sole, spot)| (sole.code, spot)).collect();
        for (code, spot) in &before {
            let holders = self.holders.entry(code).or_default();
            holders.remove(&(spot.clone(), key.clone()));
        }
        for (code, spot) in &has {
            self.holders.entry(code).or_default().insert((spot.clone(), key.clone()));
        }
        let codes = before.iter().chain(&has).map(|(code, _)| *code).collect();
        if !has.is_empty() {
            self.by_key.insert(key.clone(), has);
        }
        codes
    }

    pub(crate) fn holders(&self, code: &str) -> impl Iterator<Item = &Key> {
        self.holders.get(code).into_iter().flatten().map(|(_, key)| key)
    }

    /// Returns the issue of a document with a property that an earlier document has too.
    pub(crate) fn issue(
        &self,
        sole: &UniqueField,
        key: &Key,
        spot: &DocumentSpot,
    ) -> Option<Issue> {
        let (place, first) = self.holders.get(sole.code)?.first()?;
        (first != key && place < spot).then(|| {
            let related = Related {
                key: Some(first.clone()),
                path: Path::parse(sole.path),
                message: sole.first.to_owned(),
            };
            let issue = Issue::error(sole.code, sole.path, sole.message, sole.help);
            Issue { related: vec![related], ..issue }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::testing::{Tree, document};

    /// Formats `FILE code (first in FILE)` of each problem.
    fn told(loader: &crate::spec::tree::loader::Loader) -> Vec<String> {
        let problems = loader.problems().shown;
        let line = |problem: &crate::model::issue::PlacedIssue| {
            let first = problem.related.first().map_or("", |related| related.file.as_str());
            format!("{} {} ({first})", problem.file, problem.code)
        };
        problems.iter().map(line).collect()
    }

    #[test]
    fn every_document_but_the_first_is_told_and_the_next_one_becomes_the_first() {
        let one = |name: &str| document("Contact", name, "first_name: only");
        let tree =
            Tree::new(&[("b.yaml", &one("b")), ("c.yaml", &one("c")), ("d.yaml", &one("d"))]);
        let mut loader = tree.load();
        let second = |file: &str, first: &str| {
            format!("specs/{file}.yaml reckon::contact::second_only (specs/{first}.yaml)")
        };
        assert_eq!(told(&loader), [second("c", "b"), second("d", "b")]);
        tree.write("a.yaml", one("a"));
        let change = loader.reload(&["a.yaml".into()]);
        assert_eq!(told(&loader), [second("b", "a"), second("c", "a"), second("d", "a")]);
        let touched: Vec<String> = change.touched.iter().map(Key::short).collect();
        assert_eq!(touched, ["Contact/a", "Contact/b"], "the others are as broken as before");
        tree.remove("a.yaml");
        tree.remove("c.yaml");
        loader.reload(&["a.yaml".into(), "c.yaml".into()]);
        assert_eq!(told(&loader), [second("d", "b")]);
        tree.write("b.yaml", document("Contact", "b", "first_name: other"));
        let change = loader.reload(&["b.yaml".into()]);
        assert_eq!(told(&loader), Vec::<String>::new());
        let touched: Vec<String> = change.touched.iter().map(Key::short).collect();
        assert_eq!(touched, ["Contact/b", "Contact/d"]);
    }

    #[test]
    fn two_documents_of_one_name_are_told_as_that_and_in_one_file_too() {
        let one = document("Contact", "jane", "first_name: only");
        let both =
            format!("{one}---\n{one}---\n{}", document("Contact", "joe", "first_name: only"));
        let tree = Tree::new(&[("a.yaml", &both)]);
        let loader = tree.load();
        assert_eq!(
            told(&loader),
            [
                "specs/a.yaml reckon::link::duplicate (specs/a.yaml)",
                "specs/a.yaml reckon::contact::second_only (specs/a.yaml)"
            ]
        );
    }

    #[test]
    fn a_document_that_stays_as_it_is_costs_nobody_else_anything() {
        let one = |name: &str| document("Contact", name, "first_name: only");
        let other = document("Contact", "other", "");
        let tree = Tree::new(&[("a.yaml", &one("a")), ("b.yaml", &one("b")), ("o.yaml", &other)]);
        let mut loader = tree.load();
        tree.write("o.yaml", document("Contact", "other", "first_name: x"));
        let change = loader.reload(&["o.yaml".into()]);
        let touched: Vec<String> = change.touched.iter().map(Key::short).collect();
        assert_eq!(touched, ["Contact/other"]);
    }
}
