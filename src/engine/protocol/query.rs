//! Questions to the engine, and its answers as plain data.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::id::Key;
use crate::engine::protocol::actions::{ActionReport, EffectReport, ResolveResult};
use crate::engine::protocol::approvals::{PlanApprovalResult, SavePlan, SavedPlan};
use crate::engine::protocol::diagnostics::{
    LocalReply, Metrics, Provenances, StateReply, StatusView, WhySubject,
};
use crate::engine::protocol::events::{EventView, EventsView, EventsWanted, ResyncedEvents};
use crate::engine::protocol::graph::{GraphSubject, GraphView};
use crate::engine::protocol::hooks::{HooksView, TrialRunQuery};
use crate::engine::protocol::intents::IntentsView;
use crate::engine::protocol::pages::{MoneyOutlook, PlanPart, ResourceContext};
use crate::engine::protocol::payers::{IntakeTerms, SecretLink};
use crate::engine::protocol::replay::{ReplayCandidates, ReplaySelection};
use crate::engine::protocol::resources::{ListPart, ResourceFilter, ResourceList};
use crate::engine::protocol::unknown_names::UnknownName;
use crate::engine::protocol::views::{Overview, PlanView, ResourceView};
use crate::model::holds::{FreezeResult, SyncResult};
use crate::model::operator::{Rotation, StepSelection, SuspensionResult, WebhookAddress};
use crate::model::record::Rekeyed;
use crate::model::state::credentials::{BindingApproval, LiveBinding};
use crate::model::state::drift::{AdoptionReport, ForgetResult, InventoryItem};
use crate::store::state::compact::CompactionResult;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineQuery {
    Overview,
    Status,
    Resources(Box<ResourceFilter>),
    /// One resource with all its properties.
    Resource(Key),
    Metrics,
    Intents,
    Events(EventsWanted),
    Event(String),
    Hooks,
    /// A resource as scripts see it, by its key.
    #[serde(rename = "known")]
    ScriptResource(String),
    /// All resources of a kind with these fields, as scripts see them.
    #[serde(rename = "sought")]
    ScriptFind(String, Value),
    /// Data for a trial run of a script, which changes nothing.
    #[serde(rename = "rehearsing")]
    TrialRun(TrialRunQuery),
    /// The events for which a script can be run again.
    Replay(Box<ReplaySelection>),
    Plan,
    /// A part of the plan of the present state; the files are not read again.
    PlanPart(ListPart),
    /// Sums of the money that existing objects collect, as far as they are counted.
    Money,
    /// One resource with what it needs and what needs it.
    ResourceContext(Key),
    /// Resources and their needs, a bounded number of them.
    Graph(GraphSubject),
    Scoped(StepSelection),
    /// The same as a plan that can be saved in a file.
    Save(Box<SavePlan>),
    Approvals,
    IntakeLink(Key),
    /// Positions in the journal, for `why`.
    #[serde(rename = "trail")]
    JournalRefs(WhySubject),
    Addresses,
    /// The effects recorded behind this record of the journal, since the process began.
    #[serde(rename = "happened")]
    Effects(u64),
    /// Reads the whole tree, and answers once only outside events remain.
    Settle,
}

impl EngineQuery {
    /// Returns true if the answer depends on the files: they are read before it, since the asker
    /// may have edited one a moment ago.
    pub fn is_about_files(&self) -> bool {
        matches!(self, Self::Plan | Self::Scoped(_) | Self::Save(_) | Self::Settle)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    Overview(Box<Overview>),
    Status(Box<StatusView>),
    Resources(ResourceList),
    Resource(Option<Box<ResourceView>>),
    Metrics(Box<Metrics>),
    Intents(IntentsView),
    Events(Box<EventsView>),
    Event(Option<Box<EventView>>),
    Hooks(Box<HooksView>),
    /// Number of hooks that are run again.
    Replayed(usize),
    ReplayCandidates(Box<ReplayCandidates>),
    #[serde(rename = "known")]
    ScriptData(Result<Value, String>),
    Plan(Box<PlanView>),
    PlanPart(Box<PlanPart>),
    Money(Box<MoneyOutlook>),
    ResourceContext(Option<Box<ResourceContext>>),
    /// `None` if the graph's subject does not exist.
    Graph(Option<Box<GraphView>>),
    Saved(Box<SavedPlan>),
    #[serde(rename = "paused")]
    Suspension(Box<SuspensionResult>),
    Freeze(FreezeResult),
    Sync(SyncResult),
    Unknown(Vec<UnknownName>),
    Approvals(Vec<LiveBinding>),
    /// The recorded approval; `None` if nothing waited for exactly that one.
    Approved(Option<Box<BindingApproval>>),
    PlanApproved(Box<PlanApprovalResult>),
    /// The resources whose removal is permitted.
    Allowed(Vec<Key>),
    /// Only outside events remain.
    Settled,
    #[serde(rename = "acted")]
    Action(Box<ActionReport>),
    Resolved(ResolveResult),
    #[serde(rename = "adopted")]
    Imported(Box<AdoptionReport>),
    #[serde(rename = "all_adopted")]
    AllImported(Vec<AdoptionReport>),
    Inventory(Result<Vec<InventoryItem>, String>),
    /// The service's response with its secrets hidden, or the reason why there is none.
    #[serde(rename = "shown")]
    RemoteGet(Result<Value, String>),
    Forgot(Box<ForgetResult>),
    State(StateReply),
    /// The requested portal link, if there is one.
    Link(Option<SecretLink>),
    /// The terms of a payer's link, or the reason why there is none now.
    IntakeLink(Result<IntakeTerms, String>),
    /// The saved method that received a token, or the reason of the refusal.
    Attached(Result<Key, String>),
    Addresses(Vec<(WebhookAddress, Rotation)>),
    /// The addresses that a rotation concerned, or the reason of its refusal.
    Rotated(Result<Vec<WebhookAddress>, String>),
    Compacted(Result<Box<CompactionResult>, String>),
    Rekeyed(Result<Rekeyed, String>),
    Recovered(Result<Vec<ResyncedEvents>, String>),
    /// The acknowledged resource that was made again; `None`: no such intent is listed.
    OrphanSeen(Option<Key>),
    /// Number of acknowledged failures and actions.
    Dismissed(usize),
    /// Number of values that a forgotten script kept; `None`: no such script, or it is in use.
    ScriptForgotten(Option<usize>),
    /// The resource is tried again; or there is none of this name.
    Retried(Result<(), UnknownName>),
    /// An answer from the local data beside the engine.
    #[serde(rename = "told")]
    Local(LocalReply),
    /// Effects, oldest first.
    #[serde(rename = "happened")]
    Effects(Vec<EffectReport>),
}

/// A query whose answer has one type. An [`EngineQuery`] itself is answered by any [`Reply`].
pub trait Query {
    type Answer;

    fn into_query(self) -> EngineQuery;

    /// Returns the answer in a reply; `None` if the reply is another query's.
    fn answer(reply: Reply) -> Option<Self::Answer>;
}

impl Query for EngineQuery {
    type Answer = Reply;

    fn into_query(self) -> EngineQuery {
        self
    }

    fn answer(reply: Reply) -> Option<Reply> {
        Some(reply)
    }
}

/// Makes a type of each query: its parameters, answer and query, and the replies that hold it.
macro_rules! queries {
    ($($name:ident $(($($field:ident: $type:ty),+))? -> $answer:ty:
        $query:expr, $($reply:pat => $value:expr),+;)*) => {$(
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name $(($(pub $type),+))?;

        impl Query for $name {
            type Answer = $answer;

            fn into_query(self) -> EngineQuery {
                let Self $(($($field),+))? = self;
                $query
            }

            fn answer(reply: Reply) -> Option<$answer> {
                $(if let $reply = reply {
                    return Some($value);
                })+
                None
            }
        }
    )*};
}

queries! {
    OverviewQuery -> Overview: EngineQuery::Overview, Reply::Overview(view) => *view;
    StatusQuery -> StatusView: EngineQuery::Status, Reply::Status(view) => *view;
    ResourcesQuery(filter: ResourceFilter) -> Result<ResourceList, Vec<UnknownName>>:
        EngineQuery::Resources(Box::new(filter)),
        Reply::Resources(list) => Ok(list), Reply::Unknown(names) => Err(names);
    ResourceQuery(key: Key) -> Option<ResourceView>:
        EngineQuery::Resource(key), Reply::Resource(found) => found.map(|view| *view);
    MetricsQuery -> Metrics: EngineQuery::Metrics, Reply::Metrics(metrics) => *metrics;
    IntentsQuery -> IntentsView: EngineQuery::Intents, Reply::Intents(view) => view;
    EventsQuery(wanted: EventsWanted) -> EventsView:
        EngineQuery::Events(wanted), Reply::Events(view) => *view;
    EventQuery(id: String) -> Option<EventView>:
        EngineQuery::Event(id), Reply::Event(found) => found.map(|view| *view);
    HooksQuery -> HooksView: EngineQuery::Hooks, Reply::Hooks(view) => *view;
    ScriptResourceQuery(key: String) -> Result<Value, String>:
        EngineQuery::ScriptResource(key), Reply::ScriptData(data) => data;
    ScriptFindQuery(kind: String, filter: Value) -> Result<Value, String>:
        EngineQuery::ScriptFind(kind, filter), Reply::ScriptData(data) => data;
    ScriptTrialQuery(wanted: TrialRunQuery) -> Result<Value, String>:
        EngineQuery::TrialRun(wanted), Reply::ScriptData(data) => data;
    ReplayQuery(selection: ReplaySelection) -> ReplayCandidates:
        EngineQuery::Replay(Box::new(selection)), Reply::ReplayCandidates(found) => *found;
    PlanPartQuery(part: ListPart) -> PlanPart:
        EngineQuery::PlanPart(part), Reply::PlanPart(plan) => *plan;
    MoneyQuery -> MoneyOutlook: EngineQuery::Money, Reply::Money(outlook) => *outlook;
    ResourceContextQuery(key: Key) -> Option<ResourceContext>:
        EngineQuery::ResourceContext(key),
        Reply::ResourceContext(found) => found.map(|found| *found);
    GraphQuery(subject: GraphSubject) -> Option<GraphView>:
        EngineQuery::Graph(subject), Reply::Graph(found) => found.map(|found| *found);
    PlanQuery -> PlanView: EngineQuery::Plan, Reply::Plan(plan) => *plan;
    ScopedPlanQuery(scope: StepSelection) -> Result<PlanView, Vec<UnknownName>>:
        EngineQuery::Scoped(scope),
        Reply::Plan(plan) => Ok(*plan), Reply::Unknown(names) => Err(names);
    SavedPlanQuery(saving: SavePlan) -> Result<SavedPlan, Vec<UnknownName>>:
        EngineQuery::Save(Box::new(saving)),
        Reply::Saved(plan) => Ok(*plan), Reply::Unknown(names) => Err(names);
    ApprovalsQuery -> Vec<LiveBinding>: EngineQuery::Approvals, Reply::Approvals(waiting) => waiting;
    IntakeLinkQuery(key: Key) -> Result<IntakeTerms, String>:
        EngineQuery::IntakeLink(key), Reply::IntakeLink(terms) => terms;
    JournalRefsQuery(subject: WhySubject) -> Provenances:
        EngineQuery::JournalRefs(subject), Reply::State(StateReply::Trail(found)) => found;
    AddressesQuery -> Vec<(WebhookAddress, Rotation)>:
        EngineQuery::Addresses, Reply::Addresses(found) => found;
    EffectsQuery(since: u64) -> Vec<EffectReport>:
        EngineQuery::Effects(since), Reply::Effects(done) => done;
    SettleQuery -> (): EngineQuery::Settle, Reply::Settled => ();
}

#[cfg(test)]
mod tests;
