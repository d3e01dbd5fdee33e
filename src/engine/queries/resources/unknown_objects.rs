//! Unknown objects with marks of ours that block a resource, as plain data, each with its remedy.

use std::collections::BTreeMap;

use crate::base::hash::SourceId;
use crate::base::id::Key;
use crate::engine::handles::shared::EngineError;
use crate::engine::protocol::queries::unknown_objects::UnknownObjectView;
use crate::engine::view::EngineView;
use crate::model::state::observed::Observed;
use crate::model::state::orphan::UnknownObject;
use crate::plan::state_view::StateView;

impl EngineView<'_> {
    /// Returns every unknown object that blocks a resource.
    pub(crate) fn unknown_objects(&self) -> Result<Vec<UnknownObjectView>, EngineError> {
        let holders = self.shared.facts.unknown_objects()?;
        if holders.is_empty() {
            return Ok(Vec::new());
        }
        let marks = self.marks();
        let mut views = Vec::new();
        for (id, key) in holders {
            let known = self.known_state.observed(&key);
            let strays = known.as_ref().map_or(&[][..], |known| &known.unknown_objects);
            if let Some(stray) = strays.iter().find(|stray| stray.id.as_str() == id) {
                views.push(view(stray, key, &marks));
            }
        }
        Ok(views)
    }

    /// Returns the mark of each document.
    pub(crate) fn marks(&self) -> BTreeMap<String, Key> {
        let partner = &self.shared.settings.planning.partner;
        let mark = |key: &Key, generation: u32| {
            let known = self.known_state.observed(key);
            let origin = known.as_deref().and_then(Observed::first_name);
            SourceId::new(partner, origin.unwrap_or(key), generation).mark().to_string()
        };
        let documents = self.known_state.desired().manifests.values();
        documents.map(|one| (mark(&one.key, one.annotations.generation), one.key.clone())).collect()
    }
}

fn view(stray: &UnknownObject, key: Key, marks: &BTreeMap<String, Key>) -> UnknownObjectView {
    let UnknownObject { id, mark, list, is_duplicate: second, collection: _ } = stray;
    let document = marks.get(mark.as_str());
    let import = match document {
        Some(document) if !second => format!("reckon import {} {id}", document.short()),
        Some(_) => format!("end one of the two objects of {} at the service", key.short()),
        None => format!("reckon import KIND/NAME {id}"),
    };
    let way_out = vec![import, format!("reckon forget {id}")];
    UnknownObjectView {
        id: id.to_string(),
        list: list.clone(),
        mark: mark.to_string(),
        key,
        second: *second,
        way_out,
    }
}
