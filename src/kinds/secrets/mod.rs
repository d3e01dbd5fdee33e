//! Sources of secrets in documents, and redaction.

pub mod redact;
pub mod secret_place;
pub mod secret_source;
