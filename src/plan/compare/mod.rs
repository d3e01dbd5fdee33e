//! A plan against another tree or another assumed state.

pub mod assumed_limits;
pub mod assumed_state;
