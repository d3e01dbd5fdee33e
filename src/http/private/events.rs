//! The gateway's events over HTTP: a list that parameters select.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;

use crate::engine::protocol::query::EventsQuery;
use crate::http::parameters::EventsParameters;
use crate::http::private::answer::{self, AppState, ok};

/// Events in an answer by default, and at most.
const EVENTS_SHOWN: usize = 50;
const EVENTS_SHOWN_MAX: usize = 1000;

const HELP: &str =
    "send merchant, type, status, resource (several with commas), since, until or limit";

/// Answers the gateway's events, newest first, and the status of their receiver.
pub(super) async fn list(
    State(door): State<AppState>,
    asked: Result<Query<EventsParameters>, QueryRejection>,
) -> Response {
    let asked = match asked {
        Ok(Query(asked)) => asked,
        Err(why) => return answer::bad_request(why.body_text(), HELP),
    };
    match asked.wanted(asked.limit.unwrap_or(EVENTS_SHOWN).min(EVENTS_SHOWN_MAX)) {
        Ok(wanted) => door.respond(EventsQuery(wanted), |events| ok(&events)).await,
        Err(why) => answer::bad_request(why.message, &why.help),
    }
}
