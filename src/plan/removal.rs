//! Obstacles to a removal after its document disappeared: guards, and, for live objects, a delay.
//! Also the obstacle to a creation that looks like a missing document under another name.

use super::World;
use super::absences::{Absences, due};
use crate::base::id::{Key, Mode};
use crate::kinds::leaving::current;
use crate::kinds::step::{Draft, StepCx, mode_of};
use crate::model::effect::Work;
use crate::model::going::Going;
use crate::model::observed::Observed;
use crate::model::plan::{Reason, Verdict};
use crate::policy::prune::Prune;

/// Returns the kind's removal of an object without a document, unless a guard or a delay stops it.
pub(super) fn guarded(
    cx: &StepCx<'_>,
    (absences, prune): (&Absences, &Prune),
    key: &Key,
    known: &Observed,
    draft: Draft,
) -> Draft {
    if draft.verdict != Verdict::Delete {
        return draft;
    }
    let going = match absences.trip(key) {
        Some(trip) => Some(Going::Guarded { key: key.clone(), trip: trip.clone() }),
        None => waiting(cx, prune, known),
    };
    match going {
        Some(going) => {
            let verdict = if going.needs_a_person() { Verdict::Blocked } else { Verdict::Wait };
            let stopped = Draft::idle(verdict, Reason::Going(Box::new(going)));
            Draft { money: draft.money, ready: true, ..stopped }
        }
        None => refused(known, draft),
    }
}

/// Returns the state of a live object that must wait: it is removed some time after its mark.
fn waiting(cx: &StepCx<'_>, prune: &Prune, known: &Observed) -> Option<Going> {
    let live = mode_of(cx.view, &current(cx, &known.merchant)) == Some(Mode::Live);
    let absence = known.absence.as_deref();
    let at_once =
        absence.and_then(|absence| absence.allowed.as_ref()).is_some_and(|word| word.at_once);
    if !live || at_once || prune.delay.value.is_zero() {
        return None;
    }
    let Some(marked) = absence.and_then(|absence| absence.marked.as_ref()) else {
        return Some(Going::Unmarked { delay: hours(prune.delay.value) });
    };
    let until = due(known, prune)?;
    (cx.now < until).then_some(Going::Marked { until, since: marked.at })
}

/// Formats a delay as `24h`, or in smaller units.
fn hours(delay: std::time::Duration) -> String {
    let seconds = delay.as_secs();
    match (seconds.checked_rem(3600), seconds.checked_rem(60)) {
        (Some(0), _) => format!("{}h", seconds.div_euclid(3600)),
        (_, Some(0)) => format!("{}m", seconds.div_euclid(60)),
        _ => format!("{seconds}s"),
    }
}

/// Blocks a removal that was refused: the same effect is not sent again.
fn refused(known: &Observed, draft: Draft) -> Draft {
    let Some(Work::Effect(effect)) = &draft.work else { return draft };
    let refusal = known.refusal.as_ref().filter(|refusal| refusal.digest == effect.applied.digest);
    match refusal {
        Some(refusal) => {
            let why = super::step::refusal_words(refusal);
            let blocked = Draft::idle(Verdict::Blocked, Reason::Refused(why));
            Draft { money: draft.money, ..blocked }
        }
        None => draft,
    }
}

/// Returns the kind's creation, unless the document looks renamed.
pub(super) fn distinct(absences: &Absences, key: &Key, draft: Draft) -> Draft {
    let Some(from) = absences.twin(key) else { return draft };
    let going = Going::LooksRenamed { key: key.clone(), from: from.clone() };
    let blocked = Draft::idle(Verdict::Blocked, Reason::Going(Box::new(going)));
    Draft { changes: draft.changes, ..blocked }
}

/// Returns whether the step must be recomputed at a later time for this reason.
pub(super) fn is_dated(reason: &Reason) -> bool {
    matches!(reason, Reason::Going(going) if matches!(**going, Going::Marked { .. }))
}

/// Returns whether absences may be recorded: the tree is complete.
pub(super) fn believed(world: &dyn World) -> bool {
    world.desired().coverage == crate::model::desired::Coverage::Whole
}
