//! Arguments of `events`.

use clap::{ArgGroup, Args, Subcommand};

/// Subcommands of `events`.
#[derive(Debug, Subcommand)]
pub enum EventsCommand {
    /// Print the addresses for the service's webhooks, or exchange them for new ones.
    Urls(UrlsArgs),
    /// List the gateway's newest events, and the status of their receiver.
    List(EventsListArgs),
    /// Show one event.
    Show {
        /// The service's id of the event.
        #[arg(value_name = "ID")]
        id: String,
    },
    /// List hooks that failed for good, actions that were not done, actions that wait, and retries.
    Dead {
        /// Acknowledge the failed hooks of this event: they are listed no more.
        #[arg(long, value_name = "ID")]
        forget: Option<String>,
        /// Acknowledge every event for which this script failed for good.
        #[arg(long, value_name = "NAME", conflicts_with = "forget")]
        forget_script: Option<String>,
    },
    /// Make the sandbox send an event of this type, to see the answer of your scripts. Never asks
    /// the service itself.
    Fire(FireArgs),
    /// Read the merchants' events again from some moment on: after an outage, or with a lost state.
    /// Known events change nothing.
    Recover(RecoverArgs),
    /// Run the hooks of an event again that failed for good.
    Replay {
        /// The service's id of the event.
        #[arg(value_name = "ID", required_unless_present = "script")]
        id: Option<String>,
        /// Run the hooks of every event for which this script failed for good.
        #[arg(long, value_name = "NAME", conflicts_with = "id")]
        script: Option<String>,
    },
    /// List the newest events, and follow new ones.
    Tail(EventsListArgs),
}

/// Arguments of `events list` and `events tail`.
#[derive(Debug, Args)]
pub struct EventsListArgs {
    /// Only events of this merchant's document: NAME, or NAMESPACE/NAME.
    #[arg(long, value_name = "NAME")]
    pub merchant: Option<String>,
    /// The number of events.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
}

/// Arguments of `events urls`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("exchange").multiple(true))]
pub struct UrlsArgs {
    /// Make new addresses. The old ones stay valid, so that no event is lost while you configure
    /// the new ones at the service.
    #[arg(long, group = "exchange")]
    pub rotate: bool,
    /// End the exchange: the old addresses are no longer valid. With --rotate, they end at once,
    /// for an address that has leaked.
    #[arg(long, group = "exchange")]
    pub finish: bool,
    /// Exchange only the address of this merchant's events: NAME, or NAMESPACE/NAME.
    #[arg(long, value_name = "NAME", requires = "exchange")]
    pub merchant: Option<String>,
}

/// Arguments of `events recover`.
#[derive(Debug, Args)]
pub struct RecoverArgs {
    /// The start: a moment such as 2026-11-30T12:00:00Z, a date, or a time before now such as 7d.
    #[arg(long, value_name = "T")]
    pub since: String,
    /// Only events of this merchant's document: NAME, or NAMESPACE/NAME.
    #[arg(long, value_name = "NAME")]
    pub merchant: Option<String>,
    /// Record new events without running hooks for them: for a lost state whose hooks have answered
    /// already.
    #[arg(long)]
    pub without_hooks: bool,
}

/// Arguments of `events fire`.
#[derive(Debug, Args)]
pub struct FireArgs {
    /// The type, such as `transaction.failed`; `reckon hooks doc` lists all of them.
    #[arg(value_name = "TYPE")]
    pub event: String,
    /// A field that overrides one of the newest object of this sort in the event, such as
    /// `amount=1200`; may be repeated.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// The merchant's document, where there are several: NAME, or NAMESPACE/NAME.
    #[arg(long, value_name = "NAME")]
    pub merchant: Option<String>,
}
