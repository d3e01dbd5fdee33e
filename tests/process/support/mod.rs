//! Helpers that tests share.

#[path = "../../it/support/canaries.rs"]
pub(crate) mod canaries;
#[path = "../../it/support/covers.rs"]
pub(crate) mod covers;
pub(crate) mod daemon_process;
pub(crate) mod pages;
pub(crate) mod running;
pub(crate) mod sandbox_process;
pub(crate) mod shell;
pub(crate) mod terminal;
