//! A failure of the measurement.

/// What failed, for people.
pub(crate) type Failed = Box<dyn std::error::Error + Send + Sync>;
