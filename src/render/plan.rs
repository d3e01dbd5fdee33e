//! Renders a plan for people: the money that moves, each step with its reason, and the place in the
//! files. A saved plan begins with its description; its token stays in the file.

use common::{before_after, hold_lines, notes, origin, symbol, unchangeable_fields};
use owo_colors::Style;
use schemars::JsonSchema;
use serde::Serialize;

use crate::base::clock::timestamp;
use crate::engine::protocol::approvals::SavedPlan;
use crate::engine::protocol::next_steps::NextStep;
use crate::engine::protocol::views::{PlanView, StepView};
use crate::model::issue::PlacedIssue;
use crate::model::operator::StepSelection;
use crate::render::words::{
    self, Screen, clean, file_place, push_line, resource_key, short_hash, value_text,
};

pub(super) use markdown::escape_markdown;
pub use markdown::markdown;

pub mod common;
mod groups;
pub mod markdown;
mod money;

/// Renders a plan. A large one is shown as counts by kind and merchant, and the steps that a person
/// has to act on.
pub fn text(plan: &PlanView, screen: Screen) -> String {
    render(plan, groups::is_large(plan), screen)
}

/// Renders a plan with each of its steps.
pub fn full_text(plan: &PlanView, screen: Screen) -> String {
    render(plan, false, screen)
}

fn render(plan: &PlanView, is_grouped: bool, screen: Screen) -> String {
    let mut out = String::new();
    for line in hold_lines(plan.hold.as_deref(), &plan.rules) {
        push_line!(out, "{}", screen.paint(Style::new().red(), &clean(&line)));
    }
    money::push_money(&mut out, plan, screen);
    if is_grouped {
        groups::push_groups(&mut out, plan, screen);
    }
    let shown = plan.steps.iter().filter(|step| !is_grouped || step.stuck);
    let before = out.len();
    shown.for_each(|step| step_block(&mut out, plan, step, screen));
    if out.len() > before {
        out.push('\n');
    }
    push_line!(out, "{}", screen.bold(&common::plan_summary(plan)));
    if is_grouped {
        push_line!(out, "Each step: reckon plan -v");
    }
    for note in notes(plan) {
        push_line!(out, "{note}");
    }
    push_line!(out, "{}", screen.dim(&origin(plan)));
    out
}

/// Renders `specs/acme.yaml:14:9 what is wrong`.
pub fn problem(problem: &PlacedIssue) -> String {
    clean(&words::problem_line(problem))
}

fn step_block(out: &mut String, plan: &PlanView, step: &StepView, screen: Screen) {
    let (symbol, style) = symbol(step);
    let name = resource_key(&step.kind, &step.namespace, &step.name);
    let head = format!("{symbol} {name}");
    let message = clean(&step.message);
    let length = head.chars().count().saturating_add(message.chars().count()).saturating_add(2);
    let head = screen.paint(style, &head);
    if screen.width.is_none_or(|width| length <= width) {
        push_line!(out, "{head}  {message}");
    } else {
        push_line!(out, "{head}");
        out.push_str(&words::wrap_indented(&step.message, 4, screen));
    }
    let place = file_place(step.file.as_deref(), step.line);
    let about: Vec<String> =
        place.into_iter().chain(step.money.iter().map(words::money_text)).collect();
    if !about.is_empty() {
        push_line!(out, "    {}", screen.dim(&about.join(", ")));
    }
    if let Some(replaced) = &step.replaces {
        push_line!(out, "    {}", clean(&replaced.to_string()));
    }
    for problem in &step.problems {
        push_line!(out, "    {}", clean(&words::problem_line(problem)));
    }
    if let Some(rule) = step.held_by.as_ref().filter(|_| plan.hold.is_none()) {
        push_line!(out, "    {}", screen.dim(&clean(&format!("waits: `{rule}` holds it back"))));
    }
    for NextStep { command, purpose } in &step.next {
        push_line!(out, "    → {}  {}", clean(command), screen.dim(&format!("# {purpose}")));
    }
    let fixed = unchangeable_fields(step);
    for change in &step.changes {
        let mut text =
            format!("    {}: {}", clean(&change.path), before_after(step, change, value_text));
        if fixed.contains(change.path.as_str()) {
            let marked = screen.paint(Style::new().red(), "the service cannot change this");
            text = format!("{text}  ! {marked}");
        }
        push_line!(out, "{text}");
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SavedPlanView<'a> {
    version: u32,
    id: &'a str,
    made_at: String,
    program: &'a str,
    partner: &'a str,
    epoch: u32,
    dirty: Option<bool>,
    scope: &'a StepSelection,
    changes: bool,
    plan: &'a PlanView,
}

pub fn saved_view(saved: &SavedPlan) -> SavedPlanView<'_> {
    SavedPlanView {
        version: 1,
        id: &saved.id,
        made_at: timestamp(&saved.made_at),
        program: &saved.program,
        partner: &saved.partner,
        epoch: saved.epoch,
        dirty: saved.dirty,
        scope: &saved.scope,
        changes: saved.changes(),
        plan: &saved.plan,
    }
}

pub fn saved_text(saved: &SavedPlan, file: &str, screen: Screen) -> String {
    let mut out = String::new();
    for about in description_lines(saved, file) {
        push_line!(out, "{about}");
    }
    out.push('\n');
    out.push_str(&text(&saved.plan, screen));
    out
}

pub fn saved_markdown(saved: &SavedPlan, file: &str) -> String {
    let about: Vec<String> =
        description_lines(saved, file).iter().map(|line| escape_markdown(line)).collect();
    format!("{}\n\n{}", about.join("  \n"), markdown(&saved.plan))
}

fn description_lines(saved: &SavedPlan, file: &str) -> Vec<String> {
    let SavedPlan { id, made_at, program, partner, dirty, scope, plan, .. } = saved;
    let made = timestamp(made_at);
    let mut lines = vec![format!(
        "Saved plan {}, made {made} by reckon {} for partner {}",
        clean(id),
        clean(program),
        clean(partner)
    )];
    if *dirty == Some(true) {
        let commit = plan.commit.as_deref().map_or_else(|| "any commit".to_owned(), short_hash);
        lines.push(format!("The files contained changes that are not in {commit}"));
    }
    if !scope.is_everything() {
        lines.push(format!("Chosen: {}", selection_arguments(scope)));
    }
    lines.push(if saved.changes() {
        let file = clean(file);
        format!(
            "It contains changes; `reckon apply {file}` applies them once, if nothing has moved"
        )
    } else {
        "It is empty: nothing would change".to_owned()
    });
    lines
}

/// Renders the selection as the arguments of a command.
fn selection_arguments(scope: &StepSelection) -> String {
    let StepSelection { paths, target, exclude } = scope;
    let paths = paths.iter().map(|path| clean(path));
    let target = target.iter().map(|key| format!("--target {}", key.short()));
    let exclude = exclude.iter().map(|key| format!("--exclude {}", key.short()));
    paths.chain(target).chain(exclude).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
