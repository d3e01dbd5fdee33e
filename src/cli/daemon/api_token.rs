//! The daemon's token file, `STATE/api.token`: made at the first start, readable by its owner alone
//! (design.md part 4).

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use data_encoding::HEXLOWER;
use zeroize::Zeroizing;

use crate::cli::output::exit::CommandFailure;
use crate::http::private::tokens::Tokens;

const FILE: &str = "api.token";
/// Random bytes of a generated token.
const TOKEN_BYTES: usize = 32;
/// Bytes that are read of a token file at most.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// Returns the tokens of the file; makes a file with one token if there is none.
///
/// # Errors
/// Others may read the file, or a line of it is no token.
pub(crate) fn tokens(state: &Path) -> Result<Tokens, CommandFailure> {
    let path = state.join(FILE);
    let failed = |why: &dyn std::fmt::Display| {
        let what = format!("read or make {}: {why}", path.display());
        CommandFailure::environment("reckon::state::token", what)
    };
    let text = match text(&path).map_err(|error| failed(&error))? {
        Some(text) => text,
        None => make(&path).map_err(|error| failed(&error))?,
    };
    Tokens::parse(&text).map_err(|error| {
        failed(&error).help(
            "write one token a line, or remove the file: the daemon then makes one with a new \
            token",
        )
    })
}

/// Reads the token file, if there is one.
fn text(path: &Path) -> io::Result<Option<Zeroizing<String>>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        let what = "readable by other users; change its tokens, then `chmod 600` the file";
        return Err(io::Error::other(what));
    }
    let mut text = Zeroizing::new(String::new());
    file.take(FILE_BYTES_MAX).read_to_string(&mut text)?;
    Ok(Some(text))
}

/// Makes a file with one token. This process holds the lock of the state, so no other process makes
/// one.
fn make(path: &Path) -> io::Result<Zeroizing<String>> {
    let mut bytes = Zeroizing::new([0; TOKEN_BYTES]);
    getrandom::fill(bytes.as_mut_slice()).map_err(io::Error::other)?;
    let text = Zeroizing::new(format!("{}\n", HEXLOWER.encode(bytes.as_slice())));
    let fresh = path.with_extension("token.new");
    drop(std::fs::remove_file(&fresh));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&fresh, path)?;
    Ok(text)
}
