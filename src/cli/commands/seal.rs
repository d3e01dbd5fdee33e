//! `seal`: seals a secret for one field of one document. The value comes from standard input, never
//! from an argument, which other users of the machine could read.

use std::io;
use std::io::{IsTerminal, Read};

use serde::Serialize;
use zeroize::Zeroizing;

use crate::base::secret::Secret;
use crate::base::wording;
use crate::cli::args::options::SealArgs;
use crate::cli::context::open::Context;
use crate::cli::context::secrets::place;
use crate::cli::exit::{CommandFailure, Exit};
use crate::cli::print::Printer;
use crate::kinds::register::KINDS;
use crate::render;
use crate::spec::documents::field_path;

/// Bytes of a value, at most.
const VALUE_BYTES_MAX: u64 = 64 * 1024;

/// Output of `seal -o json`.
#[derive(Debug, Serialize)]
struct SealOutput {
    r#for: String,
    field: String,
    age: String,
}

/// Runs the command.
pub(crate) fn run(setup: &Context, args: &SealArgs, out: Printer) -> Result<Exit, CommandFailure> {
    let field = field(args)?;
    if setup.config.secrets.age.is_none() {
        let what = format!("`secrets.age` is missing in {}", setup.config.file);
        return Err(CommandFailure::input("reckon::config::missing", what).help(
            "create an identity with `age-keygen -o age.key`, keep it out of git, and name it: \
            `secrets: {age: {file: age.key}}`",
        ));
    }
    let broken = |why: String| CommandFailure::environment("reckon::seal::identity", why);
    let keyring = setup.secrets()?.keyring().map_err(broken)?;
    let place = place(&args.key, &field);
    let sealed = keyring.seal(&place, &value(out)?);
    let age = sealed.map_err(|error| CommandFailure::environment("reckon::seal::failed", error))?;
    let sealed = SealOutput { r#for: place, field, age };
    out.result(&sealed, || render::sealed::sealed_yaml(&sealed.r#for, &sealed.field, &sealed.age))?;
    Ok(Exit::Done)
}

/// Returns the path of the named field.
fn field(args: &SealArgs) -> Result<String, CommandFailure> {
    let kind = args.key.kind.as_str();
    let row = KINDS.iter().find(|row| row.name == kind).ok_or_else(|| {
        CommandFailure::input("reckon::usage::kind", format!("there is no kind {kind:?}"))
            .help(wording::suggestion_help(kind, KINDS.iter().map(|row| row.name)))
    })?;
    field_path::secret_place(row.fields, &args.field).map_err(|help| {
        let what = format!("{kind} has no secret field {:?}", args.field);
        CommandFailure::input("reckon::usage::field", what).help(help)
    })
}

/// Reads the value from standard input, without one newline at its end.
fn value(out: Printer) -> Result<Secret, CommandFailure> {
    let stdin = io::stdin().lock();
    if stdin.is_terminal() {
        out.note("type the value (it is shown) and end with Ctrl-D; piping it in is safer");
    }
    let mut bytes = Zeroizing::new(Vec::new());
    let read = stdin.take(VALUE_BYTES_MAX.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| CommandFailure::environment("reckon::seal::input", error))?;
    let wrong = |what: &str| CommandFailure::input("reckon::seal::value", what);
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > VALUE_BYTES_MAX {
        return Err(wrong("the value is longer than 64 KiB"));
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| wrong("the value is not valid UTF-8"))?;
    let text = text.strip_suffix('\n').unwrap_or(text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(wrong("the value is empty").help("pipe it in: `printf %s … | reckon seal …`"));
    }
    Ok(Secret::from(text))
}
