//! The plan's answer about an argument that the journal does not know: a document of which nothing
//! was sent, or the plan itself.

use crate::base::id::Key;
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::output::exit::CommandFailure;
use crate::engine::queries::journal_refs::WhySubject;
use crate::engine::queries::protocol::{EngineQuery, Reply};
use crate::engine::queries::views::{PlanView, StepView};
use crate::render::why::{ResourceHistoryView, WhyView};

/// The fewest characters of a checksum that name a plan.
const CHECKSUM_MIN: usize = 16;

/// Returns the plan's answer; `None` if the plan does not know the argument either.
pub(super) async fn view(
    setup: &Context,
    wanted: &WhySubject,
) -> Result<Option<WhyView>, CommandFailure> {
    let session = StateSession::open_view(setup).await?;
    let reply = session.ask(EngineQuery::Plan).await;
    let Reply::Plan(plan) = session.end(setup, reply).await? else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected a plan",
        ));
    };
    Ok(match wanted {
        WhySubject::Resource(key) => {
            let step = plan.steps.iter().find(|step| step.key().as_ref() == Some(key));
            step.map(|step| make_view(&plan, Vec::new(), vec![unsent_resource(key, step)]))
        }
        WhySubject::Remote(word)
            if word.len() >= CHECKSUM_MIN && plan.checksum.starts_with(word) =>
        {
            let about =
                format!("the checksum of the present plan, {}: not approved", plan.checksum);
            Some(make_view(&plan, vec![about], Vec::new()))
        }
        WhySubject::Remote(word) => {
            saved_plan_name(word).map(|about| make_view(&plan, vec![about], Vec::new()))
        }
        WhySubject::Intent(_) => None,
    })
}

/// Returns the answer for an argument that has the form of a saved plan's name.
fn saved_plan_name(word: &str) -> Option<String> {
    let digits = word.strip_prefix("plan-")?;
    let is_name = digits.len() == 12 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_name.then(|| {
        format!(
            "saved plan {word}: not applied to this state; `reckon plan show FILE` shows its steps"
        )
    })
}

fn make_view(plan: &PlanView, about: Vec<String>, resources: Vec<ResourceHistoryView>) -> WhyView {
    let (position, head) = (plan.position, plan.head.clone());
    WhyView { version: 1, about, resources, verified_from: None, position, head }
}

fn unsent_resource(key: &Key, step: &StepView) -> ResourceHistoryView {
    let place = step.file.as_ref().zip(step.line);
    let place = place.map(|(file, line)| format!(" ({file}:{line})")).unwrap_or_default();
    ResourceHistoryView {
        key: key.clone(),
        effects: Vec::new(),
        others: Vec::new(),
        verified: Vec::new(),
        dropped: Vec::new(),
        not_sent: Some(format!("{}{place}", step.message)),
    }
}
