//! `gateway get`: the service's own answer to a read.

use serde_json::Value;

use super::actions::merchant;
use crate::api::reads::{READS, ReadEndpoint};
use crate::base::plural::count_verb;
use crate::base::suggestion::nearest;
use crate::cli::args::gateway::options::GatewayGetArgs;
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::output::exit::{CommandFailure, Exit};
use crate::cli::output::print::Printer;
use crate::control::protocol::ControlRequest;
use crate::engine::queries::protocol::Reply;
use crate::model::operator::remote_get::RemoteGet;
use crate::render;

/// Runs the command.
pub(crate) async fn run(
    setup: &Context,
    args: &GatewayGetArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    let Some(name) = &args.read else {
        out.text(&list_reads())?;
        return Ok(Exit::Done);
    };
    let showing = parse_read(name, args)?;
    let session = StateSession::open(setup).await?;
    let Reply::RemoteGet(shown) =
        session.run_once(setup, ControlRequest::RemoteGet(Box::new(showing))).await?
    else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected an answer of the \
            service",
        ));
    };
    let body = shown.map_err(|why| CommandFailure::environment("reckon::gateway::get", why))?;
    out.result(&body, || render::json(&body))?;
    Ok(Exit::Done)
}

/// Lists every read, with its parameters.
fn list_reads() -> String {
    let width = READS.iter().map(|read| read.name.len()).max().unwrap_or_default();
    let line = |read: &ReadEndpoint| {
        let mut takes: Vec<String> = read.parameters().map(str::to_uppercase).collect();
        takes.extend(read.query.iter().map(|one| format!("[{}=…]", one.name)));
        takes.extend(read.body.then(|| "--body JSON".to_owned()));
        format!("{:width$}  {}\n", read.name, takes.join(" "))
    };
    READS.iter().map(line).collect()
}

/// Checks the arguments of a read.
///
/// # Errors
/// The message lists everything that is wrong with them.
fn parse_read(name: &str, args: &GatewayGetArgs) -> Result<RemoteGet, CommandFailure> {
    let read = ReadEndpoint::find(name).ok_or_else(|| unknown(name))?;
    let (query, parameters): (Vec<&String>, Vec<&String>) =
        args.given.iter().partition(|given| given.contains('='));
    let mut wrong = Vec::new();
    let wanted: Vec<String> = read.parameters().map(str::to_uppercase).collect();
    if parameters.len() != wanted.len() {
        let takes = if wanted.is_empty() { "nothing".to_owned() } else { wanted.join(" ") };
        let given = count_verb(parameters.len(), "was given", "were given");
        wrong.push(format!("its path takes {takes}; {given}"));
    }
    let pairs = query.into_iter().filter_map(|pair| pair.split_once('='));
    let query: Vec<(String, String)> =
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    for (given, _) in &query {
        if !read.query.iter().any(|one| one.name == given) {
            wrong.push(format!("it has no parameter `{given}`"));
        }
    }
    let body = match args.body.as_deref().map(serde_json::from_str::<Value>).transpose() {
        Ok(body) => body,
        Err(error) => {
            wrong.push(format!("--body is not valid JSON: {error}"));
            None
        }
    };
    if body.is_some() && !read.body {
        wrong.push("it takes no body".to_owned());
    }
    if wrong.is_empty() {
        let merchant = merchant(args.merchant.as_deref().ok_or_else(no_merchant)?)?;
        let parameters = parameters.into_iter().cloned().collect();
        return Ok(RemoteGet { merchant, read: name.to_owned(), parameters, query, body });
    }
    let what = format!("{name}: {}", wrong.join("; "));
    Err(CommandFailure::input("reckon::gateway::get", what)
        .help("list all reads and their parameters with `reckon gateway get`"))
}

fn unknown(name: &str) -> CommandFailure {
    let known = nearest(name, READS.iter().map(|read| read.name));
    let help = known.map_or_else(
        || "list all reads with `reckon gateway get`".to_owned(),
        |known| format!("did you mean `{known}`?"),
    );
    CommandFailure::input("reckon::gateway::get", format!("there is no read called `{name}`"))
        .help(help)
}

fn no_merchant() -> CommandFailure {
    CommandFailure::input(
        "reckon::gateway::merchant",
        "no merchant named: its credentials are needed",
    )
    .help("write the name of the merchant's document, such as --merchant acme")
}
