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
    /// List the hooks that failed for good, the actions that were not done, those that wait, and what is tried again.
    Dead {
        /// You have seen what became of the hooks of this event: it is listed no more.
        #[arg(long, value_name = "ID")]
        forget: Option<String>,
        /// The same of every event for which this script failed for good.
        #[arg(long, value_name = "NAME", conflicts_with = "forget")]
        forget_script: Option<String>,
    },
    /// Have the sandbox tell an event of this type, to see what your scripts make of it. Never the service itself.
    Fire(FireArgs),
    /// Read the merchants' events again from some moment on: after an outage, or with a state that was lost. What is
    /// known already changes nothing.
    Recover(RecoverArgs),
    /// Run the hooks of an event again that failed for good.
    Replay {
        /// The service's id of the event.
        #[arg(value_name = "ID", required_unless_present = "script")]
        id: Option<String>,
        /// Every event for which this script failed for good.
        #[arg(long, value_name = "NAME", conflicts_with = "id")]
        script: Option<String>,
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

/// `events recover`.
#[derive(Debug, Args)]
pub struct RecoverArgs {
    /// From when on: a moment such as 2026-11-30T12:00:00Z, a date, or a time before now such as 7d.
    #[arg(long, value_name = "T")]
    pub since: String,
    /// Only those of this merchant's document: NAME, or NAMESPACE/NAME.
    #[arg(long, value_name = "NAME")]
    pub merchant: Option<String>,
    /// Write down what is new and run no hook for it: for a state that was lost, whose hooks have answered already.
    #[arg(long)]
    pub without_hooks: bool,
}

/// `events fire`.
#[derive(Debug, Args)]
pub struct FireArgs {
    /// The type, such as `transaction.failed`; `reckon hooks doc` lists all of them.
    #[arg(value_name = "TYPE")]
    pub event: String,
    /// A field of what the event shows, laid over the newest object of its sort, such as `amount=1200`; may be repeated.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// The merchant's document, where there are several: NAME, or NAMESPACE/NAME.
    #[arg(long, value_name = "NAME")]
    pub merchant: Option<String>,
}
