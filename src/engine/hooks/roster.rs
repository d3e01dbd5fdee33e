//! The change to another set of scripts: durable before the first of them is run.
//!
//! The set in use stays until all its workers have ended. Then a record lists the scripts, and the
//! new set takes over. A renamed script continues at its place, and one whose file is missing keeps
//! its place.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::base::id::Key;
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::handles::task_result::{Task, TaskResult};
use crate::engine::hooks::scripts::Scripts;
use crate::model::events::event::EventStatus;
use crate::model::events::hook_run::ScriptIdentity;
use crate::model::events::scripts::{KnownScript, ScriptStart, ScriptsLoaded};
use crate::model::record::Record;
use crate::scripting::hooks::{Hooks, ScriptQueue};

/// Number of events read together to find a script's first event.
const PAGE: u64 = 512;

/// The next part of a change to another set of scripts.
pub(crate) enum ScriptChange {
    /// There is no change, or it waits for runs of the set in use.
    None,
    /// The list of scripts is on disk already.
    Recorded,
    Record(Task),
}

impl Scripts {
    /// Begins the change to the waiting set of scripts, once no run of the previous set is left.
    pub(crate) fn begin_change(
        &mut self,
        shared: &Arc<EngineShared>,
    ) -> EngineResult<ScriptChange> {
        if self.changing.is_some() || !self.running.is_empty() {
            return Ok(ScriptChange::None);
        }
        let Some(next) = self.next.take() else { return Ok(ScriptChange::None) };
        let known = shared.facts.roster()?;
        let queues: Vec<ScriptQueue> = next.hooks.iter().flat_map(Hooks::queues).collect();
        self.changing = Some(next);
        if lists_same_scripts(&known, &queues) {
            return Ok(ScriptChange::Recorded);
        }
        let shared = shared.clone();
        Ok(ScriptChange::Record(Box::pin(async move {
            enrol(&shared, &known, &queues).await?;
            Ok(TaskResult::ScriptsRecorded)
        })))
    }

    pub(crate) fn finish_change(&mut self) {
        if let Some(changed) = self.changing.take() {
            self.hooks = changed.hooks;
            self.files_in_use = Some(changed.files);
        }
    }
}

fn lists_same_scripts(known: &BTreeMap<String, KnownScript>, queues: &[ScriptQueue]) -> bool {
    let present = known.iter().filter(|(_, enrolled)| enrolled.absent.is_none());
    let present: BTreeMap<_, _> = present.map(|(name, one)| (name.as_str(), one.text)).collect();
    let lanes = queues.iter().map(|ScriptQueue { lane, .. }| (lane.script.as_str(), lane.text));
    present == lanes.collect()
}

/// Records the list of scripts, and logs the consequence for each new, renamed or missing one.
async fn enrol(
    shared: &EngineShared,
    known: &BTreeMap<String, KnownScript>,
    queues: &[ScriptQueue],
) -> EngineResult<()> {
    let mut begins = Vec::new();
    for queue in queues.iter().filter(|queue| is_new(known, queues, &queue.lane)) {
        let script = &queue.lane.script;
        match queue.since {
            None => tracing::info!(script, "a new script begins with the next event"),
            Some(since) => {
                tracing::info!(script, %since, "a new script begins with the events since then");
                begins.extend(beginnings(shared, script, since)?);
            }
        }
    }
    let gone = known.iter().filter(|(name, one)| {
        let lanes = || queues.iter().map(|queue| &queue.lane);
        one.absent.is_none() && lanes().all(|lane| lane.script != **name && lane.text != one.text)
    });
    for (script, _) in gone {
        tracing::warn!(
            script,
            "the script is missing and its events wait (`reckon hooks forget` drops it)"
        );
    }
    let scripts = queues.iter().map(|queue| queue.lane.clone()).collect();
    let record = ScriptsLoaded { scripts, begins, at: shared.now() };
    shared.write(Vec::new(), vec![Record::ScriptsLoaded(Box::new(record))]).await
}

/// Returns true if the state knows neither the script's name nor, under a missing name, its text.
fn is_new(
    known: &BTreeMap<String, KnownScript>,
    queues: &[ScriptQueue],
    lane: &ScriptIdentity,
) -> bool {
    let is_there = |name: &str| queues.iter().any(|queue| queue.lane.script == name);
    let renamed = || known.iter().any(|(name, one)| one.text == lane.text && !is_there(name));
    !known.contains_key(&lane.script) && !renamed()
}

/// Returns a script's place in each merchant's events: before the first event since that time.
fn beginnings(
    shared: &EngineShared,
    script: &str,
    since: DateTime<Utc>,
) -> EngineResult<Vec<ScriptStart>> {
    let mut begins = Vec::new();
    for (merchant, ledger) in shared.facts.ledgers_by_merchant()? {
        let to = last_before(shared, &merchant, ledger.verified, since)?;
        begins.push(ScriptStart { merchant, script: script.to_owned(), to });
    }
    Ok(begins)
}

fn last_before(
    shared: &EngineShared,
    merchant: &Key,
    told: u64,
    since: DateTime<Utc>,
) -> EngineResult<u64> {
    let mut first = 1;
    while first <= told {
        let last = told.min(first.saturating_add(PAGE).saturating_sub(1));
        for (number, id) in shared.facts.events_numbered(merchant, (first, last))? {
            let stands = shared.facts.event(merchant, &id)?.map(|entry| entry.status);
            if matches!(stands, Some(EventStatus::Verified(told)) if told.created >= since) {
                return Ok(number.saturating_sub(1));
            }
        }
        first = last.saturating_add(1);
    }
    Ok(told)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::hash::sha256;

    fn queue(script: &str, text: &str) -> ScriptQueue {
        let lane = ScriptIdentity { script: script.to_owned(), text: sha256(text.as_bytes()) };
        ScriptQueue { lane, concurrency: 1, since: None }
    }

    fn roster_of(scripts: &[(&str, &str, bool)]) -> BTreeMap<String, KnownScript> {
        let one = |(name, text, absent): &(&str, &str, bool)| {
            let (text, since) = (sha256(text.as_bytes()), DateTime::UNIX_EPOCH);
            ((*name).to_owned(), KnownScript { text, since, absent: absent.then_some(since) })
        };
        scripts.iter().map(one).collect()
    }

    #[test]
    fn a_set_is_the_same_only_with_the_same_names_and_texts_in_use() {
        let queues = [queue("a", "x"), queue("b", "y")];
        let same =
            |scripts: &[(&str, &str, bool)]| lists_same_scripts(&roster_of(scripts), &queues);
        assert!(same(&[("a", "x", false), ("b", "y", false)]));
        assert!(same(&[("a", "x", false), ("b", "y", false), ("gone", "z", true)]));
        assert!(!same(&[("a", "x", false), ("b", "y", true)]), "b is back");
        assert!(!same(&[("a", "x", false), ("b", "changed", false)]));
        assert!(!same(&[("a", "x", false)]));
        assert!(!same(&[("a", "x", false), ("b", "y", false), ("c", "z", false)]));
    }

    #[test]
    fn a_renamed_script_is_not_new_and_a_copy_of_one_in_use_is() {
        let known = roster_of(&[("a", "x", false)]);
        let is_new =
            |queues: &[ScriptQueue], name: usize| is_new(&known, queues, &queues[name].lane);
        assert!(!is_new(&[queue("a", "changed")], 0), "the name is known");
        assert!(!is_new(&[queue("renamed", "x")], 0), "its text is known, its name is gone");
        assert!(is_new(&[queue("a", "x"), queue("copy", "x")], 1), "both are there");
        assert!(is_new(&[queue("b", "y")], 0));
    }

    #[test]
    fn a_change_of_scripts_waits_for_the_runs_of_the_set_in_use() {
        let fixture = crate::engine::tests::fixture::StateFixture::new();
        let set = || crate::engine::protocol::input::ScriptSet {
            hooks: None,
            files: sha256(b"files"),
            problems: 0,
        };
        let mut scripts = Scripts::default();
        let begin = |scripts: &mut Scripts| scripts.begin_change(&fixture.shared).unwrap();
        assert!(matches!(begin(&mut scripts), ScriptChange::None), "there is no other set");
        scripts.next = Some(set());
        let merchant: Key = "Merchant/acme".parse().unwrap();
        scripts.running.insert(merchant.clone(), Arc::default());
        assert!(matches!(begin(&mut scripts), ScriptChange::None), "a run is under way");
        scripts.running.remove(&merchant);
        assert!(matches!(begin(&mut scripts), ScriptChange::Recorded), "no script is new");
        assert!(matches!(begin(&mut scripts), ScriptChange::None), "one change at a time");
        scripts.finish_change();
        assert_eq!(scripts.files_in_use, Some(sha256(b"files")));
    }
}
