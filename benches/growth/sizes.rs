//! Bytes of a state directory by part, and the memory of this process as the kernel counts it.

use std::fs;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::failed::Failed;

/// Bytes of each part of a state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Segments and snapshots, without the zeros that a segment is filled with beforehand.
    pub(crate) journal: u64,
    /// Segments that compactions put aside.
    pub(crate) archive: u64,
    /// The index.
    pub(crate) index: u64,
    /// Sealed values.
    pub(crate) vault: u64,
}

impl Sizes {
    /// Measures a state directory.
    pub(crate) fn of(state: &Path) -> Result<Self, Failed> {
        Ok(Self {
            journal: written(&state.join("journal"))?,
            archive: written(&state.join("archive"))?,
            index: all(&state.join("sled"))?,
            vault: all(&state.join("vault"))?,
        })
    }

    /// The parts that the daemon works with: all but the archive.
    pub(crate) fn alive(&self) -> u64 {
        self.journal.saturating_add(self.index).saturating_add(self.vault)
    }
}

/// Bytes of all files beneath a folder; none where there is no folder.
fn all(folder: &Path) -> Result<u64, Failed> {
    sum(folder, |path| Ok(fs::metadata(path)?.len()))
}

/// The same without the zeros at the end of each file.
fn written(folder: &Path) -> Result<u64, Failed> {
    sum(folder, without_zeros)
}

fn sum(folder: &Path, length: fn(&Path) -> Result<u64, Failed>) -> Result<u64, Failed> {
    let mut sum: u64 = 0;
    if !folder.exists() {
        return Ok(sum);
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let bytes = if path.is_dir() { self::sum(&path, length)? } else { length(&path)? };
        sum = sum.saturating_add(bytes);
    }
    Ok(sum)
}

fn without_zeros(path: &Path) -> Result<u64, Failed> {
    const BLOCK: u64 = 1 << 16;
    let mut file = File::open(path)?;
    let mut end = file.metadata()?.len();
    while end > 0 {
        let start = end.saturating_sub(BLOCK);
        file.seek(SeekFrom::Start(start))?;
        let mut block = Vec::new();
        file.by_ref().take(end.saturating_sub(start)).read_to_end(&mut block)?;
        if let Some(last) = block.iter().rposition(|byte| *byte != 0) {
            return Ok(start.saturating_add(u64::try_from(last)?).saturating_add(1));
        }
        end = start;
    }
    Ok(0)
}

/// Resident memory of this process in KiB: now, and the most so far.
pub(crate) fn resident() -> Result<(u64, u64), Failed> {
    let text = fs::read_to_string("/proc/self/status")?;
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next());
        number.and_then(|number| number.parse().ok()).ok_or_else(|| format!("status has no {name}"))
    };
    Ok((field("VmRSS:")?, field("VmHWM:")?))
}
