//! `gateway`: a person changes the service where no document describes the change. The action is
//! journaled, named and settled like any effect.

use std::io;

use serde_json::Value;

use crate::api::reads::{READS, ReadEndpoint};
use crate::base::id::Key;
use crate::base::wording::{count_verb, nearest};
use crate::cli::args::gateway_actions::{GatewayChange, GatewayCommand, GatewayGetArgs};
use crate::cli::commands::gateway_fields::complete_fields;
use crate::cli::context::open::Context;
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::control::requests::{Act, ServiceRead};
use crate::engine::protocol::actions::{ActionReport, ActionStatus};
use crate::model::effect::{Action, RemoteGet};
use crate::render;

pub(crate) async fn run(setup: &Context, command: &GatewayCommand) -> CommandResult {
    match command {
        GatewayCommand::Change(change) => act(setup, change).await,
        GatewayCommand::Get(args) => get(setup, args).await,
    }
}

async fn act(setup: &Context, change: &GatewayChange) -> CommandResult {
    let action = action(change)?;
    let refusal =
        ("reckon::gateway::unconfirmed", "review the action, then repeat the command with --yes");
    let shown = || render::actions::action_request(&action);
    if !setup.out.agree(change.common.yes, shown, refusal, "Do it?")? {
        setup.out.note("nothing was done");
        return Ok(Exit::Done);
    }
    let acted = setup.send(Act(action)).await?;
    if acted.status == ActionStatus::Invalid {
        return Err(CommandFailure::input("reckon::gateway::invalid", acted.message));
    }
    setup.out.result(&acted, || render::actions::action_result(&acted))?;
    Ok(exit(&acted))
}

fn exit(acted: &ActionReport) -> Exit {
    match acted.status {
        ActionStatus::Done => Exit::Done,
        ActionStatus::Refused
        | ActionStatus::OnHold
        | ActionStatus::InDoubt
        | ActionStatus::Blocked => Exit::NeedsAttention,
        ActionStatus::NotSent => Exit::Environment,
        ActionStatus::Invalid => Exit::Input,
    }
}

/// Returns the action of a command.
fn action(change: &GatewayChange) -> CommandResult<Action> {
    let GatewayChange { row, fields: _, input: _, common } = change;
    let fields = complete_fields(change, &mut io::stdin())?;
    let merchant = merchant(&common.merchant)?;
    Ok(Action { verb: row.verb.to_owned(), merchant, name: common.name.clone(), fields })
}

/// Parses the key of a merchant that is named without its kind.
pub(crate) fn merchant(text: &str) -> CommandResult<Key> {
    format!("Merchant/{text}").parse().map_err(|error| {
        let failure =
            CommandFailure::input("reckon::gateway::merchant", format!("--merchant: {error}"));
        failure.help("write the name of the merchant's document, such as --merchant acme")
    })
}

// `gateway get`: the service's own answer to a read.

pub(crate) async fn get(setup: &Context, args: &GatewayGetArgs) -> CommandResult {
    let Some(name) = &args.read else {
        setup.out.text(&list_reads())?;
        return Ok(Exit::Done);
    };
    let showing = parse_read(name, args)?;
    let shown = setup.send(ServiceRead(showing)).await?;
    let body = shown.map_err(|why| CommandFailure::environment("reckon::gateway::get", why))?;
    setup.out.verbatim().finish(&body, || render::json(&body))
}

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
fn parse_read(name: &str, args: &GatewayGetArgs) -> CommandResult<RemoteGet> {
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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::args::options::{Cli, CliCommand};

    fn fields(arguments: &str) -> String {
        let words: Vec<String> = arguments.split(' ').map(|word| word.replace('_', " ")).collect();
        let begin = ["reckon", "gateway"].map(str::to_owned);
        let end = ["--merchant", "acme"].map(str::to_owned);
        let cli = Cli::try_parse_from(begin.into_iter().chain(words).chain(end)).unwrap();
        let CliCommand::Gateway(GatewayCommand::Change(change)) = &cli.command else { panic!() };
        let action = action(change).unwrap();
        let names: Vec<&String> = action.fields.as_object().unwrap().keys().collect();
        let mut declared = change.row.fields.to_vec();
        declared.retain(|name| names.iter().any(|one| one == name));
        assert_eq!(names, declared, "{}", action.verb);
        format!("{} {}", action.verb, action.fields)
    }

    #[test]
    fn debug_of_a_command_shows_no_token() {
        let words =
            ["reckon", "gateway", "save", "card", "--merchant", "acme", "--token", "canary"];
        let cli = Cli::try_parse_from(words).unwrap();
        assert!(!format!("{:?}", cli.command).contains("canary"));
    }

    #[test]
    fn fields_have_a_fixed_form_and_order() {
        for (arguments, expect) in [
            (
                "charge --amount 1.00_USD --method m",
                r#"charge {"amount":{"minor":100,"currency":"USD"},"method":"m","account":null,"reference":null,"hold":false}"#,
            ),
            (
                "credit --amount 1.00_USD --method m",
                r#"credit {"amount":{"minor":100,"currency":"USD"},"method":"m","account":null,"reference":null,"hold":false}"#,
            ),
            (
                "refund c --amount 1.00_USD",
                r#"refund {"charge":"c","amount":{"minor":100,"currency":"USD"}}"#,
            ),
            ("void t", r#"void {"transaction":"t","reference":null}"#),
            (
                "capture c --amount 1.00_USD",
                r#"capture {"charge":"c","amount":{"minor":100,"currency":"USD"},"reference":null,"next_run":false}"#,
            ),
            (
                "pay r o --amount 1.00_USD",
                r#"pay {"recurring":"r","occurrence":"o","amount":{"minor":100,"currency":"USD"}}"#,
            ),
            ("ignore r o", r#"ignore {"recurring":"r","occurrence":"o"}"#),
            ("cancel r", r#"cancel {"recurring":"r"}"#),
            ("delete card x", r#"delete {"type":"card","id":"x"}"#),
            ("deauthorise", "deauthorise {}"),
            ("merchant --set city=Salem", r#"merchant {"set":{"city":"Salem"}}"#),
            (
                "account a --type bank --set name=n",
                r#"account {"account":"a","type":"bank","set":{"name":"n"}}"#,
            ),
            (
                "change card x --set description=d",
                r#"change {"type":"card","id":"x","set":{"description":"d"}}"#,
            ),
            ("purge", r#"purge {"transactions":true,"methods":true}"#),
            ("purge --methods", r#"purge {"transactions":false,"methods":true}"#),
            (
                "schedule c --amount 1.00_USD --start 2030-01-02 --every month",
                r#"schedule {"charge":"c","amount":{"minor":100,"currency":"USD"},"start":"2030-01-02","interval_unit":"MONTH","interval_delay":1,"end":null,"days":[]}"#,
            ),
            ("save card --token t", r#"save {"type":"card","token":"t","description":null}"#),
            ("vault c --type card --token t", r#"vault {"contact":"c","type":"card","token":"t"}"#),
        ] {
            assert_eq!(fields(arguments), expect);
        }
    }
}
