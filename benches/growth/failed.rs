//! A failure of the measurement.

/// An error for people.
pub(crate) type Failed = Box<dyn std::error::Error + Send + Sync>;
