//! Findings of `validate` and `plan`: problems of files, and steps of a plan that wait for a person.
//! The forms of this folder are for the programs that show findings beside a change of the files.

use crate::base::wording::count_noun;
use crate::engine::protocol::views::{PlanView, StepView};
use crate::model::change::PlannedAction;
use crate::model::issue::{PlacedIssue, ProblemCounts, Severity};
use crate::render::words::{clean, resource_key};

/// Place of a finding about a resource without a file.
const CONFIG_FILE: &str = "reckon.yaml";

/// Findings of one command.
#[derive(Debug)]
pub struct ReportFindings {
    pub command: &'static str,
    /// Findings in the order of the command's text.
    pub items: Vec<PlacedIssue>,
    /// Checks without a finding, in words.
    pub passed: Vec<String>,
    /// Problems of files that are not listed.
    pub omitted: ProblemCounts,
}

impl ReportFindings {
    pub fn of_files(documents: usize, problems: &[PlacedIssue], omitted: ProblemCounts) -> Self {
        let is_clean = problems.is_empty() && omitted.is_zero();
        let passed = is_clean.then(|| count_noun(documents, "document")).into_iter().collect();
        Self { command: "validate", items: problems.to_vec(), passed, omitted }
    }

    pub fn of_plan(plan: &PlanView) -> Self {
        let mut items = plan.problems.clone();
        let mut passed = Vec::new();
        for step in &plan.steps {
            items.extend(step.problems.iter().cloned());
            match obstacle(step, &plan.checksum) {
                Some(obstacle) => items.push(obstacle),
                None => passed.push(title(step)),
            }
        }
        Self { command: "plan", items, passed, omitted: plan.omitted }
    }
}

/// Formats the name of a step, such as `create Invoice/jane`.
fn title(step: &StepView) -> String {
    let name = resource_key(&step.kind, &step.namespace, &step.name);
    let action = match step.verdict {
        PlannedAction::Settled => "keep",
        PlannedAction::Create => "create",
        PlannedAction::Update => "update",
        PlannedAction::Delete => "delete",
        PlannedAction::Read => "read",
        PlannedAction::Orphan => "orphan",
        PlannedAction::Wait => "wait for",
        PlannedAction::Blocked => "change",
    };
    format!("{action} {name}")
}

/// Returns the finding of a step that a limit or another obstacle stops.
fn obstacle(step: &StepView, checksum: &str) -> Option<PlacedIssue> {
    let name = resource_key(&step.kind, &step.namespace, &step.name);
    let (code, message, help) = if let Some(limit) = &step.limit {
        let help = format!("raise the limit, or approve the plan: `reckon approve {checksum}`");
        ("reckon::plan::over_limit", limit.to_string(), help)
    } else if step.stuck || step.verdict == PlannedAction::Blocked {
        let help = format!("see the details with `reckon describe {name}`");
        ("reckon::plan::blocked", step.message.clone(), help)
    } else {
        return None;
    };
    Some(PlacedIssue {
        file: step.file.clone().unwrap_or_else(|| CONFIG_FILE.to_owned()),
        line: step.line.unwrap_or(1),
        column: 1,
        length: 1,
        code: code.to_owned(),
        severity: Severity::Error,
        message: format!("{name}: {message}"),
        help,
        related: Vec::new(),
    })
}

/// Formats the message of a finding with its help, without control characters.
pub(super) fn message_text(item: &PlacedIssue) -> String {
    let lines = item.message.lines().map(clean).collect::<Vec<_>>().join("\n");
    if item.help.is_empty() { lines } else { format!("{lines}\nhelp: {}", clean(&item.help)) }
}
