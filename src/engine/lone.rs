//! Effects that nothing marks: of each such effect a merchant has one open at a time, so that a lost
//! answer can be told from the others. And effects that do the same for two resources, such as the upload of
//! one file: the second waits for the first, and then has nothing left to do.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::Engine;
use super::tasks::Unable;
use crate::base::id::Key;
use crate::effects::{Doubt, effect_row};
use crate::model::effect::Effect;

/// The least wait behind one that a person has to settle.
const HELD_WAIT: Duration = Duration::from_mins(1);

/// Who is under way alone, and who waits for that.
#[derive(Debug, Default)]
pub(super) struct Lone {
    working: BTreeMap<Key, (String, Key)>,
    waiting: BTreeSet<Key>,
}

/// Whether an effect has to be alone.
fn is_lone(effect: &str) -> bool {
    effect_row(effect).is_some_and(|row| matches!(row.doubt, Doubt::Alone(_)))
}

/// What has only one under way at a time; `None` for most effects.
fn track(effect: &Effect) -> Option<String> {
    let twin = || format!("{} {}", effect.name, effect.about);
    if is_lone(effect.name) {
        return Some(effect.name.to_owned());
    }
    (!effect.about.is_null()).then(twin)
}

impl Engine {
    /// Notes that an effect of this merchant is under way, if it has to be alone.
    pub(super) fn alone(&mut self, effect: &str, key: &Key, merchant: &Key) {
        if is_lone(effect) {
            self.lone.working.insert(key.clone(), (effect.to_owned(), merchant.clone()));
        }
    }

    /// Whether an effect may start now. One that has to be alone waits for the other that is under
    /// way, and is put off behind one that a person has to settle.
    pub(super) fn may_start(&mut self, key: &Key, effect: &Effect) -> bool {
        let Some(track) = track(effect) else { return true };
        let same = |name: &str, merchant: &Key| name == track && *merchant == effect.merchant;
        if self.lone.working.values().any(|(name, merchant)| same(name, merchant)) {
            self.busy.remove(key);
            self.backoff.clear(key);
            self.lone.waiting.insert(key.clone());
            return false;
        }
        let held = is_lone(effect.name).then(|| self.unsettled(key, effect));
        if let Some(held) = held.flatten() {
            let why = format!("{held} is not settled: nothing marks either of the two");
            self.busy.remove(key);
            self.put_off(key.clone(), Unable::Blocked(why), HELD_WAIT);
            return false;
        }
        self.lone.working.insert(key.clone(), (track, effect.merchant.clone()));
        true
    }

    /// The resource of another such effect of the merchant that is not settled.
    fn unsettled(&self, key: &Key, effect: &Effect) -> Option<String> {
        let mut open = self.world.open_intents().map(|open| &open.intent);
        let same = open.find(|one| {
            one.key != *key && one.effect == effect.name && one.merchant == effect.merchant
        });
        same.map(|one| one.key.short())
    }

    /// The effect of this resource has ended: those that waited for it may try.
    pub(super) fn let_others_go(&mut self, key: &Key) {
        if self.lone.working.remove(key).is_some() {
            let waiting = std::mem::take(&mut self.lone.waiting);
            self.enqueue(waiting);
        }
    }
}
