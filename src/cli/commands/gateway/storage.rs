//! `gateway upload`, `gateway vault` and `gateway save`: reads files and one-time tokens on this
//! machine.

use std::io::{self, Read};
use std::path::Path;

use data_encoding::BASE64;
use serde_json::{Value, json};

use crate::api::file::FILE_BYTES_MAX;
use crate::base::folder::open_file;
use crate::cli::args::gateway::storage::{SaveArgs, TokenArgs, UploadArgs, VaultArgs};
use crate::cli::output::exit::CommandFailure;

/// The longest token that is read, in bytes.
const TOKEN_BYTES_MAX: u64 = 1024;

/// Returns the fields of an upload, with the bytes of the file.
pub(crate) fn upload(args: &UploadArgs) -> Result<Value, CommandFailure> {
    let name = args.file.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = args.file_name.clone().or(name).unwrap_or_default();
    let content = BASE64.encode(&bytes(&args.file)?);
    Ok(json!({"contact": args.contact, "file_name": name, "content": content}))
}

/// Returns the fields of a method for a contact's vault.
pub(crate) fn vault(args: &VaultArgs) -> Result<Value, CommandFailure> {
    let token = token(&args.token, &mut io::stdin())?;
    Ok(json!({"contact": args.contact, "type": args.kind.word(), "token": token}))
}

/// Returns the fields of a method to save.
pub(crate) fn save(args: &SaveArgs) -> Result<Value, CommandFailure> {
    let token = token(&args.token, &mut io::stdin())?;
    Ok(json!({"type": args.kind.word(), "token": token, "description": args.description}))
}

fn bytes(path: &Path) -> Result<Vec<u8>, CommandFailure> {
    let failed = |why: String| {
        CommandFailure::input("reckon::gateway::file", format!("{}: {why}", path.display()))
    };
    let file = open_file(path).map_err(|error| failed(format!("cannot be read: {error}")))?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| failed(format!("cannot be read: {error}")))?;
    if bytes.is_empty() || u64::try_from(bytes.len()).unwrap_or(u64::MAX) > FILE_BYTES_MAX {
        let most = FILE_BYTES_MAX >> 20;
        let size = if bytes.is_empty() { "is empty" } else { "is too large" };
        let failure = failed(format!("the file {size}"));
        return Err(
            failure.help(format!("upload a file of at least 1 byte and at most {most} MiB"))
        );
    }
    Ok(bytes)
}

/// Returns the given token, or the one on standard input. No error contains it.
fn token(args: &TokenArgs, input: &mut impl Read) -> Result<String, CommandFailure> {
    if args.token != "-" {
        return Ok(args.token.clone());
    }
    let failed = |why: &str| {
        let failure = CommandFailure::input("reckon::gateway::token", format!("--token -: {why}"));
        failure.help("write only the token to standard input")
    };
    let mut text = String::new();
    input
        .take(TOKEN_BYTES_MAX.saturating_add(1))
        .read_to_string(&mut text)
        .map_err(|_| failed("standard input is not valid UTF-8"))?;
    match text.trim() {
        "" => Err(failed("standard input is empty")),
        _ if u64::try_from(text.len()).unwrap_or(u64::MAX) > TOKEN_BYTES_MAX => {
            Err(failed("standard input is too long for a token"))
        }
        token => Ok(token.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(given: &str, input: &str) -> Result<String, String> {
        let args = TokenArgs { token: given.to_owned() };
        token(&args, &mut input.as_bytes()).map_err(|failure| failure.message)
    }

    #[test]
    fn a_token_is_the_argument_or_what_stands_on_the_input() {
        assert_eq!(read("given", "other"), Ok("given".to_owned()));
        assert_eq!(read("-", " from-a-pipe\n"), Ok("from-a-pipe".to_owned()));
        assert_eq!(read("-", "\n"), Err("--token -: standard input is empty".to_owned()));
        let long = read("-", &"x".repeat(2_000)).unwrap_err();
        assert_eq!(long, "--token -: standard input is too long for a token");
        assert!(!format!("{:?}", TokenArgs { token: "canary".to_owned() }).contains("canary"));
    }

    #[test]
    fn a_file_that_no_service_takes_is_told_before_anything_is_asked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("letter.pdf");
        let told = |path: &Path| bytes(path).map(|bytes| bytes.len()).map_err(|one| one.message);
        assert!(told(&path).unwrap_err().contains("cannot be read"));
        std::fs::write(&path, b"").unwrap();
        assert!(told(&path).unwrap_err().ends_with("the file is empty"));
        std::fs::write(&path, b"Dear Jane").unwrap();
        assert_eq!(told(&path), Ok(9));
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(FILE_BYTES_MAX + 1).unwrap();
        assert!(told(&path).unwrap_err().ends_with("the file is too large"));
    }
}
