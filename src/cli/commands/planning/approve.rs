//! `approve`: a person's approval or confirmation. It covers just what was shown, and nothing that
//! began to wait since.
//!
//! It confirms the live merchant that the code of an application opened (design.md part 5), or a live
//! application of a state that began empty (docs/operations/store.md, "Without a backup"). `approve
//! CHECKSUM` lets a plan past the limits. `approve … --write FILE` writes that approval to a file to
//! be committed, so that a person need not type it.

use std::fs;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::base::clock::{Clock, SystemClock};
use crate::base::id::Key;
use crate::base::money::{Currency, Money};
use crate::cli::args::options::ApproveArgs;
use crate::cli::commands::get::parse_resource;
use crate::cli::commands::signed::approval::{self, keys};
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::context::{machine, selection};
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::cli::print::{self, Printer};
use crate::config::approvals::ApprovalFile;
use crate::control::requests::{Approve, ApprovePlan, Release};
use crate::engine::protocol::approvals::{ApprovingPlan, PlanApprovalResult};
use crate::engine::protocol::query::{ApprovalsQuery, PlanQuery, ResourceQuery};
use crate::engine::protocol::views::{CHECKSUM_SHORT, PlanView};
use crate::model::effect::{Exposure, RecordedMove};
use crate::model::plan::Reason;
use crate::model::state::credentials::{BindingApproval, LiveBinding};
use crate::model::state::lifecycle::ReleaseRequest;
use crate::policy::permission::first_excess;
use crate::render;

pub(crate) async fn run(setup: &Context, args: &ApproveArgs) -> CommandResult {
    if args.signed.signed {
        return approval::show_signed(setup).await;
    }
    if let Some(file) = &args.signed.write {
        return write_file(Some(setup), args, file, setup.out).await;
    }
    if let Some(checksum) = checksum(&args.what)? {
        return approve_plan(setup, args, &checksum).await;
    }
    let key = parse_resource(&args.what)?;
    // A live binding never waits in a new state.
    let confirmed = async |draft: &StateSession| match waiting_reason(draft, &key).await? {
        Some(why) => confirm_submission(setup.out, (&key, &why), args.yes),
        None => Err(nothing_waits(&key, &[])),
    };
    let Some(yes) = confirm_before_state(setup, args.yes, confirmed).await? else {
        return Ok(decline(setup));
    };
    let mut session = StateSession::make_bound(setup).await?;
    if let Some(why) = waiting_reason(&session, &key).await? {
        return run_submission(setup, session, (&key, &why), yes).await;
    }
    let approved = approve_binding(&mut session, &key, yes, setup.out).await;
    let is_running = matches!(session, StateSession::Daemon(_));
    let Some(approval) = session.end(setup, approved).await? else { return Ok(decline(setup)) };
    setup.out.finish(&approval, || render::approvals::approval_result(&approval, is_running))
}

/// Shows the waiting binding, asks, and records the approval; `None` if the person declined.
async fn approve_binding(
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

/// Returns the reason for which an application waits for an approval, if it waits.
async fn waiting_reason(session: &StateSession, key: &Key) -> CommandResult<Option<String>> {
    let found = session.ask(ResourceQuery(key.clone())).await?;
    let waits = Reason::MaybeSubmitted(Box::new(key.clone())).to_string();
    Ok(found.map(|found| found.message).filter(|message| *message == waits))
}

/// Output of `approve -o json` for an application that is submitted once.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SubmissionApproval<'a> {
    approved: &'a Key,
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
        return Ok(decline(setup));
    }
    let next = if is_running { "the daemon continues" } else { "run `reckon apply` to continue" };
    let text = || format!("{} is approved and will be submitted once; {next}", key.short());
    setup.out.finish(&SubmissionApproval { approved: key }, text)
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

/// Returns the named checksum, given by itself or in a plan as JSON; `None` for anything else.
fn checksum(what: &str) -> CommandResult<Option<String>> {
    let plausible =
        what.len() >= CHECKSUM_SHORT && what.bytes().all(|byte| byte.is_ascii_hexdigit());
    if plausible {
        return Ok(Some(what.to_ascii_lowercase()));
    }
    if !is_file(what) {
        return Ok(None);
    }
    let plan: serde_json::Value = read_plan(what)?;
    let checksum = plan.get("checksum").and_then(serde_json::Value::as_str);
    let checksum = checksum.ok_or_else(|| broken_plan(what, &"missing `checksum`"))?;
    Ok(Some(checksum.to_owned()))
}

async fn approve_plan(setup: &Context, args: &ApproveArgs, checksum: &str) -> CommandResult {
    let confirmed = async |draft: &StateSession| {
        let plan = draft.ask(PlanQuery).await?;
        if plan.checksum.starts_with(checksum) {
            return confirm_plan(&plan, args.yes, setup.out);
        }
        Err(not_approved(&PlanApprovalResult::Changed { checksum: plan.checksum }))
    };
    let Some(yes) = confirm_before_state(setup, args.yes, confirmed).await? else {
        return Ok(decline(setup));
    };
    let mut session = StateSession::make_bound(setup).await?;
    let answer = record_plan(&mut session, args, (checksum, yes), setup.out).await;
    let Some(answer) = session.end(setup, answer).await? else { return Ok(decline(setup)) };
    match answer {
        PlanApprovalResult::Approved { .. } => {
            setup.out.finish(&answer, || render::approvals::plan_approval_result(&answer))
        }
        PlanApprovalResult::Changed { .. }
        | PlanApprovalResult::Nothing
        | PlanApprovalResult::Beyond { .. } => Err(not_approved(&answer)),
    }
}

fn decline(setup: &Context) -> Exit {
    setup.out.note("nothing was approved");
    Exit::Done
}

/// Asks in a draft of the state, where the command would make one. Returns whether the person
/// agreed already; `None` if the person declined.
async fn confirm_before_state(
    setup: &Context,
    yes: bool,
    confirm: impl AsyncFnOnce(&StateSession) -> CommandResult<bool>,
) -> CommandResult<Option<bool>> {
    let Some(draft) = StateSession::future(setup).await? else { return Ok(Some(yes)) };
    let agreed = confirm(&draft).await;
    Ok(draft.end(setup, agreed).await?.then_some(true))
}

/// Shows the plan, asks, and records the approval. Returns `None` if the person declined.
async fn record_plan(
    session: &mut StateSession,
    args: &ApproveArgs,
    (checksum, yes): (&str, bool),
    out: Printer,
) -> CommandResult<Option<PlanApprovalResult>> {
    let plan = session.ask(PlanQuery).await?;
    if plan.checksum.starts_with(checksum) && !confirm_plan(&plan, yes, out)? {
        return Ok(None);
    }
    let (checksum, ceilings) = (checksum.to_owned(), args.ceiling.clone());
    let plan = ApprovingPlan { checksum, ceilings, actor: machine::actor() };
    session.record(ApprovePlan(plan)).await.map(Some)
}

fn confirm_plan(plan: &PlanView, yes: bool, out: Printer) -> CommandResult<bool> {
    let refusal =
        ("reckon::approve::unconfirmed", "review the plan, then repeat the command with --yes");
    let question = "Approve this plan, for these steps and at most these amounts?";
    out.agree(yes, || render::plan::text(plan, out.screen), refusal, question)
}

fn not_approved(answer: &PlanApprovalResult) -> CommandFailure {
    match answer {
        PlanApprovalResult::Beyond { moves, ceiling } => {
            let most = ceiling
                .map_or_else(|| "no money in that currency".to_owned(), |most| most.to_string());
            let message = format!("the plan moves {moves}, and --ceiling allows {most}");
            let failure = CommandFailure::input("reckon::approve::beyond_ceiling", message);
            failure.help("review the plan, then raise --ceiling or lower the amounts")
        }
        PlanApprovalResult::Nothing => {
            let message =
                "nothing to approve: the plan moves no money, removes nothing and sends no e-mail";
            CommandFailure::input("reckon::approve::nothing_waits", message)
                .help("list the pending changes with `reckon plan`")
        }
        PlanApprovalResult::Changed { checksum } => {
            let message = "the present plan has another checksum";
            CommandFailure::input("reckon::approve::changed", message)
                .help(format!("review `reckon plan`, then approve the present checksum {checksum}"))
        }
        PlanApprovalResult::Approved { .. } => {
            CommandFailure::bug("internal error: the approval was refused")
        }
    }
}

/// Runs the command. A plan that was written as JSON needs no configuration and no state.
pub(crate) async fn write_file(
    setup: Option<&Context>,
    args: &ApproveArgs,
    file: &Path,
    out: Printer,
) -> CommandResult {
    let plan = named_plan(setup, &args.what).await?;
    let now = SystemClock.now();
    let expires = args.signed.expires.as_deref().map(|text| selection::parse_end(text, now));
    let expires = expires
        .transpose()
        .map_err(|failure| CommandFailure { code: "reckon::approval::expires", ..failure })?;
    let sums = sums(&plan);
    let all = sums.iter().map(|(currency, sum)| Money::new(*sum, *currency));
    let ceilings = if args.ceiling.is_empty() { all.collect() } else { args.ceiling.clone() };
    if let Some((moves, ceiling)) = first_excess(&ceilings, &sums) {
        return Err(not_approved(&PlanApprovalResult::Beyond { moves, ceiling: ceiling.copied() }));
    }
    if !confirm_plan(&plan, args.yes, out)? {
        out.note("nothing was written");
        return Ok(Exit::Done);
    }
    let approval = ApprovalFile { plan: plan.checksum, ceilings, expires };
    print::create(file, &approval.text()).map_err(|error| {
        let what = format!("write the approval to {}: {error}", file.display());
        CommandFailure::environment("reckon::approval::write", what)
            .help("choose a new file in the folder of approvals")
    })?;
    let name = file.display();
    out.text(&format!("written to {name}"))?;
    out.note(&format!(
        "commit it alone and signed, so that it counts: git add {name} && git commit -S -- {name}"
    ));
    Ok(Exit::Done)
}

async fn named_plan(setup: Option<&Context>, what: &str) -> CommandResult<PlanView> {
    let checksum = checksum(what)?;
    let checksum = checksum.ok_or_else(|| {
        CommandFailure::input("reckon::approval::what", format!("{what:?} is not a plan"))
            .help("write the checksum of a plan, or the file of `reckon plan -o json`")
    })?;
    let Some(setup) = setup.filter(|_| !is_file(what)) else { return read_plan(what) };
    let plan = setup.query(PlanQuery).await?;
    if !plan.checksum.starts_with(&checksum) {
        return Err(not_approved(&PlanApprovalResult::Changed { checksum: plan.checksum }));
    }
    Ok(plan)
}

/// Returns the file to write, where a plan's file is the only input.
pub(crate) fn file_without_config(args: &ApproveArgs) -> Option<&Path> {
    args.signed.write.as_deref().filter(|_| is_file(&args.what))
}

fn is_file(what: &str) -> bool {
    Path::new(what).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

fn read_plan<T: DeserializeOwned>(file: &str) -> CommandResult<T> {
    let text = fs::read(file).map_err(|error| broken_plan(file, &error))?;
    serde_json::from_slice(&text).map_err(|error| broken_plan(file, &error))
}

fn broken_plan(file: &str, why: &dyn std::fmt::Display) -> CommandFailure {
    let failure = CommandFailure::input("reckon::approve::plan_file", format!("{file}: {why}"));
    failure.help("write it with `reckon plan -o json`")
}

/// Returns the amounts that the plan moves, as approvals count them.
fn sums(plan: &PlanView) -> std::collections::BTreeMap<Currency, i64> {
    let keys = keys(plan);
    let mut sums = std::collections::BTreeMap::new();
    let steps = plan.steps.iter();
    for step in steps.filter(|step| step.key().is_some_and(|key| keys.contains(&key))) {
        let moved = step.money.iter().filter_map(|money| {
            let currency: Currency = money.currency.parse().ok()?;
            let amount = Money::new(money.amount, currency);
            Some(RecordedMove { amount, meaning: money.meaning.clone() })
        });
        let stake = Exposure { moves: moved.collect(), ..Exposure::default() };
        for (currency, amount) in stake.sums() {
            let sum: &mut i64 = sums.entry(currency).or_default();
            *sum = sum.saturating_add(amount);
        }
    }
    sums
}
