//! The parsed specs of the daemon's last start, in a sealed file beside the index, which its next start reads in place
//! of YAML. Other commands read every file.
//!
//! - The file is no part of the state: anyone may delete it, and a damaged one is not read.
//! - It counts only for the program, the configuration and the folders that it was made with, and in it only
//!   files whose metadata did not change since.
//! - It is sealed, since specs hold personal values: what was removed from the specs leaves it at the next
//!   start.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::PathBuf;

use zeroize::Zeroizing;

use crate::base::bulk::parallel::map_each;
use crate::cli::context::open::Context;
use crate::cli::context::state_handle::StateHandle;
use crate::control::protocol::VERSION;
use crate::spec::tree::loader::Loader;
use crate::store::disk::directory::create_private;
use crate::store::vault::key::{decrypt, encrypt};

const FILE: &str = "specs.parsed";
const MAGIC: [u8; 5] = *b"rkps\x01";
/// Parts that are in memory at once.
const PARTS_AT_ONCE: usize = 16;
/// Parts of the file, at most, about 1 MiB each: the files beyond are read from YAML.
const PARTS_MAX: usize = 512;
/// The longest sealed part, in bytes: no file of specs is longer.
const PART_BYTES_MAX: usize = 64 << 20;

/// The sealed file of a state.
struct ParsedFiles {
    path: PathBuf,
    key: Zeroizing<[u8; 32]>,
    /// A digest of everything beside the files that decides what they mean.
    binding: [u8; 32],
}

/// The bytes to which every part is bound, and the nonce of the first part.
struct Seal {
    binding: [u8; 32],
    nonce: [u8; 24],
}

impl ParsedFiles {
    /// Returns the file of the state whose digests have this key; `None` where a program prints the specs.
    fn of(setup: &Context, digest_key: &[u8; 32]) -> Option<Self> {
        let key = blake3::derive_key("reckon 2026 parsed specs v1", digest_key);
        let is_rendered = setup.specs.roots().is_rendered();
        (!is_rendered).then(|| Self {
            path: setup.state.join(FILE),
            key: Zeroizing::new(key),
            binding: binding_of(setup),
        })
    }

    /// Gives a new loader the files, as far as they can be read.
    fn preload(&self, loader: &mut Loader) {
        if let Err(error) = self.read(loader) {
            tracing::debug!(%error, "the parsed specs of the last start are not used");
        }
    }

    fn read(&self, loader: &mut Loader) -> io::Result<()> {
        let mut file = BufReader::new(File::open(&self.path)?);
        let mut magic = [0; MAGIC.len()];
        let mut seal = Seal { binding: [0; 32], nonce: [0; 24] };
        for field in [&mut magic[..], &mut seal.binding, &mut seal.nonce] {
            file.read_exact(field)?;
        }
        if magic != MAGIC || seal.binding != self.binding {
            return Err(io::Error::other("made by another program or configuration"));
        }
        let mut number = 0;
        loop {
            let sealed = next_parts(&mut file, &mut number)?;
            if sealed.is_empty() {
                return Ok(());
            }
            let open = |(number, part): &(u64, Vec<u8>)| {
                decrypt(&self.key, &seal.nonce_of(*number), part, &seal.binding)
            };
            let opened = map_each(&sealed, open).into_iter().map(Option::unwrap_or_default);
            let opened: Vec<Vec<u8>> = opened.map(|mut part| std::mem::take(&mut *part)).collect();
            loader.preload(&opened);
        }
    }

    /// Replaces the file by these parts. A file that cannot be written is made again by a later start.
    fn store(&self, parts: &[Vec<u8>]) {
        if let Err(error) = self.write(parts) {
            tracing::debug!(%error, "the parsed specs are not stored");
        }
    }

    fn write(&self, parts: &[Vec<u8>]) -> io::Result<()> {
        let mut nonce = [0; 24];
        getrandom::fill(&mut nonce).map_err(|error| io::Error::other(error.to_string()))?;
        let seal = Seal { binding: self.binding, nonce };
        let next = self.path.with_extension("next");
        match fs::remove_file(&next) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let mut file = create_private(&next)?;
        file.write_all(&[&MAGIC[..], &seal.binding, &seal.nonce].concat())?;
        for (number, part) in (0_u64..).zip(parts.iter().take(PARTS_MAX)) {
            let sealed = encrypt(&self.key, &seal.nonce_of(number), part, &seal.binding);
            let sealed = sealed.ok_or_else(|| io::Error::other("a part is too long"))?;
            file.write_all(&u32::try_from(sealed.len()).unwrap_or(u32::MAX).to_le_bytes())?;
            file.write_all(&sealed)?;
        }
        fs::rename(&next, &self.path)
    }
}

impl Context {
    /// Returns a loader that has read the whole tree, with as little YAML as the last load of this state
    /// permits. The time `read_at_ns` is before the load, in nanoseconds since 1970.
    pub(crate) fn loaded_tree_of(&self, open: &StateHandle, read_at_ns: i64) -> Loader {
        let mut loader = self.new_loader();
        let Some(parsed) = ParsedFiles::of(self, &open.identity.digest_key()) else {
            loader.load_all();
            return loader;
        };
        parsed.preload(&mut loader);
        loader.load_all();
        if !loader.is_as_preloaded() {
            parsed.store(&loader.parsed_files(read_at_ns));
        }
        loader
    }
}

impl Seal {
    /// Returns the nonce of a part: no two parts of a file, and no two files, share one.
    fn nonce_of(&self, number: u64) -> [u8; 24] {
        let mut nonce = self.nonce;
        for (byte, part) in nonce.iter_mut().rev().zip(number.to_le_bytes()) {
            *byte ^= part;
        }
        nonce
    }
}

/// Reads some sealed parts, each with its number; none at the end of the file.
fn next_parts(file: &mut impl Read, number: &mut u64) -> io::Result<Vec<(u64, Vec<u8>)>> {
    let mut parts = Vec::new();
    while parts.len() < PARTS_AT_ONCE {
        let mut length = [0; 4];
        match file.read_exact(&mut length) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            other => other?,
        }
        let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
        if length > PART_BYTES_MAX {
            return Err(io::Error::other("a part is too long"));
        }
        let mut part = vec![0; length];
        file.read_exact(&mut part)?;
        parts.push((*number, part));
        *number = number.saturating_add(1);
    }
    Ok(parts)
}

/// Returns a digest of the program, of the folders, and of the settings that decide what specs mean.
fn binding_of(setup: &Context) -> [u8; 32] {
    let mut hash = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        hash.update(&u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes()).update(bytes);
    };
    part(VERSION.as_bytes());
    // Two builds of one version may read a document in two ways.
    let program = std::env::current_exe().and_then(fs::metadata);
    let program = program.and_then(|program| Ok((program.len(), program.modified()?)));
    part(format!("{:?}", program.ok()).as_bytes());
    for folder in setup.specs.paths() {
        part(folder.as_os_str().as_encoded_bytes());
    }
    part(setup.specs.prefix("").as_bytes());
    part(format!("{:?}", setup.check).as_bytes());
    *hash.finalize().as_bytes()
}
