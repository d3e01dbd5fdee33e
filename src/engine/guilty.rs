//! What the service refused, at the fields of the file that it means.

use super::Engine;
use crate::kinds::{guilty, register};
use crate::model::issue::{Issue, Problem};
use crate::model::observed::Refusal;
use crate::model::plan::{Reason, Step};
use crate::model::service_problem::ServiceMessage;
use crate::plan::World;

/// A request that the service would not take.
const REFUSED: &str = "reckon::service::refused";

impl Engine {
    /// The messages of the refusal that a step tells of, each at its field; none for any other step.
    pub(super) fn refusals(&self, step: &Step) -> Vec<Problem> {
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

/// One issue for each message.
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
