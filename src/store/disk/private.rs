//! Folders that only their owner can enter.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

/// The mode of a private folder.
const OWN: u32 = 0o700;
/// The mode bits that let others in.
const OTHERS: u32 = 0o077;
/// The sticky bit of a shared folder such as `/tmp`.
const SHARED: u32 = 0o1000;

/// Creates a folder that only its owner can enter, and the folders above it. An existing folder
/// that lets others in is closed to them, with a warning, unless it is not ours to close.
///
/// # Errors
/// The folder cannot be created or examined.
pub fn private_dir(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(OWN).create(dir)?;
    let found = fs::metadata(dir)?;
    let is_open = found.mode() & OTHERS != 0;
    let is_own = found.uid() == rustix::process::geteuid().as_raw() && found.mode() & SHARED == 0;
    if !is_open {
        return Ok(());
    }
    let shown = dir.display();
    match is_own.then(|| fs::set_permissions(dir, Permissions::from_mode(OWN))) {
        Some(Ok(())) => {
            tracing::warn!(
                "other users of this machine had access to {shown}; their access is now removed"
            );
        }
        Some(Err(_)) | None => {
            tracing::warn!(
                "other users of this machine have access to {shown}: run `chmod 0700 {shown}`"
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::disk::real::RealDisk;
    use crate::store::index::sled::SledIndex;

    fn mode(dir: &Path) -> u32 {
        fs::metadata(dir).unwrap().mode() & 0o777
    }

    /// Closes S11: only its owner can enter a folder of a state, also one that was created open.
    #[test]
    fn folders_of_a_state_are_closed_to_others() {
        let dir = tempfile::tempdir().unwrap();
        let opened = |name: &str| {
            let path = dir.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
            path
        };
        let [state, journal, sled] = ["state", "journal", "sled"].map(opened);
        private_dir(&state).unwrap();
        drop(RealDisk::open(&journal).unwrap());
        drop(SledIndex::open(&sled).unwrap());
        let fresh = dir.path().join("a/fresh");
        drop(SledIndex::open(&fresh).unwrap());
        for path in [state, journal, sled, dir.path().join("a"), fresh] {
            assert_eq!(mode(&path), 0o700, "{}", path.display());
        }
    }

    #[test]
    fn a_folder_that_everybody_shares_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let shared = dir.path().join("shared");
        fs::create_dir(&shared).unwrap();
        fs::set_permissions(&shared, Permissions::from_mode(0o1777)).unwrap();
        private_dir(&shared).unwrap();
        assert_eq!(mode(&shared), 0o777);
    }
}
