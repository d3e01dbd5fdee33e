//! Makes the content of a message from its changes and the present state.

use std::collections::BTreeMap;

use crate::base::id::{Key, Mode};
use crate::base::secret::mask_digits;
use crate::engine::alerts::verdict::{AlertVerdict, verdict};
use crate::engine::known::known_state::Snapshot;
use crate::engine::scheduler::failures::Failures;
use crate::kinds::planning::step::MERCHANT;
use crate::model::alerts::{AlertChange, AlertClass, RECOVERED};
use crate::model::plan::{Reason, Step};
use crate::notify::alert::{AlertContent, AlertItem, ITEMS_MAX};
use crate::plan::blocks;
use crate::plan::state_view::StateView;

/// Characters of a sentence, at most.
const SENTENCE_MAX: usize = 300;
/// The word of a resource that is gone.
const GONE: &str = "Gone";

/// The state from which a message is made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AlertSource<'a> {
    pub(crate) snapshot: Snapshot<'a>,
    pub(crate) failures: &'a Failures,
}

impl AlertSource<'_> {
    /// Returns the verdict on a resource.
    pub(crate) fn verdict(&self, key: &Key) -> AlertVerdict {
        let step = self.snapshot.planner.step(key);
        let settled = self.snapshot.known_state.open_intent(key).is_none();
        verdict(step.map(|step| &**step), self.failures.get(key).filter(|_| settled))
    }

    /// Returns the content of a message with these changes.
    pub(crate) fn content(&self, changes: &[AlertChange]) -> AlertContent {
        let mut order: Vec<&AlertChange> = changes.iter().collect();
        order.sort_by_key(|change| (change.after.is_none(), change.after, &change.key));
        let mut counts: BTreeMap<AlertClass, usize> = BTreeMap::new();
        for class in changes.iter().filter_map(|change| change.after) {
            let count = counts.entry(class).or_default();
            *count = count.saturating_add(1);
        }
        AlertContent {
            partner: self.snapshot.shared.settings.planning.partner.clone(),
            mode: self.mode(),
            at: self.snapshot.shared.now(),
            counts: counts.into_iter().collect(),
            recovered: changes.iter().filter(|change| change.after.is_none()).count(),
            items: order.iter().take(ITEMS_MAX).map(|change| self.item(change)).collect(),
            omitted: changes.len().saturating_sub(ITEMS_MAX),
        }
    }

    /// Returns the mode of the documents: live, if any merchant is.
    fn mode(&self) -> Mode {
        let desired = self.snapshot.known_state.desired();
        let is_live = |step: &Step| {
            let manifest = desired.manifest(&step.key);
            let mode = manifest.as_ref().and_then(|manifest| manifest.spec.get("mode")?.as_str());
            mode == Some(Mode::Live.as_str())
        };
        let mut merchants = self.snapshot.planner.steps_of_kind(MERCHANT);
        if merchants.any(|step| is_live(step)) { Mode::Live } else { Mode::Test }
    }

    fn item(&self, change: &AlertChange) -> AlertItem {
        let AlertChange { key, before, after } = change;
        let step = self.snapshot.planner.step(key);
        let (reason, message) = self.sentence(change, step.map(|step| &**step));
        let place = step.and_then(|step| step.place.as_ref());
        let owner = blocks::owner(self.snapshot.known_state, key);
        AlertItem {
            resource: key.short(),
            class: after.map_or(RECOVERED, AlertClass::word),
            before: *before,
            merchant: owner.map(|owner| owner.short()),
            file: place.map(|(file, _)| file.to_string()),
            line: place.map(|(_, line)| *line),
            reason,
            message: bounded(&message),
        }
    }

    /// Returns the word and the sentence of a change. A state that changed since is marked so.
    fn sentence(&self, change: &AlertChange, step: Option<&Step>) -> (&'static str, String) {
        let was = change.before.map_or("", AlertClass::word).replace('_', " ");
        let Some(step) = step else { return (GONE, format!("the resource is gone; it was {was}")) };
        let (word, sentence) = self.headline(step);
        match change.after {
            None if step.reason == Reason::Settled => (word, format!("ready again; it was {was}")),
            None => (word, format!("{sentence}; it was {was}")),
            Some(class) if self.verdict(&change.key) == AlertVerdict::Problem(class) => {
                (word, sentence)
            }
            Some(_) => (word, format!("changed since: {sentence}")),
        }
    }

    fn headline(&self, step: &Step) -> (&'static str, String) {
        let failure = self.failures.get(&step.key).filter(|_| !step.needs_operator());
        match failure {
            Some(failure) => (failure.word(), failure.message().to_owned()),
            None => step.headline(),
        }
    }
}

/// Returns one line of bounded length, with card numbers masked.
fn bounded(sentence: &str) -> String {
    let line: String = mask_digits(sentence)
        .chars()
        .map(|found| if found.is_control() { ' ' } else { found })
        .take(SENTENCE_MAX.saturating_add(1))
        .collect();
    if line.chars().count() <= SENTENCE_MAX {
        return line;
    }
    let cut: String = line.chars().take(SENTENCE_MAX.saturating_sub(1)).collect();
    format!("{cut}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_one_line_of_bounded_length() {
        assert_eq!(bounded("a\nb"), "a b");
        let long = bounded(&"x".repeat(SENTENCE_MAX * 2));
        assert_eq!((long.chars().count(), long.ends_with('…')), (SENTENCE_MAX, true));
        assert_eq!(bounded(&"x".repeat(SENTENCE_MAX)).chars().count(), SENTENCE_MAX);
    }
}
