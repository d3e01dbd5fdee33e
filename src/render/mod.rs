//! The only place that renders.

pub mod diagnostic;
