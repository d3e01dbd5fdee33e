//! Approvals in signed commits: finds them in the commit that is checked out, judges them, and
//! passes them to the engine. The daemon examines the files again when something changed, and at
//! intervals.
//!
//! Guarantees: nothing in the repository decides who may sign. A person cannot approve their own
//! changes. A file is used once, for the plan that it names and for nothing larger. Assumes that
//! the operator's configuration and the file of allowed signers are out of reach of pull requests,
//! and checks that they are.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use crate::base::clock::{Clock, SystemClock};
use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::cli::commands::signed::history::SoughtDocuments;
use crate::cli::commands::signed::judge::{Judge, NotCounted, Rejection, files};
use crate::cli::commands::signed::repository::{ApprovalRepo, NotTrusted, SignedConfig};
use crate::cli::context::open::Context;
use crate::cli::context::session::{OwnState, StateSession};
use crate::cli::context::state_handle::StateHandle;
use crate::cli::exit::{CommandFailure, CommandResult, Exit, file_problem};
use crate::config::approvals::ApprovalFile;
use crate::control::handle::Control;
use crate::control::requests::{self, ApprovePlan};
use crate::engine::protocol::approvals::{ApproveSigned, PlanApprovalResult};
use crate::engine::protocol::input::{EngineCommand, EngineInput};
use crate::engine::protocol::query::PlanQuery;
use crate::engine::protocol::views::{Overview, PlanView, StepView};
use crate::model::change::PlannedAction;
use crate::model::issue::PlacedIssue;
use crate::model::operator::StoredApproval;
use crate::render;
use crate::render::approvals::{ApprovalFileView, SignedApprovalsView, SignedFileStatus};
use crate::store::read_model::model::{ReadModel, ReadModelError};

#[derive(Debug, Default)]
pub(crate) struct Examination {
    pub(crate) view: SignedApprovalsView,
    pub(crate) counting: Vec<(usize, ApproveSigned)>,
}

/// Records the approvals of a plan that a limit blocks; prints the problems of other files.
pub(crate) async fn record_signed(setup: &Context, own: &mut OwnState) -> CommandResult<()> {
    let Some(place) = SignedConfig::of(setup)? else { return Ok(()) };
    let plan = own.engine.view().plan_view();
    if !has_limited_step(&plan) {
        return Ok(());
    }
    let view = record_counting(&place, own, &plan).await?;
    for one in news(&view) {
        setup.out.note(&one);
    }
    Ok(())
}

/// Runs `approve --signed`: shows the status of every file.
pub(crate) async fn show_signed(setup: &Context) -> CommandResult {
    let Some(place) = SignedConfig::of(setup)? else {
        let what = "policy.approvals.signed is not set in reckon.yaml";
        return Err(CommandFailure::input("reckon::approval::not_configured", what)
            .help("name a file of allowed signers: `signed: {signers: /etc/reckon/signers}`"));
    };
    let mut session = StateSession::open(setup).await?;
    let told = match &mut session {
        StateSession::Own(own) => {
            // The record of the state's owner comes first in the journal.
            setup.bind(&own.open, None).await?;
            let plan = own.engine.view().plan_view();
            record_counting(&place, own, &plan).await
        }
        StateSession::Daemon(client) => match client.send(PlanQuery).await {
            Ok(plan) => {
                Ok(examine(&place, &plan, &KnownApprovals::default(), SystemClock.now()).view)
            }
            Err(error) => Err(error.into()),
        },
    };
    let beside = matches!(session, StateSession::Daemon(_));
    let view = session.end(setup, told).await?;
    setup.out.result(&view, || render::approvals::signed_approvals(&view))?;
    if beside {
        setup.out.note("the daemon holds the state, and records valid approvals by itself");
    }
    Ok(if view.problems().next().is_some() { Exit::Input } else { Exit::Done })
}

/// Examines the files, and has the engine record the approvals that count.
async fn record_counting(
    place: &SignedConfig,
    own: &mut OwnState,
    plan: &PlanView,
) -> CommandResult<SignedApprovalsView> {
    let known = KnownApprovals::of(&own.open.state.facts, plan)?;
    let Examination { mut view, counting } = examine(place, plan, &known, SystemClock.now());
    for (number, signing) in counting {
        let reply = own.engine.command(EngineCommand::ApproveSigned(signing)).await?;
        note_answer(&mut view, number, &requests::typed::<ApprovePlan>(reply)?);
    }
    Ok(view)
}

pub(crate) fn note_answer(
    view: &mut SignedApprovalsView,
    number: usize,
    answer: &PlanApprovalResult,
) {
    let Some(file) = view.files.get_mut(number) else { return };
    let refused = match answer {
        PlanApprovalResult::Approved { approved_by, approvers, .. } => {
            file.approvers = Some((approved_by.len(), *approvers));
            return;
        }
        PlanApprovalResult::Changed { .. } => return file.status = SignedFileStatus::OtherPlan,
        PlanApprovalResult::Nothing => return file.status = SignedFileStatus::Known,
        PlanApprovalResult::Beyond { moves, ceiling } => {
            let most = ceiling
                .map_or_else(|| "no money in that currency".to_owned(), |most| most.to_string());
            format!("the plan moves {moves}, and its ceilings allow {most}")
        }
    };
    file.status = SignedFileStatus::Refused;
    let help = "review the plan, then raise the ceilings or lower the amounts";
    let problem = file_problem(&file.file, "reckon::approval::beyond_ceiling", refused, help);
    file.problems.push(problem);
}

pub(crate) fn has_limited_step(plan: &PlanView) -> bool {
    plan.steps.iter().any(|step| step.limit.is_some())
}

/// Approvals and applied documents that the journal knows.
#[derive(Debug, Default)]
pub(crate) struct KnownApprovals {
    approvals: Vec<StoredApproval>,
    applied: BTreeMap<Key, Digest>,
}

impl KnownApprovals {
    pub(crate) fn of(facts: &ReadModel, plan: &PlanView) -> Result<Self, ReadModelError> {
        let mut applied = BTreeMap::new();
        for (key, verdict) in steps(plan) {
            // An object that is created again is new, whatever the service held before.
            let stays = matches!(verdict, PlannedAction::Update | PlannedAction::Delete);
            let there = facts.observed_state(&key)?.filter(|known| stays && known.exists);
            if let Some(there) = there.and_then(|known| known.applied) {
                applied.insert(key, there.digest);
            }
        }
        Ok(Self { approvals: facts.plan_approvals()?, applied })
    }
}

/// Returns the resources that a plan changes, or would change without limits.
pub(crate) fn keys(plan: &PlanView) -> BTreeSet<Key> {
    steps(plan).map(|(key, _)| key).collect()
}

/// Returns the same resources, each with its action.
fn steps(plan: &PlanView) -> impl Iterator<Item = (Key, PlannedAction)> {
    let wanted = |step: &StepView| step.limit.as_ref().map_or(step.verdict, |over| over.intended);
    let changing = plan.steps.iter().filter(move |step| wanted(step).is_change());
    changing.filter_map(move |step| {
        let name = format!("{}/{}/{}", step.kind, step.namespace, step.name);
        Some((name.parse().ok()?, wanted(step)))
    })
}

/// Examines every file; writes nothing.
pub(crate) fn examine(
    place: &SignedConfig,
    plan: &PlanView,
    known: &KnownApprovals,
    now: DateTime<Utc>,
) -> Examination {
    let found = place.open().and_then(|repo| examine_repo(place, &repo, (plan, known), now));
    found.unwrap_or_else(|unfit| {
        let problems = vec![unfit.problem(place)];
        let view = SignedApprovalsView { problems, ..SignedApprovalsView::default() };
        Examination { view, ..Examination::default() }
    })
}

fn examine_repo(
    place: &SignedConfig,
    repo: &ApprovalRepo,
    (plan, known): (&PlanView, &KnownApprovals),
    now: DateTime<Utc>,
) -> Result<Examination, NotTrusted> {
    let (files, odd) = files(repo)?;
    let mut look = Examination::default();
    if files.is_empty() && odd.is_empty() {
        return Ok(look);
    }
    place.check(repo, plan.files)?;
    let sought = SoughtDocuments { keys: keys(plan), cx: place.reading() };
    let mut judge = Judge::new(repo, sought, known.applied.clone(), now);
    for file in &odd {
        let help = "replace it by a plain file";
        let what = "not a plain file, but a link or a folder".to_owned();
        let problem = file_problem(&file.shown, "reckon::approval::form", what, help);
        look.refuse(&file.shown, vec![problem]);
    }
    for file in &files {
        let bytes = repo.git.output(&["cat-file", "blob", &file.blob], &[])?;
        match ApprovalFile::parse(&file.shown, bytes) {
            Err(problems) => look.refuse(&file.shown, problems),
            Ok(said) if said.plan != plan.checksum => {
                let known = known.approvals.iter().filter_map(|one| one.approval.signed.as_ref());
                let known = known.into_iter().any(|one| one.file == file.path);
                let status =
                    if known { SignedFileStatus::Known } else { SignedFileStatus::OtherPlan };
                look.view.files.push(ApprovalFileView::new(&file.shown, status));
            }
            Ok(said) => match judge.judge(file, said) {
                Err(NotCounted::Git(error)) => return Err(error.into()),
                Err(NotCounted::Rejected(Rejection(code, message, help))) => {
                    let problem = file_problem(&file.shown, code, message, help);
                    look.refuse(&file.shown, vec![problem]);
                }
                Ok(signing) => look.count(&file.shown, signing, &known.approvals),
            },
        }
    }
    Ok(look)
}

impl Examination {
    fn refuse(&mut self, file: &str, problems: Vec<PlacedIssue>) {
        let view = ApprovalFileView::new(file, SignedFileStatus::Refused);
        self.view.files.push(ApprovalFileView { problems, ..view });
    }

    fn count(&mut self, file: &str, signing: ApproveSigned, kept: &[StoredApproval]) {
        let evidence = &signing.signature;
        let known = kept.iter().any(|one| one.approval.is_from(&evidence.file, &evidence.commit));
        let standing = if known { SignedFileStatus::Known } else { SignedFileStatus::Counts };
        let (signer, signature) = (Some(signing.plan.actor.clone()), Some(evidence.clone()));
        let number = self.view.files.len();
        let view = ApprovalFileView::new(file, standing);
        self.view.files.push(ApprovalFileView { signer, signature, ..view });
        if !known {
            self.counting.push((number, signing));
        }
    }
}

const POLL_EVERY: Duration = Duration::from_secs(2);
/// Time after which every file is examined again, even without a change.
const EXAMINE_EVERY: Duration = Duration::from_mins(1);

/// Inputs of an examination; a change calls for another one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ExaminedInputs {
    head: Option<String>,
    position: u64,
    stuck: usize,
}

/// Examines approvals until the future is dropped. `events` leads to the engine.
pub(crate) async fn keep_examining(
    setup: &Context,
    open: &StateHandle,
    events: mpsc::Sender<EngineInput>,
    overviews: watch::Receiver<Overview>,
) -> CommandResult<()> {
    let Some(place) = SignedConfig::of(setup)? else { return std::future::pending().await };
    let (facts, mut told) = (open.state.facts.clone(), Vec::new());
    let mut last: Option<(ExaminedInputs, Instant)> = None;
    loop {
        tokio::time::sleep(POLL_EVERY).await;
        let now = read_inputs(&place, &overviews).await;
        let fresh = |(before, at): &(ExaminedInputs, Instant)| {
            *before == now && at.elapsed() < EXAMINE_EVERY
        };
        if now.stuck == 0 || last.as_ref().is_some_and(fresh) {
            continue;
        }
        let Some(view) = record_counting_by_engine(&place, &facts, &events).await? else {
            return Ok(());
        };
        last = Some((now, Instant::now()));
        let news = news(&view);
        news.iter().filter(|one| !told.contains(*one)).for_each(|one| setup.out.note(one));
        told = news;
    }
}

async fn read_inputs(
    place: &SignedConfig,
    overviews: &watch::Receiver<Overview>,
) -> ExaminedInputs {
    let place = place.clone();
    let head = tokio::task::spawn_blocking(move || place.open().ok().map(|repo| repo.head)).await;
    let Overview { position, stuck, .. } = *overviews.borrow();
    ExaminedInputs { head: head.ok().flatten(), position, stuck }
}

/// Does as [`record_counting`] through the engine's channel; `None` once the engine ended.
async fn record_counting_by_engine(
    place: &SignedConfig,
    facts: &ReadModel,
    events: &mpsc::Sender<EngineInput>,
) -> CommandResult<Option<SignedApprovalsView>> {
    let control = Control::new(events.clone());
    let Ok(plan) = control.ask(PlanQuery).await else { return Ok(None) };
    if !has_limited_step(&plan) {
        return Ok(Some(SignedApprovalsView::default()));
    }
    let (place, known) = (place.clone(), KnownApprovals::of(facts, &plan)?);
    let looked = move || examine(&place, &plan, &known, SystemClock.now());
    let looked = tokio::task::spawn_blocking(looked).await.map_err(CommandFailure::bug)?;
    let Examination { mut view, counting } = looked;
    for (number, signing) in counting {
        let Ok(reply) = control
            .call(|reply| EngineInput::Command(EngineCommand::ApproveSigned(signing), reply))
            .await
        else {
            return Ok(None);
        };
        note_answer(&mut view, number, &requests::typed::<ApprovePlan>(reply)?);
    }
    Ok(Some(view))
}

/// Returns the lines of the files that count, and of the problems.
fn news(view: &SignedApprovalsView) -> Vec<String> {
    let counting = view.files.iter().filter(|file| file.status == SignedFileStatus::Counts);
    let problems = view.problems().map(render::approvals::approval_problem);
    counting.map(render::approvals::approval_file_line).chain(problems).collect()
}
