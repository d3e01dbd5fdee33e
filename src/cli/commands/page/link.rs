//! `page`: a one-time link to the daemon's page, for the person who asks. The link is shown once, on
//! standard output; the daemon keeps a digest of it for five minutes.

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::context::open::Context;
use crate::cli::context::session::daemon;
use crate::cli::exit::{CommandFailure, CommandResult};
use crate::cli::remote::ServerClient;
use crate::control::page_sessions::{EntryLink, LINK_LIFE};
use crate::control::requests::EnterPage;

/// Output of `page -o json`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PageOutput<'a> {
    /// The link: a secret until it is used.
    link: String,
    /// The actor of all that is done under the link.
    actor: &'a str,
    valid_until: &'a str,
}

pub(crate) async fn run(setup: &Context) -> CommandResult {
    let client = daemon(setup).await?.ok_or_else(no_daemon)?;
    let made = client.send(EnterPage).await?;
    let link = format!("{}{}", address(&made, setup.server.as_ref()), made.path.0.expose());
    let minutes = LINK_LIFE.num_minutes();
    setup.out.note(&format!(
        "open it in a browser: valid once, within {minutes} minutes, for {}",
        made.actor
    ));
    if setup.server.as_ref().is_some_and(|server| !server.address.plain) {
        setup.out.note("the page answers on the daemon's machine: forward its port with `ssh -L`");
    }
    let EntryLink { actor, valid_until, .. } = &made;
    setup.out.finish(&PageOutput { link: link.clone(), actor, valid_until }, || link)
}

/// Returns the address of the page for this machine: that of a tunnel if the command used one.
fn address(made: &EntryLink, server: Option<&ServerClient>) -> String {
    let tunnel = server.filter(|server| server.address.plain);
    tunnel.map_or_else(
        || made.address.clone(),
        |server| server.address.control.origin().ascii_serialization(),
    )
}

fn no_daemon() -> CommandFailure {
    CommandFailure::environment("reckon::page::no_daemon", "no daemon runs here")
        .help("start it with `reckon run`, or name one with --server URL --token-file FILE")
}
