//! Helpers of the process tests that these tests share.

#[path = "../process/support/running.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
pub(crate) mod running;
