//! What can be asked of the engine, and its answers as plain data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

mod intents;

use super::shared::EngineError;
use super::visit::Link;
use super::{Engine, Unable};
use crate::base::clock::timestamp;
use crate::base::id::{Key, Mode};
use crate::model::bound::{Approval, LiveBinding};
use crate::model::desired::Coverage;
use crate::model::issue::Problem;
use crate::model::plan::{FieldChange, Replaced, Step, Verdict};
use crate::plan::World;

pub use intents::{IntentView, IntentsView, RemadeView};

/// A question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// How things stand as a whole.
    Overview,
    /// Every resource.
    Resources,
    /// One resource, with everything known of it.
    Resource(Key),
    /// Every intent that is not closed.
    Intents,
    /// What would be done.
    Plan,
    /// Every live binding that waits for a person's approval.
    Approvals,
    /// Look at the whole tree again, and answer once only outside events remain.
    Settle,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// How things stand.
    Overview(Overview),
    /// Every resource.
    Resources(Vec<ResourceView>),
    /// One resource, if there is such a one.
    Resource(Option<Box<ResourceView>>),
    /// Open intents and possible orphans.
    Intents(IntentsView),
    /// The plan, with the files' coverage and problems.
    Plan(Box<PlanView>),
    /// Every live binding that waits for a person's approval.
    Approvals(Vec<LiveBinding>),
    /// What was written down; empty if nothing waited for just that.
    Approved(Option<Box<Approval>>),
    /// Only outside events remain.
    Settled,
    /// The portal link that was asked for, if there is one.
    Link(Option<Link>),
}

/// How things stand as a whole: `/api/v1/status`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overview {
    /// Resources in all.
    pub resources: usize,
    /// Those that are ready.
    pub ready: usize,
    /// Those that would change.
    pub changes: usize,
    /// Those that wait for a person.
    pub stuck: usize,
    /// Remote objects whose document is gone and that are left as they are.
    pub orphaned: usize,
    /// Resources that something is being done for, or queued.
    pub under_way: usize,
    /// Intents that are not closed.
    pub open_intents: usize,
    /// Documents that cannot be used.
    pub broken: usize,
    /// Whether absence of a document is believed.
    pub coverage: Coverage,
    /// The last journal record.
    pub position: u64,
    /// Its hash: an outside anchor for the chain.
    pub head: String,
}

impl Overview {
    /// Whether nothing is under way: what is not ready waits for a person or an outside event.
    pub fn is_at_rest(&self) -> bool {
        self.under_way == 0
    }
}

/// One resource: an item of `/api/v1/resources` (design.md part 4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceView {
    /// The kind.
    pub kind: String,
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// Whether it is as the file says.
    pub ready: bool,
    /// A CamelCase word.
    pub reason: String,
    /// A sentence.
    pub message: String,
    /// The service's id.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remote_id: Option<String>,
    /// What would be done.
    pub verdict: String,
    /// The document's file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<String>,
    /// The document's line.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<usize>,
    /// When the newest fact was learnt: what the service says since is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last_known: Option<String>,
    /// How often it was made again without proof that the first try failed.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub possible_orphans: u32,
    /// What is known of it; only for one resource at a time.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub facts: BTreeMap<String, Value>,
}

/// The plan and what it rests on: `plan -o json` and `/api/v1/plan` (design.md part 4).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanView {
    /// The version of this form.
    pub version: u32,
    /// Whether absence is believed.
    pub coverage: Coverage,
    /// The last journal record it was made from.
    pub position: u64,
    /// That record's hash.
    pub head: String,
    /// The git commit of the tree.
    pub commit: Option<String>,
    /// Resources in all, settled ones included.
    pub resources: usize,
    /// Every step that is not settled, in dependency order.
    pub steps: Vec<StepView>,
    /// What it adds up to.
    pub totals: Vec<MoneyView>,
    /// What is wrong with the files.
    pub problems: Vec<Problem>,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepView {
    /// The kind.
    pub kind: String,
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// What is done.
    pub verdict: Verdict,
    /// Why, as a CamelCase word.
    pub reason: String,
    /// Why, as a sentence.
    pub message: String,
    /// Whether a person has to act.
    pub stuck: bool,
    /// The document's file.
    pub file: Option<String>,
    /// The document's line.
    pub line: Option<usize>,
    /// Field by field, private values masked.
    pub changes: Vec<FieldChange>,
    /// Money set in motion.
    pub money: Vec<MoneyView>,
    /// The invoice that this one replaces, which stays payable.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub replaces: Option<Box<Replaced>>,
    /// What the service refused, each at the field that it means.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub problems: Vec<Problem>,
}

/// An amount of money and what happens to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MoneyView {
    /// Three letters.
    pub currency: String,
    /// Test or live.
    pub mode: Mode,
    /// What happens to it.
    pub meaning: String,
    /// Minor units.
    pub amount: i64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Engine {
    /// Answers a question from what is known now.
    pub fn answer(&self, question: Question) -> Result<Reply, EngineError> {
        Ok(match question {
            Question::Overview => Reply::Overview(self.overview()),
            Question::Resources => {
                Reply::Resources(self.planner.steps().map(|step| self.view(step)).collect())
            }
            Question::Resource(key) => Reply::Resource(self.resource(&key).map(Box::new)),
            Question::Intents => Reply::Intents(self.intents()?),
            Question::Plan => Reply::Plan(Box::new(self.plan_view())),
            Question::Approvals => Reply::Approvals(self.approvals()),
            Question::Settle => Reply::Settled,
        })
    }

    /// How things stand as a whole.
    pub fn overview(&self) -> Overview {
        let totals = self.planner.totals();
        let resources = self.planner.len();
        let head = self.shared.writer.head();
        Overview {
            resources,
            ready: resources.saturating_sub(totals.unready()),
            changes: totals.changes(),
            stuck: totals.stuck(),
            orphaned: totals.with(Verdict::Orphan),
            under_way: self.busy.len().saturating_add(self.queue.len()),
            open_intents: self.world.open_intents().len(),
            broken: self.world.desired().broken.len(),
            coverage: self.world.desired().coverage,
            position: head.sequence,
            head: data_encoding::HEXLOWER.encode(&head.hash),
        }
    }

    /// The plan and what it rests on.
    pub fn plan_view(&self) -> PlanView {
        let head = self.shared.writer.head();
        let plan = self.planner.plan(&self.world);
        let totals = plan.totals.iter().map(|((currency, mode, meaning), amount)| MoneyView {
            currency: currency.clone(),
            mode: *mode,
            meaning: (*meaning).to_owned(),
            amount: *amount,
        });
        let told = |step: &Step| StepView { problems: self.refusals(step), ..step_view(step) };
        PlanView {
            version: 1,
            coverage: self.world.desired().coverage,
            position: head.sequence,
            head: data_encoding::HEXLOWER.encode(&head.hash),
            commit: self.shared.settings.commit.clone(),
            totals: totals.collect(),
            resources: plan.steps.len(),
            steps: plan.steps.iter().filter(|step| !settled(step)).map(told).collect(),
            problems: self.world.problems(),
        }
    }

    /// One resource with everything known of it, secrets left out.
    fn resource(&self, key: &Key) -> Option<ResourceView> {
        let mut view = self.view(self.planner.step(key)?);
        if let Some(observed) = self.world.observed(key) {
            let facts = observed.facts.as_object().into_iter().flatten();
            let open = facts.filter(|(_, value)| value.get("sealed").is_none());
            view.facts = open.map(|(name, value)| (name.clone(), value.clone())).collect();
        }
        Some(view)
    }

    /// One resource in a list.
    fn view(&self, step: &Step) -> ResourceView {
        let unable = self.unable.get(&step.key);
        let observed = self.world.observed(&step.key);
        let (reason, message) = match unable {
            Some(unable) => (word(unable).to_owned(), unable.message().to_owned()),
            None => (step.reason.word().to_owned(), step.reason.to_string()),
        };
        ResourceView {
            kind: step.key.kind.to_string(),
            namespace: step.key.namespace.to_string(),
            name: step.key.name.to_string(),
            ready: step.ready,
            reason,
            message,
            remote_id: step.remote_id.clone(),
            verdict: format!("{:?}", step.verdict).to_lowercase(),
            file: step.place.as_ref().map(|(file, _)| file.to_string()),
            line: step.place.as_ref().map(|(_, line)| *line),
            last_known: observed.as_ref().map(|observed| timestamp(&observed.at)),
            possible_orphans: observed.as_ref().map_or(0, |observed| observed.remade),
            facts: BTreeMap::new(),
        }
    }
}

/// Whether a step has nothing to say.
fn settled(step: &Step) -> bool {
    step.verdict == Verdict::Settled && step.ready
}

/// One step for people and machines.
fn step_view(step: &Step) -> StepView {
    let money = step.money.iter().map(|money| MoneyView {
        currency: money.amount.currency().to_string(),
        mode: money.mode,
        meaning: money.meaning.to_owned(),
        amount: money.amount.minor(),
    });
    StepView {
        kind: step.key.kind.to_string(),
        namespace: step.key.namespace.to_string(),
        name: step.key.name.to_string(),
        verdict: step.verdict,
        reason: step.reason.word().to_owned(),
        message: step.reason.to_string(),
        stuck: step.stuck(),
        file: step.place.as_ref().map(|(file, _)| file.to_string()),
        line: step.place.as_ref().map(|(_, line)| *line),
        changes: step.changes.clone(),
        money: money.collect(),
        replaces: step.replaces.clone(),
        problems: Vec::new(),
    }
}

/// The word for what could not be tried.
fn word(unable: &Unable) -> &'static str {
    match unable {
        Unable::Secret(_) => "SecretMissing",
        Unable::Unreachable(_) => "Unreachable",
        Unable::Blocked(_) => "NotPossible",
        Unable::Mismatch(_) => "Mismatch",
        Unable::Waiting(_) => "Processing",
    }
}
