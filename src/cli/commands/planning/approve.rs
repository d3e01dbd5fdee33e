//! `approve`: a person's approval or confirmation. It approves a plan (`plan_approval.rs`), or
//! confirms the live merchant that the code of an application opened (design.md part 5). It also
//! confirms a live application of a state that began empty (docs/operations/store.md,
//! "Without a backup"). The confirmation covers just what was shown, and nothing that began to wait since.

use serde_json::json;

use crate::base::id::Key;
use crate::cli::args::options::ApproveArgs;
use crate::cli::commands::get::parse_resource;
use crate::cli::commands::planning::plan_approval;
use crate::cli::commands::planning::plan_approval::confirm_before_state;
use crate::cli::commands::signed::approval;
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::cli::print::Printer;
use crate::control::requests::{Approve, Release};
use crate::engine::protocol::query::{ApprovalsQuery, ResourceQuery};
use crate::model::plan::Reason;
use crate::model::state::credentials::{BindingApproval, LiveBinding};
use crate::model::state::lifecycle::ReleaseRequest;
use crate::render;

pub(crate) async fn run(setup: &Context, args: &ApproveArgs) -> CommandResult {
    if args.signed.signed {
        return approval::show_signed(setup).await;
    }
    if let Some(file) = &args.signed.write {
        return plan_approval::write_file(Some(setup), args, file, setup.out).await;
    }
    if let Some(checksum) = plan_approval::checksum(&args.what)? {
        return plan_approval::run(setup, args, &checksum).await;
    }
    let key = parse_resource(&args.what)?;
    // A live binding never waits in a new state.
    let confirmed = async |draft: &StateSession| match waiting_reason(draft, &key).await? {
        Some(why) => confirm_submission(setup.out, (&key, &why), args.yes),
        None => Err(nothing_waits(&key, &[])),
    };
    let Some(yes) = confirm_before_state(setup, args.yes, confirmed).await? else {
        return Ok(plan_approval::decline(setup));
    };
    let mut session = StateSession::make_bound(setup).await?;
    if let Some(why) = waiting_reason(&session, &key).await? {
        return run_submission(setup, session, (&key, &why), yes).await;
    }
    let approved = approve(&mut session, &key, yes, setup.out).await;
    let is_running = matches!(session, StateSession::Daemon(_));
    let Some(approval) = session.end(setup, approved).await? else {
        return Ok(plan_approval::decline(setup));
    };
    let text = || render::approvals::approval_result(&approval, is_running);
    setup.out.result(&approval, text)?;
    Ok(Exit::Done)
}

/// Finds the waiting binding, shows it, asks, and records the approval. Returns `None` if the
/// person declined.
async fn approve(
    session: &mut StateSession,
    key: &Key,
    yes: bool,
    out: Printer,
) -> CommandResult<Option<BindingApproval>> {
    let waiting = session.ask(ApprovalsQuery).await?;
    let Some(binding) = waiting.iter().find(|binding| binding.merchant == *key) else {
        return Err(nothing_waits(key, &waiting));
    };
    let refusal =
        ("reckon::approve::unconfirmed", "review the binding, then repeat the command with --yes");
    let shown = || render::approvals::live_binding(binding);
    if !out.agree(yes, shown, refusal, "Approve this binding?")? {
        return Ok(None);
    }
    let approved = session.record(Approve(binding.clone())).await?;
    let help = "run `reckon approve` again for the present binding";
    approved.map(Some).ok_or_else(|| no_longer_waits(key).help(help))
}

fn no_longer_waits(key: &Key) -> CommandFailure {
    let message = format!("{} no longer waits for this approval", key.short());
    CommandFailure::input("reckon::approve::changed", message)
}

/// Returns the failure where no approval waits under this name; its help lists those that wait.
fn nothing_waits(key: &Key, waiting: &[LiveBinding]) -> CommandFailure {
    let names: Vec<String> = waiting.iter().map(|binding| binding.merchant.short()).collect();
    let help = match names.as_slice() {
        [] => "list all resources with `reckon get`; none waits for an approval now".to_owned(),
        names => format!("name one that waits: {}", names.join(", ")),
    };
    let message = format!("{} does not wait for an approval", key.short());
    CommandFailure::input("reckon::approve::nothing_waits", message).help(help)
}

// `approve MerchantApplication/NAME`: a person confirms that no lost state submitted a live
// application (docs/operations/store.md, "Without a backup").

/// Returns the reason for which an application waits for an approval, if it waits.
async fn waiting_reason(session: &StateSession, key: &Key) -> CommandResult<Option<String>> {
    let found = session.ask(ResourceQuery(key.clone())).await?;
    let waits = Reason::MaybeSubmitted(Box::new(key.clone())).to_string();
    Ok(found.map(|found| found.message).filter(|message| *message == waits))
}

async fn run_submission(
    setup: &Context,
    mut session: StateSession,
    (key, why): (&Key, &str),
    yes: bool,
) -> CommandResult {
    let approved = match confirm_submission(setup.out, (key, why), yes) {
        Ok(true) => record_submission(&mut session, key).await,
        declined => declined,
    };
    let is_running = matches!(session, StateSession::Daemon(_));
    if !session.end(setup, approved).await? {
        return Ok(plan_approval::decline(setup));
    }
    let next = if is_running { "the daemon continues" } else { "run `reckon apply` to continue" };
    let text = || format!("{} is approved and will be submitted once; {next}", key.short());
    setup.out.result(&json!({ "approved": key }), text)?;
    Ok(Exit::Done)
}

fn confirm_submission(out: Printer, (key, why): (&Key, &str), yes: bool) -> CommandResult<bool> {
    let refusal = (
        "reckon::approve::unconfirmed",
        "look for the application at the service, then repeat the command with --yes",
    );
    out.agree(yes, || format!("{}: {why}", key.short()), refusal, "Submit this application?")
}

async fn record_submission(session: &mut StateSession, key: &Key) -> CommandResult<bool> {
    let release = ReleaseRequest { keys: vec![key.clone()], done: false };
    if session.record(Release(release)).await? { Ok(true) } else { Err(no_longer_waits(key)) }
}
