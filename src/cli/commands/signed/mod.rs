//! Approvals by signed commits: the daemon examines the branch, a person signs.

pub mod approval;
pub mod commit;
pub mod history;
pub mod judge;
pub mod repository;
