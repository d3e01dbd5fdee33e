//! CPU and memory, as the kernel counts them in `/proc`.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use crate::connection::Failed;
use crate::figures::{Figure, Shown, hundredths};

/// The unit of `/proc/PID/stat`: a hundredth of a second on every Linux.
const TICK: Duration = Duration::from_millis(10);

/// Returns the CPU of all ended children, and of their children. The kernel counts it exactly and shows it in ticks, so
/// measure several short processes together.
pub(crate) fn children() -> Result<Duration, Failed> {
    let text = fs::read_to_string("/proc/self/stat")?;
    // The third field follows the name, which is in parentheses; `cutime` and `cstime` are 16 and 17.
    let (_, fields) = text.rsplit_once(") ").ok_or("stat has no name")?;
    let mut ticks: u32 = 0;
    for field in fields.split(' ').skip(13).take(2) {
        ticks = ticks.saturating_add(field.parse()?);
    }
    Ok(TICK.saturating_mul(ticks))
}

/// Returns the CPU of the calling thread, to the nanosecond.
pub(crate) fn this_thread() -> Result<Duration, Failed> {
    schedstat(&fs::read_to_string("/proc/thread-self/schedstat")?)
}

fn schedstat(text: &str) -> Result<Duration, Failed> {
    let nanoseconds = text.split(' ').next().and_then(|word| word.parse().ok());
    Ok(Duration::from_nanos(nanoseconds.ok_or("schedstat holds no number")?))
}

/// CPU of the threads of a process, to the nanosecond. Ended threads still count.
#[derive(Debug, Default)]
pub(crate) struct Threads(BTreeMap<String, Duration>);

impl Threads {
    /// Returns the CPU so far; `process` is a number, or `self`.
    pub(crate) fn cpu(&mut self, process: &str) -> Result<Duration, Failed> {
        for task in fs::read_dir(format!("/proc/{process}/task"))? {
            let task = task?;
            // A thread may end between the listing and the reading.
            let Ok(text) = fs::read_to_string(task.path().join("schedstat")) else {
                continue;
            };
            let name = task.file_name().to_string_lossy().into_owned();
            self.0.insert(name, schedstat(&text)?);
        }
        Ok(self.0.values().sum())
    }
}

/// Memory, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    /// The process's own (`RssAnon`).
    pub(crate) anonymous: u64,
    /// All that is resident (`VmRSS`): also pages of files, which the system takes back when it needs them.
    pub(crate) resident: u64,
}

impl Memory {
    /// Reads the memory of a process.
    pub(crate) fn of(process: u32) -> Result<Self, Failed> {
        let text = fs::read_to_string(format!("/proc/{process}/status"))?;
        let bytes = |field: &str| -> Result<u64, Failed> {
            let line = text.lines().find_map(|line| line.strip_prefix(field));
            let kib = line.and_then(|line| line.split_whitespace().nth(1));
            let kib: u64 = kib.ok_or_else(|| format!("status has no {field}"))?.parse()?;
            Ok(kib.saturating_mul(1024))
        };
        Ok(Self { anonymous: bytes("RssAnon")?, resident: bytes("VmRSS")? })
    }

    /// Returns the growth since `before`, for each of `count` things.
    pub(crate) fn of_each(self, before: Self, count: usize) -> Self {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        let each =
            |now: u64, before: u64| now.saturating_sub(before).checked_div(count).unwrap_or(0);
        Self {
            anonymous: each(self.anonymous, before.anonymous),
            resident: each(self.resident, before.resident),
        }
    }
}

/// Memory over all rounds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memories {
    /// The process's own, in bytes.
    pub(crate) anonymous: Figure<u64>,
    resident: Figure<u64>,
}

impl Memories {
    pub(crate) fn of(rounds: &[Memory]) -> Self {
        Self {
            anonymous: Figure::of_costs(rounds.iter().map(|memory| memory.anonymous)),
            resident: Figure::of_costs(rounds.iter().map(|memory| memory.resident)),
        }
    }

    /// Returns the middle rounds.
    pub(crate) fn median(self) -> Memory {
        Memory { anonymous: self.anonymous.median, resident: self.resident.median }
    }

    /// Formats anonymous and resident memory.
    pub(crate) fn shown(self, show: impl Fn(u64) -> String) -> Shown {
        let resident = self.resident.shown(|bytes| format!("resident {}", show(bytes)));
        self.anonymous.shown(&show).beside(resident)
    }
}

/// Formats a size in MiB.
pub(crate) fn mib(bytes: u64) -> String {
    format!("{} MiB", hundredths(hundredths_of(bytes, 1 << 20)))
}

/// Formats a size in KiB.
pub(crate) fn kib(bytes: u64) -> String {
    format!("{} KiB", hundredths(hundredths_of(bytes, 1 << 10)))
}

/// Returns a size in hundredths of a unit.
pub(crate) fn hundredths_of(bytes: u64, unit: u128) -> u128 {
    u128::from(bytes).saturating_mul(100).checked_div(unit).unwrap_or(0)
}
