//! Locates the service's refusals and outdated dates at their fields in the files.

use chrono::TimeDelta;

use super::Engine;
use crate::kinds::{guilty, register};
use crate::model::issue::{Issue, Problem};
use crate::model::observed::Refusal;
use crate::model::plan::{Reason, Step, Verdict};
use crate::model::service_problem::ServiceMessage;
use crate::plan::World;

/// Code of a request that the service refused.
const REFUSED: &str = "reckon::service::refused";

/// Hours by which a day ends later in the last time zone than in UTC.
const LAST_ZONE: TimeDelta = TimeDelta::hours(12);

impl Engine {
    /// Returns the problems of a step's fields: the service's refusals, and dates that are over.
    pub(super) fn said_of(&self, step: &Step) -> Vec<Problem> {
        let mut problems = self.refusals(step);
        problems.extend(self.overdue(step));
        problems
    }

    /// Returns warnings of dates that are over, if an object is to be created.
    fn overdue(&self, step: &Step) -> Vec<Problem> {
        let is_new = matches!(step.verdict, Verdict::Create | Verdict::Wait | Verdict::Blocked)
            && step.remote_id.is_none();
        let manifest = self.world.desired().manifest(&step.key).filter(|_| is_new);
        let today = self.shared.now().checked_sub_signed(LAST_ZONE);
        let row = register::find(step.key.kind.as_str());
        let (Some(manifest), Some(today), Some(row)) = (manifest, today, row) else {
            return Vec::new();
        };
        let issues = (row.overdue)(&manifest.spec, today.date_naive());
        issues.iter().filter_map(|issue| self.world.files().place(&step.key, issue)).collect()
    }

    /// Returns the messages of the refusal in a step's reason, each at its field; empty for any
    /// other step.
    fn refusals(&self, step: &Step) -> Vec<Problem> {
        if !matches!(step.reason, Reason::Refused(_)) {
            return Vec::new();
        }
        let known = self.world.observed(&step.key);
        let refusal = known.as_ref().and_then(|known| known.refusal.as_ref());
        let issues = refusal.map(|refusal| issues(step.key.kind.as_str(), refusal));
        let issues = issues.into_iter().flatten();
        issues.filter_map(|issue| self.world.files().place(&step.key, &issue)).collect()
    }
}

/// Returns one issue for each message.
fn issues(kind: &str, refusal: &Refusal) -> Vec<Issue> {
    let fields = register::find(kind).map_or(&[][..], |row| row.fields);
    let issue = |message: &ServiceMessage| {
        let said = message.context.as_ref().and_then(|one| guilty::field(fields, one.as_str()));
        let path = said.map_or_else(|| "spec".to_owned(), |path| format!("spec.{path}"));
        let text = format!("the service refused it (HTTP {}): {}", refusal.status, message.text());
        let help = "change it: the same request is not sent again, and nothing came of this one";
        Issue::error(REFUSED, &path, text, help)
    };
    refusal.problem.messages.iter().map(issue).collect()
}
