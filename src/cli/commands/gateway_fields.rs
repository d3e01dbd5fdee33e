//! Fields of a `gateway` command that need more than its arguments: settings as NAME=VALUE, files and
//! tokens read on this machine, and defaults.

use std::io;
use std::io::Read;
use std::path::Path;

use data_encoding::BASE64;
use serde_json::{Map, Value};

use crate::api::invoice::FILE_BYTES_MAX;
use crate::base::folder::open_file;
use crate::base::wording;
use crate::cli::args::gateway_actions::GatewayChange;
use crate::cli::args::gateway_fields::{AccountTypeArg, Deletable, TokenArgs};
use crate::cli::exit::{CommandFailure, CommandResult};
use crate::effects::core::context::set_field;
use crate::effects::merchants::settings::{
    BANK_SETTINGS, CARD_SETTINGS, MERCHANT_SETTINGS, METHOD_TEXTS, RECURRING_SETTINGS,
    RemoteSetting,
};

/// The longest signature that is read, in bytes (service-facts, 31).
const SIGNATURE_BYTES_MAX: u64 = 8192;

/// Adds the fields that need more than their arguments: settings, files, tokens and defaults.
pub(crate) fn complete_fields(command: &GatewayChange, fields: &mut Value) -> CommandResult<()> {
    match command {
        GatewayChange::Credit(_) => set_field(fields, "hold", false),
        GatewayChange::Capture(args) => set_field(fields, "next_run", args.next_run),
        GatewayChange::Sign(args) => set_field(fields, "data", read_strokes(&args.data)?),
        GatewayChange::Merchant(args) => {
            set_field(fields, "set", parse_settings(&args.set, &MERCHANT_SETTINGS)?);
        }
        GatewayChange::Account(args) => {
            let settings: &[RemoteSetting] = match args.kind {
                AccountTypeArg::Card => &CARD_SETTINGS,
                AccountTypeArg::Bank => &BANK_SETTINGS,
            };
            set_field(fields, "set", parse_settings(&args.set, settings)?);
        }
        GatewayChange::Change(args) => {
            let settings: &[RemoteSetting] = match args.kind {
                Deletable::Card | Deletable::Bank => &METHOD_TEXTS,
                Deletable::Recurring => &RECURRING_SETTINGS,
            };
            set_field(fields, "set", parse_settings(&args.set, settings)?);
        }
        // Everything, which the command shows before a person agrees.
        GatewayChange::Purge(args) if !args.transactions && !args.methods => {
            set_field(fields, "transactions", true);
            set_field(fields, "methods", true);
        }
        GatewayChange::Save(args) => {
            set_field(fields, "token", token(&args.token, &mut io::stdin())?);
            set_field(fields, "description", args.description.clone());
        }
        GatewayChange::Upload(args) => {
            let name = args.file.file_name().map(|name| name.to_string_lossy().into_owned());
            set_field(fields, "file_name", args.file_name.clone().or(name).unwrap_or_default());
            set_field(fields, "content", BASE64.encode(&bytes(&args.file)?));
        }
        GatewayChange::Vault(args) => {
            set_field(fields, "token", token(&args.token, &mut io::stdin())?);
        }
        GatewayChange::Charge(_)
        | GatewayChange::Refund(_)
        | GatewayChange::Void(_)
        | GatewayChange::Pay(_)
        | GatewayChange::Ignore(_)
        | GatewayChange::Cancel(_)
        | GatewayChange::Delete(_)
        | GatewayChange::Deauthorise(_)
        | GatewayChange::Purge(_)
        | GatewayChange::Schedule(_) => {}
    }
    Ok(())
}

fn read_strokes(path: &Path) -> CommandResult<String> {
    let failed = |error: io::Error| {
        CommandFailure::input("reckon::gateway::data", format!("read {}: {error}", path.display()))
    };
    let mut text = String::new();
    let limit = SIGNATURE_BYTES_MAX.saturating_add(1);
    if path == Path::new("-") {
        io::stdin().take(limit).read_to_string(&mut text).map_err(failed)?;
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
fn parse_settings(
    given: &[String],
    settings: &[RemoteSetting],
) -> CommandResult<Map<String, Value>> {
    let (mut set, mut wrong) = (Map::new(), Vec::new());
    for pair in given {
        match parse_setting(pair, settings) {
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

// `gateway upload`, `gateway vault` and `gateway save`: reads files and one-time tokens on this
// machine.

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
fn token(args: &TokenArgs, input: &mut impl Read) -> CommandResult<String> {
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
    use serde_json::json;

    use super::*;

    fn check(given: &[&str], settings: &[RemoteSetting]) -> Result<Value, String> {
        let given: Vec<String> = given.iter().map(|one| (*one).to_owned()).collect();
        parse_settings(&given, settings).map(Value::Object).map_err(|failure| failure.message)
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
