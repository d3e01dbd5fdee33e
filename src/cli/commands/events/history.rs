//! Past events and their hook runs, from the journal of the process that holds the state.

use chrono::{DateTime, Utc};

use crate::cli::commands::inspect::why::{journal_failure, open_journals};
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::context::state_handle::EngineOptions;
use crate::cli::output::exit::CommandFailure;
use crate::cli::remote::daemon::Daemon;
use crate::control::local::LocalQuery;
use crate::control::protocol::ControlRequest;
use crate::engine::core::handles::EngineShared;
use crate::engine::hooks::history::{PastEvent, past_events};
use crate::engine::queries::local_reply::LocalReply;
use crate::engine::queries::protocol::Reply;

/// Returns the events since a moment.
pub(crate) async fn events(
    setup: &Context,
    session: &StateSession,
    since: DateTime<Utc>,
) -> Result<Vec<PastEvent>, CommandFailure> {
    match session {
        StateSession::Daemon(client) => of_client(client, since).await,
        // Opening the files would create them.
        StateSession::Own(_) if !setup.has_state()? => Ok(Vec::new()),
        StateSession::Own(own) => {
            let shared = setup.engine_parts(&own.open, EngineOptions::default())?;
            of_daemon(setup, &shared, since)
        }
    }
}

async fn of_client(
    client: &Daemon,
    since: DateTime<Utc>,
) -> Result<Vec<PastEvent>, CommandFailure> {
    let reply = client.request(&ControlRequest::Local(Box::new(LocalQuery::Past(since)))).await?;
    let Reply::Local(LocalReply(value)) = reply else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected an \
            answer",
        ));
    };
    serde_json::from_value(value).map_err(CommandFailure::bug)
}

/// Returns the events of this process's journal.
pub(crate) fn of_daemon(
    setup: &Context,
    shared: &EngineShared,
    since: DateTime<Utc>,
) -> Result<Vec<PastEvent>, CommandFailure> {
    let past =
        open_journals(setup)?.events(since, shared.writer.head()).map_err(journal_failure)?;
    Ok(past_events(shared, past))
}
