//! Helpers that tests share.

pub(crate) mod applicants;
pub(crate) mod backups;
pub(crate) mod canaries;
pub(crate) mod counting_index;
pub(crate) mod covers;
pub(crate) mod named_tests;
pub(crate) mod notifier;
pub(crate) mod partner;
pub(crate) mod payers;
pub(crate) mod payments;
pub(crate) mod renewals;
pub(crate) mod requests;
#[path = "../../process/support/shell.rs"]
pub(crate) mod shell;
pub(crate) mod webhooks;
pub(crate) mod world;
