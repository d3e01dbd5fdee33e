//! What `apply` does with a plan that exceeds a limit as a whole: nothing.

use super::args::ApplyArgs;
use super::exit::{Exit, Failure};
use super::out::Out;
use super::plan;
use super::setup::Setup;
use crate::engine::Engine;

/// Refuses a plan before its first effect, with the limits that it exceeds and the way past them.
pub(super) fn refused(
    setup: &Setup,
    args: &ApplyArgs,
    out: Out,
    engine: &Engine,
) -> Result<Option<Exit>, Failure> {
    if engine.refused_whole().is_empty() {
        return Ok(None);
    }
    let view = plan::only(setup, engine.plan_view(), &args.paths.paths, &args.target);
    plan::show(&view, out)?;
    out.note("nothing was done: a limit of reckon.yaml stands in the way of the whole plan");
    Ok(Some(Exit::Stuck))
}
