//! After a restore, an effect that no lookup can find is on hold until a person declares that it
//! did not happen. In a state that began empty, live applications wait for a person's approval.

use super::World;
use crate::base::id::{Key, Mode};
use crate::base::planted;
use crate::effects::{Earlier, earlier, effect_row, only_a_notice_tells};
use crate::kinds::step::Draft;
use crate::model::effect::Work;
use crate::model::plan::{Reason, Verdict};

/// Returns the draft, or a hold or wait in its place where its work may have been done between
/// backup and restore, or by a lost state.
pub(super) fn cautious(world: &dyn World, key: &Key, draft: Draft) -> Draft {
    let Some(Work::Effect(effect)) = &draft.work else { return draft };
    let Some(row) = effect_row(effect.name) else { return draft };
    let hidden = earlier(row, effect) == Earlier::Hidden;
    if !hidden || planted::is("restore-without-epoch") {
        return draft;
    }
    if let Some(why) = world.unsure(key) {
        let held = Draft::idle(Verdict::Blocked, Reason::Held(why));
        return Draft { changes: draft.changes, ..held };
    }
    if only_a_notice_tells(row) && effect.mode == Mode::Live && world.unapproved(key) {
        let waits = Draft::idle(Verdict::Wait, Reason::MaybeSubmitted(Box::new(key.clone())));
        return Draft { changes: draft.changes, ..waits };
    }
    draft
}
