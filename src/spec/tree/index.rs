//! The files of a tree as one packed value: their number, a sum over the (path, size, time, inode)
//! of each, and a digest of their contents.
//!
//! A plan over an unchanged tree must not cost more than checking the files' metadata. A walk in any
//! order can rebuild the sum without sorting or storing.

use crate::base::bulk::parallel::map_in_order;
use crate::base::folder::Stat;
use crate::base::hash::Digest;
use crate::spec::tree::files::WalkEntry;
use crate::spec::tree::roots::SpecRoots;

const MAGIC: [u8; 5] = *b"rkix\x01";
const HEADER_BYTES: usize = 5 + 8 + 16 + 32;
const CHECK_BYTES: usize = 8;
/// Files that changed less than this before the reading are read again: the clock of a file system
/// ticks this slowly.
pub(crate) const TICK_NS: i64 = 20_000_000;

#[derive(Debug, Clone, Copy)]
pub struct IndexEntry<'a> {
    pub path: &'a str,
    pub stat: Stat,
    /// BLAKE3 of the content.
    pub hash: [u8; 32],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the index of spec files is of another version or damaged")]
pub struct SpecIndexError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecIndex {
    count: u64,
    sum: u128,
    digest: Digest,
}

impl SpecIndex {
    /// Packs entries, which come sorted by path. `read_at_ns` is the time before the first was
    /// read: a file that changed just then never counts as unchanged.
    pub fn pack<'a>(entries: impl Iterator<Item = IndexEntry<'a>>, read_at_ns: i64) -> Self {
        let (mut count, mut sum) = (0_u64, 0_u128);
        let mut contents = ContentDigest::default();
        let mut buffer = Vec::new();
        let racy = read_at_ns.saturating_sub(TICK_NS);
        for IndexEntry { path, mut stat, hash } in entries {
            if stat.mtime_ns >= racy {
                stat.mtime_ns = i64::MIN;
            }
            sum = sum.wrapping_add(fingerprint(path, stat, &mut buffer));
            count = count.saturating_add(1);
            contents.add(path, &hash);
        }
        Self { count, sum, digest: contents.digest() }
    }

    pub fn header(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES + CHECK_BYTES);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&self.count.to_le_bytes());
        bytes.extend_from_slice(&self.sum.to_le_bytes());
        bytes.extend_from_slice(self.digest.as_bytes());
        let check = check_of(&bytes);
        bytes.extend_from_slice(&check);
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, SpecIndexError> {
        let (header, rest) = bytes.split_at_checked(HEADER_BYTES).ok_or(SpecIndexError)?;
        let check = rest.get(..CHECK_BYTES).ok_or(SpecIndexError)?;
        let mut fields = FieldDecoder(header);
        let good = fields.take::<5>() == Some(MAGIC) && check == check_of(header);
        let count = fields.take().map(u64::from_le_bytes).filter(|_| good).ok_or(SpecIndexError)?;
        let sum = fields.take().map(u128::from_le_bytes).ok_or(SpecIndexError)?;
        let digest = fields.take().map(Digest::from_bytes).ok_or(SpecIndexError)?;
        Ok(Self { count, sum, digest })
    }

    /// Returns whether every file below `roots` has its former metadata, and none was added or removed.
    pub fn is_unchanged(&self, roots: &SpecRoots) -> bool {
        let (mut count, mut sum, mut trouble) = (0_u64, 0_u128, false);
        let mut buffer = Vec::new();
        roots.walk("", &mut |found| match found {
            WalkEntry::File(path, stat) => {
                sum = sum.wrapping_add(fingerprint(path, stat, &mut buffer));
                count = count.saturating_add(1);
            }
            WalkEntry::Problem(_) => trouble = true,
        });
        !trouble && count == self.count && sum == self.sum
    }

    /// Returns whether the files below `roots` have their former contents, whatever their sizes and
    /// times: each file is read. A file that was just being written counts, too.
    pub fn has_same_contents(&self, roots: &SpecRoots) -> bool {
        let mut paths = Vec::new();
        let mut trouble = false;
        roots.walk("", &mut |found| match found {
            WalkEntry::File(path, _) => paths.push(path.to_owned()),
            WalkEntry::Problem(_) => trouble = true,
        });
        if trouble || u64::try_from(paths.len()) != Ok(self.count) {
            return false;
        }
        paths.sort_unstable();
        let opened = roots.open();
        let hashes = map_in_order(&paths, |path| opened.hash(path));
        let mut contents = ContentDigest::default();
        for (path, hash) in paths.iter().zip(hashes) {
            let Ok(hash) = hash else { return false };
            contents.add(path, &hash);
        }
        contents.digest() == self.digest
    }
}

/// Returns the digest of files, in the order of their paths, each with the hash of its content.
pub fn digest_of<'a>(files: impl Iterator<Item = (&'a str, &'a [u8; 32])>) -> Digest {
    let mut contents = ContentDigest::default();
    files.for_each(|(path, hash)| contents.add(path, hash));
    contents.digest()
}

/// A digest of paths and contents, built file by file in the order of the paths.
#[derive(Default)]
struct ContentDigest(blake3::Hasher);

impl ContentDigest {
    fn add(&mut self, path: &str, hash: &[u8; 32]) {
        self.0.update(&u32_of(path.len()).to_le_bytes()).update(path.as_bytes()).update(hash);
    }

    fn digest(&self) -> Digest {
        Digest::from_bytes(*self.0.finalize().as_bytes())
    }
}

fn check_of(header: &[u8]) -> [u8; CHECK_BYTES] {
    let hash = blake3::hash(header);
    hash.as_bytes().first_chunk().copied().unwrap_or_default()
}

/// Packs the path and stat in `buffer`; returns their hash, a summand of the tree's sum.
fn fingerprint(path: &str, stat: Stat, buffer: &mut Vec<u8>) -> u128 {
    let Stat { size, mtime_ns, inode } = stat;
    buffer.clear();
    buffer.extend_from_slice(&u32_of(path.len()).to_le_bytes());
    buffer.extend_from_slice(path.as_bytes());
    buffer.extend_from_slice(&size.to_le_bytes());
    buffer.extend_from_slice(&mtime_ns.to_le_bytes());
    buffer.extend_from_slice(&inode.to_le_bytes());
    let hash = blake3::hash(buffer);
    hash.as_bytes().first_chunk().copied().map(u128::from_le_bytes).unwrap_or_default()
}

fn u32_of(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

struct FieldDecoder<'a>(&'a [u8]);

impl FieldDecoder<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }
}

#[cfg(test)]
mod tests;
