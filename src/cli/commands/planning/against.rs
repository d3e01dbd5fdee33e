//! `plan --against REV`: plans a change of the tree offline, without state, key, service or secret.
//!
//! The command reads a revision out of git's object store into a folder of its own, without a
//! checkout. Links in the revision are treated as those of any tree of specs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::plan;
use crate::base::clock::{Clock, SystemClock};
use crate::base::folder_location::FolderLocation;
use crate::cli::args::options::PlanArgs;
use crate::cli::context::git::tree::{Revision, RevisionRange};
use crate::cli::context::open::Context;
use crate::cli::context::selection;
use crate::cli::exit::{CommandFailure, Exit};
use crate::cli::print::Printer;
use crate::config::setting::ProcessEnv;
use crate::engine::protocol::queries::against::ComparedTrees;
use crate::engine::protocol::queries::views::{Against, PlanView};
use crate::kinds::schema::files::AttachmentFiles;
use crate::model::issue::{PlacedIssue, ProblemCounts, Severity, TreeProblems};
use crate::model::manifest::OnDoubt;
use crate::plan::state_view::PlannerSettings;
use crate::policy::PolicyRules;
use crate::render;
use crate::spec::tree::attachments::AttachmentFolder;
use crate::spec::tree::loader::Loader;

/// Digests of private values are only compared with each other and never kept, so any key will do.
const KEY: [u8; 32] = [0; 32];
/// Placeholder partner name where the configuration's cannot be read; no name leaves this process.
const PARTNER: &str = "partner";

/// Runs the command.
pub(crate) fn run(
    setup: &Context,
    args: &PlanArgs,
    range: &str,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    setup.place().open().map_err(|error| {
        let what = format!("open the folder of specs {}: {error}", setup.place());
        CommandFailure::input("reckon::git::specs", what)
            .help("put the folder itself there, or write its real path in `specs`")
    })?;
    let RevisionRange { before, after } = RevisionRange::read(&setup.specs, range)?;
    let old = LoadedRevision::at(setup, &before)?;
    let new = match &after {
        Some(after) => LoadedRevision::at(setup, after)?,
        None => LoadedRevision::present(setup),
    };
    let problems = problems(&old, &new);
    for problem in &problems.shown {
        out.note(&render::plan::problem(problem));
    }
    let rules = setup.config.rules(&ProcessEnv).unwrap_or_else(|error| {
        out.note(&format!("limits not checked: {error}"));
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
    let plan = PlanView::against(&settings(setup), trees, &scope, SystemClock.now());
    let plan = plan.map_err(|names| selection::unknown_names(&names))?;
    plan::show(&plan, out)?;
    Ok(plan::exit(&plan, args.detailed_exitcode))
}

/// Returns the planner's settings, which hold nothing of this machine.
fn settings(setup: &Context) -> PlannerSettings {
    PlannerSettings {
        partner: setup.partner().unwrap_or_else(|_| PARTNER.to_owned()),
        digest_key: KEY,
        on_doubt: OnDoubt::default(),
        live_refused: None,
        prune: setup.config.policy.prune.get(&ProcessEnv).unwrap_or_default(),
    }
}

/// Returns the problems of both trees; those of the old tree count as warnings only.
fn problems(old: &LoadedRevision, new: &LoadedRevision) -> TreeProblems {
    let before = old.loader.problems();
    let count = before.omitted.errors.saturating_add(before.omitted.warnings);
    let warned = ProblemCounts { errors: 0, warnings: count };
    let before = before.shown.into_iter();
    let before = before.map(|problem| PlacedIssue { severity: Severity::Warning, ..problem });
    let TreeProblems { shown, omitted } = new.loader.problems();
    TreeProblems { shown: shown.into_iter().chain(before).collect(), omitted: omitted.plus(warned) }
}

/// A loaded tree, and the folder that holds its files.
struct LoadedRevision {
    loader: Loader,
    _folder: Option<crate::cli::context::git::tree::TempTree>,
}

impl LoadedRevision {
    /// Loads the present tree.
    fn present(setup: &Context) -> Self {
        let mut loader = setup.loader();
        loader.load_all();
        Self { loader, _folder: None }
    }

    /// Loads the tree of a revision; its files are called `REV:FILE`.
    fn at(setup: &Context, revision: &Revision) -> Result<Self, CommandFailure> {
        let plain = |path: &PathBuf| FolderLocation::from_config(&setup.root, path).open().is_ok();
        let attached = setup.attachments_path()?.filter(plain);
        let folder = revision.extract(&setup.specs, attached.as_deref())?;
        let files = folder.attachments().map(|path: &Path| -> Arc<dyn AttachmentFiles> {
            Arc::new(AttachmentFolder::new(path))
        });
        let mut loader = setup.loader_of(folder.specs(), &revision.name, files);
        loader.load_all();
        Ok(Self { loader, _folder: Some(folder) })
    }
}
