//! Approvals in signed commits: finds them in the commit that is checked out, judges them, and
//! passes them to the engine.
//!
//! Guarantees: nothing in the repository decides who may sign. A person cannot approve their own
//! changes. A file is used once, for the plan that it names and for nothing larger. Assumes that
//! the operator's configuration and the file of allowed signers are out of reach of pull requests,
//! and checks that they are.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use super::history::SoughtDocuments;
use super::judge::{Judge, files};
use super::repository::{ApprovalRepo, NotTrusted, SignedConfig, problem};
use crate::base::clock::{Clock, SystemClock};
use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::cli::context::open::Context;
use crate::cli::context::session::{OwnState, StateSession};
use crate::cli::exit::{CommandFailure, Exit};
use crate::cli::print::Printer;
use crate::config::approval_file::ApprovalFile;
use crate::control::requests;
use crate::control::requests::ApprovePlan;
use crate::engine::protocol::commands::command::EngineCommand;
use crate::engine::protocol::commands::plan_approval::PlanApprovalResult;
use crate::engine::protocol::commands::signed_approval::ApproveSigned;
use crate::engine::protocol::queries::views::{PlanView, StepView};
use crate::engine::protocol::query::PlanQuery;
use crate::model::issue::PlacedIssue;
use crate::model::operator::approval::StoredApproval;
use crate::model::plans::change::PlannedAction;
use crate::render;
use crate::render::signed::{ApprovalFileView, SignedApprovalsView, SignedFileStatus};
use crate::store::read_model::model::{ReadModel, ReadModelError};

/// Outcome of one examination of all files.
#[derive(Debug, Default)]
pub(crate) struct Examination {
    pub(crate) view: SignedApprovalsView,
    pub(crate) counting: Vec<(usize, ApproveSigned)>,
}

/// Records the approvals of the present plan; prints the problems of other files beside the result.
/// Examines nothing unless a limit blocks a step.
pub(crate) async fn record_signed(
    setup: &Context,
    own: &mut OwnState,
    out: Printer,
) -> Result<(), CommandFailure> {
    let Some(place) = SignedConfig::of(setup)? else { return Ok(()) };
    let plan = own.engine.view().plan_view();
    if !has_limited_step(&plan) {
        return Ok(());
    }
    let view = record_counting(&place, own, &plan).await?;
    for file in view.files.iter().filter(|file| file.status == SignedFileStatus::Counts) {
        out.note(&render::signed::file_line(file));
    }
    for problem in view.problems() {
        out.note(&render::signed::problem_text(problem));
    }
    Ok(())
}

/// Runs `approve --signed`: shows the status of every file.
pub(crate) async fn run(setup: &Context, out: Printer) -> Result<Exit, CommandFailure> {
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
    out.result(&view, || render::signed::text(&view))?;
    if beside {
        out.note("the daemon holds the state, and records valid approvals by itself");
    }
    Ok(if view.problems().next().is_some() { Exit::Input } else { Exit::Done })
}

/// Examines the files, and has the engine record the approvals that count.
async fn record_counting(
    place: &SignedConfig,
    own: &mut OwnState,
    plan: &PlanView,
) -> Result<SignedApprovalsView, CommandFailure> {
    let known = KnownApprovals::of(&own.open.state.facts, plan)?;
    let Examination { mut view, counting } = examine(place, plan, &known, SystemClock.now());
    for (number, signing) in counting {
        let reply = own.engine.command(EngineCommand::ApproveSigned(signing)).await?;
        let answer = requests::typed::<ApprovePlan>(reply)?;
        note_answer(&mut view, number, &answer);
    }
    Ok(view)
}

/// Notes the engine's answer about a file.
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
                .as_ref()
                .map_or_else(|| "no money in that currency".to_owned(), ToString::to_string);
            format!("the plan moves {moves}, and its ceilings allow {most}")
        }
    };
    file.status = SignedFileStatus::Refused;
    let help = "review the plan, then raise the ceilings or lower the amounts";
    file.problems.push(problem(&file.file, "reckon::approval::beyond_ceiling", refused, help));
}

/// Returns true if a limit blocks any step.
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
        let problem = unfit.problem(place);
        Examination {
            view: SignedApprovalsView { problems: vec![problem], ..SignedApprovalsView::default() },
            counting: Vec::new(),
        }
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
        look.refuse(&file.shown, vec![problem(&file.shown, "reckon::approval::form", what, help)]);
    }
    for file in &files {
        let bytes = repo.git.output(&["cat-file", "blob", &file.blob], &[])?;
        match ApprovalFile::parse(&file.shown, bytes) {
            Err(problems) => look.refuse(&file.shown, problems),
            Ok(said) if said.plan != plan.checksum => {
                let known = known.approvals.iter().filter_map(|one| one.approval.signed.as_ref());
                let known = known.into_iter().any(|one| one.file == file.path);
                look.note(
                    &file.shown,
                    if known { SignedFileStatus::Known } else { SignedFileStatus::OtherPlan },
                );
            }
            Ok(said) => match judge.judge(file, said)? {
                Err(no) => look.refuse(&file.shown, vec![no.into_problem(file)]),
                Ok(signing) => look.count(&file.shown, signing, &known.approvals),
            },
        }
    }
    Ok(look)
}

impl Examination {
    fn note(&mut self, file: &str, standing: SignedFileStatus) {
        self.view.files.push(ApprovalFileView::new(file, standing));
    }

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
        self.view.files.push(ApprovalFileView {
            signer,
            signature,
            ..ApprovalFileView::new(file, standing)
        });
        if !known {
            self.counting.push((number, signing));
        }
    }
}
