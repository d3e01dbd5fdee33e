//! Options of `apply`: with `--server` the daemon does the work, with `--allow-prune` a person
//! allows removals.
//!
//! With `--server` the command only waits and reports. It sends this tree only for a comparison and a
//! plan: the daemon does what its own files say. So a different tree is refused, with the
//! differences.

use crate::base::id::Key;
use crate::base::wording::count_noun;
use crate::cli::args::options::ApplyArgs;
use crate::cli::commands::planning::apply_report::first_names;
use crate::cli::commands::planning::{apply_report, plan};
use crate::cli::context::open::Context;
use crate::cli::context::sent_tree::{digests, read_tree};
use crate::cli::context::{machine, selection};
use crate::cli::exit::{CommandFailure, CommandResult, Exit, local_only};
use crate::cli::print::Printer;
use crate::cli::remote::{Daemon, ServerClient};
use crate::control::protocol::{SentTree, TreeDifferences};
use crate::control::requests::{self, Allow, Compare, PlanOf};
use crate::engine::core::coordinator::Engine;
use crate::engine::protocol::actions::EffectReport;
use crate::engine::protocol::input::{AllowPrune, EngineCommand};
use crate::engine::protocol::query::{EffectsQuery, OverviewQuery, ScopedPlanQuery, SettleQuery};
use crate::engine::protocol::views::{Overview, PlanView};
use crate::model::operator::StepSelection;
use crate::render;

const NAMES_MAX: usize = 5;
const COMMIT_LENGTH: usize = 12;

pub(crate) async fn apply_by_server(
    setup: &Context,
    server: &ServerClient,
    args: &ApplyArgs,
) -> CommandResult {
    if args.paths.iter().any(|path| plan::is_plan(path)) {
        let why = "a daemon applies every file by itself, so a saved plan limits nothing there";
        return Err(local_only("`apply PLANFILE`", why));
    }
    let scope = selection::scope(setup, &args.paths, &args.choice)?;
    if !scope.exclude.is_empty() {
        let why = "a daemon applies every file by itself; exclude a resource with `reckon suspend`";
        return Err(local_only("`apply --exclude`", why));
    }
    let overview = server.send(OverviewQuery).await?;
    check_not_frozen(&overview)?;
    check_no_sync_needed(&overview)?;
    let tree = read_tree(setup)?;
    let differences = compare(server, &tree).await?;
    if !differences.is_none() {
        return Err(other_tree(server, &tree, &differences));
    }
    let before = plan_of_tree(server, &tree, scope.clone()).await?;
    if before.has_errors() && !args.isolate {
        for problem in &before.problems {
            setup.out.note(&render::plan::problem(problem));
        }
        let failure = CommandFailure::input("reckon::apply::broken", "some documents are invalid");
        return Err(failure.help("correct them, or apply the valid ones: `reckon apply --isolate`"));
    }
    if !apply_report::confirm(&before, args, setup.out)? {
        return Ok(Exit::Done);
    }
    setup.out.note(&format!("the daemon at {} applies; waiting for it", server.address.shown));
    let client = Daemon::Server(server.clone());
    let done = settle_by_daemon(&client, before.position, args, setup.out).await?;
    show_rest(server, &tree, (scope, &done), setup.out).await
}

/// Shows what remains, and reports a tree that changed in the meantime.
async fn show_rest(
    server: &ServerClient,
    tree: &SentTree,
    (scope, done): (StepSelection, &[EffectReport]),
    out: Printer,
) -> CommandResult {
    let differences = compare(server, tree).await?;
    // A chosen resource may have disappeared meanwhile: then the whole plan is shown.
    let after = match plan_of_tree(server, tree, scope).await {
        Ok(after) => after,
        Err(_) => plan_of_tree(server, tree, StepSelection::default()).await?,
    };
    apply_report::show(&after, done, out)?;
    if differences.is_none() {
        return Ok(apply_report::rest_exit(&after, out));
    }
    let now = commit(differences.commit.as_ref());
    out.note(&format!(
        "the daemon's tree changed in the meantime ({now}): this tree may be applied only in part"
    ));
    Ok(Exit::NeedsAttention.or(apply_report::rest_exit(&after, out)))
}

async fn compare(server: &ServerClient, tree: &SentTree) -> CommandResult<TreeDifferences> {
    Ok(server.send(Compare(digests(tree))).await?)
}

async fn plan_of_tree(
    server: &ServerClient,
    tree: &SentTree,
    scope: StepSelection,
) -> CommandResult<PlanView> {
    let plan = server.send(PlanOf(tree.clone(), ScopedPlanQuery(scope))).await?;
    plan.map_err(|names| selection::unknown_names(&names))
}

fn other_tree(server: &ServerClient, tree: &SentTree, found: &TreeDifferences) -> CommandFailure {
    let (at, here, there) =
        (&server.address.shown, commit(tree.commit.as_ref()), commit(found.commit.as_ref()));
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
    let told = told.map(|(word, files)| format!("{word}: {}", first_names(files, NAMES_MAX)));
    let trouble = found.trouble.iter();
    let trouble = trouble.map(|why| format!("the daemon cannot read its whole tree: {why}"));
    let parts: Vec<String> = [what].into_iter().chain(told).chain(trouble).collect();
    let what = parts.join("; ");
    CommandFailure::input("reckon::server::other_tree", what).help(
        "check this commit out in the daemon's specs, then apply again; `reckon plan` shows what \
        this tree would change there. Nothing was done",
    )
}

fn commit(commit: Option<&String>) -> String {
    let short = |commit: &String| commit.chars().take(COMMIT_LENGTH).collect::<String>();
    commit.map_or_else(|| "no commit".to_owned(), |commit| format!("commit {}", short(commit)))
}

/// Argument for everything that a guard stops.
const ALL: &str = "all";

fn parse_allowed(args: &ApplyArgs) -> CommandResult<AllowPrune> {
    let mut allowing = AllowPrune::default();
    for word in &args.allow_prune {
        if word == ALL {
            allowing.all = true;
            continue;
        }
        let key = word.parse::<Key>().map_err(|error| {
            let failure = CommandFailure::input(
                "reckon::prune::name",
                format!("--allow-prune {word}: {error}"),
            );
            failure.help("write KIND/NAME or KIND/NAMESPACE/NAME of the removal, or `all`")
        })?;
        allowing.keys.push(key);
    }
    Ok(allowing)
}

/// Returns the allowed removals, if each of them is guarded now.
pub(crate) fn allowed_removals(engine: &Engine, args: &ApplyArgs) -> CommandResult<AllowPrune> {
    let allowing = parse_allowed(args)?;
    match engine.not_allowable(&allowing).first() {
        None => Ok(allowing),
        Some(key) => Err(nothing_to_allow(key)),
    }
}

fn nothing_to_allow(key: &Key) -> CommandFailure {
    let message = format!("no guarded removal of {}", key.short());
    let failure = CommandFailure::input("reckon::prune::nothing_to_allow", message);
    failure.help(
        "list guarded removals with `reckon plan`; this resource has its document, or \
        stays at the service",
    )
}

pub(crate) async fn record_allowed(
    engine: &mut Engine,
    allowing: &AllowPrune,
    out: Printer,
) -> CommandResult<()> {
    if !allowing.is_empty() {
        let command = EngineCommand::AllowPrune(allowing.clone(), machine::actor());
        let about = requests::typed::<Allow>(engine.command(command).await?)?;
        print_allowed(&about, out);
    }
    Ok(())
}

/// Has a daemon apply; prints and returns its effects after this record of its journal.
pub(crate) async fn settle_by_daemon(
    client: &Daemon,
    position: u64,
    args: &ApplyArgs,
    out: Printer,
) -> CommandResult<Vec<EffectReport>> {
    record_allowed_by_daemon(client, args, out).await?;
    await_effects(client, position, out).await
}

/// Waits until only outside events remain, and prints the effects since a record of the journal.
pub(crate) async fn await_effects(
    client: &Daemon,
    position: u64,
    out: Printer,
) -> CommandResult<Vec<EffectReport>> {
    client.send(SettleQuery).await?;
    let done = client.send(EffectsQuery(position)).await?;
    for one in &done {
        apply_report::print_effect(one, out);
    }
    Ok(done)
}

async fn record_allowed_by_daemon(
    client: &Daemon,
    args: &ApplyArgs,
    out: Printer,
) -> CommandResult<()> {
    let allowing = parse_allowed(args)?;
    if allowing.is_empty() {
        return Ok(());
    }
    let about = client.send(Allow(allowing.clone())).await?;
    print_allowed(&about, out);
    match allowing.keys.iter().find(|key| !about.contains(key)) {
        None => Ok(()),
        Some(key) => Err(nothing_to_allow(key)),
    }
}

fn print_allowed(about: &[Key], out: Printer) {
    for key in about {
        out.note(&format!("{}: removal or new name allowed; recorded", key.short()));
    }
}

pub(crate) fn print_removals(engine: &Engine, out: Printer) {
    let removed = engine.planner().removal_counts.iter();
    let parts: Vec<String> =
        removed.map(|(removal, count)| format!("{count} {}", removal.past_participle())).collect();
    if !parts.is_empty() {
        out.note(&format!("Removed: {}", parts.join(", ")));
    }
}

/// Fails during a freeze: an `apply` would do nothing.
pub(crate) fn check_not_frozen(overview: &Overview) -> CommandResult<()> {
    let Some(freeze) = &overview.freeze else { return Ok(()) };
    let failure = CommandFailure::attention("reckon::apply::frozen", freeze.to_string());
    Err(failure.help("end the freeze with `reckon thaw`, then apply again; nothing was done"))
}

/// Fails if the daemon waits for a sync: an `apply` would wait for nothing.
pub(crate) fn check_no_sync_needed(overview: &Overview) -> CommandResult<()> {
    if !overview.sync.as_ref().is_some_and(|sync| sync.awaits) {
        return Ok(());
    }
    let changes = count_noun(overview.changes, "change");
    let what = format!("policy.sync is manual: {changes} of the daemon's documents wait");
    Err(CommandFailure::attention("reckon::apply::manual", what)
        .help("review and send them with `reckon sync`; nothing was done"))
}
