//! The arguments of `events`.

use clap::{ArgGroup, Args, Subcommand};

/// `events`.
#[derive(Debug, Subcommand)]
pub enum EventsCommand {
    /// Print where the service has to send its notifications, or exchange these addresses for new ones.
    Urls(UrlsArgs),
    /// List the gateway's newest events, and how their receiver stands.
    List(EventsListArgs),
    /// Show one event.
    Show {
        /// The service's id of it.
        #[arg(value_name = "ID")]
        id: String,
    },
    /// List the hooks that failed for good, those that are tried again, and the actions that wait.
    Dead,
    /// Run the hooks of an event again that failed for good.
    Replay {
        /// The service's id of the event.
        #[arg(value_name = "ID")]
        id: String,
    },
    /// List the newest events, and go on with those that come.
    Tail(EventsListArgs),
}

/// `events list` and `events tail`.
#[derive(Debug, Args)]
pub struct EventsListArgs {
    /// Only those of this merchant's document: NAME, or NAMESPACE/NAME.
    #[arg(long, value_name = "NAME")]
    pub merchant: Option<String>,
    /// How many.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
}

/// `events urls`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("exchange").multiple(true))]
pub struct UrlsArgs {
    /// Make new addresses. The ones before stay good, so that nothing is lost while the service is told the new ones.
    #[arg(long, group = "exchange")]
    pub rotate: bool,
    /// End the exchange: the addresses before are good no more. With --rotate at once, for an address that somebody
    /// else knows.
    #[arg(long, group = "exchange")]
    pub finish: bool,
    /// Exchange only the address of this merchant's events: NAME, or NAMESPACE/NAME.
    #[arg(long, value_name = "NAME", requires = "exchange")]
    pub merchant: Option<String>,
}
