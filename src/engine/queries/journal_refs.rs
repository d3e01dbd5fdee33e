//! Positions of records in the journal: the first step of `why`.

use self::words::{WordMeaning, look_up_word};
use crate::base::id::Key;
use crate::engine::protocol::queries::journal_refs::{Provenances, RecordRefs, WhySubject};
use crate::engine::view::EngineView;
use crate::store::journal::chain::Head;
use crate::store::read_model::model::{ReadModel, ReadModelError};

pub(crate) mod words;

impl EngineView<'_> {
    /// Returns the positions of a subject.
    pub(crate) fn journal_refs(&self, wanted: &WhySubject) -> Result<Provenances, ReadModelError> {
        locate(&self.shared.facts, wanted, self.shared.writer.head())
    }
}

/// Returns the positions of a subject, from the fold.
pub fn locate(
    facts: &ReadModel,
    wanted: &WhySubject,
    head: Head,
) -> Result<Provenances, ReadModelError> {
    let known = match wanted {
        WhySubject::Resource(key) => WordMeaning { keys: vec![key.clone()], about: Vec::new() },
        WhySubject::Intent(id) => {
            let promise = facts.intent_position(*id)?;
            let keys = promise.map(|promise| promise.key).into_iter().collect();
            WordMeaning { keys, about: Vec::new() }
        }
        WhySubject::Remote(word) => look_up_word(facts, word)?,
    };
    let mut resources: Vec<RecordRefs> = Vec::new();
    for key in known.keys {
        let trail = record_refs(facts, &key)?;
        if !trail.sequences.is_empty() && !resources.contains(&trail) {
            resources.push(trail);
        }
    }
    Ok(Provenances { resources, about: known.about, head })
}

/// Returns the records about a resource, under its present and its former names.
fn record_refs(facts: &ReadModel, key: &Key) -> Result<RecordRefs, ReadModelError> {
    let names = facts.names(key)?;
    let mut sequences = Vec::new();
    for name in &names {
        sequences.extend(facts.record_sequences(name)?);
    }
    sequences.sort_unstable();
    sequences.dedup();
    Ok(RecordRefs { key: names.into_iter().next_back().unwrap_or_else(|| key.clone()), sequences })
}
