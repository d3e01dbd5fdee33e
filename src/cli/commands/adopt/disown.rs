//! `init --empty-remote`: declares, once a person agreed, that unknown objects are not ours.

use serde_json::json;

use crate::base::clock::{Clock, SystemClock};
use crate::cli::args::options::{Cli, InitArgs};
use crate::cli::context::machine;
use crate::cli::context::open::Context;
use crate::cli::context::state_handle::StateHandle;
use crate::cli::output::exit::{CommandFailure, Exit};
use crate::cli::output::print::Printer;
use crate::cli::remote::failure::local_only;
use crate::engine::queries::disown::{DisownPreview, disown_preview};
use crate::model::record::Record;
use crate::render;
use crate::store::state::open::OpenError;
use crate::store::writer::handle::Commit;

/// Lists the objects that would be disowned, asks, and records the declaration.
pub(crate) async fn run(cli: &Cli, args: &InitArgs, out: Printer) -> Result<Exit, CommandFailure> {
    let setup = Context::load(cli)?;
    if setup.server.is_some() {
        return Err(local_only(
            "`init --empty-remote`",
            "it is a statement about the state itself",
        ));
    }
    let open = setup.open_bound(None).await?;
    let asked = confirm(&open, args.yes, out);
    let agreed = asked.as_ref().is_ok_and(|(_, agreed)| *agreed);
    let written = if agreed { declare(&open).await } else { Ok(()) };
    open.state.close().await?;
    written?;
    let (disowned, agreed) = asked?;
    out.note(if agreed { DECLARED } else { "nothing was written" });
    if agreed {
        out.result(&json!({ "disowned": disowned }), String::new)?;
    }
    Ok(Exit::Done)
}

const DECLARED: &str =
    "recorded: objects at the service with marks that this state does not know are not yours";

/// Shows the objects that would be disowned and asks; without a terminal `--yes` is required.
fn confirm(
    open: &StateHandle,
    yes: bool,
    out: Printer,
) -> Result<(DisownPreview, bool), CommandFailure> {
    let unknown = disown_preview(&open.state.facts).map_err(OpenError::from)?;
    out.note(&render::adoption::disown_request(&unknown));
    if yes {
        return Ok((unknown, true));
    }
    if !out.interactive {
        let failure = CommandFailure::input(
            "reckon::init::unconfirmed",
            "not confirmed: no terminal to ask at",
        );
        return Err(failure.help(
            "adopt your objects with `reckon import KIND/NAME ID` or `reckon import --all`; if none is yours, \
            run `reckon init --empty-remote --yes`",
        ));
    }
    let agreed = out.confirm("Disown all of them permanently?")?;
    Ok((unknown, agreed))
}

async fn declare(open: &StateHandle) -> Result<(), CommandFailure> {
    let record = Record::EmptyRemote { at: SystemClock.now(), actor: machine::actor() };
    open.state.writer.append(Commit::of(vec![record])).await.map_err(OpenError::from)?;
    Ok(())
}
