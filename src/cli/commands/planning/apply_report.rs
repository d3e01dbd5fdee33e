//! The output of `apply`: the plan with a question, each effect as it happens, and their totals; the
//! refusal of a saved plan that does not fit any more, and of a plan that exceeds a limit as a whole.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::mpsc;

use crate::base::clock::timestamp;
use crate::base::id::Key;
use crate::base::wording::{count_noun, count_verb};
use crate::cli::args::options::ApplyArgs;
use crate::cli::args::output::Output;
use crate::cli::commands::planning::plan;
use crate::cli::exit::{CommandFailure, CommandResult, Exit, file_problem};
use crate::cli::print::Printer;
use crate::engine::commands::saved_plan::SAVED_PLAN;
use crate::engine::core::coordinator::Engine;
use crate::engine::protocol::actions::EffectReport;
use crate::engine::protocol::approvals::{PlanChange, PlanUnfit, UsedBefore};
use crate::engine::protocol::time_rules::TimeRuleView;
use crate::engine::protocol::views::PlanView;
use crate::model::issue::PlacedIssue;
use crate::model::operator::StepSelection;
use crate::render;
use crate::render::words::Screen;

/// Output of `apply -o json`: the remaining plan and the effects that were done.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ApplyOutput<'a> {
    #[serde(flatten)]
    plan: &'a PlanView,
    done: &'a [EffectReport],
}

/// Prints each effect as it happens, until the last one, and returns all of them.
pub(crate) async fn print_effects(
    mut effects: mpsc::UnboundedReceiver<EffectReport>,
    out: Printer,
) -> Vec<EffectReport> {
    let mut done = Vec::new();
    while let Some(happened) = effects.recv().await {
        print_effect(&happened, out);
        done.push(happened);
    }
    done
}

pub(crate) fn print_effect(happened: &EffectReport, out: Printer) {
    match out.form {
        // A closed reader is no failure.
        Output::Text => drop(out.text(&render::effects::effect_line(happened, out.screen))),
        Output::Markdown => out.note(&render::effects::effect_line(happened, Screen::PLAIN)),
        Output::Json | Output::Yaml => {}
    }
}

/// Shows the plan and asks for agreement; without a terminal `--yes` is required.
pub(crate) fn confirm(before: &PlanView, args: &ApplyArgs, out: Printer) -> CommandResult<bool> {
    let refusal = ("reckon::apply::unconfirmed", "review the plan, then run `reckon apply --yes`");
    out.agree(args.yes, || render::plan::text(before, out.screen), refusal, "Apply this plan?")
}

pub(crate) fn show(plan: &PlanView, done: &[EffectReport], out: Printer) -> CommandResult<()> {
    if matches!(out.form, Output::Json | Output::Yaml) {
        return out.result(&ApplyOutput { plan, done }, String::new);
    }
    if !done.is_empty() {
        out.text(&render::effects::applied(done, out.screen))?;
    }
    plan::show(plan, out)
}

/// Returns the exit code of the rest after an `apply`, and notes the changes that are held.
pub(crate) fn rest_exit(after: &PlanView, out: Printer) -> Exit {
    let Some(held) = held_changes(after) else { return plan::attention_exit(after) };
    out.note(&format!("not done, since it is not their time: {held}"));
    Exit::NeedsAttention
}

/// Refuses to use up a saved plan while a window or freeze holds one of its changes.
pub(crate) fn check_times(present: &PlanView) -> CommandResult<()> {
    let Some(held) = held_changes(present) else { return Ok(()) };
    let what = format!("it is not the time for {held}");
    Err(CommandFailure::attention("reckon::apply::held", what)
        .help("apply the plan at its time; nothing was done, and the plan can still be applied"))
}

/// Counts the changes that windows and freezes hold, and names these rules; `None` without any.
fn held_changes(plan: &PlanView) -> Option<String> {
    let held: Vec<&str> = plan.steps.iter().filter_map(|step| step.held_by.as_deref()).collect();
    let rules = plan.rules.iter().filter(|rule| held.contains(&rule.name.as_str()));
    let rules = rules.map(|rule| TimeRuleView { waiting: 0, ..rule.clone() }.sentence());
    let rules = rules.collect::<Vec<_>>().join("; ");
    (!held.is_empty()).then(|| format!("{} ({rules})", count_noun(held.len(), "change")))
}

/// Changes and names that a message lists, at most.
const LISTED_MAX: usize = 20;

/// Returns the help for a plan in this file that cannot be applied any more.
fn new_plan_help(file: &Path) -> String {
    format!("make a new plan: `reckon plan --out {}`", file.display())
}

pub(crate) fn unfit_failure(unfit: &PlanUnfit, file: &Path) -> CommandFailure {
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
    parts.extend(others.map(|(list, what)| {
        let names: Vec<String> = list.iter().map(Key::short).collect();
        format!("{} {what} ({})", list.len(), first_names(&names, LISTED_MAX))
    }));
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

fn stale_failure(moved: &[PlanChange], file: &Path) -> CommandFailure {
    let said =
        |one: &PlanChange| format!("{}{}: {}", place_of_change(one), one.key.short(), one.what);
    let mut lines = vec!["the plan is out of date; since it was made".to_owned()];
    lines.extend(moved.iter().take(LISTED_MAX).map(said));
    let more = moved.len().saturating_sub(LISTED_MAX);
    lines.extend((more > 0).then(|| format!("and {more} more")));
    let problems = moved.iter().map(|one| problem_of_change(one, file)).collect();
    let stale = CommandFailure::input("reckon::plan_file::stale", lines.join("\n  "));
    CommandFailure { problems, ..stale.help(new_plan_help(file)) }
}

/// Formats `specs/acme.yaml:14 `, as far as the place is known.
fn place_of_change(moved: &PlanChange) -> String {
    match (&moved.file, moved.line) {
        (Some(file), Some(line)) => format!("{file}:{line} "),
        (Some(file), None) => format!("{file} "),
        (None, _) => String::new(),
    }
}

fn problem_of_change(moved: &PlanChange, file: &Path) -> PlacedIssue {
    let message = format!("{}: {}", moved.key.short(), moved.what);
    let place = moved.file.as_deref().unwrap_or_default();
    let problem = file_problem(place, "reckon::plan_file::moved", message, &new_plan_help(file));
    PlacedIssue { line: moved.line.unwrap_or(1), ..problem }
}

/// Joins the first names, and counts the others.
pub(crate) fn first_names(names: &[String], most: usize) -> String {
    let some = names.iter().take(most).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(most) {
        0 => some,
        more => format!("{some} and {more} more"),
    }
}

/// Refuses a plan that exceeds a limit, and shows the way past it; `None` for any other plan.
pub(crate) fn refuse_whole_plan(
    scope: &StepSelection,
    out: Printer,
    engine: &Engine,
) -> CommandResult<Option<Exit>> {
    if engine.exceeded_limits().is_empty() {
        return Ok(None);
    }
    plan::show(&engine.view().plan_of(scope), out)?;
    out.note("nothing was done: a limit in reckon.yaml blocks the whole plan");
    Ok(Some(Exit::NeedsAttention))
}
