//! CPU and memory, as the kernel counts them in `/proc`.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use crate::connection::Failed;

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

/// Returns the resident memory of a process, in KiB.
pub(crate) fn resident_kib(process: u32) -> Result<u64, Failed> {
    let text = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.ok_or("status has no VmRSS")?.parse()?)
}
