//! Documents: manifests, the desired state, their problems.

pub mod desired;
pub mod issue;
pub mod manifest;
