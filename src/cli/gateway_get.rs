//! `gateway get`: the service's own answer to a read.

use serde_json::Value;

use super::args::gateway::GatewayGetArgs;
use super::exit::{Exit, Failure};
use super::gateway::merchant;
use super::out::Out;
use super::session::Session;
use super::setup::Setup;
use crate::api::reads::{READS, Read};
use crate::base::counted::verbed;
use crate::base::nearest::nearest;
use crate::control::Request;
use crate::engine::Reply;
use crate::model::showing::Showing;
use crate::render;

/// Runs the command.
pub(super) async fn run(setup: &Setup, args: &GatewayGetArgs, out: Out) -> Result<Exit, Failure> {
    let Some(name) = &args.read else {
        out.text(&all())?;
        return Ok(Exit::Done);
    };
    let showing = showing(name, args)?;
    let session = Session::open(setup).await?;
    let Reply::Shown(shown) = session.done(setup, Request::Show(Box::new(showing))).await? else {
        return Err(Failure::bug("a look was not answered by one"));
    };
    let body = shown.map_err(|why| Failure::environment("reckon::gateway::get", why))?;
    out.result(&body, || render::json(&body))?;
    Ok(Exit::Done)
}

/// Lists every read, with its parameters.
fn all() -> String {
    let width = READS.iter().map(|read| read.name.len()).max().unwrap_or_default();
    let line = |read: &Read| {
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
fn showing(name: &str, args: &GatewayGetArgs) -> Result<Showing, Failure> {
    let read = Read::named(name).ok_or_else(|| unknown(name))?;
    let (query, parameters): (Vec<&String>, Vec<&String>) =
        args.given.iter().partition(|given| given.contains('='));
    let mut wrong = Vec::new();
    let wanted: Vec<String> = read.parameters().map(str::to_uppercase).collect();
    if parameters.len() != wanted.len() {
        let takes = if wanted.is_empty() { "nothing".to_owned() } else { wanted.join(" ") };
        let given = verbed(parameters.len(), "was given", "were given");
        wrong.push(format!("its path takes {takes}, and {given}"));
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
            wrong.push(format!("--body is no JSON: {error}"));
            None
        }
    };
    if body.is_some() && !read.body {
        wrong.push("it takes no body".to_owned());
    }
    if wrong.is_empty() {
        let merchant = merchant(args.merchant.as_deref().ok_or_else(nobody)?)?;
        let parameters = parameters.into_iter().cloned().collect();
        return Ok(Showing { merchant, read: name.to_owned(), parameters, query, body });
    }
    let what = format!("{name}: {}", wrong.join("; "));
    Err(Failure::input("reckon::gateway::get", what)
        .help("`reckon gateway get` lists what each takes"))
}

fn unknown(name: &str) -> Failure {
    let known = nearest(name, READS.iter().map(|read| read.name));
    let help = known.map_or_else(
        || "`reckon gateway get` lists what can be read".to_owned(),
        |known| format!("did you mean `{known}`?"),
    );
    Failure::input("reckon::gateway::get", format!("there is no read called `{name}`")).help(help)
}

fn nobody() -> Failure {
    Failure::input("reckon::gateway::merchant", "nobody is named whose credentials are used")
        .help("write the name of the merchant's document, such as --merchant acme")
}
