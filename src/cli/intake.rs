//! The link of a payer's page. Its time begins when it is made. It is valid for one generation of
//! the document, and for one card or bank account: the first one, or a replacement of the saved
//! one.

use chrono::TimeDelta;

use super::exit::Failure;
use super::session::Session;
use super::setup::Setup;
use super::urls::base;
use crate::base::clock::{Clock, SystemClock};
use crate::base::id::Key;
use crate::base::secret::Secret;
use crate::control::look::Look;
use crate::engine::{IntakeLink, Question, Reply, Terms};

/// Days for which a link is valid by default.
const DAYS: u16 = 7;

/// Returns the link, and whether its token replaces a saved method.
pub(super) async fn link(
    setup: &Setup,
    key: &Key,
    days: Option<u16>,
) -> Result<(Secret, bool), Failure> {
    let session = Session::open(setup).await?;
    let reply = session.ask(Question::IntakeLink(key.clone())).await;
    let Reply::IntakeLink(terms) = session.end(setup, reply).await? else {
        return Err(Failure::bug("a payer's link was not answered by one"));
    };
    let terms = terms.map_err(|why| {
        let help = "`reckon get` shows how it stands; a link is made while its reason is AwaitsIntake or InSync";
        Failure::input("reckon::link::none", why).help(help)
    })?;
    let days = days.unwrap_or(DAYS);
    let replaces = terms.replaces.is_some();
    let Some(server) = &setup.server else {
        return Ok((made(setup, key, terms, days)?, replaces));
    };
    let look = Look::Intake { key: key.clone(), terms, days };
    let told = server.look(look).await?;
    let link = told.as_str().ok_or_else(|| Failure::bug("a link is no text"))?;
    Ok((Secret::from(link), replaces))
}

/// Returns the link on these terms, valid for a number of days from now.
pub(super) fn made(setup: &Setup, key: &Key, terms: Terms, days: u16) -> Result<Secret, Failure> {
    let until = SystemClock.now().checked_add_signed(TimeDelta::days(i64::from(days)));
    let until = until.ok_or_else(|| Failure::bug("a link that outlives the calendar"))?;
    let link = IntakeLink { key: key.clone(), terms, until };
    Ok(Secret::from(setup.outside()?.intake(&base(setup)?, &link)))
}
