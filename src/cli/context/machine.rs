//! Properties of this machine: names for messages, and randomness from the operating system.

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::base::clock::{Clock, SystemClock, timestamp};
use crate::cli::output::exit::CommandFailure;
use crate::store::disk::lock::LockOwner;

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

/// Returns a seed from the operating system.
pub(crate) fn seed() -> Result<u64, CommandFailure> {
    getrandom::u64().map_err(|error| CommandFailure::environment("reckon::random", error))
}

/// Returns a generator seeded by the operating system.
pub(crate) fn rng() -> Result<ChaCha20Rng, CommandFailure> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed)
        .map_err(|error| CommandFailure::environment("reckon::random", error))?;
    Ok(ChaCha20Rng::from_seed(seed))
}

/// Returns the actor for the audit trail: the owner of this process.
pub(crate) fn actor() -> String {
    format!("uid {}", rustix::process::geteuid().as_raw())
}
