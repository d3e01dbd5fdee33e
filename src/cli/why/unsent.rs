//! The plan's answer about an argument that the journal does not know: a document of which nothing
//! was sent, or the plan itself.

use crate::base::id::Key;
use crate::cli::exit::Failure;
use crate::cli::session::Session;
use crate::cli::setup::Setup;
use crate::engine::{PlanView, Question, Reply, StepView, Wanted};
use crate::render::why::{ResourceView, View};

/// The fewest characters of a checksum that name a plan.
const CHECKSUM_MIN: usize = 16;

/// Returns the plan's answer; `None` if the plan does not know the argument either.
pub(super) async fn view(setup: &Setup, wanted: &Wanted) -> Result<Option<View>, Failure> {
    let session = Session::look(setup).await?;
    let reply = session.ask(Question::Plan).await;
    let Reply::Plan(plan) = session.end(setup, reply).await? else {
        return Err(Failure::bug("a plan was not answered by one"));
    };
    Ok(match wanted {
        Wanted::Resource(key) => {
            let step = plan.steps.iter().find(|step| step.key().as_ref() == Some(key));
            step.map(|step| told(&plan, Vec::new(), vec![unsent(key, step)]))
        }
        Wanted::Remote(word) if word.len() >= CHECKSUM_MIN && plan.checksum.starts_with(word) => {
            let about =
                format!("the checksum of the present plan, {}: not approved", plan.checksum);
            Some(told(&plan, vec![about], Vec::new()))
        }
        Wanted::Remote(word) => saved(word).map(|about| told(&plan, vec![about], Vec::new())),
        Wanted::Intent(_) => None,
    })
}

/// Returns the answer for an argument that has the form of a saved plan's name.
fn saved(word: &str) -> Option<String> {
    let digits = word.strip_prefix("plan-")?;
    let is_name = digits.len() == 12 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_name.then(|| {
        format!(
            "saved plan {word}: not applied to this state; `reckon plan show FILE` shows its steps"
        )
    })
}

fn told(plan: &PlanView, about: Vec<String>, resources: Vec<ResourceView>) -> View {
    let (position, head) = (plan.position, plan.head.clone());
    View { version: 1, about, resources, whole: None, position, head }
}

fn unsent(key: &Key, step: &StepView) -> ResourceView {
    let place = step.file.as_ref().zip(step.line);
    let place = place.map(|(file, line)| format!(" ({file}:{line})")).unwrap_or_default();
    ResourceView {
        key: key.clone(),
        effects: Vec::new(),
        others: Vec::new(),
        verified: Vec::new(),
        dropped: Vec::new(),
        not_sent: Some(format!("{}{place}", step.message)),
    }
}
