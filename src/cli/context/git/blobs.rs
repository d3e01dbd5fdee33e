//! Reads the contents of git's objects, many at a time.

use super::program::{Git, GitError};

/// Blobs that one git process reads, at most.
const BLOBS: usize = 1024;

/// Reads these blobs, each once, and passes their bytes to `take`; `None` for an id that names no
/// blob here.
///
/// # Errors
/// Git cannot be run, or its answer is no list of objects.
pub(crate) fn for_each<'a>(
    git: &Git,
    ids: &[&'a str],
    take: &mut dyn FnMut(&'a str, Option<&[u8]>),
) -> Result<(), GitError> {
    for some in ids.chunks(BLOBS) {
        let input: String = some.iter().flat_map(|id| [*id, "\n"]).collect();
        let said = git.output(&["cat-file", "--batch"], input.as_bytes())?;
        let mut rest = &*said;
        for id in some {
            let (bytes, after) = content(rest).unwrap_or((None, &[]));
            take(id, bytes);
            rest = after;
        }
    }
    Ok(())
}

/// Returns true for the id that git writes where there is no file, all zeros.
pub(crate) fn is_absent_id(id: &str) -> bool {
    id.bytes().all(|byte| byte == b'0')
}

/// Splits off the first answer of `cat-file --batch`: `ID blob SIZE`, the bytes, the end of a line.
fn content(said: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let end = said.iter().position(|byte| *byte == b'\n')?;
    let about = std::str::from_utf8(said.get(..end)?).ok()?;
    let rest = said.get(end.saturating_add(1)..)?;
    let Some(size) = about.split_once(" blob ").and_then(|(_, size)| size.parse::<usize>().ok())
    else {
        return Some((None, rest));
    };
    Some((Some(rest.get(..size)?), rest.get(size.saturating_add(1)..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_to_their_size() {
        let (first, rest) = content(b"aa blob 3\na\nb\nbb missing\n").unwrap();
        assert_eq!(first, Some(&b"a\nb"[..]));
        assert_eq!(content(rest), Some((None, &b""[..])));
    }
}
