//! `attach`: gives a one-time token to a saved method, in place of the payer's page.

use std::io::{self, Read};

use serde_json::json;
use zeroize::Zeroizing;

use crate::base::secret::Secret;
use crate::cli::args::intake::AttachArgs;
use crate::cli::commands::inspect::get::parse_resource;
use crate::cli::context::open::Context;
use crate::cli::context::session::{StateSession, daemon};
use crate::cli::output::exit::{CommandFailure, Exit};
use crate::cli::output::print::Printer;
use crate::control::protocol::ControlRequest;
use crate::engine::commands::attach::AttachToken;
use crate::engine::queries::protocol::Reply;

/// Argument that means standard input.
const STDIN: &str = "-";
/// Bytes that are read of standard input at most; a token is shorter.
const TOKEN_BYTES_MAX: u64 = 4 * 1024;

/// Runs the command.
pub(crate) async fn run(
    setup: &Context,
    args: &AttachArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    let key = parse_resource(&args.what)?;
    let (token, more) = tokens(&args.tokens)?;
    let is_running = daemon(setup).await?.is_some();
    let request = ControlRequest::Attach(AttachToken {
        key: key.clone(),
        token,
        more,
        replace: args.replace,
    });
    let Reply::Attached(attached) =
        StateSession::open(setup).await?.run_once(setup, request).await?
    else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected the result of a \
            token",
        ));
    };
    attached.map_err(|why| {
        let help =
            "check its reason with `reckon get`: it accepts a token while that is AwaitsIntake, and with \
            --replace while it is InSync";
        CommandFailure::input("reckon::attach::refused", why).help(help)
    })?;
    let name = key.short();
    out.result(&json!({"attached": name}), || {
        let place = if args.replace { " in place of the saved details" } else { "" };
        if is_running {
            format!("attached to {name}; the daemon saves it{place}")
        } else {
            format!("attached to {name}; `reckon apply` within five minutes saves it{place}")
        }
    })?;
    Ok(Exit::Done)
}

/// Returns the tokens of the arguments, or the words of standard input. The first one is empty
/// where there is none.
fn tokens(arguments: &[String]) -> Result<(Secret, Vec<Secret>), CommandFailure> {
    let mut all = Vec::new();
    for argument in arguments {
        if argument == STDIN {
            all.extend(read()?);
        } else {
            all.push(Secret::from(argument.as_str()));
        }
    }
    let mut all = all.into_iter();
    Ok((all.next().unwrap_or_else(|| Secret::from("")), all.collect()))
}

/// Reads the tokens from standard input.
fn read() -> Result<Vec<Secret>, CommandFailure> {
    let mut text = Zeroizing::new(String::new());
    let read = io::stdin().lock().take(TOKEN_BYTES_MAX).read_to_string(&mut text);
    read.map_err(|error| {
        CommandFailure::environment("reckon::attach::input", format!("read the token: {error}"))
    })?;
    Ok(text.split_whitespace().map(Secret::from).collect())
}
