//! Arguments of `reconcile` and `wait`.

use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::base::clock::parse_duration;

/// Arguments of `reconcile`.
#[derive(Debug, Args)]
pub struct ReconcileArgs {
    /// Also try this resource again at once, although an earlier failure delays it.
    #[arg(value_name = "KIND/NAME")]
    pub what: Option<String>,
}

/// Arguments of `wait`.
#[derive(Debug, Args)]
pub struct WaitArgs {
    /// The resources; without one, all that have a document.
    #[arg(value_name = "KIND/NAME")]
    pub what: Vec<String>,
    /// The condition.
    #[arg(long = "for", value_name = "CONDITION", default_value = "ready")]
    pub goal: WaitGoal,
    /// The longest time to wait: 90s, 5m, 2h.
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration)]
    pub timeout: Duration,
}

/// The condition that `wait` waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WaitGoal {
    /// In sync, nothing in doubt, and no problem such as a failed payment.
    Ready,
    /// In sync with the document.
    Synced,
}

fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text)
        .ok_or_else(|| "write a number and a unit, such as 90s, 5m or 2h".to_owned())
}
