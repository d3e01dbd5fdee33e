//! Approvals by people: of live authorisations, of plans, and of plans saved in files.

pub mod live;
pub mod plan;
pub mod saved_plan;
pub mod saved_plan_stale;
pub mod saved_plan_use;
pub mod signed;
