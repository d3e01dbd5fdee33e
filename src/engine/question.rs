//! Questions to the engine, and its answers as plain data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

mod against;
mod checksum;
mod conditions;
mod disowning;
mod due;
mod events;
mod hooks;
mod intents;
mod metrics;
mod overview;
mod payments;
mod quotas;
mod rehearsal;
mod roster;
mod scoped;
mod seen;
mod strays;
mod told;
mod traffic;
mod views;

use super::act::Acted;
use super::epoch::StateReply;
use super::happened::Happened;
use super::inbox::Recovered;
use super::intake::Terms;
use super::plan_approval::{PlanAnswer, named};
use super::resolve::Resolved;
use super::saved::{SavedPlan, Saving};
use super::shared::EngineError;
use super::trail::Wanted;
use super::visit::Link;
use super::{Engine, Unable};
use crate::base::clock::timestamp;
use crate::base::id::Key;
use crate::model::adoption::{Adopted, Forgot, Found};
use crate::model::bound::{Approval, LiveBinding};
use crate::model::condition::{ConditionType, Status};
use crate::model::plan::{Reason, Step, Verdict};
use crate::model::record::Rekeyed;
use crate::model::rotation::{Address, Rotation};
use crate::model::scope::Scope;
use crate::model::suspension::Paused;
use crate::plan::World;
use crate::store::open::Shorter;

pub use against::Compared;
pub use disowning::{DisownedView, Disowning, disowning};
pub use due::DueView;
use due::due;
pub use events::{EventView, EventsView, EventsWanted, IgnoredView, ReceiverView};
pub use hooks::{FailedView, HookTotals, HooksView, UndoneView, WishView};
pub use intents::{Evidence, IntentView, IntentsView, RemadeView};
pub use metrics::{EventTotals, Metrics};
pub use payments::{PaymentView, PaymentsView};
pub use quotas::{MerchantQuota, QuotasView};
pub use rehearsal::Rehearsing;
pub use roster::ScriptView;
pub use scoped::{Unknown, added, sums};
pub use strays::StrayView;
pub use told::Told;
pub use traffic::{SilentView, TrafficView};
pub use views::{
    Against, Confidence, LookView, MoneyView, Overview, PlanView, ResourceView, StepView,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Overview of the whole state.
    Overview,
    Resources,
    /// One resource with all its properties.
    Resource(Key),
    /// Counts for a monitor.
    Metrics,
    /// Every intent that is not closed.
    Intents,
    /// The gateway's events.
    Events(EventsWanted),
    /// One event, by its id.
    Event(String),
    /// State of hooks.
    Hooks,
    /// A resource as scripts see it, by its key.
    Known(String),
    /// All resources of a kind with these fields, as scripts see them.
    Sought(String, Value),
    /// Data for a trial run of a script, which changes nothing.
    Rehearsing(Rehearsing),
    /// The plan.
    Plan,
    /// The plan of the resources that the scope selects.
    Scoped(Scope),
    /// The same as a plan that can be saved in a file.
    Save(Box<Saving>),
    /// Every live authorisation that waits for a person's approval.
    Approvals,
    /// The terms for a payer's link of this saved method.
    IntakeLink(Key),
    /// Positions in the journal, for `why`.
    Trail(Wanted),
    /// The valid addresses.
    Addresses,
    /// The effects whose result was recorded behind this record of the journal, since the process
    /// began.
    Happened(u64),
    /// Reads the whole tree, and answers once only outside events remain.
    Settle,
}

impl Question {
    /// Returns true if the answer depends on the files: they are read before it, since the asker
    /// may have edited one a moment ago.
    pub fn is_about_files(&self) -> bool {
        matches!(self, Self::Plan | Self::Scoped(_) | Self::Save(_) | Self::Settle)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// Overview of the whole state.
    Overview(Overview),
    Resources(Vec<ResourceView>),
    /// One resource, if it exists.
    Resource(Option<Box<ResourceView>>),
    /// Counts for a monitor.
    Metrics(Box<Metrics>),
    /// Open intents and possible orphans.
    Intents(IntentsView),
    /// The gateway's events, and the state of their receiver.
    Events(Box<EventsView>),
    /// One event, if it is known.
    Event(Option<Box<EventView>>),
    /// State of hooks.
    Hooks(Box<HooksView>),
    /// Number of hooks that are run again.
    Replayed(usize),
    /// Data for scripts, or the reason why there is none.
    Known(Result<Value, String>),
    /// The plan, with the tree's state and problems.
    Plan(Box<PlanView>),
    /// A plan that can be saved in a file.
    Saved(Box<SavedPlan>),
    /// Result of a suspension or resumption.
    Paused(Box<Paused>),
    /// Selected names that no resource has.
    Unknown(Vec<Unknown>),
    /// Every live authorisation that waits for a person's approval.
    Approvals(Vec<LiveBinding>),
    /// The recorded approval; `None` if nothing waited for exactly that one.
    Approved(Option<Box<Approval>>),
    /// Result of an approval of the plan.
    PlanApproved(Box<PlanAnswer>),
    /// The resources whose removal is permitted.
    Allowed(Vec<Key>),
    /// Only outside events remain.
    Settled,
    /// Result of an action.
    Acted(Box<Acted>),
    /// Result of a manual settlement.
    Resolved(Resolved),
    /// Result of an import.
    Adopted(Box<Adopted>),
    /// Results of several imports.
    AllAdopted(Vec<Adopted>),
    /// A merchant's objects, or the reason why they are not known.
    Inventory(Result<Vec<Found>, String>),
    /// The service's response with its secrets hidden, or the reason why there is none.
    Shown(Result<Value, String>),
    /// Result of forgetting or disowning.
    Forgot(Box<Forgot>),
    /// About the state on disk.
    State(StateReply),
    /// The requested portal link, if there is one.
    Link(Option<Link>),
    /// The terms of a payer's link, or the reason why there is none now.
    IntakeLink(Result<Terms, String>),
    /// The saved method that received a token, or the reason of the refusal.
    Attached(Result<Key, String>),
    /// The rotated addresses with their valid generations.
    Addresses(Vec<(Address, Rotation)>),
    /// The addresses that a rotation concerned, or the reason of its refusal.
    Rotated(Result<Vec<Address>, String>),
    /// Result of a compaction of the state, or the reason of its failure.
    Compacted(Result<Box<Shorter>, String>),
    /// Result of a change of the state's key, or the reason why there was none.
    Rekeyed(Result<Rekeyed, String>),
    /// Content of the lists of events, or the reason why they were not read.
    Recovered(Result<Vec<Recovered>, String>),
    /// The acknowledged resource that was made again; `None`: no such intent is listed.
    OrphanSeen(Option<Key>),
    /// Number of acknowledged failures and actions.
    Dismissed(usize),
    /// Number of values that a forgotten script kept; `None`: there is no such script, or it is in
    /// use.
    ScriptForgotten(Option<usize>),
    /// An answer from the local data beside the engine.
    Told(Told),
    /// Effects, oldest first.
    Happened(Vec<Happened>),
}

impl Engine {
    /// Answers a question from the present state.
    pub fn answer(&self, question: Question) -> Result<Reply, EngineError> {
        Ok(match question {
            Question::Overview => Reply::Overview(self.overview()),
            Question::Resources => {
                Reply::Resources(self.planner.steps().map(|step| self.view(step)).collect())
            }
            Question::Resource(key) => Reply::Resource(self.resource(&key).map(Box::new)),
            Question::Metrics => Reply::Metrics(Box::new(self.metrics()?)),
            Question::Intents => Reply::Intents(self.intents()?),
            Question::Events(wanted) => Reply::Events(Box::new(self.events(&wanted)?)),
            Question::Event(id) => Reply::Event(self.event(&id)?.map(Box::new)),
            Question::Hooks => Reply::Hooks(Box::new(self.hooks_view()?)),
            Question::Known(key) => Reply::Known(self.seen(&key)),
            Question::Sought(kind, filter) => Reply::Known(Ok(self.sought(&kind, &filter))),
            Question::Rehearsing(asked) => Reply::Known(self.rehearsed(&asked)),
            Question::Plan => Reply::Plan(Box::new(self.plan_view())),
            Question::Scoped(scope) => match self.plan_within(&scope) {
                Ok(plan) => Reply::Plan(Box::new(plan)),
                Err(unknown) => Reply::Unknown(unknown),
            },
            Question::Save(saving) => self.saved(*saving)?,
            Question::Approvals => Reply::Approvals(self.approvals()),
            Question::IntakeLink(key) => Reply::IntakeLink(self.intake_link(&key)),
            Question::Trail(wanted) => Reply::State(StateReply::Trail(self.trail(&wanted)?)),
            Question::Addresses => Reply::Addresses(self.shared.facts.rotations()?),
            Question::Happened(position) => Reply::Happened(self.happened(position)),
            Question::Settle => Reply::Settled,
        })
    }

    /// Returns the plan and its basis.
    pub fn plan_view(&self) -> PlanView {
        let head = self.shared.writer.head();
        let plan = self.planner.plan(&self.world);
        let totals = plan.totals.iter().map(|((currency, mode, meaning), amount)| MoneyView {
            currency: currency.clone(),
            mode: *mode,
            meaning: (*meaning).to_owned(),
            amount: *amount,
        });
        let checksum = self.checksum(plan.steps.iter());
        let told = |step: &Step| {
            let due = self.planner.dues(&self.world, step);
            let view = StepView { problems: self.said_of(step), due, ..step_view(step) };
            named(view, step, &checksum)
        };
        let problems = self.world.files().problems();
        let steps = plan.steps.iter().filter(|step| !settled(step)).map(told);
        let steps: Vec<StepView> = steps.collect();
        PlanView {
            version: 1,
            coverage: self.world.desired().coverage,
            position: head.sequence,
            head: data_encoding::HEXLOWER.encode(&head.hash),
            commit: self.world.files().commit(),
            files: self.world.files().digest(),
            checksum: checksum.clone(),
            looked_at: self.looks(),
            totals: totals.collect(),
            due: due(&steps),
            against: None,
            resources: plan.steps.len(),
            steps,
            problems: problems.shown,
            omitted: problems.omitted,
        }
    }

    /// Returns one resource with all its properties, without secrets.
    fn resource(&self, key: &Key) -> Option<ResourceView> {
        let mut view = self.view(self.planner.step(key)?);
        if let Some(observed) = self.world.observed(key) {
            let facts = observed.facts.as_object().into_iter().flatten();
            let open = facts.filter(|(_, value)| value.get("sealed").is_none());
            view.facts = open.map(|(name, value)| (name.clone(), value.clone())).collect();
        }
        Some(view)
    }

    /// Returns the status of each condition of a resource, without messages.
    fn statuses(&self, step: &Step) -> [(ConditionType, Status); 4] {
        let unable = self.unable.get(&step.key).filter(|_| self.world.open(&step.key).is_none());
        conditions::statuses(step, self.is_suspended(&step.key), unable)
    }

    /// Returns one resource as in a list.
    fn view(&self, step: &Step) -> ResourceView {
        let observed = self.world.observed(&step.key);
        let confidence = observed.as_ref().and_then(|known| self.confidence(&step.key, known));
        let open = self.world.open(&step.key);
        let suspension = self.suspension(&step.key);
        let known = conditions::Known {
            step,
            observed: observed.as_deref(),
            open: open.as_deref(),
            suspension: suspension.as_deref(),
            suspended: self.is_suspended(&step.key),
            unable: self.unable.get(&step.key).filter(|_| open.is_none()),
            confidence: confidence.as_ref().map(|(confidence, _)| *confidence),
        };
        let (reason, message) = headline(&known);
        ResourceView {
            kind: step.key.kind.to_string(),
            namespace: step.key.namespace.to_string(),
            name: step.key.name.to_string(),
            ready: step.is_ready(),
            reason,
            message,
            remote_id: step.remote_id.clone(),
            conditions: conditions::conditions(&known),
            verdict: format!("{:?}", step.verdict).to_lowercase(),
            file: step.place.as_ref().map(|(file, _)| file.to_string()),
            line: step.place.as_ref().map(|(_, line)| *line),
            last_known: observed.as_ref().map(|observed| timestamp(&observed.at)),
            confidence: known.confidence,
            verified_at: confidence.and_then(|(_, at)| at),
            payments: observed.as_deref().and_then(payments::view),
            possible_orphans: observed.as_ref().map_or(0, |observed| observed.remade),
            facts: BTreeMap::new(),
        }
    }
}

/// Returns the headline of a resource: the failure of its last attempt, its problem, or its last
/// known state.
fn headline(known: &conditions::Known<'_>) -> (String, String) {
    if let Some(unable) = known.unable {
        return (word(unable).to_owned(), unable.message().to_owned());
    }
    let (word, message) = known.step.headline();
    if known.step.is_ready() && known.step.reason == Reason::InSync {
        return (word.to_owned(), conditions::in_sync(known).1);
    }
    (word.to_owned(), message)
}

/// Returns true if a step has nothing to report.
fn settled(step: &Step) -> bool {
    step.verdict == Verdict::Settled && step.ready
}

/// Builds the view of one step.
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
        due: Vec::new(),
        limit: None,
        replaces: step.replaces.clone(),
        removal: step.reason.removal(),
        problems: Vec::new(),
        waits_for: scoped::waits(&step.reason),
    }
}

/// Returns the reason word of a failed attempt.
fn word(unable: &Unable) -> &'static str {
    match unable {
        Unable::Secret(_) => "SecretMissing",
        Unable::Unreachable(_) => "Unreachable",
        Unable::Blocked(_) => "NotPossible",
        Unable::Mismatch(_) => "Mismatch",
        Unable::Denied(_) => "PartnerRefused",
        Unable::Waiting(_) => "Processing",
    }
}
