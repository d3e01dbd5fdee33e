//! `apply --server`: the daemon does the work, if its tree equals the one of this machine; the
//! command only waits and reports.
//!
//! The command sends this tree only for a comparison and a plan: the daemon does what its own files
//! say. So a different tree is refused, with the differences.

use super::tree::{digests, planned, sent};
use super::{ServerClient, local};
use crate::cli::args::ApplyArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::out::Out;
use crate::cli::setup::Setup;
use crate::cli::{applied, apply, plan, plan_file, prune, specs};
use crate::control::Request;
use crate::control::look::{Differences, Look, SentTree};
use crate::engine::{Happened, PlanView, Question, Reply};
use crate::model::scope::Scope;
use crate::render;

/// Files that a message names, at most.
const NAMES_MAX: usize = 5;
/// Characters of a commit in a message.
const COMMIT_LENGTH: usize = 12;

/// Runs the command.
pub(in crate::cli) async fn run(
    setup: &Setup,
    server: &ServerClient,
    args: &ApplyArgs,
    out: Out,
) -> Result<Exit, Failure> {
    if args.paths.iter().any(|path| plan_file::is_plan(path)) {
        let why = "a daemon does by itself whatever the files say, so that a saved plan bounds nothing there";
        return Err(local("`apply PLANFILE`", why));
    }
    let scope = specs::scope(setup, &args.paths, &args.choice)?;
    if !scope.exclude.is_empty() {
        let why = "a daemon does by itself whatever the files say; `reckon suspend` leaves something out of that";
        return Err(local("`apply --exclude`", why));
    }
    let tree = sent(setup)?;
    let differences = compared(server, &tree).await?;
    if !differences.is_none() {
        return Err(other_tree(server, &tree, &differences));
    }
    let before = the_plan(server, &tree, scope.clone()).await?;
    if before.has_errors() && !args.isolate {
        for problem in &before.problems {
            out.note(&render::plan::problem(problem));
        }
        let failure = Failure::input("reckon::apply::broken", "some documents are broken");
        return Err(failure.help("mend them, or go on with the good ones: apply --isolate"));
    }
    if !apply::agreed(&before, args, out)? {
        return Ok(Exit::Done);
    }
    out.note(&format!("the daemon at {} applies; waiting for it", server.address()));
    prune::beside(&super::Daemon::Server(server.clone()), args, out).await?;
    server.request(&Request::Ask(Question::Settle)).await?;
    let done = applied::since(&super::Daemon::Server(server.clone()), before.position, out).await?;
    told(server, &tree, (scope, &done), out).await
}

/// Shows what remains, and reports a tree that changed in the meantime.
async fn told(
    server: &ServerClient,
    tree: &SentTree,
    (scope, done): (Scope, &[Happened]),
    out: Out,
) -> Result<Exit, Failure> {
    let differences = compared(server, tree).await?;
    // A chosen resource may have disappeared meanwhile: then the whole plan is shown.
    let after = match the_plan(server, tree, scope).await {
        Ok(after) => after,
        Err(_) => the_plan(server, tree, Scope::default()).await?,
    };
    applied::show(&after, done, out)?;
    if differences.is_none() {
        return Ok(plan::stuck(&after));
    }
    let now = commit(differences.commit.as_ref());
    out.note(&format!(
        "while this waited, the daemon's tree became another one ({now}): whether all of this one was applied is not known"
    ));
    Ok(Exit::Stuck.or(plan::stuck(&after)))
}

/// Compares the daemon's tree with this one.
async fn compared(server: &ServerClient, tree: &SentTree) -> Result<Differences, Failure> {
    let value = server.look(Look::Compare(digests(tree))).await?;
    serde_json::from_value(value).map_err(Failure::bug)
}

/// Returns the plan of this tree.
async fn the_plan(
    server: &ServerClient,
    tree: &SentTree,
    scope: Scope,
) -> Result<PlanView, Failure> {
    let reply = planned(server, tree.clone(), Question::Scoped(scope)).await?;
    if let Reply::Unknown(names) = &reply {
        return Err(specs::unknown(names));
    }
    let Reply::Plan(plan) = reply else {
        return Err(Failure::bug("a plan was not answered by one"));
    };
    Ok(*plan)
}

/// Returns the failure where the daemon's tree differs from this one.
fn other_tree(server: &ServerClient, tree: &SentTree, found: &Differences) -> Failure {
    let (at, here, there) =
        (server.address(), commit(tree.commit.as_ref()), commit(found.commit.as_ref()));
    let what = format!(
        "the tree of the daemon at {at} is not this one: the daemon is at {there}, this is {here}"
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
    let trouble = trouble.map(|why| format!("the daemon cannot read all of its own: {why}"));
    let parts: Vec<String> = [what].into_iter().chain(told).chain(trouble).collect();
    let what = parts.join("; ");
    Failure::input("reckon::server::other_tree", what).help(
        "the daemon does what its own files say, and nothing was done: bring this commit to its machine (its checkout \
         of the specs), then apply again; `reckon plan` shows what this tree would change there",
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
