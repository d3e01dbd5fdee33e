//! Locates the service's refusals and outdated dates at their fields in the files.

use chrono::TimeDelta;

use crate::engine::view::EngineView;
use crate::kinds::register;
use crate::kinds::remote::error_field;
use crate::model::issue::{Issue, PlacedIssue};
use crate::model::plans::change::PlannedAction;
use crate::model::plans::plan::{Reason, Step};
use crate::model::service::outcome::ServiceMessage;
use crate::model::state::observed::ServiceRefusal;
use crate::plan::state_view::StateView;

/// Code of a request that the service refused.
const REFUSED: &str = "reckon::service::refused";

/// Hours by which a day ends later in the last time zone than in UTC.
const LAST_ZONE: TimeDelta = TimeDelta::hours(12);

impl EngineView<'_> {
    /// Returns the problems of a step's fields: the service's refusals, and dates that are over.
    pub(crate) fn field_problems(&self, step: &Step) -> Vec<PlacedIssue> {
        let mut problems = self.refusals(step);
        problems.extend(self.overdue(step));
        problems
    }

    /// Returns warnings of dates that are over, if an object is to be created.
    fn overdue(&self, step: &Step) -> Vec<PlacedIssue> {
        let is_new = matches!(
            step.action,
            PlannedAction::Create | PlannedAction::Wait | PlannedAction::Blocked
        ) && step.remote_id.is_none();
        let manifest = self.known_state.desired().manifest(&step.key).filter(|_| is_new);
        let today = self.shared.now().checked_sub_signed(LAST_ZONE);
        let row = register::find(step.key.kind.as_str());
        let (Some(manifest), Some(today), Some(row)) = (manifest, today, row) else {
            return Vec::new();
        };
        let issues = (row.overdue)(&manifest.spec, today.date_naive());
        issues.iter().filter_map(|issue| self.known_state.files().place(&step.key, issue)).collect()
    }

    /// Returns the messages of the refusal in a step's reason, each at its field; empty for any
    /// other step.
    fn refusals(&self, step: &Step) -> Vec<PlacedIssue> {
        if !matches!(step.reason, Reason::Refused(_)) {
            return Vec::new();
        }
        let known = self.known_state.observed(&step.key);
        let refusal = known.as_ref().and_then(|known| known.refusal.as_ref());
        let issues = refusal.map(|refusal| issues(step.key.kind.as_str(), refusal));
        let issues = issues.into_iter().flatten();
        issues.filter_map(|issue| self.known_state.files().place(&step.key, &issue)).collect()
    }
}

/// Returns one issue for each message.
fn issues(kind: &str, refusal: &ServiceRefusal) -> Vec<Issue> {
    let fields = register::find(kind).map_or(&[][..], |row| row.fields);
    let issue = |message: &ServiceMessage| {
        let said =
            message.context.as_ref().and_then(|one| error_field::locate(fields, one.as_str()));
        let path = said.map_or_else(|| "spec".to_owned(), |path| format!("spec.{path}"));
        let text = format!("the service refused it (HTTP {}): {}", refusal.status, message.text());
        let help = "change this field: the refused request had no effect and is not sent again";
        Issue::error(REFUSED, &path, text, help)
    };
    refusal.problem.messages.iter().map(issue).collect()
}
