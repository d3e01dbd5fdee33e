//! Reports of many runs: shares and coverage.

pub mod attention_share;
pub mod chaos;
pub mod coverage;
