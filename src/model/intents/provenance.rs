//! The revision at which a document was read.

/// The revision of a spec file at the time of the reading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The commit that was checked out; `None` without a repository.
    pub commit: Option<String>,
    /// The file differs from its content in that commit.
    pub uncommitted: bool,
}
