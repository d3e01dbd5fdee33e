//! `link`: an address to send to a payer, made on request and shown once, on standard output. It
//! leads to the portal page of an invoice, or to the page on which a payer enters the details of a
//! saved method.

use serde_json::json;

use super::intake;
use crate::base::id::Key;
use crate::base::secret::Secret;
use crate::cli::args::intake::LinkArgs;
use crate::cli::commands::inspect::get::parse_resource;
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::output::exit::{CommandFailure, Exit};
use crate::cli::output::print::Printer;
use crate::control::protocol::ControlRequest;
use crate::engine::queries::protocol::Reply;
use crate::kinds::invoice::InvoiceKind;
use crate::kinds::saved_method::shape::SavedMethodKind;
use crate::kinds::schema::kind::SpecSchema;

/// Runs the command.
pub(crate) async fn run(
    setup: &Context,
    args: &LinkArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    let key = parse_resource(&args.what)?;
    let link = match key.kind.as_str() {
        SavedMethodKind::NAME => intake_link(setup, &key, args.days, out).await?,
        InvoiceKind::NAME if args.days.is_some() => {
            let what = "--days does not apply: the service decides how long the link of an \
                invoice is valid";
            return Err(CommandFailure::input("reckon::link::days", what).help("leave --days out"));
        }
        InvoiceKind::NAME => portal_link(setup, &key).await?,
        _ => {
            let what = format!("{} has no link for a payer", key.short());
            let failure = CommandFailure::input("reckon::link::kind", what);
            return Err(failure.help("write Invoice/NAME or SavedMethod/NAME"));
        }
    };
    out.result(&json!({"link": link.expose()}), || link.expose().to_owned())?;
    Ok(Exit::Done)
}

/// Returns the link of a payer's page; notes that its details replace those of a saved method.
async fn intake_link(
    setup: &Context,
    key: &Key,
    days: Option<u16>,
    out: Printer,
) -> Result<Secret, CommandFailure> {
    let (link, replaces) = intake::link(setup, key, days).await?;
    if replaces {
        let name = key.short();
        out.note(&format!("{name} is saved already: the details given under this link replace it"));
    }
    Ok(link)
}

/// Returns the portal link of an invoice.
async fn portal_link(setup: &Context, key: &Key) -> Result<Secret, CommandFailure> {
    let request = ControlRequest::Link(key.clone());
    let Reply::Link(link) = StateSession::open(setup).await?.run_once(setup, request).await? else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected a link",
        ));
    };
    link.map(|link| link.0).ok_or_else(|| {
        let what = format!("no portal link of {} is available now", key.short());
        CommandFailure::input("reckon::link::none", what).help(
            "check its status with `reckon get`: the invoice must exist at the service, with no \
            effect in flight",
        )
    })
}
