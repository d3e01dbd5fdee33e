//! Scripts of simulated operators, and the plan of their changes. Each script answers payments of
//! its own amount, so that the service's own books show its actions.
//!
//! A person renames files, changes the order of functions, puts an unrelated call first, and fixes
//! one script; one change makes the whole set invalid.

use std::collections::BTreeMap;
use std::fmt;

use derive_more::Display;

use crate::base::hash::sha256;
use crate::engine::protocol::input::ScriptSet;
use crate::policy::Rights;
use crate::scripting::hooks::Hooks;
use crate::scripting::language::names::ConfiguredNames;
use crate::scripting::language::source::ScriptSource;
use crate::sim::plan::parts::{add, remove_nth, remove_one};

/// Fully refunded, under a name of the script's choice.
pub(crate) const FULL_REFUND: i64 = 701;
/// Refunded in two parts, under names derived from the arguments.
pub(crate) const PARTIAL_REFUNDS: i64 = 702;
/// Answered with a credit to the payer.
pub(crate) const CREDITED: i64 = 703;
pub(crate) const VOID: i64 = 704;
/// Charged again in the same amount, until the chain of causes is too long.
pub(crate) const ECHO: i64 = 706;
/// Answered with two notifications; so is [`LATE`].
pub(crate) const NOTIFIED: i64 = 707;
/// Partly refunded, by a script that fails until it is fixed.
pub(crate) const LATE: i64 = 708;
/// A recurring charge of this amount: its first occurrence is paid early.
pub(crate) const EARLY: i64 = 711;
/// A recurring charge of this amount: its first occurrence is skipped.
pub(crate) const SKIP: i64 = 712;
/// First day of the recurring charges of these amounts.
pub(crate) const START: &str = "2031-01-01";
/// Parts that are refunded of [`PARTIAL_REFUNDS`].
pub(crate) const PARTIAL_AMOUNTS: [i64; 2] = [50, 100];
pub(crate) const CREDIT_AMOUNT: i64 = 11;
/// Part that is refunded of [`LATE`].
pub(crate) const LATE_REFUND: i64 = 108;
pub(crate) const FAILURE_MESSAGE: &str = "not mended yet";
/// Place of an unrelated call.
pub(crate) const FIRST: &str = "// first";
pub(crate) const UNRELATED_CALL: &str = r#"notify("ops", "unrelated", #{name: "unrelated"});"#;
/// Place at which a script fails until it is fixed.
pub(crate) const FAILS: &str = "// fails";
/// Script that makes a set invalid.
pub(crate) const WRONG: &str = "fn on_transaction_authorized(event) { refnd(event.data); }\n";

/// Every script: the name of its file, and its functions, with an empty line between two. The last
/// one is never renamed, since its failed runs are replayed under its name.
pub(crate) const SCRIPTS: &[(&str, &str)] = &[
    ("returns", include_str!("scripts/returns.rhai")),
    ("moves", include_str!("scripts/moves.rhai")),
    ("words", include_str!("scripts/words.rhai")),
    ("early", include_str!("scripts/early.rhai")),
    ("patient", include_str!("scripts/patient.rhai")),
];

#[derive(Debug, Display, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    #[display("{} is renamed", SCRIPTS.get(*_0).map_or("", |(name, _)| name))]
    Rename(usize),
    /// Reverses the functions of every file.
    #[display("functions change places")]
    Reverse,
    /// Adds or removes an unrelated call before everything else.
    #[display("an unrelated statement is put first, or removed again")]
    First,
    #[display("patient is fixed")]
    Mend,
    /// Adds a mistake to a script, or corrects it.
    #[display("a mistake is made, or corrected")]
    Mistake,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct SimScriptSet {
    renamed: BTreeMap<usize, u32>,
    changed: Vec<Edit>,
}

/// Prefixes of a renamed file, which put it first, in the middle or last.
const BEFORE: &[&str] = &["", "z-", "a-", "n-"];

impl SimScriptSet {
    /// Makes a change; a second equal change undoes the first, except `Mend`.
    pub(crate) fn edit(&mut self, edit: Edit) {
        if let Edit::Rename(nth) = edit {
            add(&mut self.renamed, nth, 1);
        } else if !self.changed.contains(&edit) {
            self.changed.push(edit);
        } else if edit != Edit::Mend {
            self.changed.retain(|one| *one != edit);
        }
    }

    /// Removes everything that fails or is refused.
    pub(crate) fn remove_faults(&mut self) {
        self.changed.retain(|one| *one != Edit::Mistake);
        self.changed.push(Edit::Mend);
    }

    /// Returns the set as the engine finds it in the folder.
    pub(crate) fn to_found(&self) -> ScriptSet {
        let sources = self.sources();
        let known = ConfiguredNames {
            targets: ["ops".to_owned()].into(),
            kinds: ["Merchant".to_owned()].into(),
            rights: Rights::all(),
            ..ConfiguredNames::default()
        };
        let files = sources.iter().flat_map(|one| [&*one.path, &*one.text]).collect::<String>();
        let hooks = Hooks::load(&sources, &known);
        let problems = hooks.as_ref().err().map_or(0, Vec::len);
        ScriptSet { hooks: hooks.ok(), files: sha256(files.as_bytes()), problems }
    }

    fn sources(&self) -> Vec<ScriptSource> {
        let is_wrong = self.changed.contains(&Edit::Mistake);
        let wrong = is_wrong.then(|| source("wrong".to_owned(), WRONG.to_owned()));
        let all = SCRIPTS.iter().enumerate().map(|(nth, (name, functions))| {
            let functions = functions.trim().split("\n\n");
            let mut texts: Vec<String> = functions.map(|text| self.text(text)).collect();
            if self.changed.contains(&Edit::Reverse) {
                texts.reverse();
            }
            source(self.name(nth, name), texts.concat())
        });
        all.chain(wrong).collect()
    }

    fn name(&self, nth: usize, name: &str) -> String {
        let often = self.renamed.get(&nth).and_then(|often| usize::try_from(*often).ok());
        BEFORE.iter().cycle().nth(often.unwrap_or(0)).unwrap_or(&"").to_string() + name
    }

    fn text(&self, function: &str) -> String {
        let mut text = format!("\n{function}\n");
        if self.changed.contains(&Edit::First) {
            text = text.replace(FIRST, UNRELATED_CALL);
        }
        if !self.changed.contains(&Edit::Mend) {
            text = text.replace(FAILS, &format!("throw \"{FAILURE_MESSAGE}\";"));
        }
        text
    }
}

fn source(name: String, text: String) -> ScriptSource {
    let path = name + ".rhai";
    ScriptSource { display_path: format!("scripts/{path}"), path, text: text.into() }
}

#[derive(Debug, Display, Clone, Copy, PartialEq, Eq)]
pub enum EditTime {
    /// At a step, counted from 0.
    #[display("step {_0}")]
    Step(usize),
    /// While the machine is down, before this life, counted from 1.
    #[display("before life {_0}")]
    Life(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotificationFate {
    /// The notification arrives, and its answer is lost.
    AnswerLost,
    Lost,
    Nobody,
    Refused,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookPlan {
    pub edits: Vec<(EditTime, Edit)>,
    /// Fates of notifications, by the number of the attempt.
    pub fates: Vec<(u32, NotificationFate)>,
}

impl HookPlan {
    /// Removes the `nth` part; the hooks themselves come last.
    pub(crate) fn remove_part(own: &mut Option<Self>, nth: &mut usize) -> bool {
        own.as_mut().is_some_and(|plan| {
            remove_nth(&mut plan.edits, nth) || remove_nth(&mut plan.fates, nth)
        }) || remove_one(own, nth)
    }
}

impl fmt::Display for HookPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "hooks   answer events")?;
        self.edits.iter().try_for_each(|(at, edit)| writeln!(f, "scripts {at}: {edit}"))?;
        self.fates.iter().try_for_each(|(nth, way)| writeln!(f, "notify  number {nth}: {way:?}"))
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
