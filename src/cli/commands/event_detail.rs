//! `events show`: one event with all that became of it, from the index and the journal of the process
//! that holds the state.

use crate::cli::args::events::EventsShowArgs;
use crate::cli::args::output::Output;
use crate::cli::commands::why::open_journals;
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::context::state_handle::EngineOptions;
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::control::requests::ShowEvent;
use crate::engine::handles::shared::EngineShared;
use crate::engine::protocol::event_detail::EventDetail;
use crate::engine::queries::event_detail::event_detail;
use crate::render;

pub(crate) async fn show(setup: &Context, args: &EventsShowArgs) -> CommandResult {
    let session = StateSession::open_view(setup).await?;
    let found = find(setup, &session, &args.id).await;
    let found = session.end(setup, found).await?;
    let detail = found.ok_or_else(|| unknown_event(format!("there is no event {}", args.id)))?;
    if args.data {
        return print_data(setup, &detail);
    }
    setup.out.finish(&detail, || render::events::detail::text(&detail, setup.out.screen))
}

/// Prints the event's record alone: always as JSON, unless another form for programs is chosen.
fn print_data(setup: &Context, detail: &EventDetail) -> CommandResult {
    if detail.data.is_null() {
        let why =
            format!("event {} has no data: it is not verified, or was erased", detail.event.id);
        return Err(CommandFailure::input("reckon::events::no_data", why)
            .help(format!("see `reckon events show {}`", detail.event.id)));
    }
    match setup.out.form {
        Output::Yaml => setup.out.text(&render::yaml(&detail.data))?,
        Output::Text | Output::Markdown | Output::Json => {
            setup.out.text(&render::json(&detail.data))?;
        }
    }
    Ok(Exit::Done)
}

async fn find(
    setup: &Context,
    session: &StateSession,
    id: &str,
) -> CommandResult<Option<EventDetail>> {
    match session {
        StateSession::Daemon(client) => Ok(client.send(ShowEvent(id.to_owned())).await?),
        // Opening the files would create them.
        StateSession::Own(_) if !setup.has_state()? => Ok(None),
        StateSession::Own(own) => {
            let shared = setup.engine_parts(&own.open, EngineOptions::default())?;
            of_state(setup, &shared, id)
        }
    }
}

/// Returns an event of a state that this process holds.
pub(crate) fn of_state(
    setup: &Context,
    shared: &EngineShared,
    id: &str,
) -> CommandResult<Option<EventDetail>> {
    Ok(event_detail(shared, &open_journals(setup)?, id)?)
}

pub(crate) fn unknown_event(why: String) -> CommandFailure {
    CommandFailure::input("reckon::events::unknown", why)
        .help("list the newest events with `reckon events list`")
}
