//! The conditions under which an object is adopted for a document.

use crate::base::id::Key;
use crate::kinds::adopting::Expect;
use crate::kinds::register::{self, KindRow};
use crate::model::manifest::Manifest;
use crate::model::observed::Observed;
use crate::plan::{Planner, Seen, World};

/// A document for which an object may be adopted.
#[derive(Debug)]
pub struct Wanted {
    pub row: &'static KindRow,
    pub manifest: Manifest,
    /// The observed state if the object were exactly as in the document.
    pub said: Observed,
    /// The properties required of the object besides the fields of its list, or the reason why none
    /// is adopted.
    pub expects: Result<Vec<Expect>, &'static str>,
}

impl Planner {
    /// Returns the conditions for adopting an object for this document; `None` without a good
    /// document.
    pub fn wanted(&self, world: &dyn World, key: &Key) -> Option<Wanted> {
        let manifest = world.desired().manifest(key)?;
        let row = register::find(key.kind.as_str())?;
        let view = Seen { world, planner: self };
        let cx = self.cx(world, &view);
        let said = (row.as_said)(&cx, &manifest);
        let expects = (row.adopts)(&cx, &manifest);
        Some(Wanted { row, manifest, said, expects })
    }

    /// Returns the resources without a document that still use this one on the service.
    pub fn without_document(&self, key: &Key) -> Vec<Key> {
        self.absences.holders(key)
    }
}
