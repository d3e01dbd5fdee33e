//! Framing of the vault's two files, a scan that survives torn writes, and the vault's errors.
//!
//! ```text
//! magic 4 · crc32 4 · length 4 · payload
//! ```
//!
//! The journal entry that names a value acknowledges it; that entry is written after the vault is
//! durable. So bytes that are no frame were never acknowledged, or are damage to single values. The
//! scan skips both and continues at the next intact frame, and appends go to the end.
//!
//! Each compaction of the vault writes another file of values: first `data`, then `data.1`, `data.2`
//! and so on. A name is never used again, so a process that copies a file by its name copies one
//! file, or is refused. A file is complete when it gets its name: the newest counts.

use std::io;

use chrono::{DateTime, Utc};

use crate::base::clock::timestamp;
use crate::store::disk::traits::{ByteReader, Disk, frame_checksum, push_frame, to_u64, to_usize};
use crate::store::vault::key::VaultRef;

/// The longest value, in bytes.
pub const BLOB_BYTES_MAX: usize = 16 << 20;

const MAGIC: [u8; 4] = *b"RkV1";
const HEAD_BYTES: usize = 12;
/// Room beside the blob for names, nonces and tags.
const PAYLOAD_BYTES_MAX: usize = BLOB_BYTES_MAX.saturating_add(4096);
/// Bytes read at once.
const WINDOW_BYTES: usize = 1 << 20;
/// Most frames are no longer than this.
const FRAME_BYTES: usize = 2 << 10;

pub(crate) fn frame(payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEAD_BYTES.saturating_add(payload.len()));
    push_frame(&mut out, MAGIC, payload);
    out
}

/// Returns the bytes on disk of a frame with a payload of this length.
pub(crate) fn size(payload: usize) -> u64 {
    to_u64(HEAD_BYTES.saturating_add(payload))
}

/// Returns the length of a file; 0 if it does not exist.
pub(crate) fn length(disk: &dyn Disk, name: &str) -> io::Result<u64> {
    match disk.len(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        other => other,
    }
}

/// The intact frames of a file, in order.
#[derive(Debug)]
pub(crate) struct Scan<'a> {
    disk: &'a dyn Disk,
    name: &'a str,
    pub(crate) end: u64,
    at: u64,
    window: Vec<u8>,
    window_at: u64,
    stride: usize,
}

impl<'a> Scan<'a> {
    /// Returns a scan from `at` to the present end of the file.
    pub(crate) fn new(disk: &'a dyn Disk, name: &'a str, at: u64) -> io::Result<Self> {
        Ok(Self::until(disk, name, at, length(disk, name)?))
    }

    /// Returns a scan from `at` to `end`; the file must have been that long.
    pub(crate) fn until(disk: &'a dyn Disk, name: &'a str, at: u64, end: u64) -> Self {
        let (window, window_at) = (Vec::new(), 0);
        Self { disk, name, end, at, window, window_at, stride: WINDOW_BYTES }
    }

    /// Returns a scan for the one frame that begins at `at`.
    pub(crate) fn one(disk: &'a dyn Disk, name: &'a str, at: u64) -> io::Result<Self> {
        Ok(Self { stride: FRAME_BYTES, ..Self::new(disk, name, at)? })
    }

    /// Returns offset and payload of the next intact frame.
    pub(crate) fn step(&mut self) -> io::Result<Option<(u64, Vec<u8>)>> {
        while self.at < self.end {
            let at = self.at;
            if let Some(payload) = self.here()? {
                self.at = at.saturating_add(size(payload.len()));
                return Ok(Some((at, payload)));
            }
            self.at = self.find(at.saturating_add(1))?;
        }
        Ok(None)
    }

    /// Returns the payload of the frame at the current offset, if it is intact.
    pub(crate) fn here(&mut self) -> io::Result<Option<Vec<u8>>> {
        let at = self.at;
        let mut head = ByteReader::new(self.bytes(at, HEAD_BYTES)?);
        let (Some(MAGIC), Some(crc), Some(length)) = (head.array(), head.u32(), head.u32()) else {
            return Ok(None);
        };
        let count = usize::try_from(length).unwrap_or(usize::MAX);
        if count > PAYLOAD_BYTES_MAX {
            return Ok(None);
        }
        let whole = self.bytes(at, HEAD_BYTES.saturating_add(count))?;
        let payload = whole.get(HEAD_BYTES..).filter(|payload| payload.len() == count);
        let sound = payload.filter(|payload| frame_checksum(length.to_le_bytes(), payload) == crc);
        Ok(sound.map(<[u8]>::to_vec))
    }

    /// Returns the first offset from `at` on at which a frame could begin, or the end.
    fn find(&mut self, mut at: u64) -> io::Result<u64> {
        while at < self.end {
            let bytes = self.bytes(at, WINDOW_BYTES)?;
            if let Some(place) = bytes.windows(MAGIC.len()).position(|window| window == MAGIC) {
                return Ok(at.saturating_add(to_u64(place)));
            }
            let passed = bytes.len().saturating_sub(MAGIC.len()).saturating_add(1);
            at = at.saturating_add(to_u64(passed));
        }
        Ok(self.end)
    }

    /// Returns up to `count` bytes at `at`; fewer at the end of the file.
    fn bytes(&mut self, at: u64, count: usize) -> io::Result<&[u8]> {
        let left = to_usize(self.end.saturating_sub(at));
        let count = count.min(left);
        let held = self.window_at.saturating_add(to_u64(self.window.len()));
        if at < self.window_at || at.saturating_add(to_u64(count)) > held {
            self.window = self.disk.read_at(self.name, at, count.max(self.stride).min(left))?;
            self.window_at = at;
        }
        let start = to_usize(at.saturating_sub(self.window_at));
        let end = start.saturating_add(count).min(self.window.len());
        Ok(self.window.get(start..end).unwrap_or_default())
    }
}

pub(crate) const FIRST: &str = "data";
/// The file that a compaction writes, before it gets its name.
pub(crate) const NEXT: &str = "next";

pub(crate) fn generation_name(generation: u64) -> String {
    if generation == 0 { FIRST.to_owned() } else { format!("{FIRST}.{generation}") }
}

fn parse_generation(file: &str) -> Option<u64> {
    if file == FIRST {
        return Some(0);
    }
    let digits = file.strip_prefix(FIRST)?.strip_prefix('.')?;
    let generation = digits.parse().ok().filter(|generation| *generation > 0)?;
    (generation_name(generation) == file).then_some(generation)
}

/// Returns the newest generation, or the first if no file exists. It grows with each compaction.
pub(crate) fn newest_generation(disk: &dyn Disk) -> io::Result<u64> {
    Ok(disk.list()?.iter().filter_map(|file| parse_generation(file)).max().unwrap_or(0))
}

/// Removes the files that an earlier compaction left behind beside this generation.
pub(crate) fn remove_leftovers(disk: &dyn Disk, generation: u64) -> io::Result<()> {
    let needless = |file: &String| {
        file == NEXT || parse_generation(file).is_some_and(|other| other < generation)
    };
    disk.list()?.iter().filter(|file| needless(file)).try_for_each(|file| disk.remove(file))
}

/// Error of the vault. Never holds a plaintext or a key.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    #[error("{doing} vault/{file}: {source}")]
    Io { doing: &'static str, file: &'static str, source: io::Error },
    #[error("open the vault: it was made with another key; give the key it was made with")]
    WrongKey,
    #[error(
        "open the vault: `reckon store rekey` exchanged its key at {}; give the key that it got then",
        timestamp(at)
    )]
    Rekeyed { at: DateTime<Utc> },
    #[error("exchange the key: the state has or had this key; give a new one")]
    KeyUsed,
    /// A data key cannot be wrapped under the new master key; nothing was changed.
    #[error(
        "exchange the key: the key of {subject} in vault/keys is damaged; restore it from a backup"
    )]
    Rewrap { subject: String },
    /// The file of keys is missing or has no valid header, although there are sealed values.
    #[error("open the vault: vault/keys is missing or damaged; restore it from a backup")]
    KeysLost,
    #[error("unseal {reference}: it was erased")]
    Erased { reference: VaultRef },
    #[error("unseal {reference}: there is no such value in vault/data; restore it from a backup")]
    Missing { reference: VaultRef },
    #[error("unseal {reference}: it or its key is damaged; restore the vault from a backup")]
    Damaged { reference: VaultRef },
    #[error(
        "seal a value of {subject}: its key in vault/keys is damaged; restore it from a backup"
    )]
    KeyDamaged { subject: String },
    /// A value or the name of its subject is too long; nothing was written.
    #[error("seal {bytes} bytes: at most {limit} fit")]
    TooLarge { bytes: usize, limit: usize },
    #[error("write to the vault: an earlier write failed ({cause}); stop and open it again")]
    Poisoned { cause: String },
}

pub type VaultResult<T = ()> = Result<T, VaultError>;

impl VaultError {
    pub(crate) fn io(doing: &'static str, file: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, file, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::disk::traits::MemoryDisk;

    #[test]
    fn a_file_is_looked_at_again_from_any_place() {
        let disk = MemoryDisk::new();
        let frames = [frame(b"one"), frame(b"two")];
        disk.write_at("f", 0, &frames.concat()).unwrap();
        let second = to_u64(frames[0].len());
        let mut scan = Scan::new(&disk, "f", second).unwrap();
        assert_eq!(scan.step().unwrap(), Some((second, b"two".to_vec())));
        scan.at = 0;
        assert_eq!(scan.step().unwrap(), Some((0, b"one".to_vec())), "before what was read");
    }

    #[test]
    fn a_name_belongs_to_one_generation() {
        for generation in [0, 1, 9, 10] {
            assert_eq!(parse_generation(&generation_name(generation)), Some(generation));
        }
        for other in ["keys", "next", "data.", "data.0", "data.01", "data.+1", "data1", "data.x"] {
            assert_eq!(parse_generation(other), None, "{other}");
        }
    }
}
