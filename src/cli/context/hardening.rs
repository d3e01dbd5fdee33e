//! Hardening of this process: leaves nothing for other users of the machine.

use rustix::fs::Mode;
use rustix::process::{
    DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit, umask,
};

/// Mode bits that new files and folders never have: only their owner may use them. sled itself asks
/// for no mode.
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

#[cfg(test)]
mod tests {
    use rustix::process::{dumpable_behavior, getrlimit};

    use super::*;

    /// Closes S11: a crash writes no memory to the disk.
    #[test]
    fn no_core_is_dumped() {
        no_core_dumps();
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
        assert_eq!(getrlimit(Resource::Core).maximum, Some(0));
    }
}
