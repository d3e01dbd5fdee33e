//! The revision that a document was read at.

/// The revision of a file of the specs, as it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The commit that was checked out; none without a repository.
    pub commit: Option<String>,
    /// Whether the file differs from its content in that commit.
    pub uncommitted: bool,
}
