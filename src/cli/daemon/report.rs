//! The daemon's words to people: where everything is, the counts when it is at rest, and each new
//! problem, once.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::json;
use tokio::sync::watch;

use crate::cli::args::output::Output;
use crate::cli::commands::sandbox::command::EmbeddedSandbox;
use crate::cli::context::open::Context;
use crate::cli::exit::{CommandFailure, CommandResult};
use crate::cli::print::{Printer, ServingLine};
use crate::control::handle::Control;
use crate::engine::protocol::diagnostics::StatusView;
use crate::engine::protocol::query::StatusQuery;
use crate::engine::protocol::views::{Overview, ResourceView};
use crate::model::issue::PlacedIssue;
use crate::model::plan::Standing;
use crate::render;
use crate::render::progress::{RunProgress, next_overview};

/// Shortest time between two reports for people.
const REPORT_EVERY: Duration = Duration::from_millis(200);
/// Reason of a resource that only waits for another one, which is reported itself.
const WAITS_FOR: &str = "WaitsFor";
/// Path of the sandbox's mailbox.
const MAILBOX: &str = "/_sandbox/mailbox";

/// Says where everything is, on standard output and in the state.
pub(crate) fn announce(
    setup: &Context,
    embedded: Option<&EmbeddedSandbox>,
    address: SocketAddr,
) -> CommandResult<()> {
    let service = embedded.map(|one| one.access.base_url.clone());
    let addresses = json!({"http": format!("http://{address}"), "sandbox": service});
    let path = setup.state.join("addresses.json");
    std::fs::write(&path, addresses.to_string()).map_err(|error| {
        let what = format!("write {}: {error}", path.display());
        CommandFailure::environment("reckon::state::write", what)
    })?;
    if setup.out.form == Output::Text {
        let (specs, state) = (&setup.specs, setup.state.display());
        setup.out.text(&format!("specs     {specs}\nstate     {state}"))?;
    }
    if let Some(service) = &service {
        let text = || format!("sandbox   {service}\nmailbox   {service}{MAILBOX}");
        setup.out.line(&ServingLine::Sandbox(service), text)?;
    }
    let url = format!("http://{address}");
    setup.out.line(&ServingLine::Listening(&url), || format!("listening {url}"))
}

/// Reports each change of the counts, and a disk that gets too full, when the engine is at rest, and the
/// progress until then.
pub(crate) async fn report(
    mut overviews: watch::Receiver<Overview>,
    control: Control,
    out: Printer,
) {
    let progress = RunProgress::default();
    let mut problems = KnownProblems::default();
    let mut told = None;
    let mut working = false;
    while let Some(now) = next_overview(&mut overviews, working).await {
        working = !now.is_at_rest();
        let has_space = now.disk_low_bytes.is_none();
        let news = (now.resources, now.standings, now.broken, now.coverage, has_space);
        if working {
            if let Some(line) = progress.update(&now, "reconciling") {
                out.log(&line);
            }
        } else {
            progress.clear();
        }
        if !working && told != Some(news) {
            let text = || render::overview::overview(&now);
            if out.line(&ServingLine::Overview(&now), text).is_err() {
                return;
            }
            // An engine that ends answers no more.
            if let Ok(status) = control.ask(StatusQuery).await {
                problems.update(&status).iter().for_each(log_change);
            }
            told = Some(news);
        }
        tokio::time::sleep(REPORT_EVERY).await;
    }
}

/// One piece of news about what is not in order.
#[derive(Debug, PartialEq, Eq)]
enum ProblemChange<'a> {
    /// A resource is not ready, for another reason than before.
    NotReady(&'a ResourceView),
    ReadyAgain(String),
    Document(&'a PlacedIssue),
}

/// The problems that were reported.
#[derive(Debug, Default)]
struct KnownProblems {
    /// The reason of each resource that is not ready, those that only wait for another included.
    resources: BTreeMap<String, String>,
    documents: BTreeSet<(String, usize, String)>,
}

impl KnownProblems {
    /// Notes a status, and returns what is new in it.
    fn update<'a>(&mut self, status: &'a StatusView) -> Vec<ProblemChange<'a>> {
        let mut changes = Vec::new();
        let mut resources = BTreeMap::new();
        for item in &status.not_ready {
            let name = render::resource::resource_list::name(item);
            if self.resources.get(&name) != Some(&item.reason) && item.reason != WAITS_FOR {
                changes.push(ProblemChange::NotReady(item));
            }
            resources.insert(name, item.reason.clone());
        }
        let Overview { resources: all, ready, .. } = status.overview;
        let is_whole = all.saturating_sub(ready) <= status.not_ready.len();
        let known = self.resources.iter().filter(|(_, reason)| *reason != WAITS_FOR);
        let gone = known.filter(|(name, _)| !resources.contains_key(*name));
        if is_whole {
            changes.extend(gone.map(|(name, _)| ProblemChange::ReadyAgain(name.clone())));
            self.resources = resources;
        } else {
            // The list is cut: a resource that it does not name may still be not ready.
            self.resources.extend(resources);
        }
        let documents = status.problems.iter().filter(|one| !self.documents.contains(&issue(one)));
        changes.extend(documents.map(ProblemChange::Document));
        self.documents = status.problems.iter().map(issue).collect();
        changes
    }
}

fn issue(problem: &PlacedIssue) -> (String, usize, String) {
    (problem.file.clone(), problem.line, problem.message.clone())
}

fn log_change(change: &ProblemChange<'_>) {
    match change {
        ProblemChange::NotReady(item) => log_resource(item),
        ProblemChange::ReadyAgain(name) => {
            tracing::info!(target: "reckon::resources", key = name, "no problem any more");
        }
        ProblemChange::Document(PlacedIssue { file, line, code, message, help, .. }) => {
            tracing::error!(target: "reckon::documents", file, line, code, next = help, "{message}");
        }
    }
}

fn log_resource(item: &ResourceView) {
    let ResourceView { reason, message, file, line, .. } = item;
    let key = render::resource::resource_list::name(item);
    let next = item.next.first().map(|next| next.command.as_str());
    let is_trouble =
        matches!(item.standing, Standing::NeedsAttention | Standing::Invalid | Standing::Unhealthy);
    if is_trouble {
        tracing::error!(target: "reckon::resources", key, reason, file, line, next, "{message}");
    } else {
        tracing::warn!(target: "reckon::resources", key, reason, file, line, next, "{message}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(reasons: &[(&str, &str)], unready: usize) -> StatusView {
        let items = reasons.iter().map(|(name, reason)| {
            let item = json!({
                "kind": "Invoice", "namespace": "default", "name": name, "ready": false,
                "standing": "waiting", "reason": reason, "message": "", "verdict": "wait",
            });
            serde_json::from_value(item).unwrap()
        });
        let overview = Overview {
            resources: 50,
            ready: 50_usize.saturating_sub(unready),
            ..Overview::default()
        };
        StatusView { not_ready: items.collect(), overview, ..StatusView::default() }
    }

    fn names(changes: &[ProblemChange<'_>]) -> Vec<String> {
        let name = |change: &ProblemChange<'_>| match change {
            ProblemChange::NotReady(item) => format!("{} {}", item.name, item.reason),
            ProblemChange::ReadyAgain(name) => format!("{name} again"),
            ProblemChange::Document(problem) => problem.file.clone(),
        };
        changes.iter().map(name).collect()
    }

    #[test]
    fn each_problem_is_told_once_and_its_end_too() {
        let mut known = KnownProblems::default();
        let first = status(&[("a", "Waits"), ("b", "Refused")], 2);
        assert_eq!(names(&known.update(&first)), ["a Waits", "b Refused"]);
        assert!(known.update(&first).is_empty());
        let second = status(&[("a", "Refused")], 1);
        assert_eq!(names(&known.update(&second)), ["a Refused", "Invoice/b again"]);
    }

    #[test]
    fn a_resource_that_waits_for_another_one_is_not_reported() {
        let mut known = KnownProblems::default();
        assert!(known.update(&status(&[("a", WAITS_FOR)], 1)).is_empty());
        assert!(known.update(&status(&[], 0)).is_empty());
    }

    #[test]
    fn a_resource_that_waits_for_another_one_now_is_not_said_to_be_ready() {
        let mut known = KnownProblems::default();
        known.update(&status(&[("a", "Refused")], 1));
        assert!(known.update(&status(&[("a", WAITS_FOR)], 1)).is_empty());
        assert_eq!(names(&known.update(&status(&[("a", "Refused")], 1))), ["a Refused"]);
    }

    #[test]
    fn nothing_is_said_to_be_in_order_from_a_list_that_is_cut() {
        let mut known = KnownProblems::default();
        known.update(&status(&[("a", "Waits"), ("b", "Waits")], 2));
        assert!(known.update(&status(&[("a", "Waits")], 30)).is_empty());
        assert_eq!(names(&known.update(&status(&[], 0))), ["Invoice/a again", "Invoice/b again"]);
    }

    #[test]
    fn a_problem_of_a_document_is_told_when_it_is_new() {
        let problem = json!({
            "file": "specs/a.yaml", "line": 3, "column": 1, "length": 1, "code": "reckon::yaml::alias",
            "severity": "error", "message": "no", "help": "write it out", "related": [],
        });
        let problems = vec![serde_json::from_value(problem).unwrap()];
        let status = StatusView { problems, ..StatusView::default() };
        let mut known = KnownProblems::default();
        assert_eq!(names(&known.update(&status)), ["specs/a.yaml"]);
        assert!(known.update(&status).is_empty());
    }
}
