//! Approvals in signed commits: finds them in the commit that is checked out, judges them, and
//! passes them to the engine.
//!
//! Guarantees: nothing in the repository decides who may sign. A person cannot approve their own
//! changes. A file is used once, for the plan that it names and for nothing larger. Assumes that
//! the operator's configuration and the file of allowed signers are out of reach of pull requests,
//! and checks that they are.

mod check;
mod commit;
mod daemon;
mod history;
mod judge;
mod place;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use super::exit::{Exit, Failure};
use super::out::Out;
use super::session::{Own, Session};
use super::setup::Setup;
use crate::base::clock::{Clock, SystemClock};
use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::config::ApprovalFile;
use crate::engine::{PlanAnswer, PlanView, Question, Reply, Signing, StepView};
use crate::model::issue::Problem;
use crate::model::plan::Verdict;
use crate::model::plan_approval::KeptApproval;
use crate::render;
use crate::render::signed::{FileView, Standing, View};
use crate::store::facts::{FactError, Facts};
use history::Sought;
use judge::{Judge, files, problem};
use place::{Place, Repo, Unfit};

pub(super) use daemon::keep;
pub(super) use write::{alone, write};

/// Outcome of one examination of all files.
#[derive(Debug, Default)]
struct Look {
    view: View,
    counting: Vec<(usize, Signing)>,
}

/// Records the approvals of the present plan; prints the problems of other files beside the result.
/// Examines nothing unless a limit blocks a step.
pub(super) async fn take_in(setup: &Setup, own: &mut Own, out: Out) -> Result<(), Failure> {
    let Some(place) = Place::of(setup)? else { return Ok(()) };
    let plan = own.engine.plan_view();
    if !waits(&plan) {
        return Ok(());
    }
    let view = taken_in(&place, own, &plan).await?;
    for file in view.files.iter().filter(|file| file.standing == Standing::Counts) {
        out.note(&render::signed::line(file));
    }
    for problem in view.problems() {
        out.note(&render::signed::problem(problem));
    }
    Ok(())
}

/// Runs `approve --signed`: shows the status of every file.
pub(super) async fn run(setup: &Setup, out: Out) -> Result<Exit, Failure> {
    let Some(place) = Place::of(setup)? else {
        let what = "policy.approvals.signed does not say who may sign approvals";
        return Err(Failure::input("reckon::approval::not_configured", what)
            .help("name a file of allowed signers: `signed: {signers: /etc/reckon/signers}`"));
    };
    let mut session = Session::open(setup).await?;
    let told = match &mut session {
        Session::Own(own) => {
            // The record of the state's owner comes first in the journal.
            setup.bind(&own.open, None).await?;
            let plan = own.engine.plan_view();
            taken_in(&place, own, &plan).await
        }
        Session::Daemon(client) => match client.ask(&Question::Plan).await {
            Ok(Reply::Plan(plan)) => {
                Ok(look(&place, &plan, &Known::default(), SystemClock.now()).view)
            }
            Ok(_) => Err(Failure::bug("a plan was not answered by one")),
            Err(error) => Err(error.into()),
        },
    };
    let beside = matches!(session, Session::Daemon(_));
    let view = session.end(setup, told).await?;
    out.result(&view, || render::signed::text(&view))?;
    if beside {
        out.note("the daemon holds the state, and takes in by itself what counts");
    }
    Ok(if view.problems().next().is_some() { Exit::Input } else { Exit::Done })
}

/// Examines the files, and has the engine record the approvals that count.
async fn taken_in(place: &Place, own: &mut Own, plan: &PlanView) -> Result<View, Failure> {
    let known = Known::of(&own.open.state.facts, plan)?;
    let Look { mut view, counting } = look(place, plan, &known, SystemClock.now());
    for (number, signing) in counting {
        let answer = own.engine.approve_signed_alone(signing).await?;
        settle(&mut view, number, &answer);
    }
    Ok(view)
}

/// Notes the engine's answer about a file.
fn settle(view: &mut View, number: usize, answer: &PlanAnswer) {
    let Some(file) = view.files.get_mut(number) else { return };
    let refused = match answer {
        PlanAnswer::Approved { approved_by, approvers, .. } => {
            file.approvers = Some((approved_by.len(), *approvers));
            return;
        }
        PlanAnswer::Changed { .. } => return file.standing = Standing::OtherPlan,
        PlanAnswer::Nothing => return file.standing = Standing::Known,
        PlanAnswer::Beyond { moves, ceiling } => {
            let most = ceiling
                .as_ref()
                .map_or_else(|| "none of that currency".to_owned(), ToString::to_string);
            format!("the plan moves {moves}, and its ceilings allow {most}")
        }
    };
    file.standing = Standing::Refused;
    let help = "look at the plan; then say what it may move, or lower the amounts";
    file.problems.push(problem(&file.file, "reckon::approval::beyond_ceiling", refused, help));
}

/// Returns true if a limit blocks any step.
fn waits(plan: &PlanView) -> bool {
    plan.steps.iter().any(|step| step.limit.is_some())
}

/// Approvals and applied documents that the journal knows.
#[derive(Debug, Default)]
struct Known {
    approvals: Vec<KeptApproval>,
    applied: BTreeMap<Key, Digest>,
}

impl Known {
    fn of(facts: &Facts, plan: &PlanView) -> Result<Self, FactError> {
        let mut applied = BTreeMap::new();
        for (key, verdict) in steps(plan) {
            // An object that is created again is new, whatever the service held before.
            let stays = matches!(verdict, Verdict::Update | Verdict::Delete);
            let there = facts.observed(&key)?.filter(|known| stays && known.exists);
            if let Some(there) = there.and_then(|known| known.applied) {
                applied.insert(key, there.digest);
            }
        }
        Ok(Self { approvals: facts.plan_approvals()?, applied })
    }
}

/// Returns the resources that a plan changes, or would change without limits.
fn keys(plan: &PlanView) -> BTreeSet<Key> {
    steps(plan).map(|(key, _)| key).collect()
}

/// Returns the same resources, each with its action.
fn steps(plan: &PlanView) -> impl Iterator<Item = (Key, Verdict)> {
    let wanted = |step: &StepView| step.limit.as_ref().map_or(step.verdict, |over| over.wants);
    let changing = plan.steps.iter().filter(move |step| wanted(step).changes());
    changing.filter_map(move |step| {
        let name = format!("{}/{}/{}", step.kind, step.namespace, step.name);
        Some((name.parse().ok()?, wanted(step)))
    })
}

/// Examines every file; writes nothing.
fn look(place: &Place, plan: &PlanView, known: &Known, now: DateTime<Utc>) -> Look {
    let found = place.open().and_then(|repo| looked(place, &repo, (plan, known), now));
    found.unwrap_or_else(|unfit| {
        let problem = unfit.problem(place);
        Look { view: View { problems: vec![problem], ..View::default() }, counting: Vec::new() }
    })
}

fn looked(
    place: &Place,
    repo: &Repo,
    (plan, known): (&PlanView, &Known),
    now: DateTime<Utc>,
) -> Result<Look, Unfit> {
    let (files, odd) = files(repo)?;
    let mut look = Look::default();
    if files.is_empty() && odd.is_empty() {
        return Ok(look);
    }
    place.check(repo, plan.files)?;
    let sought = Sought { keys: keys(plan), cx: place.reading() };
    let mut judge = Judge::new(repo, sought, known.applied.clone(), now);
    for file in &odd {
        let help = "an approval is a plain file";
        let what = "this is a link or a folder".to_owned();
        look.refuse(&file.shown, vec![problem(&file.shown, "reckon::approval::form", what, help)]);
    }
    for file in &files {
        let bytes = repo.git.ask(&["cat-file", "blob", &file.blob], &[])?;
        match ApprovalFile::parse(&file.shown, bytes) {
            Err(problems) => look.refuse(&file.shown, problems),
            Ok(said) if said.plan != plan.checksum => {
                let known = known.approvals.iter().filter_map(|one| one.approval.signed.as_ref());
                let known = known.into_iter().any(|one| one.file == file.path);
                look.note(&file.shown, if known { Standing::Known } else { Standing::OtherPlan });
            }
            Ok(said) => match judge.judge(file, said)? {
                Err(no) => look.refuse(&file.shown, vec![no.of(file)]),
                Ok(signing) => look.count(&file.shown, signing, &known.approvals),
            },
        }
    }
    Ok(look)
}

impl Look {
    fn note(&mut self, file: &str, standing: Standing) {
        self.view.files.push(FileView::new(file, standing));
    }

    fn refuse(&mut self, file: &str, problems: Vec<Problem>) {
        let view = FileView::new(file, Standing::Refused);
        self.view.files.push(FileView { problems, ..view });
    }

    fn count(&mut self, file: &str, signing: Signing, kept: &[KeptApproval]) {
        let evidence = &signing.signature;
        let known = kept.iter().any(|one| one.approval.came_in(&evidence.file, &evidence.commit));
        let standing = if known { Standing::Known } else { Standing::Counts };
        let (signer, signature) = (Some(signing.plan.actor.clone()), Some(evidence.clone()));
        let number = self.view.files.len();
        self.view.files.push(FileView { signer, signature, ..FileView::new(file, standing) });
        if !known {
            self.counting.push((number, signing));
        }
    }
}
