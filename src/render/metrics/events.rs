//! Metrics of events: posts, events read from the service, and the progress of the lists.

use std::fmt;

use super::families::Families;
use crate::engine::protocol::queries::metrics::Metrics;

pub(super) fn families(out: &mut Families<'_>, all: &Metrics) -> fmt::Result {
    let (events, ledger) = (&all.events, &all.events.ledger);
    let posts = all.posts.iter().map(|(answer, number)| (answer.as_str(), *number));
    let help = "Posts to our webhook addresses since the process began, by answer.";
    out.write_by(("posts_total", "answer"), help, posts)?;
    let ways =
        [("posted", ledger.verified.saturating_sub(ledger.missed)), ("listed", ledger.missed)];
    let help = "Events that the service showed, by where their ids came from first.";
    out.write_by(("events_total", "way"), help, ways)?;
    let help = "Events that were older than the known version of their object.";
    out.write_one("events_stale_total", help, ledger.stale)?;
    let odd = [
        ("repeated", ledger.repeated),
        ("garbled", ledger.malformed),
        ("other_mode", ledger.other_mode),
    ];
    out.write_by(("posts_odd_total", "what"), "Posts that were stored without any effect.", odd)?;
    let help = "Posts whose event the service does not have: forged ones.";
    out.write_one("events_forged", help, ledger.forged)?;
    let help = "Events that were posted and wait to be read from the service.";
    out.write_one("events_waiting", help, ledger.waiting)?;
    out.write_one("events_held", "Events that are kept.", ledger.stored_count())?;
    let help = "Settled events that retention dropped.";
    out.write_one("events_dropped_total", help, ledger.dropped)?;
    if let Some(age) = events.horizon_age_seconds {
        let help = "Time since the horizon of retention, of the merchant that is furthest behind.";
        out.write_seconds("events_horizon_age", help, age)?;
    }
    if let Some(age) = events.age_seconds {
        let help = "Age of the newest event: our time minus the service's.";
        out.write_seconds("events_newest_age", help, age)?;
    }
    if let Some(lag) = events.lag_seconds {
        let help = "Time since the list of events was last read to its end, of the merchant that waits longest.";
        out.write_seconds("events_lag", help, lag)?;
    }
    Ok(())
}
