//! The conditions under which an object is adopted for a document.

use crate::base::id::Key;
use crate::kinds::remote::import_check::ImportCheck;
use crate::kinds::schema::register;
use crate::kinds::schema::register::KindRow;
use crate::model::spec::manifest::Manifest;
use crate::model::state::observed::Observed;
use crate::plan::core::kind_view::KindView;
use crate::plan::core::planner::{Planner, StateView};

/// A document for which an object may be adopted.
#[derive(Debug)]
pub struct AdoptionTarget {
    pub row: &'static KindRow,
    pub manifest: Manifest,
    /// The observed state if the object were exactly as in the document.
    pub assumed: Observed,
    /// The properties required of the object besides the fields of its list, or the reason why none
    /// is adopted.
    pub expects: Result<Vec<ImportCheck>, &'static str>,
}

impl Planner {
    /// Returns the conditions for adopting an object for this document; `None` without a good
    /// document.
    pub fn adoption_target(&self, world: &dyn StateView, key: &Key) -> Option<AdoptionTarget> {
        let manifest = world.desired().manifest(key)?;
        let row = register::find(key.kind.as_str())?;
        let view = KindView { world, planner: self };
        let cx = self.step_context(world, &view);
        let said = (row.assume_applied)(&cx, &manifest);
        let expects = (row.import_checks)(&cx, &manifest);
        Some(AdoptionTarget { row, manifest, assumed: said, expects })
    }

    /// Returns the resources without a document that still use this one on the service.
    pub fn dependants_without_document(&self, key: &Key) -> Vec<Key> {
        self.prune_state.holders(key)
    }
}
