//! The link of a payer's page. Its time begins when it is made; it is good for one generation of the document, and for
//! one card or bank account.

use chrono::TimeDelta;

use super::exit::Failure;
use super::session::Session;
use super::setup::Setup;
use super::urls::base;
use crate::base::clock::{Clock, SystemClock};
use crate::base::id::Key;
use crate::base::secret::Secret;
use crate::control::look::Look;
use crate::engine::{IntakeLink, Question, Reply};

/// Days that a link is good for where nobody says it.
const DAYS: u16 = 7;

/// The link, while the saved method waits for its payer.
pub(super) async fn link(setup: &Setup, key: &Key, days: Option<u16>) -> Result<Secret, Failure> {
    let session = Session::open(setup).await?;
    let reply = session.ask(Question::IntakeLink(key.clone())).await;
    let Reply::IntakeLink(generation) = session.end(setup, reply).await? else {
        return Err(Failure::bug("a payer's link was not answered by one"));
    };
    let generation = generation.map_err(|why| {
        let help =
            "`reckon get` shows how it stands; a link is made while its reason is AwaitsIntake";
        Failure::input("reckon::link::none", why).help(help)
    })?;
    let days = days.unwrap_or(DAYS);
    let Some(server) = &setup.server else { return made(setup, key, (generation, days)) };
    let look = Look::Intake { key: key.clone(), generation, days };
    let told = server.look(look).await?;
    let link = told.as_str().ok_or_else(|| Failure::bug("a link is no text"))?;
    Ok(Secret::from(link))
}

/// The link for this generation, good for so many days from now on.
pub(super) fn made(
    setup: &Setup,
    key: &Key,
    (generation, days): (u32, u16),
) -> Result<Secret, Failure> {
    let until = SystemClock.now().checked_add_signed(TimeDelta::days(i64::from(days)));
    let until = until.ok_or_else(|| Failure::bug("a link that outlives the calendar"))?;
    let link = IntakeLink { key: key.clone(), generation, until };
    Ok(Secret::from(setup.outside()?.intake(&base(setup)?, &link)))
}
