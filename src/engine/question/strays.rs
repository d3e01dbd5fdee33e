//! Objects with marks of ours that stand in the way, as plain data, each with the way out.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::hash::SourceId;
use crate::base::id::Key;
use crate::engine::{Engine, EngineError};
use crate::model::adoption::Stray;
use crate::model::observed::Observed;
use crate::plan::World;

/// One object that stands in the way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StrayView {
    /// Its id.
    pub id: String,
    /// The list that shows it.
    pub list: String,
    /// The mark of ours that it carries.
    pub mark: String,
    /// What it stands in the way of.
    pub key: Key,
    /// Whether it is a second object with that mark.
    pub second: bool,
    /// Commands that end it: one of them is to be chosen.
    pub way_out: Vec<String>,
}

impl Engine {
    /// Every object that stands in the way.
    pub(super) fn strays(&self) -> Result<Vec<StrayView>, EngineError> {
        let holders = self.shared.facts.strays()?;
        if holders.is_empty() {
            return Ok(Vec::new());
        }
        let marks = self.marks();
        let mut views = Vec::new();
        for (id, key) in holders {
            let known = self.world.observed(&key);
            let strays = known.as_ref().map_or(&[][..], |known| &known.strays);
            if let Some(stray) = strays.iter().find(|stray| stray.id.as_str() == id) {
                views.push(view(stray, key, &marks));
            }
        }
        Ok(views)
    }

    /// The mark that each document has.
    pub(in crate::engine) fn marks(&self) -> BTreeMap<String, Key> {
        let partner = &self.shared.settings.planning.partner;
        let mark = |key: &Key, generation: u32| {
            let known = self.world.observed(key);
            let origin = known.as_deref().and_then(Observed::origin);
            SourceId::new(partner, origin.unwrap_or(key), generation).mark().to_string()
        };
        let documents = self.world.desired().manifests.values();
        documents.map(|one| (mark(&one.key, one.annotations.generation), one.key.clone())).collect()
    }
}

fn view(stray: &Stray, key: Key, marks: &BTreeMap<String, Key>) -> StrayView {
    let Stray { id, mark, list, second, collects: _ } = stray;
    let document = marks.get(mark.as_str());
    let import = match document {
        Some(document) if !second => format!("reckon import {} {id}", document.short()),
        Some(_) => format!("end one of the two at the service: {}", key.short()),
        None => format!("reckon import KIND/NAME {id}"),
    };
    let way_out = vec![import, format!("reckon forget {id}")];
    StrayView {
        id: id.to_string(),
        list: list.clone(),
        mark: mark.to_string(),
        key,
        second: *second,
        way_out,
    }
}
