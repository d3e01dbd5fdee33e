//! Folds the action requests of runs: one name beneath an event is one action, whichever script
//! requests it.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::doubt::{self, is_guessed};
use crate::base::hash::Digest;
use crate::base::id::Name;
use crate::base::planted;
use crate::model::action::Action;
use crate::model::at_most::Counted;
use crate::model::hook::{Run, Wish};
use crate::model::ran::{Fate, Granted, Pending, Ran, Scheduled, WishId};
use crate::store::facts::{
    FactError, at_most_key, depth_key, granted_key, read, schedule_key, wish_key, write,
};
use crate::store::fold::undone;
use crate::store::index::{Batch, Index};

/// An action that ended when it was requested: the request, and its result.
pub(super) type Ended = (Pending, Granted);

/// The result of an action with the digest of its request: the fields of [`Granted`], and one more.
#[derive(Debug, Serialize, Deserialize)]
struct Settled {
    id: WishId,
    fate: Fate,
    message: String,
    at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<Digest>,
}

/// Writes the result of an action.
pub(super) fn settled(
    batch: &mut Batch,
    granted: &Granted,
    content: Option<Digest>,
) -> Result<(), FactError> {
    let Granted { id, fate, message, at } = granted.clone();
    let settled = Settled { id, fate, message, at, content };
    write(batch, &granted_key(&granted.id), &settled)
}

/// The action requests of one run.
#[derive(Default)]
pub(super) struct Asked {
    /// The number of new actions that wait.
    pub(super) new: u64,
    /// Actions that ended at once.
    pub(super) ended: Vec<Ended>,
}

/// Folds the action requests of one run; `before` counts those of the event's other runs before it.
pub(super) fn asked(
    index: &dyn Index,
    batch: &mut Batch,
    (ran, run): (&Ran, &Run),
    doubted: bool,
    before: usize,
) -> Result<Asked, FactError> {
    let mut asked = Asked::default();
    for (nth, wish) in (before..).zip(&run.wishes) {
        let pending = pending((ran, run), wish, doubted, nth);
        match known(index, batch, &pending.id)? {
            Some((content, script)) if !wish.asks_for(content) => {
                asked.ended.push(shared(ran, pending, &script));
            }
            Some(_) => {}
            None if !allowed(index, batch, &pending)? => {
                asked.ended.push(skipped(batch, ran, pending)?);
            }
            None => {
                ask(batch, ran, &pending, doubted)?;
                asked.new = asked.new.saturating_add(1);
            }
        }
    }
    Ok(asked)
}

fn pending((ran, run): (&Ran, &Run), wish: &Wish, doubted: bool, nth: usize) -> Pending {
    let (merchant, event) = (ran.merchant.clone(), ran.event.clone());
    let id = WishId { merchant, event, name: name(wish, nth) };
    let unsure = doubted && is_guessed(run, wish);
    Pending { id, wish: wish.clone(), script: run.script.clone(), unsure, at: ran.at }
}

/// Returns an action's own name; a planted fault uses its ordinal instead.
fn name(wish: &Wish, nth: usize) -> Name {
    let counted = format!("nth-{nth}").parse().ok().filter(|_| planted::is("hook-by-ordinal"));
    counted.unwrap_or_else(|| wish.name.clone())
}

/// Returns the digest of an earlier request of the same name, and the script that made it as far as
/// it is known.
fn known(
    index: &dyn Index,
    batch: &Batch,
    id: &WishId,
) -> Result<Option<(Option<Digest>, String)>, FactError> {
    if let Some(waiting) = read::<Pending>(index, batch, &wish_key(id))? {
        return Ok(Some((waiting.wish.content, format!("script `{}`", waiting.script))));
    }
    let settled: Option<Settled> = read(index, batch, &granted_key(id))?;
    Ok(settled.map(|settled| (settled.content, "another script".to_owned())))
}

fn ask(batch: &mut Batch, ran: &Ran, pending: &Pending, doubted: bool) -> Result<(), FactError> {
    if let (Some(merchant), Ok(name)) = (&pending.wish.merchant, pending.id.action_name()) {
        let action = Action::key(merchant, &name);
        write(batch, &depth_key(&action), &ran.depth.saturating_add(1))?;
    }
    if doubted {
        doubt::note(batch, pending);
    }
    let scheduled = Scheduled::of(pending);
    write(batch, &schedule_key(&scheduled), &scheduled)?;
    write(batch, &wish_key(&pending.id), pending)
}

/// Counts a notification against its bound, and returns true if the bound allows it.
fn allowed(index: &dyn Index, batch: &mut Batch, pending: &Pending) -> Result<bool, FactError> {
    let Some(bound) = &pending.wish.at_most else { return Ok(true) };
    let key = at_most_key(&pending.id.merchant, &pending.script, &bound.key);
    let mut counted: Counted = read(index, batch, &key)?.unwrap_or_default();
    let allowed = counted.allows(bound);
    write(batch, &key, &counted)?;
    Ok(allowed)
}

/// Records a notification as skipped, since its bound is reached.
fn skipped(batch: &mut Batch, ran: &Ran, pending: Pending) -> Result<Ended, FactError> {
    let message = "`at_most` allows no more within the span of this event".to_owned();
    let granted = Granted { id: pending.id.clone(), fate: Fate::Skipped, message, at: ran.at };
    settled(batch, &granted, pending.wish.content)?;
    Ok((pending, granted))
}

/// Returns the failure of an action whose name belongs to a different request.
fn shared(ran: &Ran, pending: Pending, other: &str) -> Ended {
    let name = &pending.id.name;
    let message = format!(
        "{other} asked for something else as `{name}` for this event: give one of them another `name`"
    );
    let granted = Granted { id: pending.id.clone(), fate: Fate::Invalid, message, at: ran.at };
    (pending, granted)
}

/// Counts actions that ended at once, and lists the failed ones.
pub(super) fn list(
    index: &dyn Index,
    batch: &mut Batch,
    ended: Vec<Ended>,
) -> Result<(), FactError> {
    for (pending, granted) in ended {
        undone::listed(index, batch, pending, &granted)?;
    }
    Ok(())
}
