//! `gateway`: a person changes the service where no document describes the change. The action is
//! journaled, named and settled like any effect.

use std::io::Read;
use std::path::Path;

use serde_json::{Value, json};

use super::get;
use super::merchant_data::{account, change, merchant_set, purge, schedule};
use super::storage::{save, upload, vault};
use crate::base::folder::open_file;
use crate::base::id::Key;
use crate::cli::args::gateway::options::{
    ActionArgs, ChargeArgs, GatewayChange, GatewayCommand, MoveArgs, RefundArgs,
};
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::output::exit::{CommandFailure, Exit};
use crate::cli::output::print::Printer;
use crate::control::protocol::ControlRequest;
use crate::effects::actions::table::{
    ACCOUNT, CHANGE, DEAUTHORISE, DELETE, MERCHANT, PURGE, SAVE, SCHEDULE, UPLOAD, VAULT,
};
use crate::effects::core::context::put;
use crate::engine::commands::action_view::{ActionReport, ActionStatus};
use crate::engine::queries::protocol::Reply;
use crate::model::operator::action::Action;
use crate::render;

/// The longest signature that is read, in bytes (service-facts, 31).
const SIGNATURE_BYTES_MAX: u64 = 8192;

/// Runs the command.
pub(crate) async fn run(
    setup: &Context,
    command: &GatewayCommand,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    match command {
        GatewayCommand::Change(change) => act(setup, change, out).await,
        GatewayCommand::Get(args) => get::run(setup, args, out).await,
    }
}

async fn act(
    setup: &Context,
    command: &GatewayChange,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    let action = action(command)?;
    if !confirm(&action, common(command).yes, out)? {
        out.note("nothing was done");
        return Ok(Exit::Done);
    }
    let session = StateSession::open(setup).await?;
    let Reply::Action(acted) =
        session.run_once(setup, ControlRequest::Act(Box::new(action))).await?
    else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected the result of an \
            action",
        ));
    };
    if acted.status == ActionStatus::Invalid {
        return Err(CommandFailure::input("reckon::gateway::invalid", acted.message));
    }
    out.result(&acted, || render::action_result(&acted))?;
    Ok(exit(&acted))
}

/// Returns the exit code of an action's status.
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

/// Shows the action and asks for agreement, unless `--yes` is set. Without a terminal `--yes` is
/// required.
fn confirm(action: &Action, yes: bool, out: Printer) -> Result<bool, CommandFailure> {
    if yes {
        return Ok(true);
    }
    out.note(&render::action_request(action));
    if !out.interactive {
        let failure = CommandFailure::input(
            "reckon::gateway::unconfirmed",
            "not confirmed: no terminal to ask at",
        );
        return Err(failure.help("review the action, then repeat the command with --yes"));
    }
    out.confirm("Do it?")
}

fn common(command: &GatewayChange) -> &ActionArgs {
    match command {
        GatewayChange::Charge(args) => &args.movement.common,
        GatewayChange::Credit(args) => &args.common,
        GatewayChange::Refund(args) => &args.common,
        GatewayChange::Void(args) => &args.common,
        GatewayChange::Capture(args) => &args.common,
        GatewayChange::Sign(args) => &args.common,
        GatewayChange::Pay(args) => &args.common,
        GatewayChange::Ignore(args) => &args.common,
        GatewayChange::Cancel(args) => &args.common,
        GatewayChange::Delete(args) => &args.common,
        GatewayChange::Deauthorise(args) => &args.common,
        GatewayChange::Merchant(args) => &args.common,
        GatewayChange::Account(args) => &args.common,
        GatewayChange::Purge(args) => &args.common,
        GatewayChange::Change(args) => &args.common,
        GatewayChange::Schedule(args) => &args.common,
        GatewayChange::Save(args) => &args.common,
        GatewayChange::Upload(args) => &args.common,
        GatewayChange::Vault(args) => &args.common,
    }
}

/// Returns the action of a command.
fn action(command: &GatewayChange) -> Result<Action, CommandFailure> {
    let (verb, fields) = match command {
        GatewayChange::Charge(args) => ("charge", charge(args)),
        GatewayChange::Credit(args) => ("credit", movement(args, false)),
        GatewayChange::Refund(args) => ("refund", refund(args)),
        GatewayChange::Void(args) => {
            ("void", json!({"transaction": args.transaction, "reference": args.reference}))
        }
        GatewayChange::Capture(args) => (
            "capture",
            json!({"charge": args.charge, "amount": args.amount, "reference": args.reference,
                "next_run": args.next_run}),
        ),
        GatewayChange::Sign(args) => (
            "sign",
            json!({"transaction": args.transaction, "mime_type": args.mime_type,
                "data": read_strokes(&args.data)?}),
        ),
        GatewayChange::Pay(args) => (
            "pay",
            json!({"recurring": args.recurring, "occurrence": args.occurrence,
                "amount": args.amount}),
        ),
        GatewayChange::Ignore(args) => {
            ("ignore", json!({"recurring": args.recurring, "occurrence": args.occurrence}))
        }
        GatewayChange::Cancel(args) => ("cancel", json!({"recurring": args.recurring})),
        GatewayChange::Delete(args) => (DELETE, json!({"type": args.kind.word(), "id": args.id})),
        GatewayChange::Deauthorise(_) => (DEAUTHORISE, json!({})),
        GatewayChange::Merchant(args) => (MERCHANT, merchant_set(args)?),
        GatewayChange::Account(args) => (ACCOUNT, account(args)?),
        GatewayChange::Purge(args) => (PURGE, purge(args)),
        GatewayChange::Change(args) => (CHANGE, change(args)?),
        GatewayChange::Schedule(args) => (SCHEDULE, schedule(args)),
        GatewayChange::Save(args) => (SAVE, save(args)?),
        GatewayChange::Upload(args) => (UPLOAD, upload(args)?),
        GatewayChange::Vault(args) => (VAULT, vault(args)?),
    };
    let common = common(command);
    let merchant = merchant(&common.merchant)?;
    Ok(Action { verb: verb.to_owned(), merchant, name: common.name.clone(), fields })
}

/// Returns the fields of a charge. An absent option is no field, so that the name derived from the
/// fields stays the same.
fn charge(args: &ChargeArgs) -> Value {
    let mut fields = movement(&args.movement, args.hold);
    if let Some(surcharge) = args.surcharge {
        put(&mut fields, "surcharge", json!(surcharge));
    }
    fields
}

/// Returns the fields of a refund, in which an absent option is no field either.
fn refund(args: &RefundArgs) -> Value {
    let mut fields = json!({"charge": args.charge, "amount": args.amount});
    if let Some(method) = &args.method {
        put(&mut fields, "method", json!(method));
    }
    fields
}

fn movement(args: &MoveArgs, hold: bool) -> Value {
    json!({"amount": args.amount, "method": args.method, "account": args.account,
        "reference": args.reference, "hold": hold})
}

/// Parses the key of a merchant that is named without its kind.
pub(crate) fn merchant(text: &str) -> Result<Key, CommandFailure> {
    format!("Merchant/{text}").parse().map_err(|error| {
        let failure =
            CommandFailure::input("reckon::gateway::merchant", format!("--merchant: {error}"));
        failure.help("write the name of the merchant's document, such as --merchant acme")
    })
}

/// Reads a signature's strokes, from a file or standard input.
fn read_strokes(path: &Path) -> Result<String, CommandFailure> {
    let failed = |error: std::io::Error| {
        CommandFailure::input("reckon::gateway::data", format!("read {}: {error}", path.display()))
    };
    let mut text = String::new();
    let limit = SIGNATURE_BYTES_MAX.saturating_add(1);
    if path == Path::new("-") {
        std::io::stdin().take(limit).read_to_string(&mut text).map_err(failed)?;
    } else {
        let file = open_file(path).map_err(|error| failed(std::io::Error::other(error)))?;
        file.take(limit).read_to_string(&mut text).map_err(failed)?;
    }
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > SIGNATURE_BYTES_MAX {
        let message = format!("{} holds more than {SIGNATURE_BYTES_MAX} bytes", path.display());
        return Err(CommandFailure::input("reckon::gateway::data", message));
    }
    Ok(text.trim_end().to_owned())
}
