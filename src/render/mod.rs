//! The only place that renders.
