//! Selection of steps for a command: by file, by name, and by exclusion.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::base::id::Key;

/// The selection of path arguments, `--target` and `--exclude`. The whole tree is read in any case.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepSelection {
    /// Files and folders, relative to the folder of `reckon.yaml`.
    pub paths: Vec<String>,
    /// Resources that are chosen by name.
    pub target: Vec<Key>,
    /// Excluded resources; exclusion overrides every choice.
    pub exclude: Vec<Key>,
}

impl StepSelection {
    /// Returns whether everything is chosen.
    pub fn is_everything(&self) -> bool {
        let Self { paths, target, exclude } = self;
        paths.is_empty() && target.is_empty() && exclude.is_empty()
    }

    /// Returns whether the selection contains this resource, whose document is in this file.
    pub fn contains(&self, key: &Key, file: Option<&str>) -> bool {
        let Self { paths, target, exclude } = self;
        if exclude.contains(key) {
            return false;
        }
        let file = Path::new(file.unwrap_or_default());
        let everything = paths.is_empty() && target.is_empty();
        everything || target.contains(key) || paths.iter().any(|path| file.starts_with(path))
    }

    /// Returns every resource that the selection names.
    pub fn names(&self) -> impl Iterator<Item = &Key> {
        self.target.iter().chain(&self.exclude)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_left_out_whatever_chose_it() {
        let keys = |names: &[&str]| names.iter().map(|name| name.parse().unwrap()).collect();
        let scope = |paths: &[&str], target: &[&str], exclude: &[&str]| StepSelection {
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            target: keys(target),
            exclude: keys(exclude),
        };
        let jane: Key = "Contact/jane".parse().unwrap();
        let takes = |scope: &StepSelection| scope.contains(&jane, Some("specs/team/jane.yaml"));
        assert!(StepSelection::default().is_everything() && takes(&StepSelection::default()));
        assert!(takes(&scope(&["specs/team"], &[], &[])));
        assert!(!takes(&scope(&["specs/te"], &[], &[])), "a folder is no prefix of a text");
        assert!(takes(&scope(&["specs/other"], &["Contact/jane"], &[])));
        assert!(!takes(&scope(&[], &["Contact/june"], &[])));
        assert!(!takes(&scope(&["specs"], &["Contact/jane"], &["Contact/jane"])));
        assert!(takes(&scope(&[], &[], &["Contact/june"])));
    }
}
