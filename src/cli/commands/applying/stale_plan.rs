//! Plans that are not applied: a saved plan that does not fit any more, and a plan that exceeds a
//! limit as a whole.

use std::path::Path;

use crate::base::clock::timestamp;
use crate::base::id::Key;
use crate::base::wording::{count_noun, count_verb};
use crate::cli::commands::planning::plan;
use crate::cli::exit::{CommandFailure, Exit};
use crate::cli::print::Printer;
use crate::engine::commands::approvals::saved_plan::SAVED_PLAN;
use crate::engine::core::coordinator::Engine;
use crate::engine::protocol::commands::saved_plan_stale::PlanChange;
use crate::engine::protocol::commands::saved_plan_use::{PlanUnfit, UsedBefore};
use crate::model::issue::{PlacedIssue, Severity};
use crate::model::operator::suspension::StepSelection;

/// Changes and names that a message lists, at most.
const LISTED_MAX: usize = 20;

/// Returns the help for a plan in this file that cannot be applied any more.
fn new_plan_help(file: &Path) -> String {
    format!("make a new plan: `reckon plan --out {}`", file.display())
}

/// Returns the failure of an apply of the plan in this file.
pub(crate) fn failure(unfit: &PlanUnfit, file: &Path) -> CommandFailure {
    match unfit {
        PlanUnfit::Form(version) => CommandFailure::input(
            "reckon::plan_file::form",
            format!("the plan has format {version}; this program reads format {SAVED_PLAN}"),
        )
        .help("apply it with the program that made it, or make a new plan"),
        PlanUnfit::Partner(partner) => CommandFailure::environment(
            "reckon::plan_file::partner",
            format!("the plan was made for the partner {partner:?}"),
        )
        .help("apply it with the configuration that it was made with"),
        PlanUnfit::State => CommandFailure::environment(
            "reckon::plan_file::other_state",
            "the plan was made with another state",
        )
        .help("apply it with that state, or make a new plan with this state"),
        PlanUnfit::Edited => CommandFailure::input(
            "reckon::plan_file::edited",
            "the plan was edited: its seal does not match its content",
        )
        .help(new_plan_help(file)),
        PlanUnfit::Epoch { plan, state } => CommandFailure::environment(
            "reckon::plan_file::epoch",
            format!(
                "the state was restored since: the plan has epoch {plan}, the state has epoch \
                {state}"
            ),
        )
        .help(new_plan_help(file)),
        PlanUnfit::Ahead { plan, state } => CommandFailure::environment(
            "reckon::plan_file::ahead",
            format!(
                "the state is an older copy: it ends at record {state}, and the plan was made \
                at record {plan}"
            ),
        )
        .help("use the state that made the plan, or run `reckon store restore`"),
        PlanUnfit::Used(used) => used_failure(used, file),
        PlanUnfit::Stale(moved) => stale_failure(moved, file),
    }
}

/// Returns the failure of a used plan, with the outcome of its steps.
fn used_failure(used: &UsedBefore, file: &Path) -> CommandFailure {
    let UsedBefore { plan, actor, at, done, open, left } = used;
    let steps = done.len().saturating_add(open.len()).saturating_add(left.len());
    let mut parts = vec![format!(
        "{plan} was already applied at {} by {actor}; of its {} {} done",
        timestamp(at),
        count_noun(steps, "step"),
        count_verb(done.len(), "is", "are"),
    )];
    let others = [(open, "in flight or in doubt"), (left, "not done")];
    let others = others.iter().filter(|(list, _)| !list.is_empty());
    parts.extend(others.map(|(list, what)| format!("{} {what} ({})", list.len(), names(list))));
    let help = if open.is_empty() && left.is_empty() {
        "make a new plan for other changes; this one is done".to_owned()
    } else {
        let file = file.display();
        format!(
            "make a new plan of the rest: `reckon plan --out {file}`; list unsettled effects with \
            `reckon intents`"
        )
    };
    CommandFailure::input("reckon::plan_file::used", parts.join(", ")).help(help)
}

/// Returns the failure of a plan whose basis has changed.
fn stale_failure(moved: &[PlanChange], file: &Path) -> CommandFailure {
    let said = |one: &PlanChange| format!("{}{}: {}", place(one), one.key.short(), one.what);
    let mut lines = vec!["the plan is out of date; since it was made".to_owned()];
    lines.extend(moved.iter().take(LISTED_MAX).map(said));
    let more = moved.len().saturating_sub(LISTED_MAX);
    lines.extend((more > 0).then(|| format!("and {more} more")));
    let message = lines.join("\n  ");
    let mut failure =
        CommandFailure::input("reckon::plan_file::stale", message).help(new_plan_help(file));
    failure.problems = moved.iter().map(|one| problem(one, file)).collect();
    failure
}

/// Formats `specs/acme.yaml:14 `, as far as the place is known.
fn place(moved: &PlanChange) -> String {
    match (&moved.file, moved.line) {
        (Some(file), Some(line)) => format!("{file}:{line} "),
        (Some(file), None) => format!("{file} "),
        (None, _) => String::new(),
    }
}

/// Returns a change as a problem, for programs.
fn problem(moved: &PlanChange, file: &Path) -> PlacedIssue {
    PlacedIssue {
        file: moved.file.clone().unwrap_or_default(),
        line: moved.line.unwrap_or(1),
        column: 1,
        length: 1,
        code: "reckon::plan_file::moved".to_owned(),
        severity: Severity::Error,
        message: format!("{}: {}", moved.key.short(), moved.what),
        help: new_plan_help(file),
        related: Vec::new(),
    }
}

/// Lists the first names, and the number of the others.
fn names(keys: &[Key]) -> String {
    let shown: Vec<String> = keys.iter().take(LISTED_MAX).map(Key::short).collect();
    match keys.len().saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

// Refusal of a plan that exceeds a limit as a whole: `apply` then does nothing.

/// Refuses a plan before its first effect, and shows the limits that it exceeds and the way past
/// them. Returns `None` for a plan within the limits.
pub(crate) fn refuse_whole_plan(
    scope: &StepSelection,
    out: Printer,
    engine: &Engine,
) -> Result<Option<Exit>, CommandFailure> {
    if engine.exceeded_limits().is_empty() {
        return Ok(None);
    }
    plan::show(&engine.view().plan_of(scope), out)?;
    out.note("nothing was done: a limit in reckon.yaml blocks the whole plan");
    Ok(Some(Exit::NeedsAttention))
}
