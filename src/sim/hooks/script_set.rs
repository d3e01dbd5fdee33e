//! Script set in the folder, with its changes: files are renamed, functions change places, an
//! unrelated call is put first, one script is fixed, and a set is refused.

use std::collections::BTreeMap;
use std::fmt;

use super::script_texts::{FAILS, FAILURE_MESSAGE, FIRST, SCRIPTS, UNRELATED, WRONG};
use crate::base::hash::sha256;
use crate::engine::hooks::dispatch::ScriptSet;
use crate::policy::Rights;
use crate::scripting::interface::{ConfiguredNames, Hooks};
use crate::scripting::load::source::ScriptSource;

/// One change of the scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// Renames a file, which also changes the order of the files.
    Rename(usize),
    /// Reverses the functions of every file.
    Reverse,
    /// Adds or removes an unrelated call before everything else.
    First,
    /// Fixes the script that fails.
    Mend,
    /// Adds a mistake to a script, or corrects it.
    Mistake,
}

/// Current state of the set.
#[derive(Debug, Clone, Default)]
pub(crate) struct SimScriptSet {
    /// Number of renames of each file.
    renamed: BTreeMap<usize, usize>,
    /// Other changes in force.
    changed: Vec<Edit>,
}

/// Prefixes of a renamed file, which put it first, in the middle or last.
const BEFORE: &[&str] = &["", "z-", "a-", "n-"];

impl SimScriptSet {
    /// Makes a change; a second equal change undoes the first, except `Mend`.
    pub(crate) fn edit(&mut self, edit: Edit) {
        if let Edit::Rename(nth) = edit {
            let often = self.renamed.entry(nth).or_default();
            *often = often.saturating_add(1);
        } else if !self.has_change(edit) {
            self.changed.push(edit);
        } else if edit != Edit::Mend {
            self.changed.retain(|one| *one != edit);
        }
    }

    fn has_change(&self, edit: Edit) -> bool {
        self.changed.contains(&edit)
    }

    /// Removes everything that fails or is refused.
    pub(crate) fn remove_faults(&mut self) {
        self.changed.retain(|one| *one != Edit::Mistake);
        self.changed.push(Edit::Mend);
    }

    /// Returns the set as the engine finds it in the folder.
    pub(crate) fn to_found(&self) -> ScriptSet {
        let sources = self.sources();
        let set = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let known = ConfiguredNames {
            targets: set(&["ops"]),
            kinds: set(&["Merchant"]),
            rights: Rights::all(),
            ..ConfiguredNames::default()
        };
        let files = sources.iter().flat_map(|one| [&*one.path, &*one.text]).collect::<String>();
        let hooks = Hooks::load(&sources, &known);
        let problems = hooks.as_ref().err().map_or(0, Vec::len);
        ScriptSet { hooks: hooks.ok(), files: sha256(files.as_bytes()), problems }
    }

    fn sources(&self) -> Vec<ScriptSource> {
        let wrong =
            self.has_change(Edit::Mistake).then(|| source("wrong".to_owned(), WRONG.to_owned()));
        let all = SCRIPTS.iter().enumerate().map(|(nth, (name, functions))| {
            let mut texts: Vec<String> = functions.iter().map(|text| self.text(text)).collect();
            if self.has_change(Edit::Reverse) {
                texts.reverse();
            }
            source(self.name(nth, name), texts.concat())
        });
        all.chain(wrong).collect()
    }

    fn name(&self, nth: usize, name: &str) -> String {
        let often = self.renamed.get(&nth).copied().unwrap_or(0);
        let before = often.checked_rem(BEFORE.len()).and_then(|at| BEFORE.get(at));
        format!("{}{name}", before.unwrap_or(&""))
    }

    fn text(&self, text: &str) -> String {
        let text = if self.has_change(Edit::First) {
            text.replace(FIRST, UNRELATED)
        } else {
            text.to_owned()
        };
        let fails = format!("throw \"{FAILURE_MESSAGE}\";");
        if self.has_change(Edit::Mend) { text } else { text.replace(FAILS, &fails) }
    }
}

fn source(name: String, text: String) -> ScriptSource {
    let path = name + ".rhai";
    ScriptSource { display_path: format!("scripts/{path}"), path, text: text.into() }
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rename(nth) => {
                let name = SCRIPTS.get(*nth).map_or("", |(name, _)| name);
                write!(f, "{name} is renamed")
            }
            Self::Reverse => f.write_str("functions change places"),
            Self::First => f.write_str("an unrelated statement is put first, or removed again"),
            Self::Mend => f.write_str("patient is fixed"),
            Self::Mistake => f.write_str("a mistake is made, or corrected"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_is_good_but_the_one_with_a_mistake() {
        let mut set = SimScriptSet::default();
        for edit in [Edit::Reverse, Edit::Rename(0), Edit::First, Edit::Rename(0), Edit::Mend] {
            set.edit(edit);
            let found = set.to_found();
            assert!(found.hooks.is_some(), "{edit}: {:?}", set.sources());
        }
        set.edit(Edit::Mistake);
        let found = set.to_found();
        assert!(found.hooks.is_none() && found.problems > 0);
    }
}
