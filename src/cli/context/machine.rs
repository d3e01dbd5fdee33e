//! This machine and this process: names for messages, randomness of the operating system, signals,
//! and hardening, which leaves nothing for other users of the machine.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc;
use std::time::Duration;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use rustix::fs::{Access, Mode, access};
use rustix::process::{
    DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit, umask,
};
use tokio::signal::unix::{SignalKind, signal};

use crate::base::clock::{Clock, SystemClock, timestamp};
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::render::progress::{self, Counter};
use crate::store::disk::directory::LockOwner;

/// Returns the holder of a lock, for the message of processes that find the lock taken.
pub(crate) fn owner() -> LockOwner {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let started = timestamp(&SystemClock.now());
    LockOwner { pid: std::process::id(), host: host.trim().to_owned(), started }
}

/// Returns the id of this boot. Where there is none, every start counts as another boot: an index
/// that was left open is then rebuilt, which is slower and never wrong.
pub(crate) fn boot_id() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    if id.is_empty() { format!("{:?}", SystemClock.now()) } else { id.trim().to_owned() }
}

pub(crate) fn seed() -> CommandResult<u64> {
    getrandom::u64().map_err(|error| CommandFailure::environment("reckon::random", error))
}

pub(crate) fn rng() -> CommandResult<ChaCha20Rng> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed)
        .map_err(|error| CommandFailure::environment("reckon::random", error))?;
    Ok(ChaCha20Rng::from_seed(seed))
}

pub(crate) fn actor() -> String {
    format!("uid {}", rustix::process::geteuid().as_raw())
}

/// Returns a path as manifests name their files: relative to the folder of the configuration.
pub(crate) fn below(root: &Path, path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    let plain: PathBuf = absolute.components().collect();
    plain.strip_prefix(&root).map_or(plain.clone(), Path::to_owned)
}

/// Returns the command of a program with this environment alone. The program is found as a shell
/// does, in the folders of its `PATH`.
///
/// Why it exists: a child with a `PATH` of its own starts without a copy of this process's page
/// tables only if its program is a path. That copy takes longer the more memory is in use.
pub(crate) fn command(name: &Path, environment: &[(&'static str, String)]) -> Command {
    let path = environment.iter().find(|(name, _)| *name == "PATH").map(|(_, path)| path);
    let path = path.filter(|_| name.components().count() == 1);
    let found = path.and_then(|path| find(name, OsStr::new(path)));
    let mut command = Command::new(found.as_deref().unwrap_or(name));
    command.arg0(name).env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
    command
}

/// Returns the path of a program. A relative folder depends on the child's, which looks for itself.
fn find(name: &Path, path: &OsStr) -> Option<PathBuf> {
    let folders = std::env::split_paths(path).take_while(|folder| folder.is_absolute());
    let mut places = folders.map(|folder| folder.join(name));
    places.find(|place| place.is_file() && access(place.as_path(), Access::EXEC_OK).is_ok())
}

/// Mode bits that new files and folders never have; sled itself asks for no mode.
const OTHERS: u32 = 0o077;

/// Closes new files to other users, and keeps memory, which holds secrets, out of core dumps.
pub(crate) fn harden_process() {
    umask(Mode::from_raw_mode(OTHERS));
    no_core_dumps();
}

/// Turns off core dumps, and reading of the memory by other processes of this user.
fn no_core_dumps() {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    let done = setrlimit(Resource::Core, none)
        .and_then(|()| set_dumpable_behavior(DumpableBehavior::NotDumpable));
    if let Err(error) = done {
        tracing::warn!("core dumps cannot be turned off: {error}");
    }
}

/// Waits for the end of a program that closed its streams; `None` beyond the limit.
pub(crate) fn wait_for_end(
    child: &mut Child,
    limit: Duration,
    poll_every: Duration,
) -> io::Result<Option<ExitStatus>> {
    // No sender uses this channel: it only lets time pass.
    let (_silent, pause) = mpsc::channel::<()>();
    let mut waited = Duration::ZERO;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if waited >= limit {
            return Ok(None);
        }
        while pause.recv_timeout(poll_every).is_ok() {}
        waited = waited.saturating_add(poll_every);
    }
}

/// Waits for SIGTERM or SIGINT and returns its exit code; for ever if neither can be received.
pub(crate) async fn stop() -> Exit {
    let (Ok(mut term), Ok(mut int)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = term.recv() => Exit::Done,
        _ = int.recv() => Exit::Interrupted,
    }
}

/// Shows a counter of `what` at a terminal. A signal removes the counter before it ends the
/// process, since a counting command does not wait for signals.
pub(crate) fn counter(total: u64, what: &str) -> Counter {
    let counter = Counter::new(total, what);
    if counter.is_shown() {
        std::thread::spawn(end_cleanly);
    }
    counter
}

fn end_cleanly() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    if let Ok(runtime) = runtime {
        runtime.block_on(stop());
        progress::clear();
        std::process::exit(i32::from(Exit::Interrupted.code()));
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use rustix::process::{dumpable_behavior, getrlimit};

    use super::*;

    /// The first folder that has the program counts, unless a relative one comes before.
    #[test]
    fn a_program_is_found_as_a_shell_finds_it() {
        let (dir, tool) = (tempfile::tempdir().unwrap(), Path::new("tool"));
        let folder = |name: &str| dir.path().join(name);
        for (name, mode) in [("text", 0o644), ("program", 0o755), ("later", 0o755)] {
            std::fs::create_dir(folder(name)).unwrap();
            std::fs::write(folder(name).join(tool), "").unwrap();
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(folder(name).join(tool), mode).unwrap();
        }
        let absolute = ["none", "text", "program", "later"].map(folder);
        let path = std::env::join_paths(&absolute).unwrap();
        assert_eq!(find(tool, &path), Some(folder("program").join(tool)));
        let set = [("PATH", path.into_string().unwrap())];
        assert_eq!(command(tool, &set).get_program(), folder("program").join(tool));
        for (name, environment) in [("./tool", &set[..]), ("other", &set), ("tool", &[])] {
            assert_eq!(command(Path::new(name), environment).get_program(), name);
        }
        let relative = std::env::join_paths([Path::new("here"), &folder("program")]).unwrap();
        assert_eq!(find(tool, &relative), None);
    }

    /// Closes S11: a crash writes no memory to the disk.
    #[test]
    fn no_core_is_dumped() {
        no_core_dumps();
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
        assert_eq!(getrlimit(Resource::Core).maximum, Some(0));
    }
}
