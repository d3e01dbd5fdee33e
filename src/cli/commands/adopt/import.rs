//! `import`: takes over an existing object of the service for a document.

use super::import_all;
use crate::cli::args::adopt::ImportArgs;
use crate::cli::commands::inspect::get::parse_resource;
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::output::exit::{CommandFailure, Exit};
use crate::cli::output::print::Printer;
use crate::control::protocol::ControlRequest;
use crate::engine::queries::protocol::Reply;
use crate::model::state::adoption::{AdoptRequest, AdoptionReport, AdoptionStatus};
use crate::render;

/// Runs the command.
pub(crate) async fn run(
    setup: &Context,
    args: &ImportArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    if let (Some(sort), Some(merchant)) = (args.all, &args.merchant) {
        return import_all::run(setup, args, (sort, merchant), out).await;
    }
    let (Some(what), Some(id)) = (&args.what, &args.id) else {
        return Err(CommandFailure::input("reckon::import::usage", "missing document and id"));
    };
    let (key, id, unverified) = (parse_resource(what)?, id.clone(), args.unverified);
    let asked = AdoptRequest { key, id, unverified, write: args.yes };
    let looked = ask(setup, asked.clone()).await?;
    if looked.status != AdoptionStatus::Adoptable {
        return print_outcome(&looked, out);
    }
    out.note(&render::adoption::adoption_result(&looked));
    if !out.interactive {
        let failure = CommandFailure::input(
            "reckon::import::unconfirmed",
            "not confirmed: no \
            terminal to ask at",
        );
        return Err(failure.help("review the takeover, then repeat the command with --yes"));
    }
    if !out.confirm("Take it over?")? {
        out.note("nothing was written");
        return Ok(Exit::Done);
    }
    let taken = ask(setup, AdoptRequest { write: true, ..asked }).await?;
    print_outcome(&taken, out)
}

/// Has the process that holds the state check an object, or record it.
pub(crate) async fn ask(
    setup: &Context,
    asked: AdoptRequest,
) -> Result<AdoptionReport, CommandFailure> {
    let session = StateSession::open(setup).await?;
    let reply = session.run_once(setup, ControlRequest::Import(Box::new(asked))).await?;
    let Reply::Imported(adopted) = reply else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected the \
            result of an import",
        ));
    };
    Ok(*adopted)
}

/// Prints the outcome.
fn print_outcome(adopted: &AdoptionReport, out: Printer) -> Result<Exit, CommandFailure> {
    let what = || format!("{}: {}", adopted.key.short(), adopted.message);
    let failure = match adopted.status {
        AdoptionStatus::Adopted | AdoptionStatus::AlreadyAdopted | AdoptionStatus::Adoptable => {
            out.result(adopted, || render::adoption::adoption_result(adopted))?;
            return Ok(Exit::Done);
        }
        AdoptionStatus::Refused | AdoptionStatus::Busy => {
            out.result(adopted, || render::adoption::adoption_result(adopted))?;
            return Ok(Exit::NeedsAttention);
        }
        AdoptionStatus::Unknown => CommandFailure::input("reckon::import::unknown", what()),
        AdoptionStatus::Unverified => CommandFailure::input("reckon::import::unverified", what()).help(
            "compare the object with the document in the portal of the service, then repeat the \
            command with --unverified; reckon records that you vouch for it",
        ),
        AdoptionStatus::Unreachable => CommandFailure::environment("reckon::import::unreachable", what()),
    };
    Err(failure)
}
