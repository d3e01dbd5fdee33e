//! The failed hook runs of a script, which `events failed` and `events replay` take by its name.

use std::collections::BTreeSet;

use crate::base::wording;
use crate::cli::context::open::Context;
use crate::cli::exit::{CommandFailure, CommandResult};
use crate::engine::protocol::query::HooksQuery;

/// Returns the events for which a script failed for good.
pub(crate) async fn failed_events(
    setup: &Context,
    script: &str,
) -> CommandResult<BTreeSet<String>> {
    let view = setup.query(HooksQuery).await?;
    let dead = view.dead.iter().filter(|one| one.script == script);
    let dead: BTreeSet<String> = dead.map(|one| one.event.clone()).collect();
    if dead.is_empty() {
        let message = format!("the script `{script}` has no failed hook run");
        let failure = no_failed_run("reckon::events::script", message);
        let meant = wording::did_you_mean(script, view.dead.iter().map(|one| &*one.script));
        return Err(match meant {
            Some(question) => failure.help(question),
            None => failure,
        });
    }
    Ok(dead)
}

pub(crate) fn no_failed_run(code: &'static str, message: String) -> CommandFailure {
    CommandFailure::input(code, message).help("list failed hook runs with `reckon events failed`")
}
