//! Past events and their hook runs, from the journal of the process that holds the state.

use chrono::{DateTime, Utc};

use super::exit::Failure;
use super::server::Daemon;
use super::session::Session;
use super::setup::{How, Setup};
use super::why::{books, damaged};
use crate::control::Request;
use crate::control::look::Look;
use crate::engine::{PastEvent, Reply, Shared, Told, recount};

/// Returns the events since a moment.
pub(super) async fn events(
    setup: &Setup,
    session: &Session,
    since: DateTime<Utc>,
) -> Result<Vec<PastEvent>, Failure> {
    match session {
        Session::Daemon(client) => of_client(client, since).await,
        // Opening the files would create them.
        Session::Own(_) if !setup.has_state()? => Ok(Vec::new()),
        Session::Own(own) => {
            let shared = setup.shared(&own.open, How::default())?;
            of_daemon(setup, &shared, since)
        }
    }
}

async fn of_client(client: &Daemon, since: DateTime<Utc>) -> Result<Vec<PastEvent>, Failure> {
    let reply = client.request(&Request::Look(Box::new(Look::Past(since)))).await?;
    let Reply::Told(Told(value)) = reply else {
        return Err(Failure::bug("a look was not answered by one"));
    };
    serde_json::from_value(value).map_err(Failure::bug)
}

/// Returns the events of this process's journal.
pub(super) fn of_daemon(
    setup: &Setup,
    shared: &Shared,
    since: DateTime<Utc>,
) -> Result<Vec<PastEvent>, Failure> {
    let past = books(setup)?.past(since, shared.writer.head()).map_err(damaged)?;
    Ok(recount(shared, past))
}
