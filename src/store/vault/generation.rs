//! The file that holds the values: each compaction of the vault writes another one.
//!
//! The first is `data`, those after it are `data.1`, `data.2` and so on. A name is never used
//! again, so a process that copies a file by its name copies one file, or is refused. A file is
//! complete when it gets its name: the newest counts.

use std::io;

use crate::store::disk::traits::Disk;

/// The first file of values.
pub(crate) const FIRST: &str = "data";
/// The file that a compaction writes, before it gets its name.
pub(crate) const NEXT: &str = "next";

/// Returns the name of a generation's file.
pub(crate) fn name(generation: u64) -> String {
    if generation == 0 { FIRST.to_owned() } else { format!("{FIRST}.{generation}") }
}

/// Parses the generation in a file's name.
fn parse(file: &str) -> Option<u64> {
    if file == FIRST {
        return Some(0);
    }
    let digits = file.strip_prefix(FIRST)?.strip_prefix('.')?;
    let generation = digits.parse().ok().filter(|generation| *generation > 0)?;
    (name(generation) == file).then_some(generation)
}

/// Returns the generation in use: the newest, or the first if no file exists.
pub(crate) fn newest(disk: &dyn Disk) -> io::Result<u64> {
    let files = disk.list()?;
    Ok(files.iter().filter_map(|file| parse(file)).max().unwrap_or(0))
}

/// Removes the files that an earlier compaction left behind beside this generation.
pub(crate) fn tidy(disk: &dyn Disk, generation: u64) -> io::Result<()> {
    let needless =
        |file: &String| file == NEXT || parse(file).is_some_and(|other| other < generation);
    disk.list()?.iter().filter(|file| needless(file)).try_for_each(|file| disk.remove(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_belongs_to_one_generation() {
        for generation in [0, 1, 9, 10] {
            assert_eq!(parse(&name(generation)), Some(generation));
        }
        for other in ["keys", "next", "data.", "data.0", "data.01", "data.+1", "data1", "data.x"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
