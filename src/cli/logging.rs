//! Logging of the process to standard error, in one format for all lines.
//!
//! Bodies and secrets are in no log line.

use std::fmt;
use std::io::{self, IsTerminal};

use console::Term;
use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::base::clock::{Clock, SystemClock, timestamp};
use crate::cli::args::options::{Cli, CliCommand, LogFormat};
use crate::cli::print;
use crate::render::log::{self, LogFields};
use crate::render::words::Screen;

/// Starts logging; `-v` logs more, `-vvv` everything. The simulator's worlds fail all the time, so the
/// simulator logs nothing by default.
pub(crate) fn start(cli: &Cli) {
    let level = match (cli.global.verbose, &cli.command) {
        (0, CliCommand::Chaos(_)) => "off",
        (0, CliCommand::Run(_)) => "reckon::effects=info,reckon::resources=info,warn",
        (0, _) => "warn",
        (1, _) => "reckon=info,warn",
        (2, _) => "reckon=debug,info",
        (3.., _) => "trace",
    };
    let lines = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(level))
        .with_writer(|| print::Stderr);
    // A second initialisation, in tests, keeps the first.
    match format(cli) {
        LogFormat::Json => drop(lines.json().flatten_event(true).try_init()),
        LogFormat::Text => drop(lines.event_format(TextLines::for_stderr()).try_init()),
    }
}

/// Returns the format of the daemon's log; other commands log for people.
fn format(cli: &Cli) -> LogFormat {
    if let CliCommand::Run(args) = &cli.command { args.log_format } else { LogFormat::Text }
}

/// Lines for people: a time and a sentence.
#[derive(Debug)]
struct TextLines {
    color: bool,
    /// True for the time of day alone, false for date and time.
    is_short: bool,
}

impl TextLines {
    fn for_stderr() -> Self {
        Self { color: print::is_colored(&io::stderr()), is_short: io::stderr().is_terminal() }
    }

    /// Returns the screen with its present width.
    fn screen(&self) -> Screen {
        let width = Term::stderr().size_checked().map(|(_, columns)| usize::from(columns));
        Screen { color: self.color, width: width.filter(|_| self.is_short) }
    }

    fn time(&self) -> String {
        let now = timestamp(&SystemClock.now());
        let second = now.get(11..19).filter(|_| self.is_short).map(|time| format!("{time}Z"));
        second.unwrap_or(now)
    }
}

impl<S, N> FormatEvent<S, N> for TextLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut fields = LogFields::default();
        event.record(&mut fields);
        let about = event.metadata();
        let line = log::line(about.target(), *about.level(), &fields, self.screen());
        writeln!(writer, "{}  {line}", self.time())
    }
}
