//! Arguments of `events replay`.

use clap::Args;

use crate::engine::protocol::replay::REPLAYS_MAX;

/// Number of events for which a script runs again without `--limit`.
pub const REPLAY_LIMIT: usize = 500;

/// Arguments of `events replay`.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The service's id of the event.
    #[arg(value_name = "ID", required_unless_present = "script")]
    pub id: Option<String>,
    /// Run the hooks of every event for which this script failed for good; with --since, run the
    /// script for every event of a period.
    #[arg(long, value_name = "NAME", conflicts_with = "id")]
    pub script: Option<String>,
    /// Run the script for every event since a moment such as 2026-11-30T12:00:00Z, a date, or a
    /// time before now such as 7d, also where it succeeded. Prints the cost, unless --yes is given.
    #[arg(long, value_name = "T", requires = "script")]
    pub since: Option<String>,
    /// Only events until a moment, a date, or a time before now.
    #[arg(long, value_name = "T", requires = "since")]
    pub until: Option<String>,
    /// Only events of this merchant's document: NAME, or NAMESPACE/NAME.
    #[arg(long, value_name = "NAME", requires = "since")]
    pub merchant: Option<String>,
    /// The number of events, 500 by default: the oldest ones are taken.
    #[arg(long, value_name = "N", requires = "since", value_parser = parse_limit)]
    pub limit: Option<usize>,
    /// Run the script: its new actions are done.
    #[arg(long, requires = "since")]
    pub yes: bool,
}

fn parse_limit(text: &str) -> Result<usize, String> {
    let limit = text.parse().ok().filter(|limit| (1..=REPLAYS_MAX).contains(limit));
    limit.ok_or_else(|| format!("write a number from 1 to {REPLAYS_MAX}"))
}
