//! The link of a payer's page. Its time begins when it is made. It is valid for one generation of
//! the document, and for one card or bank account: the first one, or a replacement of the saved
//! one.

use chrono::TimeDelta;

use crate::base::clock::{Clock, SystemClock};
use crate::base::id::Key;
use crate::base::secret::Secret;
use crate::cli::commands::events::urls::base;
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::output::exit::CommandFailure;
use crate::control::local::LocalQuery;
use crate::engine::commands::intake::{IntakeLink, IntakeTerms};
use crate::engine::queries::protocol::{EngineQuery, Reply};

/// Days for which a link is valid by default.
const DAYS: u16 = 7;

/// Returns the link, and whether its token replaces a saved method.
pub(crate) async fn link(
    setup: &Context,
    key: &Key,
    days: Option<u16>,
) -> Result<(Secret, bool), CommandFailure> {
    let session = StateSession::open(setup).await?;
    let reply = session.ask(EngineQuery::IntakeLink(key.clone())).await;
    let Reply::IntakeLink(terms) = session.end(setup, reply).await? else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected a \
            payer's link",
        ));
    };
    let terms = terms.map_err(|why| {
        let help = "check its reason with `reckon get`: a link is made while that is AwaitsIntake \
            or InSync";
        CommandFailure::input("reckon::link::none", why).help(help)
    })?;
    let days = days.unwrap_or(DAYS);
    let replaces = terms.replaces.is_some();
    let Some(server) = &setup.server else {
        return Ok((make_link(setup, key, terms, days)?, replaces));
    };
    let look = LocalQuery::Intake { key: key.clone(), terms, days };
    let told = server.local_query(look).await?;
    let link = told.as_str().ok_or_else(|| {
        CommandFailure::bug(
            "internal error: the link is not a \
        string",
        )
    })?;
    Ok((Secret::from(link), replaces))
}

/// Returns the link on these terms, valid for a number of days from now.
pub(crate) fn make_link(
    setup: &Context,
    key: &Key,
    terms: IntakeTerms,
    days: u16,
) -> Result<Secret, CommandFailure> {
    let until = SystemClock.now().checked_add_signed(TimeDelta::days(i64::from(days)));
    let until = until.ok_or_else(|| {
        CommandFailure::bug(
            "internal error: the end of the link is \
        out of range",
        )
    })?;
    let link = IntakeLink { key: key.clone(), terms, until };
    Ok(Secret::from(setup.public_routes()?.intake_url(&base(setup)?, &link)))
}
