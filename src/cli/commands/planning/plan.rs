//! `plan`: shows the changes and their reasons, saves a plan in a file (`--out FILE`) and shows a
//! saved one (`plan show FILE`). Only with `--refresh` does it read from the service or write to
//! the journal.
//!
//! `plan --against REV` plans a change of the tree offline, without state, key, service or secret. It
//! reads a revision out of git's object store into a folder of its own, without a checkout. Links in
//! the revision are treated as those of any tree of specs.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::base::clock::{Clock, SystemClock};
use crate::base::folder_location::FolderLocation;
use crate::cli::args::options::{Cli, PlanArgs};
use crate::cli::args::output::Output;
use crate::cli::args::resources::{PlanCommand, ShowArgs};
use crate::cli::commands::documents;
use crate::cli::context::cache::UnchangedBy;
use crate::cli::context::git::tree::{Revision, RevisionRange};
use crate::cli::context::open::Context;
use crate::cli::context::session::{StateSession, daemon};
use crate::cli::context::{cache, selection, sent_tree};
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::cli::print::{self, Printer};
use crate::config::setting::ProcessEnv;
use crate::control::requests::{PlanOf, Refresh, Verify};
use crate::engine::protocol::approvals::{SavePlan, SavedPlan};
use crate::engine::protocol::query::{Query, SavedPlanQuery, ScopedPlanQuery};
use crate::engine::protocol::unknown_names::UnknownName;
use crate::engine::protocol::views::{Against, ComparedTrees, PlanView};
use crate::kinds::schema::kind::AttachmentFiles;
use crate::model::issue::{PlacedIssue, ProblemCounts, Severity, TreeProblems};
use crate::model::manifest::OnDoubt;
use crate::model::operator::StepSelection;
use crate::plan::state_view::PlannerSettings;
use crate::policy::PolicyRules;
use crate::render;
use crate::render::reports::findings::ReportFindings;
use crate::spec::tree::attachments::AttachmentFolder;
use crate::spec::tree::loader::Loader;

pub(crate) async fn run(cli: &Cli, args: &PlanArgs, out: Printer) -> CommandResult {
    if let Some(PlanCommand::Show(show)) = &args.command {
        return show_saved(show, out);
    }
    let setup = &Context::load(cli, out)?;
    let scope = selection::scope(setup, &args.paths.paths, &args.choice)?;
    let fresh = RefreshOptions { verify: args.verify, refresh: args.refresh };
    let plan = match &args.out {
        Some(file) => save(setup, scope, fresh, file).await?,
        None => make_plan(setup, fresh, scope).await?,
    };
    show(&plan, out)?;
    Ok(exit(&plan, args.detailed_exitcode))
}

/// Sources that are read again before a plan is made.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RefreshOptions {
    /// Reads every file's content, whatever its size and time are.
    pub(crate) verify: bool,
    /// Reads everything that the service shows.
    pub(crate) refresh: bool,
}

pub(crate) fn exit(plan: &PlanView, detailed: bool) -> Exit {
    let pending = detailed && plan.steps.iter().any(|step| step.verdict.is_change());
    let code = if pending { Exit::Pending } else { Exit::Done };
    code.or(attention_exit(plan)).or(documents::exit_for(plan.has_errors()))
}

/// Returns the plan: the daemon's, the cached one if nothing changed, or a new one. A new plan
/// reads every file; `verify` makes the other two read them as well.
async fn make_plan(
    setup: &Context,
    fresh: RefreshOptions,
    scope: StepSelection,
) -> CommandResult<PlanView> {
    let look = if fresh.verify { UnchangedBy::Content } else { UnchangedBy::Metadata };
    if scope.is_everything()
        && !fresh.refresh
        && daemon(setup).await?.is_none()
        && let Some(plan) = cache::cached_plan(setup, look)?
    {
        return Ok(plan);
    }
    ask_about_plan(setup, fresh, None, ScopedPlanQuery(scope)).await
}

/// Asks the holder of the state, or this process, about the plan: over a draft if there is one.
pub(crate) async fn ask_about_plan<T>(
    setup: &Context,
    fresh: RefreshOptions,
    draft: Option<StateSession>,
    query: impl Query<Answer = Result<T, Vec<UnknownName>>>,
) -> CommandResult<T> {
    if let Some(server) = &setup.server {
        let sent = sent_tree::read_tree(setup)?;
        if fresh.refresh {
            server.send(Refresh).await?;
        }
        let plan = server.send(PlanOf(sent, query)).await?;
        return plan.map_err(|names| selection::unknown_names(&names));
    }
    let mut session = match draft {
        Some(session) => session,
        None => StateSession::open_view(setup).await?,
    };
    let answer = match read_again(&mut session, fresh).await {
        Ok(()) => session.ask(query).await,
        Err(error) => Err(error),
    };
    session.end(setup, answer).await?.map_err(|names| selection::unknown_names(&names))
}

async fn read_again(session: &mut StateSession, fresh: RefreshOptions) -> CommandResult<()> {
    match session {
        StateSession::Daemon(client) if fresh.refresh => drop(client.send(Refresh).await?),
        StateSession::Daemon(client) if fresh.verify => drop(client.send(Verify).await?),
        StateSession::Own(own) if fresh.refresh => own.engine.sweep_everything().await?,
        StateSession::Daemon(_) | StateSession::Own(_) => {}
    }
    Ok(())
}

pub(crate) fn show(plan: &PlanView, out: Printer) -> CommandResult<()> {
    if out.report(|| ReportFindings::of_plan(plan))? {
        return Ok(());
    }
    if out.form == Output::Markdown {
        return out.text(&render::plan::markdown(plan));
    }
    let full = || render::plan::full_text(plan, out.screen);
    out.result(plan, || if out.details { full() } else { render::plan::text(plan, out.screen) })
}

/// Returns exit code 3 if a step waits for a person.
pub(crate) fn attention_exit(plan: &PlanView) -> Exit {
    if plan.steps.iter().any(|step| step.stuck) { Exit::NeedsAttention } else { Exit::Done }
}

/// Mode of a saved plan: only its owner may read it.
const OWNER: u32 = 0o600;
/// Bytes of a file that are read, at most: a plan of a hundred thousand steps is smaller.
const FILE_BYTES_MAX: u64 = 1 << 29;
const FIRST_BYTES: &str = "{\n  \"saved_plan\":";

/// Saves the plan of this scope to a file, and returns the plan. A saved plan is sealed with the
/// key of the state that it is applied to: if there is no state, with that of the one that `apply`
/// would make.
pub(crate) async fn save(
    setup: &Context,
    scope: StepSelection,
    fresh: RefreshOptions,
    path: &Path,
) -> CommandResult<PlanView> {
    let dirty = setup.specs.are_dirty();
    let saving = SavePlan { scope, dirty };
    let draft = StateSession::future(setup).await?;
    let saved = ask_about_plan(setup, fresh, draft, SavedPlanQuery(saving)).await?;
    let text = render::json(&saved);
    print::write(path, &format!("{text}\n"), OWNER).map_err(|error| {
        let what = format!("write the plan to {}: {error}", path.display());
        CommandFailure::environment("reckon::plan_file::write", what)
    })?;
    let name = path.display();
    setup
        .out
        .note(&format!("saved as {name}; `reckon apply {name}` applies exactly this plan, once"));
    Ok(saved.plan)
}

/// Returns true for a saved plan: a file that is no YAML, or that begins as a saved plan.
pub(crate) fn is_plan(path: &Path) -> bool {
    let yaml = path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
    let begins = || {
        let mut start = Vec::new();
        let length = u64::try_from(FIRST_BYTES.len()).unwrap_or(u64::MAX);
        let read = File::open(path).and_then(|file| file.take(length).read_to_end(&mut start));
        read.is_ok() && start == FIRST_BYTES.as_bytes()
    };
    path.is_file() && (!yaml || begins())
}

pub(crate) fn read_saved(path: &Path) -> CommandResult<(SavedPlan, Value)> {
    let mut text = String::new();
    let file =
        File::open(path).and_then(|file| file.take(FILE_BYTES_MAX).read_to_string(&mut text));
    file.map_err(|error| {
        let what = format!("read the plan {}: {error}", path.display());
        CommandFailure::input("reckon::plan_file::unreadable", what)
    })?;
    SavedPlan::read(&text).map_err(|error| {
        let what = format!("{} is not a saved plan, or is damaged: {error}", path.display());
        CommandFailure::input("reckon::plan_file::unreadable", what)
            .help("save a plan with `reckon plan --out FILE`; a damaged one cannot be repaired")
    })
}

pub(crate) fn show_saved(args: &ShowArgs, out: Printer) -> CommandResult {
    let (saved, _) = read_saved(&args.file)?;
    let name = args.file.display().to_string();
    if out.form == Output::Markdown {
        out.text(&render::plan::saved_markdown(&saved, &name))?;
    } else {
        let view = render::plan::saved_view(&saved);
        out.result(&view, || render::plan::saved_text(&saved, &name, out.screen))?;
    }
    Ok(if args.detailed_exitcode && saved.changes() { Exit::Pending } else { Exit::Done })
}

/// Digests of private values are only compared with each other and never kept, so any key will do.
const ANY_KEY: [u8; 32] = [0; 32];
/// Placeholder partner name where the configuration's cannot be read; no name leaves this process.
const ANY_PARTNER: &str = "partner";

pub(crate) fn plan_against(setup: &Context, args: &PlanArgs, range: &str) -> CommandResult {
    let help = "render both revisions into folders, and compare saved plans";
    setup.specs.require_files("`plan --against`", help)?;
    setup.specs.check_one_repository()?;
    let RevisionRange { before, after } = RevisionRange::read(setup.specs.first(), range)?;
    let old = LoadedRevision::at(setup, &before)?;
    let new = match &after {
        Some(after) => LoadedRevision::at(setup, after)?,
        None => LoadedRevision::present(setup),
    };
    let problems = problems_of_both(&old, &new);
    for problem in &problems.shown {
        setup.out.note(&render::plan::problem(problem));
    }
    let rules = setup.config.rules(&ProcessEnv).unwrap_or_else(|error| {
        setup.out.note(&format!("limits not checked: {error}"));
        PolicyRules::default()
    });
    let trees = ComparedTrees {
        rules: &rules,
        before: old.loader.desired(),
        after: new.loader.desired(),
        against: Against { before: before.commit, after: after.map(|after| after.commit) },
        problems,
    };
    let scope = selection::scope(setup, &args.paths.paths, &args.choice)?;
    let plan = PlanView::against(&offline_settings(setup), trees, &scope, SystemClock.now());
    let plan = plan.map_err(|names| selection::unknown_names(&names))?;
    show(&plan, setup.out)?;
    Ok(exit(&plan, args.detailed_exitcode))
}

/// Returns the planner's settings, which hold nothing of this machine.
fn offline_settings(setup: &Context) -> PlannerSettings {
    PlannerSettings {
        partner: setup.partner().unwrap_or_else(|_| ANY_PARTNER.to_owned()),
        digest_key: ANY_KEY,
        on_doubt: OnDoubt::default(),
        live_refused: None,
        prune: setup.config.policy.prune.get(&ProcessEnv).unwrap_or_default(),
    }
}

/// Returns the problems of both trees; those of the old tree count as warnings only.
fn problems_of_both(old: &LoadedRevision, new: &LoadedRevision) -> TreeProblems {
    let before = old.loader.problems();
    let count = before.omitted.errors.saturating_add(before.omitted.warnings);
    let warned = ProblemCounts { errors: 0, warnings: count };
    let before = before.shown.into_iter();
    let before = before.map(|problem| PlacedIssue { severity: Severity::Warning, ..problem });
    let TreeProblems { shown, omitted } = new.loader.problems();
    TreeProblems { shown: shown.into_iter().chain(before).collect(), omitted: omitted.plus(warned) }
}

struct LoadedRevision {
    loader: Loader,
    _folder: Option<crate::cli::context::git::tree::TempTree>,
}

impl LoadedRevision {
    fn present(setup: &Context) -> Self {
        Self { loader: setup.loaded_tree(), _folder: None }
    }

    /// Loads the tree of a revision; its files are called `REV:FILE`.
    fn at(setup: &Context, revision: &Revision) -> CommandResult<Self> {
        let plain = |path: &PathBuf| FolderLocation::from_config(&setup.root, path).open().is_ok();
        let attached = setup.attachments_path()?.filter(plain);
        let folder = revision.extract(setup.specs.paths(), attached.as_deref())?;
        let files = folder
            .attachments
            .as_deref()
            .map(|path| -> Arc<dyn AttachmentFiles> { Arc::new(AttachmentFolder::new(path)) });
        let mut loader = setup.loader_of(&folder.folders, &revision.name, files);
        loader.load_all();
        Ok(Self { loader, _folder: Some(folder) })
    }
}
