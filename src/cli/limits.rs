//! Refusal of a plan that exceeds a limit as a whole: `apply` then does nothing.

use super::exit::{Exit, Failure};
use super::out::Out;
use super::plan;
use crate::engine::Engine;
use crate::model::scope::Scope;

/// Refuses a plan before its first effect, and shows the limits that it exceeds and the way past
/// them. Returns `None` for a plan within the limits.
pub(super) fn refused(scope: &Scope, out: Out, engine: &Engine) -> Result<Option<Exit>, Failure> {
    if engine.refused_whole().is_empty() {
        return Ok(None);
    }
    plan::show(&engine.plan_of(scope), out)?;
    out.note("nothing was done: a limit of reckon.yaml stands in the way of the whole plan");
    Ok(Some(Exit::Stuck))
}
