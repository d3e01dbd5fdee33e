//! Arguments of `events` and `hooks`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};

use crate::cli::args::replay::ReplayArgs;
use crate::engine::protocol::event_filter::EventState;

/// Subcommands of `events`.
#[derive(Debug, Subcommand)]
pub enum EventsCommand {
    /// Print the addresses for the service's webhooks, or exchange them for new ones.
    Urls(UrlsArgs),
    /// List the gateway's newest events, and the status of their receiver.
    List(EventsListArgs),
    /// Show one event: its data, its verification, its posts, each run of a script with its log,
    /// reads and actions, and what became of the actions.
    Show(EventsShowArgs),
    /// List hooks that failed for good, actions that were not done, actions that wait, and retries.
    #[command(alias = "dead")]
    Failed {
        /// Acknowledge the failed hooks of this event: they are listed no more.
        #[arg(long, value_name = "ID", alias = "forget")]
        ack: Option<String>,
        /// Acknowledge every event for which this script failed for good.
        #[arg(long, value_name = "NAME", alias = "forget-script", conflicts_with = "ack")]
        ack_script: Option<String>,
    },
    /// Make the sandbox send an event of this type, to see the answer of your scripts. Never asks
    /// the service itself.
    #[command(alias = "fire")]
    Trigger(TriggerArgs),
    /// Read the merchants' events again from some moment on: after an outage, or with a lost state.
    /// Known events change nothing.
    #[command(alias = "recover")]
    Resync(ResyncArgs),
    /// Run the hooks of an event again that failed for good, or a script for every event of a
    /// period.
    Replay(ReplayArgs),
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
    #[command(flatten)]
    pub filter: EventFilterArgs,
}

/// Arguments of `events show`.
#[derive(Debug, Args)]
pub struct EventsShowArgs {
    /// The service's id of the event.
    #[arg(value_name = "ID")]
    pub id: String,
    /// Print only the record that the event shows, as JSON, without secret and personal values.
    #[arg(long)]
    pub data: bool,
}

/// Conditions of `events list` and `events tail`.
#[derive(Debug, Args)]
pub struct EventFilterArgs {
    /// Only events of these types, such as `transaction.failed`, or whose types begin with these
    /// words, such as `transaction`.
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    pub kinds: Vec<String>,
    /// Only events whose verification or hooks have one of these states.
    #[arg(long = "status", value_name = "STATUS", value_delimiter = ',')]
    pub states: Vec<EventState>,
    /// Only events about one of these resources.
    #[arg(long = "resource", value_name = "KIND/NAME")]
    pub resources: Vec<String>,
    /// Only events since a moment such as 2026-11-30T12:00:00Z, a date, or a time before now such
    /// as 7d.
    #[arg(long, value_name = "T")]
    pub since: Option<String>,
    /// Only events until a moment, a date, or a time before now.
    #[arg(long, value_name = "T")]
    pub until: Option<String>,
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

/// Arguments of `events resync`.
#[derive(Debug, Args)]
pub struct ResyncArgs {
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

/// Arguments of `events trigger`.
#[derive(Debug, Args)]
pub struct TriggerArgs {
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

/// Subcommands of `hooks`.
#[derive(Debug, Subcommand)]
pub enum HooksCommand {
    /// Check every script as a compiler does; reports all problems in one run.
    Check,
    /// Run the test cases beside the scripts (NAME.test.yaml).
    Test(HooksTestArgs),
    /// Run the scripts of the folder on a known event, and show the actions that they would
    /// request. Nothing is done.
    #[command(alias = "run")]
    Try(HooksTryArgs),
    /// Run the scripts of the folder on past events, and show the differences from the recorded
    /// hook runs.
    #[command(alias = "shadow")]
    Diff(HooksDiffArgs),
    /// List the scripts that the state knows: since when they are in use, the events that wait for
    /// each, and the values that they keep.
    List,
    /// Forget a script whose file is gone: its position in the events, and the values that it
    /// keeps. Until then events wait for it.
    Forget(HooksForgetArgs),
    /// Open a prompt for lines of a script, with everything that scripts can call: reads are made,
    /// actions only shown.
    Repl,
    /// List the functions that scripts can call, the events and their fields; -o markdown for a
    /// file.
    Doc,
}

/// Arguments of `hooks forget`.
#[derive(Debug, Args)]
pub struct HooksForgetArgs {
    /// The script: the name of its file without `.rhai`.
    #[arg(value_name = "NAME")]
    pub script: String,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
}

/// Arguments of `hooks test`.
#[derive(Debug, Args)]
pub struct HooksTestArgs {
    /// Run only cases whose script or name contains this text.
    #[arg(value_name = "FILTER")]
    pub filter: Option<String>,
    /// Write the results to this file in the `JUnit` format.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
}

/// Arguments of `hooks try`.
#[derive(Debug, Args)]
pub struct HooksTryArgs {
    /// The event; `reckon events list` shows the newest ones.
    #[arg(value_name = "EVENT")]
    pub event: String,
    /// Accepted as in `hooks run --dry-run`, the old spelling, and without effect.
    #[arg(long, hide = true)]
    pub dry_run: bool,
    /// Only this script.
    #[arg(long, value_name = "NAME")]
    pub script: Option<String>,
}

/// Arguments of `hooks diff`.
#[derive(Debug, Args)]
pub struct HooksDiffArgs {
    /// The start: a number of days, hours or minutes ago (7d, 12h, 30m), or a date or time.
    #[arg(long, value_name = "WHEN", default_value = "7d")]
    pub since: String,
    /// Only this script.
    #[arg(long, value_name = "NAME")]
    pub script: Option<String>,
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use crate::cli::args::options::Cli;

    #[test]
    fn each_old_word_means_the_new_one() {
        let words = [
            ("events dead", "events failed"),
            ("events dead --forget evt_1", "events failed --ack evt_1"),
            ("events dead --forget-script answers", "events failed --ack-script answers"),
            ("events fire refund.created --set a=1", "events trigger refund.created --set a=1"),
            ("events recover --since 7d", "events resync --since 7d"),
            ("hooks shadow --since 1d", "hooks diff --since 1d"),
            ("hooks run evt_1 --script answers", "hooks try evt_1 --script answers"),
        ];
        let parsed = |line: &str| {
            let words = ["reckon"].into_iter().chain(line.split(' '));
            format!("{:?}", Cli::try_parse_from(words).unwrap().command)
        };
        for (old, new) in words {
            assert_eq!(parsed(old), parsed(new), "{old}");
        }
        assert!(Cli::try_parse_from("reckon hooks run evt_1 --dry-run".split(' ')).is_ok());
    }
}
