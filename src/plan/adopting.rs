//! What an object has to be, to be taken over for a document.

use crate::base::id::Key;
use crate::kinds::adopting::Expect;
use crate::kinds::register::{self, KindRow};
use crate::model::manifest::Manifest;
use crate::model::observed::Observed;
use crate::plan::{Planner, Seen, World};

/// A document that an object may be taken over for.
#[derive(Debug)]
pub struct Wanted {
    /// Its kind.
    pub row: &'static KindRow,
    /// The document.
    pub manifest: Manifest,
    /// What would be known of it if it were just as the document says.
    pub said: Observed,
    /// What the object has to show besides the fields of its list, or why none is taken over.
    pub expects: Result<Vec<Expect>, &'static str>,
}

impl Planner {
    /// What an object has to be, to be taken over for this document; `None`: there is no good one.
    pub fn wanted(&self, world: &dyn World, key: &Key) -> Option<Wanted> {
        let manifest = world.desired().manifest(key)?;
        let row = register::find(key.kind.as_str())?;
        let view = Seen { world, planner: self };
        let cx = self.cx(world, &view);
        let said = (row.as_said)(&cx, &manifest);
        let expects = (row.adopts)(&cx, &manifest);
        Some(Wanted { row, manifest, said, expects })
    }

    /// The resources without a document that still use this one on the service.
    pub fn without_document(&self, key: &Key) -> Vec<Key> {
        self.absences.holders(key)
    }
}
