//! Fault injection: deliberate faults, which prove that the simulator finds them.
//!
//! Each name weakens one guarantee. The faults exist in the unit tests of this crate and nowhere
//! else. In any other build every fault is off for good and the compiler removes it.

#[cfg(test)]
pub use switch::{FAULTS, inject, is_active};

/// Returns whether a fault is active: never, outside the crate's own tests.
#[cfg(not(test))]
pub const fn is_active(_name: &str) -> bool {
    false
}

#[cfg(test)]
mod switch {
    use std::cell::Cell;

    thread_local! {
        static ACTIVE: Cell<Option<&'static str>> = const { Cell::new(None) };
    }

    pub const FAULTS: &[&str] = &[
        "send-before-sync",
        "fold-reads-unsynced",
        "attempt-in-the-name",
        "absent-after-one-read",
        "prune-under-partial",
        "two-open-effects",
        "tail-cut-drops-valid",
        "settled-without-comparing",
        "approval-reused",
        "older-event-wins",
        "token-404-is-done",
        "neutralise-leaves-an-occurrence",
        "clone-counted-twice",
        "restore-without-epoch",
        "retries-bypass-the-meter",
        "stale-event-applied",
        "read-back-skipped",
        "answered-before-sync",
        "hook-by-ordinal",
        "told-without-a-note",
        "retention-drops-unrun",
        "view-of-a-stale-copy",
        "compaction-drops-named",
        "lost-call-overtakes",
    ];

    /// Returns whether a fault is active in this thread.
    pub fn is_active(name: &str) -> bool {
        ACTIVE.with(|planted| planted.get() == Some(name))
    }

    /// Activates a fault in this thread, or none.
    pub fn inject(name: Option<&'static str>) {
        ACTIVE.with(|planted| planted.set(name));
    }
}
