//! Refusal of a plan that exceeds a limit as a whole: `apply` then does nothing.

use crate::cli::commands::planning::plan;
use crate::cli::output::exit::{CommandFailure, Exit};
use crate::cli::output::print::Printer;
use crate::engine::core::coordinator::Engine;
use crate::model::operator::selection::StepSelection;

/// Refuses a plan before its first effect, and shows the limits that it exceeds and the way past
/// them. Returns `None` for a plan within the limits.
pub(crate) fn refuse_whole_plan(
    scope: &StepSelection,
    out: Printer,
    engine: &Engine,
) -> Result<Option<Exit>, CommandFailure> {
    if engine.exceeded_limits().is_empty() {
        return Ok(None);
    }
    plan::show(&engine.plan_of(scope), out)?;
    out.note("nothing was done: a limit in reckon.yaml blocks the whole plan");
    Ok(Some(Exit::NeedsAttention))
}
