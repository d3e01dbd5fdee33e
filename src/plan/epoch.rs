//! After a restore: what nothing can find is held until a person says that it was not made.

use super::World;
use crate::base::id::Key;
use crate::base::planted;
use crate::effects::{Earlier, earlier, effect_row};
use crate::kinds::step::Draft;
use crate::model::effect::Work;
use crate::model::plan::{Reason, Verdict};

/// The draft, or the hold in its place: its work may have been done between backup and restore.
pub(super) fn cautious(world: &dyn World, key: &Key, draft: Draft) -> Draft {
    let Some(Work::Effect(effect)) = &draft.work else { return draft };
    let hidden = effect_row(effect.name).is_some_and(|row| earlier(row, effect) == Earlier::Hidden);
    let why =
        if hidden && !planted::is("restore-without-epoch") { world.unsure(key) } else { None };
    match why {
        Some(why) => {
            let held = Draft::idle(Verdict::Blocked, Reason::Held(why));
            Draft { changes: draft.changes, ..held }
        }
        None => draft,
    }
}
