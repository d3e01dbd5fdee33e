//! Renders a saved plan for people and programs: its description, then the plan. Its token stays in
//! the file.

use serde::Serialize;

use super::plan;
use super::words::{clean, push_line, short_hash};
use crate::base::clock::timestamp;
use crate::engine::protocol::commands::saved_plan::SavedPlan;
use crate::engine::protocol::queries::views::PlanView;
use crate::model::operator::suspension::StepSelection;

/// JSON form of a saved plan.
#[derive(Debug, Serialize)]
pub struct SavedView<'a> {
    version: u32,
    id: &'a str,
    made_at: String,
    program: &'a str,
    partner: &'a str,
    epoch: u32,
    dirty: Option<bool>,
    scope: &'a StepSelection,
    /// Set if the plan would change anything.
    changes: bool,
    plan: &'a PlanView,
}

/// Returns the JSON form of a saved plan.
pub fn view(saved: &SavedPlan) -> SavedView<'_> {
    SavedView {
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

/// Renders a saved plan as text; `file` is its file name.
pub fn text(saved: &SavedPlan, file: &str, color: bool) -> String {
    let mut out = String::new();
    for about in description_lines(saved, file) {
        push_line(&mut out, &about);
    }
    out.push('\n');
    out.push_str(&plan::text(&saved.plan, color));
    out
}

/// Renders a saved plan as markdown.
pub fn markdown(saved: &SavedPlan, file: &str) -> String {
    let about: Vec<String> =
        description_lines(saved, file).iter().map(|line| plan::escape_markdown(line)).collect();
    format!("{}\n\n{}", about.join("  \n"), plan::markdown(&saved.plan))
}

/// Returns the description, line by line.
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
        lines.push(format!("Chosen: {}", selection(scope)));
    }
    lines.push(if saved.changes() {
        let file = clean(file);
        format!(
            "It contains changes; `reckon apply {file}` applies them once, if nothing has \
            moved"
        )
    } else {
        "It is empty: nothing would change".to_owned()
    });
    lines
}

/// Renders the selection as the arguments of a command.
fn selection(scope: &StepSelection) -> String {
    let StepSelection { paths, target, exclude } = scope;
    let paths = paths.iter().map(|path| clean(path));
    let target = target.iter().map(|key| format!("--target {}", key.short()));
    let exclude = exclude.iter().map(|key| format!("--exclude {}", key.short()));
    paths.chain(target).chain(exclude).collect::<Vec<_>>().join(" ")
}
