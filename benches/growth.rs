//! Growth of a state with the events that it receives, and its size after compaction and retention.
//!
//! `cargo bench --bench growth -- [--events 40000] [--keep 10d] [--hook notify|refund]` receives all events at once.
//! With `-- --days 30 --events-a-day 10000 --keep 10d` the events come day by day, and each day ends with a
//! compaction. The engine and the emulator run in this process, by a virtual clock. State directory, journal, index
//! and vault are real. The daemon runs for a few minutes of each day.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]

use std::process::ExitCode;

use chrono::TimeDelta;
use clap::{Parser, ValueEnum};

#[path = "growth/course.rs"]
mod course;
#[path = "growth/failed.rs"]
mod failed;
#[path = "growth/sizes.rs"]
mod sizes;
#[path = "growth/stand.rs"]
mod stand;
#[path = "growth/table.rs"]
mod table;

use course::{Hook, Wanted};
use failed::Failed;

/// The action of the script for half of the events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum HookArg {
    /// Sends a notification.
    Notify,
    /// Refunds the charge.
    Refund,
}

/// Measures the growth of a state.
#[derive(Debug, Parser)]
struct Arguments {
    /// Events that come at once.
    #[arg(long, default_value_t = 40_000)]
    events: u64,
    /// Days on which events come.
    #[arg(long, default_value_t = 0)]
    days: u64,
    /// Events on each of these days.
    #[arg(long, default_value_t = 10_000)]
    events_a_day: u64,
    /// Time for which settled events are kept.
    #[arg(long, default_value = "10d", value_parser = keep)]
    keep: TimeDelta,
    /// The action of the script for half of the events.
    #[arg(long, value_enum, default_value = "notify")]
    hook: HookArg,
    /// Set by `cargo bench`. Without it (`cargo test --all-targets`) nothing is measured.
    #[arg(long, hide = true)]
    bench: bool,
}

/// Reads days such as `10d`.
fn keep(text: &str) -> Result<TimeDelta, String> {
    let days =
        text.strip_suffix('d').and_then(|days| days.parse().ok()).and_then(TimeDelta::try_days);
    days.ok_or_else(|| "write days, such as 10d".to_owned())
}

fn main() -> Result<ExitCode, Failed> {
    let Arguments { events, days, events_a_day, keep, hook, bench } = Arguments::parse();
    if !bench {
        println!("nothing measured: run it with `cargo bench --bench growth`");
        return Ok(ExitCode::SUCCESS);
    }
    let hook = if hook == HookArg::Refund { Hook::Refund } else { Hook::Notify };
    let events = if days == 0 { events } else { events_a_day };
    let wanted = Wanted { events, days, keep, hook };
    let folder = std::env::temp_dir().join(format!("reckon-growth-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build()?;
    let measured = runtime.block_on(course::measure(&folder, &wanted));
    std::fs::remove_dir_all(&folder)?;
    match measured {
        Ok(measured) if days == 0 => println!("{}", table::for_each_event(&measured)),
        Ok(measured) => println!("{}", table::in_all(&measured)),
        Err(why) => {
            eprintln!("not measured: {why}");
            return Ok(ExitCode::FAILURE);
        }
    }
    Ok(ExitCode::SUCCESS)
}
