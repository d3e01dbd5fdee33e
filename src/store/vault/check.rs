//! Finds bytes in the vault's files that are no value and no key.

use super::error::VaultError;
use super::frame::Scan;
use super::values::Vault;
use super::{blob, frame, keys};

/// Bytes without a value or key: the rest of a write that was never acknowledged, or damage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The file within `STATE/vault`.
    pub file: &'static str,
    /// Start of the bytes.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
}

impl Vault {
    /// Reads both files to their ends, and returns the bytes that are neither a value nor a key.
    pub fn find_gaps(&self) -> Result<Vec<Gap>, VaultError> {
        let mut gaps = Vec::new();
        let data = self.state().file();
        for (file, called) in [(keys::FILE, keys::FILE), (data.as_str(), blob::FILE)] {
            self.gaps_of(file, called, &mut gaps).map_err(VaultError::io("read", called))?;
        }
        Ok(gaps)
    }

    fn gaps_of(
        &self,
        file: &str,
        called: &'static str,
        gaps: &mut Vec<Gap>,
    ) -> std::io::Result<()> {
        let mut scan = Scan::new(self.disk(), file, 0)?;
        let mut end = 0_u64;
        let mut gap = |from: u64, to: u64| {
            if to > from {
                gaps.push(Gap { file: called, offset: from, bytes: to.saturating_sub(from) });
            }
        };
        while let Some((at, payload)) = scan.step()? {
            gap(end, at);
            end = at.saturating_add(frame::size(payload.len()));
        }
        gap(end, frame::length(self.disk(), file)?);
        Ok(())
    }
}
