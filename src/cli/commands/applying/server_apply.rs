//! `apply --server`: the daemon does the work, if its tree equals the one of this machine; the
//! command only waits and reports.
//!
//! The command sends this tree only for a comparison and a plan: the daemon does what its own files
//! say. So a different tree is refused, with the differences.

use crate::cli::args::options::ApplyArgs;
use crate::cli::commands::applying::{apply_report, prune};
use crate::cli::commands::planning::plan;
use crate::cli::context::open::Context;
use crate::cli::context::selection;
use crate::cli::context::sent_tree::{digests, read_tree};
use crate::cli::exit::{CommandFailure, Exit, local_only};
use crate::cli::print::Printer;
use crate::cli::remote::client::ServerClient;
use crate::control::local::{SentTree, TreeDifferences};
use crate::control::requests::{Compare, PlanOf};
use crate::engine::protocol::queries::effect_log::EffectReport;
use crate::engine::protocol::queries::views::PlanView;
use crate::engine::protocol::query::{ScopedPlanQuery, SettleQuery};
use crate::model::operator::suspension::StepSelection;
use crate::render;

/// Files that a message names, at most.
const NAMES_MAX: usize = 5;
/// Characters of a commit in a message.
const COMMIT_LENGTH: usize = 12;

/// Runs the command.
pub(crate) async fn run(
    setup: &Context,
    server: &ServerClient,
    args: &ApplyArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    if args.paths.iter().any(|path| plan::is_plan(path)) {
        let why = "a daemon applies every file by itself, so a saved plan limits nothing there";
        return Err(local_only("`apply PLANFILE`", why));
    }
    let scope = selection::scope(setup, &args.paths, &args.choice)?;
    if !scope.exclude.is_empty() {
        let why = "a daemon applies every file by itself; exclude a resource with `reckon suspend`";
        return Err(local_only("`apply --exclude`", why));
    }
    let tree = read_tree(setup)?;
    let differences = compare(server, &tree).await?;
    if !differences.is_none() {
        return Err(other_tree(server, &tree, &differences));
    }
    let before = plan_of_tree(server, &tree, scope.clone()).await?;
    if before.has_errors() && !args.isolate {
        for problem in &before.problems {
            out.note(&render::plan::problem(problem));
        }
        let failure = CommandFailure::input("reckon::apply::broken", "some documents are invalid");
        return Err(failure.help("correct them, or apply the valid ones: `reckon apply --isolate`"));
    }
    if !apply_report::confirm(&before, args, out)? {
        return Ok(Exit::Done);
    }
    out.note(&format!("the daemon at {} applies; waiting for it", server.address()));
    prune::record_by_daemon(&crate::cli::remote::daemon::Daemon::Server(server.clone()), args, out)
        .await?;
    server.send(SettleQuery).await?;
    let done = apply_report::print_effects_since(
        &crate::cli::remote::daemon::Daemon::Server(server.clone()),
        before.position,
        out,
    )
    .await?;
    show_rest(server, &tree, (scope, &done), out).await
}

/// Shows what remains, and reports a tree that changed in the meantime.
async fn show_rest(
    server: &ServerClient,
    tree: &SentTree,
    (scope, done): (StepSelection, &[EffectReport]),
    out: Printer,
) -> Result<Exit, CommandFailure> {
    let differences = compare(server, tree).await?;
    // A chosen resource may have disappeared meanwhile: then the whole plan is shown.
    let after = match plan_of_tree(server, tree, scope).await {
        Ok(after) => after,
        Err(_) => plan_of_tree(server, tree, StepSelection::default()).await?,
    };
    apply_report::show(&after, done, out)?;
    if differences.is_none() {
        return Ok(plan::attention_exit(&after));
    }
    let now = commit(differences.commit.as_ref());
    out.note(&format!(
        "the daemon's tree changed in the meantime ({now}): this tree may be applied only in part"
    ));
    Ok(Exit::NeedsAttention.or(plan::attention_exit(&after)))
}

/// Compares the daemon's tree with this one.
async fn compare(
    server: &ServerClient,
    tree: &SentTree,
) -> Result<TreeDifferences, CommandFailure> {
    Ok(server.send(Compare(digests(tree))).await?)
}

/// Returns the plan of this tree.
async fn plan_of_tree(
    server: &ServerClient,
    tree: &SentTree,
    scope: StepSelection,
) -> Result<PlanView, CommandFailure> {
    let plan = server.send(PlanOf(tree.clone(), ScopedPlanQuery(scope))).await?;
    plan.map_err(|names| selection::unknown_names(&names))
}

/// Returns the failure where the daemon's tree differs from this one.
fn other_tree(server: &ServerClient, tree: &SentTree, found: &TreeDifferences) -> CommandFailure {
    let (at, here, there) =
        (server.address(), commit(tree.commit.as_ref()), commit(found.commit.as_ref()));
    let what = format!(
        "the tree of the daemon at {at} differs from this tree: the daemon has {there}, this is \
        {here}"
    );
    let sorts = [
        ("missing there", &found.missing),
        ("only there", &found.more),
        ("different", &found.changed),
        ("different, and attached to invoices", &found.attached),
    ];
    let told = sorts.iter().filter(|(_, files)| !files.is_empty());
    let told = told.map(|(word, files)| format!("{word}: {}", names(files)));
    let trouble = found.trouble.iter();
    let trouble = trouble.map(|why| format!("the daemon cannot read its whole tree: {why}"));
    let parts: Vec<String> = [what].into_iter().chain(told).chain(trouble).collect();
    let what = parts.join("; ");
    CommandFailure::input("reckon::server::other_tree", what).help(
        "check this commit out in the daemon's specs, then apply again; `reckon plan` shows what \
        this tree would change there. Nothing was done",
    )
}

/// Returns a commit for people.
fn commit(commit: Option<&String>) -> String {
    let short = |commit: &String| commit.chars().take(COMMIT_LENGTH).collect::<String>();
    commit.map_or_else(|| "no commit".to_owned(), |commit| format!("commit {}", short(commit)))
}

/// Returns some names, and how many more there are.
fn names(files: &[String]) -> String {
    let some = files.iter().take(NAMES_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    match files.len().saturating_sub(NAMES_MAX) {
        0 => some,
        more => format!("{some} and {more} more"),
    }
}
