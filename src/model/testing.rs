//! Constructors that only tests need.

use crate::api;
use crate::base::id::Key;
use crate::base::outside_text::known::KnownValues;
use crate::model::change::PlannedAction;
use crate::model::effect::ExposureCounts;
use crate::model::issue::{Path, PathSegment};
use crate::model::outcome::ServiceProblem;
use crate::model::plan::{Reason, Step};

impl Step {
    pub fn idle(key: Key, verdict: PlannedAction, reason: Reason) -> Self {
        Self {
            key,
            action: verdict,
            reason,
            changes: Vec::new(),
            money: Vec::new(),
            ready: false,
            health: None,
            remote_id: None,
            place: None,
            work: None,
            on_demand: None,
            replaces: None,
            counts: ExposureCounts::default(),
        }
    }
}

impl Path {
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        let mut segments = self.0.clone();
        segments.push(PathSegment::Index(index));
        Self(segments)
    }
}

impl ServiceProblem {
    pub fn from_messages(messages: Vec<api::rules::ProblemMessage>) -> Self {
        Self::clean(&api::rules::Problem { messages }, &KnownValues::default())
    }
}
