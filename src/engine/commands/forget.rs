//! Resources that are no longer managed: a person forgets one, disowns an object or permits a removal,
//! and records mark missing documents and moves to new names. Nothing is done at the service.

use std::collections::BTreeSet;

use crate::base::id::{Key, RemoteId};
use crate::base::wording::nearest;
use crate::engine::commands::decision::Decision;
use crate::engine::handles::shared::EngineResult;
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::input::AllowPrune;
use crate::engine::protocol::query::Reply;
use crate::engine::protocol::unknown_names::nearest_key;
use crate::engine::view::EngineView;
use crate::model::manifest::TreeState;
use crate::model::record::Record;
use crate::model::state::drift::{Disowned, ForgetRequest, ForgetResult, Forgotten};
use crate::model::state::orphan::{MissingDocumentChange, MissingDocumentRecord, PruneAllowed};
use crate::plan::state_view::StateView;

/// The record to write, the resources that it concerns, and the answer that follows.
type ForgetRecord = (Record, BTreeSet<Key>, ForgetResult);

const NAMED_MAX: usize = 3;

impl EngineView<'_> {
    pub(crate) fn forget(&self, what: &ForgetRequest, actor: String) -> EngineResult<Decision> {
        let said = match what {
            ForgetRequest::Resource(key) => self.forget_record(key, actor),
            ForgetRequest::Object(id) => self.disown_record(id, actor)?,
        };
        let (record, keys, forgot) = match said {
            Ok(found) => found,
            Err(refused) => return Ok(Decision::answer(Reply::Forgot(Box::new(refused)))),
        };
        // The sealed data of a forgotten resource is of no further use.
        let subject = match &forgot {
            ForgetResult::Resource(key, _) => Some(key.to_string()),
            ForgetResult::Object(..) | ForgetResult::Unknown(_) | ForgetResult::Refused(..) => None,
        };
        let result = TaskResult::BookkeepingDone(keys.clone());
        let answer = Reply::Forgot(Box::new(forgot));
        Ok(Decision::append(vec![record], result, answer).locking(keys).erasing(subject))
    }

    /// Builds the record that a resource is no longer managed.
    fn forget_record(&self, key: &Key, actor: String) -> Result<ForgetRecord, ForgetResult> {
        self.may_forget(key)?;
        let remote_id = self.known_state.observed(key).and_then(|known| known.remote_id.clone());
        let at = self.shared.now();
        let (id, name) = (remote_id.clone(), key.clone());
        let record = Record::Forgotten(Box::new(Forgotten { key: name, remote_id, actor, at }));
        Ok((record, BTreeSet::from([key.clone()]), ForgetResult::Resource(key.clone(), id)))
    }

    fn may_forget(&self, key: &Key) -> Result<(), ForgetResult> {
        let name = key.short();
        let refuse = |why: String, help: String| Err(ForgetResult::Refused(why, help));
        if let Some(manifest) = self.known_state.desired().manifest(key) {
            let place = format!("{}:{}", manifest.place.file, manifest.place.line);
            let why =
                format!("the document of {name} is at {place}: the object would be created again");
            let help = format!(
                "remove the document first, then run `reckon forget {name}`; a running daemon \
                removes nothing meanwhile, unless the document has reckon.dev/deletion: delete"
            );
            return refuse(why, help);
        }
        let coverage = self.known_state.desired().tree_state;
        if self.known_state.desired().broken.contains(key) || coverage != TreeState::Complete {
            let why =
                format!("some files are invalid, so the document of {name} may be in one of them");
            return refuse(why, "run `reckon validate` and correct the files".to_owned());
        }
        let Some(known) = self.known_state.observed(key) else {
            let meant = nearest_key(key, self.planner.steps().map(|step| &step.key));
            return Err(ForgetResult::Unknown(meant));
        };
        if let Some(open) = self.known_state.open_intent(key) {
            let why = format!("an effect of {name} is not settled (intent {})", open.intent.id);
            return refuse(why, "settle it first, as `reckon intents` shows".to_owned());
        }
        if self.scheduler.busy.contains(key) {
            let why = format!("an effect of {name} is in flight");
            return refuse(why, "try again in a moment".to_owned());
        }
        if let Some(next) = &known.moved_to {
            let why = format!("{name} was renamed to {}", next.short());
            return refuse(why, format!("run `reckon forget {}`", next.short()));
        }
        self.check_unused(key)
    }

    /// Checks that no managed resource depends on it: by merchant, document or applied state.
    fn check_unused(&self, key: &Key) -> Result<(), ForgetResult> {
        let mut users: BTreeSet<Key> = self.planner.users(key).cloned().collect();
        users.extend(self.planner.prune_state.holders(key));
        let steps = self.planner.steps().map(|step| &step.key).filter(|one| *one != key);
        let of_it = |one: &&Key| {
            let known = self.known_state.observed(one);
            known.is_some_and(|known| known.exists && known.merchant == *key)
        };
        users.extend(steps.filter(of_it).cloned());
        if users.is_empty() {
            return Ok(());
        }
        let named: Vec<String> = users.iter().take(NAMED_MAX).map(Key::short).collect();
        let more = match users.len().saturating_sub(named.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let why = format!("{} is used by {}{more}", key.short(), named.join(", "));
        let help = "forget those first, or change their documents to use another one";
        Err(ForgetResult::Refused(why, help.to_owned()))
    }

    fn disown_record(
        &self,
        id: &RemoteId,
        actor: String,
    ) -> EngineResult<Result<ForgetRecord, ForgetResult>> {
        let strays = self.shared.facts.unknown_objects()?;
        let Some(key) = strays.get(id.as_str()).cloned() else {
            let meant = nearest(id.as_str(), strays.keys().map(String::as_str));
            return Ok(Err(ForgetResult::Unknown(meant.map(str::to_owned))));
        };
        if self.scheduler.busy.contains(&key) {
            let why = format!("an effect of {} is in flight", key.short());
            return Ok(Err(ForgetResult::Refused(why, "try again in a moment".to_owned())));
        }
        let at = self.shared.now();
        let disowned = Disowned { key: key.clone(), remote_id: id.clone(), actor, at };
        let keys = BTreeSet::from([key.clone()]);
        Ok(Ok((Record::Disowned(Box::new(disowned)), keys, ForgetResult::Object(id.clone(), key))))
    }

    /// Decides about a person's permission; the reply names its resources.
    pub(crate) fn allow_prune(&self, allowing: &AllowPrune, actor: &str) -> Decision {
        let (keys, records) = self.allowances(allowing, actor);
        let answer = Reply::Allowed(keys.iter().cloned().collect());
        if records.is_empty() {
            return Decision::answer(answer);
        }
        let result = TaskResult::BookkeepingDone(keys.clone());
        Decision::append(records, result, answer).locking(keys)
    }

    /// Returns the records to write now, for resources that are not busy.
    pub(crate) fn due_bookkeeping(&self) -> Vec<Record> {
        let commit = self.known_state.files.commit();
        let mut records =
            self.planner.pending_records(self.known_state, self.shared.now(), commit.as_deref());
        records.retain(|record| {
            let keys = record_keys(record);
            keys.last().is_some_and(|key| self.scheduler.is_selected(key))
                && !keys.iter().any(|key| self.scheduler.busy.contains(key))
        });
        records
    }

    /// Returns the resources to which a permission applies now, and its records.
    fn allowances(&self, allowing: &AllowPrune, actor: &str) -> (BTreeSet<Key>, Vec<Record>) {
        let guarded = self.planner.prune_state.guarded_keys().filter(|_| allowing.all);
        let mut keys: BTreeSet<Key> = guarded.cloned().collect();
        keys.extend(allowing.keys.iter().filter(|key| self.planner.may_be_allowed(key)).cloned());
        keys.retain(|key| !self.scheduler.busy.contains(key));
        let at = self.shared.now();
        let records = keys.iter().map(|key| {
            let at_once = allowing.keys.contains(key);
            let word = PruneAllowed { at, actor: actor.to_owned(), at_once };
            let change = MissingDocumentChange::Allowed(word);
            Record::MissingDocument(Box::new(MissingDocumentRecord { key: key.clone(), change }))
        });
        (keys.clone(), records.collect())
    }
}

/// Returns the resources that a bookkeeping record names; its own one last.
pub(crate) fn record_keys(record: &Record) -> Vec<Key> {
    if let Record::MissingDocument(absence) = record {
        return vec![absence.key.clone()];
    }
    if let Record::Moved(moved) = record {
        return vec![moved.from.clone(), moved.to.clone()];
    }
    Vec::new()
}

#[cfg(test)]
mod tests;
