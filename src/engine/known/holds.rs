//! The reasons for which effects of documents do not start: a freeze, a manual daemon that waits for a
//! sync of its present documents, or a window or freeze of the configuration.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::base::id::Key;
use crate::engine::known::timed_holds::TimedHolds;
use crate::engine::protocol::views::SyncView;
use crate::model::holds::{Freeze, Hold, SyncGrant};
use crate::policy::TimeRules;
use crate::store::read_model::model::{ReadModel, ReadModelError};

#[derive(Debug)]
pub(crate) struct Holds {
    facts: ReadModel,
    freeze: Option<Freeze>,
    manual: Option<ManualSync>,
    pub(crate) timed: TimedHolds,
}

/// The state of a daemon that waits for a person before it sends.
#[derive(Debug)]
struct ManualSync {
    /// The name of the present documents' contents.
    tree: String,
    last: Option<SyncGrant>,
}

impl Holds {
    pub(crate) fn load(facts: &ReadModel) -> Result<Self, ReadModelError> {
        let timed = TimedHolds::new(TimeRules::default(), DateTime::<Utc>::MIN_UTC);
        Ok(Self { facts: facts.clone(), freeze: facts.freeze()?, manual: None, timed })
    }

    /// Returns the reason for which no effect of any document starts.
    pub(crate) fn common(&self) -> Option<Arc<Hold>> {
        self.by_person().map(Arc::new).or_else(|| self.timed.common_hold())
    }

    /// Returns the reason for which effects of a merchant's documents do not start.
    pub(crate) fn of(&self, merchant: Option<&Key>) -> Option<Arc<Hold>> {
        self.by_person().map(Arc::new).or_else(|| self.timed.hold(merchant))
    }

    /// Returns the hold that a person began or has to end.
    pub(crate) fn by_person(&self) -> Option<Hold> {
        if let Some(freeze) = &self.freeze {
            return Some(Hold::Frozen(freeze.clone()));
        }
        self.awaits_sync().then_some(Hold::AwaitsSync)
    }

    /// Returns the freeze in force.
    pub(crate) fn freeze(&self) -> Option<&Freeze> {
        self.freeze.as_ref()
    }

    /// Returns true for a daemon that sends only what a person synced.
    pub(crate) fn is_manual(&self) -> bool {
        self.manual.is_some()
    }

    fn awaits_sync(&self) -> bool {
        let differs = |one: &ManualSync| one.last.as_ref().is_none_or(|last| last.tree != one.tree);
        self.manual.as_ref().is_some_and(differs)
    }

    /// Returns the sync of a manual daemon; `None` for an automatic one.
    pub(crate) fn sync_view(&self) -> Option<SyncView> {
        let last = self.manual.as_ref()?.last.clone();
        Some(SyncView { awaits: self.awaits_sync(), last })
    }

    /// Names the present documents of a manual daemon.
    pub(crate) fn set_manual_tree(&mut self, tree: String) -> Result<(), ReadModelError> {
        let last = self.facts.sync_grant()?;
        self.manual = Some(ManualSync { tree, last });
        Ok(())
    }

    /// Reads the freeze and the last sync again, after a record about them was written.
    pub(crate) fn reload(&mut self) -> Result<(), ReadModelError> {
        self.freeze = self.facts.freeze()?;
        if let Some(manual) = &mut self.manual {
            manual.last = self.facts.sync_grant()?;
        }
        Ok(())
    }
}
