//! Field of a `gateway` command that it reads on its own machine: settings as NAME=VALUE, a file, the
//! strokes of a signature, or a one-time token.

use std::borrow::Cow;
use std::io;
use std::io::Read;
use std::path::Path;

use data_encoding::BASE64;
use serde_json::{Map, Value};

use crate::api::invoice::FILE_BYTES_MAX;
use crate::base::folder::open_file;
use crate::base::wording;
use crate::cli::args::gateway_actions::GatewayChange;
use crate::cli::exit::{CommandFailure, CommandResult};
use crate::effects::actions::{FieldInput, InputForm};
use crate::effects::core::context::set_field;
use crate::effects::merchants::settings::RemoteSetting;

/// The longest signature that is read, in bytes (service-facts, 31).
const SIGNATURE_BYTES_MAX: u64 = 8192;

/// Returns the fields of an action with the one that the command reads on this machine.
pub(crate) fn complete_fields(
    change: &GatewayChange,
    stdin: &mut impl Read,
) -> CommandResult<Value> {
    let mut fields = change.fields.clone();
    let Some(FieldInput { field, form, help: _ }) = change.row.input else { return Ok(fields) };
    let texts = || change.input.iter().map(|text| text.to_string_lossy());
    let first = change.input.first().map_or(Path::new(""), Path::new);
    let value = match form {
        InputForm::Settings(settings) => Value::Object(parse_settings(texts(), settings(&fields))?),
        InputForm::Strokes => Value::String(read_strokes(first, stdin)?),
        InputForm::Token => Value::String(token(&first.to_string_lossy(), stdin)?),
        InputForm::File => {
            if fields.get("file_name").is_none_or(Value::is_null) {
                let name = first.file_name().unwrap_or_default().to_string_lossy();
                set_field(&mut fields, "file_name", name);
            }
            Value::String(BASE64.encode(&bytes(first)?))
        }
    };
    set_field(&mut fields, field, value);
    Ok(fields)
}

fn read_strokes(path: &Path, stdin: &mut impl Read) -> CommandResult<String> {
    let failed = |error: io::Error| {
        CommandFailure::input("reckon::gateway::data", format!("read {}: {error}", path.display()))
    };
    let mut text = String::new();
    let limit = SIGNATURE_BYTES_MAX.saturating_add(1);
    if path == Path::new("-") {
        stdin.take(limit).read_to_string(&mut text).map_err(failed)?;
    } else {
        let file = open_file(path).map_err(|error| failed(io::Error::other(error)))?;
        file.take(limit).read_to_string(&mut text).map_err(failed)?;
    }
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > SIGNATURE_BYTES_MAX {
        let message = format!("{} holds more than {SIGNATURE_BYTES_MAX} bytes", path.display());
        return Err(CommandFailure::input("reckon::gateway::data", message));
    }
    Ok(text.trim_end().to_owned())
}

/// Parses all settings.
///
/// # Errors
/// One failure lists everything that is wrong.
fn parse_settings<'a>(
    given: impl Iterator<Item = Cow<'a, str>>,
    settings: &[RemoteSetting],
) -> CommandResult<Map<String, Value>> {
    let (mut set, mut wrong) = (Map::new(), Vec::new());
    for pair in given {
        match parse_setting(&pair, settings) {
            Ok((name, _)) if set.contains_key(name) => wrong.push(format!("`{name}` is set twice")),
            Ok((name, value)) => drop(set.insert(name.to_owned(), value)),
            Err(why) => wrong.push(why),
        }
    }
    if wrong.is_empty() {
        return Ok(set);
    }
    let names: Vec<&str> = settings.iter().map(|setting| setting.name).collect();
    let failure =
        CommandFailure::input("reckon::gateway::set", format!("--set: {}", wrong.join("; ")));
    Err(failure.help(format!("write NAME=VALUE with one of these names: {}", names.join(", "))))
}

/// Parses one setting.
///
/// # Errors
/// The message never contains the value.
fn parse_setting<'a>(
    pair: &'a str,
    settings: &[RemoteSetting],
) -> Result<(&'a str, Value), String> {
    let (name, text) = pair.split_once('=').map_or((pair, None), |(name, text)| (name, Some(text)));
    let Some(setting) = settings.iter().find(|setting| setting.name == name) else {
        let meant = wording::nearest(name, settings.iter().map(|setting| setting.name));
        let meant = meant.map(|meant| format!(" (did you mean `{meant}`?)")).unwrap_or_default();
        return Err(format!("there is no `{name}`{meant}"));
    };
    let text = text.ok_or_else(|| format!("`{name}` has no value"))?;
    Ok((name, setting.value(text)?))
}

const TOKEN_BYTES_MAX: u64 = 1024;

fn bytes(path: &Path) -> CommandResult<Vec<u8>> {
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
fn token(given: &str, stdin: &mut impl Read) -> CommandResult<String> {
    if given != "-" {
        return Ok(given.to_owned());
    }
    let failed = |why: &str| {
        let failure = CommandFailure::input("reckon::gateway::token", format!("--token -: {why}"));
        failure.help("write only the token to standard input")
    };
    let mut text = String::new();
    stdin
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
    use serde_json::json;

    use super::*;
    use crate::effects::merchants::settings::{
        BANK_SETTINGS, CARD_SETTINGS, MERCHANT_SETTINGS, RECURRING_SETTINGS,
    };

    fn check(given: &[&str], settings: &[RemoteSetting]) -> Result<Value, String> {
        parse_settings(given.iter().map(|one| Cow::Borrowed(*one)), settings)
            .map(Value::Object)
            .map_err(|failure| failure.message)
    }

    #[test]
    fn values_are_texts_but_for_a_flag_and_may_hold_anything() {
        let set = check(&["name=a=b", "primary=true", "accepted_card_types="], &CARD_SETTINGS);
        assert_eq!(set, Ok(json!({"name": "a=b", "primary": true, "accepted_card_types": ""})));
    }

    #[test]
    fn everything_that_is_wrong_is_told_in_one_run_and_no_value_shows() {
        let given = ["citty=Salem", "state", "country=US", "country=CA", "zzz=1234"];
        let told = check(&given, &MERCHANT_SETTINGS).unwrap_err();
        assert_eq!(
            told,
            "--set: there is no `citty` (did you mean `city`?); `state` has no value; `country` is set twice; there is no \
             `zzz`"
        );
        let set = check(&["amount=25.00 USD", "max_occurrences=3"], &RECURRING_SETTINGS);
        let amount = json!({"minor": 2500, "currency": "USD"});
        assert_eq!(set, Ok(json!({"amount": amount, "max_occurrences": 3})));
        let told = check(&["primary=yes", "cvv_policy=DISABLED"], &BANK_SETTINGS).unwrap_err();
        assert_eq!(told, "--set: `primary` is true or false; there is no `cvv_policy`");
    }
}

#[cfg(test)]
mod gateway_storage_tests {
    use super::*;

    fn read(given: &str, input: &str) -> Result<String, String> {
        token(given, &mut input.as_bytes()).map_err(|failure| failure.message)
    }

    #[test]
    fn a_token_is_the_argument_or_what_stands_on_the_input() {
        assert_eq!(read("given", "other"), Ok("given".to_owned()));
        assert_eq!(read("-", " from-a-pipe\n"), Ok("from-a-pipe".to_owned()));
        assert_eq!(read("-", "\n"), Err("--token -: standard input is empty".to_owned()));
        let long = read("-", &"x".repeat(2_000)).unwrap_err();
        assert_eq!(long, "--token -: standard input is too long for a token");
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
