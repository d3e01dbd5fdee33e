//! The master key, which seals the vault and ties a state directory to its owner, and the cipher
//! (XChaCha20-Poly1305: its nonce is long enough to be drawn at random for every message) with its
//! data keys and the names of sealed values.
//!
//! Why it exists: a copy of the state directory alone reveals nothing, since the key lies outside.
//!
//! Contract: 32 bytes, never shown, and wiped when dropped. Every purpose derives a key of its own.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{fs, io};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{Key, KeyInit, XChaCha20Poly1305, XNonce};
use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use rand_core::CryptoRng;
use serde_with::{DeserializeFromStr, SerializeDisplay};
use zeroize::{Zeroize, Zeroizing};

use crate::store::disk::directory::{create_private, sync_dir};

pub const KEY_FILE: &str = ".reckon.key";
/// Longer than any key file; bounds the read.
const FILE_BYTES_MAX: u64 = 256;

#[derive(Clone, derive_more::Debug)]
#[debug("MasterKey(…)")]
pub struct MasterKey(Zeroizing<[u8; 32]>);

impl MasterKey {
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    pub fn generate(rng: &mut dyn CryptoRng) -> Self {
        let mut key = Zeroizing::new([0; 32]);
        rng.fill_bytes(key.as_mut_slice());
        Self(key)
    }

    /// Parses a key from base64 text; white space around it is ignored.
    pub fn from_base64(text: &str) -> MasterKeyResult<Self> {
        let bytes =
            Zeroizing::new(STANDARD.decode(text.trim()).map_err(|_| MasterKeyError::Malformed)?);
        let mut key = Zeroizing::new([0; 32]);
        if bytes.len() != key.len() {
            return Err(MasterKeyError::Malformed);
        }
        key.copy_from_slice(&bytes);
        Ok(Self(key))
    }

    /// Returns the key as base64 text, to be given to its owner once.
    pub fn to_base64(&self) -> Zeroizing<String> {
        Zeroizing::new(STANDARD.encode(self.0.as_slice()))
    }

    /// Reads a key file; `None` if it does not exist.
    ///
    /// # Errors
    /// The file cannot be read, or others may read it: then the key is no longer secret.
    pub fn read_file(path: &Path) -> MasterKeyResult<Option<Self>> {
        let place = |source| MasterKeyError::io(path, source);
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(place(source)),
        };
        if file.metadata().map_err(place)?.permissions().mode() & 0o077 != 0 {
            return Err(MasterKeyError::Exposed { path: path.to_owned() });
        }
        let mut text = Zeroizing::new(String::new());
        file.take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(place)?;
        Self::from_base64(&text).map(Some)
    }

    /// Reads the key file, or creates it (0600) if it does not exist.
    ///
    /// Of several processes that do this at once, one creates the key and all read the same.
    pub fn read_or_create_file(path: &Path, rng: &mut dyn CryptoRng) -> MasterKeyResult<Self> {
        if let Some(key) = Self::read_file(path)? {
            return Ok(key);
        }
        let made = Self::generate(rng);
        let place = |source| MasterKeyError::io(path, source);
        match made.write_new(path, rng) {
            Ok(()) => Ok(made),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Self::read_file(path)?.ok_or_else(|| place(io::ErrorKind::NotFound.into()))
            }
            Err(source) => Err(place(source)),
        }
    }

    /// Writes the complete file beside its place and links it there; fails if it is occupied.
    pub(crate) fn write_new(&self, path: &Path, rng: &mut dyn CryptoRng) -> io::Result<()> {
        let dir = folder_of(path);
        let temporary = dir.join(format!("{KEY_FILE}.{:016x}", rng.next_u64()));
        let mut file = create_private(&temporary)?;
        let text = self.to_base64();
        let linked = file
            .write_all(text.as_bytes())
            .and_then(|()| file.write_all(b"\n"))
            .and_then(|()| file.sync_all())
            .and_then(|()| fs::hard_link(&temporary, path));
        fs::remove_file(&temporary)?;
        linked?;
        sync_dir(dir)
    }

    /// Derives a key for one purpose; the purpose is a sentence that no other use shares.
    pub fn derive(&self, purpose: &str) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(blake3::derive_key(purpose, self.0.as_slice()))
    }

    /// Returns a short public name of this key, 16 hex digits, to tie a state directory to the key.
    pub fn fingerprint(&self) -> String {
        let mut digest = self.derive("reckon 2026 master key fingerprint v1");
        let name = HEXLOWER.encode(digest.get(..8).unwrap_or_default());
        digest.zeroize();
        name
    }
}

#[derive(Debug, thiserror::Error)]
pub enum MasterKeyError {
    /// Not 32 bytes of base64. The text itself is never shown.
    #[error(
        "read the key: it is not 32 bytes in base64; create one with `openssl rand -base64 32`"
    )]
    Malformed,
    #[error(
        "read the key file {path}: readable by other users; `chmod 600` it, or create a new \
        key"
    )]
    Exposed { path: PathBuf },
    /// The key file is a link, so its target is not ours to exchange.
    #[error(
        "{path} is a link: set secrets.key in reckon.yaml to what it holds, and name the file of the new key with \
         --new-key-file"
    )]
    Link { path: PathBuf },
    #[error(
        "{path} opens the state {other}, too: set secrets.key in reckon.yaml for one of them, and name the file of its new \
         key with --new-key-file"
    )]
    Shared { path: PathBuf, other: PathBuf },
    #[error("read or make the key file {path}: {source}")]
    Io { path: PathBuf, source: io::Error },
}

pub type MasterKeyResult<T = ()> = Result<T, MasterKeyError>;

impl MasterKeyError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}

/// Returns the folder of a file; the current folder if the path names none.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Seals `plain`, bound to `bound`; `None` only if it is too long for the cipher.
pub(crate) fn encrypt(
    key: &[u8; 32],
    nonce: &[u8; 24],
    plain: &[u8],
    bound: &[u8],
) -> Option<Vec<u8>> {
    let payload = Payload { msg: plain, aad: bound };
    XChaCha20Poly1305::new(&Key::from(*key)).encrypt(&XNonce::from(*nonce), payload).ok()
}

/// Opens bytes sealed under the same key, nonce and bound bytes; `None` for anything else.
pub(crate) fn decrypt(
    key: &[u8; 32],
    nonce: &[u8; 24],
    sealed: &[u8],
    bound: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    let payload = Payload { msg: sealed, aad: bound };
    let opened = XChaCha20Poly1305::new(&Key::from(*key)).decrypt(&XNonce::from(*nonce), payload);
    opened.ok().map(Zeroizing::new)
}

pub(crate) type KeyId = [u8; 16];

/// A data key in the open.
pub(crate) type DataKey = Zeroizing<[u8; 32]>;

/// A data key, sealed under the master key.
#[derive(Debug, Clone)]
pub(crate) struct WrappedKey {
    pub(crate) subject: String,
    pub(crate) nonce: [u8; 24],
    pub(crate) sealed: Vec<u8>,
    /// True if the key opens values and seals none any more.
    pub(crate) retired: bool,
}

pub(crate) fn random_bytes<const N: usize>(rng: &mut dyn CryptoRng) -> [u8; N] {
    let mut bytes = [0; N];
    rng.fill_bytes(&mut bytes);
    bytes
}

/// The name of a sealed value: 16 random bytes, written as 32 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, SerializeDisplay, DeserializeFromStr)]
#[derive(derive_more::Display, derive_more::Debug)]
#[display("{}", HEXLOWER_PERMISSIVE.encode(_0))]
#[debug("VaultRef({self})")]
pub struct VaultRef(pub(crate) [u8; 16]);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("read the name of a sealed value: it is not 32 hex digits")]
pub struct VaultRefError;

impl FromStr for VaultRef {
    type Err = VaultRefError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).map_err(|_| VaultRefError)?;
        bytes.try_into().map(Self).map_err(|_| VaultRefError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::support::seeded_rng;

    #[test]
    fn a_file_without_a_folder_stands_in_this_one() {
        let folders = ["key", "a/key", "/key", "a/b/key"].map(|path| folder_of(Path::new(path)));
        assert_eq!(folders, [".", "a", "/", "a/b"].map(Path::new));
    }

    #[test]
    fn a_key_is_never_shown() {
        let key = MasterKey::new([7; 32]);
        assert_eq!(format!("{key:?}"), "MasterKey(…)");
        assert!(MasterKey::from_base64("c2VjcmV0").unwrap_err().to_string().find("c2V").is_none());
    }

    #[test]
    fn text_and_back_is_the_same_key() {
        let key = MasterKey::generate(&mut seeded_rng(1));
        let again = MasterKey::from_base64(&format!(" {}\n", key.to_base64().as_str())).unwrap();
        assert_eq!(key.fingerprint(), again.fingerprint());
        assert_ne!(key.fingerprint(), MasterKey::generate(&mut seeded_rng(2)).fingerprint());
        assert_eq!(key.fingerprint().len(), 16);
    }

    #[test]
    fn a_key_file_is_made_once_and_private() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(KEY_FILE);
        assert!(MasterKey::read_file(&path).unwrap().is_none());
        let made = MasterKey::read_or_create_file(&path, &mut seeded_rng(1)).unwrap();
        let again = MasterKey::read_or_create_file(&path, &mut seeded_rng(2)).unwrap();
        assert_eq!(made.fingerprint(), again.fingerprint());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_key_that_others_may_read_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(KEY_FILE);
        MasterKey::read_or_create_file(&path, &mut seeded_rng(1)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(MasterKey::read_file(&path), Err(MasterKeyError::Exposed { .. })));
    }
}
