//! Register of outputs for programs: each command, and each path of the HTTP API that reads, with
//! the shape of its JSON. The schemas in `docs/schemas` and `docs/reference/output.md` are made of
//! these rows.

use crate::base::id::Key;
use crate::cli::commands::backup::{BackupOutput, RestoreOutput};
use crate::cli::commands::documents::SealOutput;
use crate::cli::commands::events::replay::ReplayOutput;
use crate::cli::commands::events::{AcknowledgeOutput, ResyncOutput};
use crate::cli::commands::get::GoneResource;
use crate::cli::commands::hooks::ForgottenScript;
use crate::cli::commands::import::ImportOutput;
use crate::cli::commands::init::{DisownOutput, InitOutput};
use crate::cli::commands::links::{AttachOutput, EventUrls, LinkOutput};
use crate::cli::commands::new::NewOutput;
use crate::cli::commands::page::link::PageOutput;
use crate::cli::commands::planning::apply_report::ApplyOutput;
use crate::cli::commands::planning::approve::SubmissionApproval;
use crate::cli::commands::resources::{DescribedResource, DismissOutput};
use crate::cli::commands::shell::{CompletionsOutput, ManOutput};
use crate::cli::commands::store::{CheckOutput, CompactOutput, RekeyOutput};
use crate::cli::commands::waiting::reconcile::ReconcileOutput;
use crate::cli::commands::waiting::wait::WaitOutput;
use crate::cli::exit::ErrorOutput;
use crate::cli::outputs::shape::OutputShape;
use crate::cli::print::ServingLine;
use crate::engine::protocol::actions::{ActionReport, ResolveResult};
use crate::engine::protocol::approvals::PlanApprovalResult;
use crate::engine::protocol::event_detail::EventDetail;
use crate::engine::protocol::events::EventsView;
use crate::engine::protocol::hooks::HooksView;
use crate::engine::protocol::intents::IntentsView;
use crate::engine::protocol::resources::ResourceList;
use crate::engine::protocol::views::{PlanView, ResourceView};
use crate::http::private::answer::ApiError;
use crate::http::private::status_body::StatusBody;
use crate::model::holds::FreezeResult;
use crate::model::operator::SuspensionResult;
use crate::model::state::credentials::BindingApproval;
use crate::model::state::drift::{AdoptionReport, ForgetResult};
use crate::render::approvals::SignedApprovalsView;
use crate::render::diagnostic::ProblemsView;
use crate::render::events::replay::ReplayCost;
use crate::render::hooks::doc_view::HookDocView;
use crate::render::hooks::runs::HooksDiff;
use crate::render::hooks::views::{CaseResultsView, ReplLine, ScriptsView, TrialView};
use crate::render::plan::SavedPlanView;
use crate::render::why::WhyView;
use crate::sim::chaos::ChaosReport;
use crate::spec::explain::{Explanation, KindList};

/// One output of the program.
#[derive(Debug, Clone, Copy)]
pub struct OutputRow {
    /// The command with the options that select this output, or method and path of the HTTP API.
    pub source: &'static str,
    pub content: OutputContent,
}

/// The content of an output with `-o json`.
#[derive(Debug, Clone, Copy)]
pub enum OutputContent {
    /// One value.
    Value(OutputShape),
    /// Lines; each is one value.
    Lines(OutputShape),
    /// JSON that another party defines.
    Foreign(&'static str),
    /// Text in every form, with the reason.
    Text(&'static str),
}

impl OutputContent {
    /// Returns the shape, if the program defines one.
    pub fn shape(self) -> Option<OutputShape> {
        match self {
            Self::Value(shape) | Self::Lines(shape) => Some(shape),
            Self::Foreign(_) | Self::Text(_) => None,
        }
    }
}

const PROBLEMS: OutputShape = OutputShape::of::<ProblemsView<'static>>("problems");
const PLAN: OutputShape = OutputShape::of::<PlanView>("plan");
const SUSPENSION: OutputShape = OutputShape::of::<SuspensionResult>("suspension");
const FREEZE: OutputShape = OutputShape::of::<FreezeResult>("freeze");
const RESOURCES: OutputShape = OutputShape::of::<ResourceList>("resources");
const RESOURCE: OutputShape = OutputShape::of::<ResourceView>("resource");
const EVENTS: OutputShape = OutputShape::of::<EventsView>("events");
const EVENT: OutputShape = OutputShape::of::<EventDetail>("event");
const STATUS: OutputShape = OutputShape::of::<StatusBody>("status");
const INTENTS: OutputShape = OutputShape::of::<IntentsView>("intents");
const STORE_CHECK: OutputShape = OutputShape::of::<CheckOutput>("store-check");
const ACKNOWLEDGED: OutputShape = OutputShape::of::<AcknowledgeOutput>("acknowledged");
const REPLAYED: OutputShape = OutputShape::of::<ReplayOutput>("replayed");
const SERVING: OutputContent =
    OutputContent::Lines(OutputShape::of::<ServingLine<'static>>("serving"));

/// Source of a failure: any command, on standard error.
pub const ERROR: &str = "any command that fails";

/// Every output.
pub const OUTPUTS: &[OutputRow] = &[
    value(ERROR, OutputShape::of::<ErrorOutput<'static>>("error")),
    value("init", OutputShape::of::<InitOutput>("init")),
    value("init --empty-remote", OutputShape::of::<DisownOutput>("disowned")),
    value("new", OutputShape::of::<NewOutput>("new-documents")),
    value("validate", PROBLEMS),
    value("plan", PLAN),
    value("plan show", OutputShape::of::<SavedPlanView<'static>>("saved-plan")),
    value("apply", OutputShape::of::<ApplyOutput<'static>>("apply")),
    value("approve CHECKSUM", OutputShape::of::<PlanApprovalResult>("plan-approval")),
    value("approve Merchant/NAME", OutputShape::of::<BindingApproval>("live-approval")),
    value(
        "approve MerchantApplication/NAME",
        OutputShape::of::<SubmissionApproval<'static>>("submission-approval"),
    ),
    value("approve --signed", OutputShape::of::<SignedApprovalsView>("signed-approvals")),
    value("suspend", SUSPENSION),
    value("resume", SUSPENSION),
    value("freeze", FREEZE),
    value("thaw", FREEZE),
    value("sync", OutputShape::of::<ApplyOutput<'static>>("apply")),
    value("page", OutputShape::of::<PageOutput<'static>>("page-link")),
    value("import", OutputShape::of::<AdoptionReport>("adoption")),
    value("import --all", OutputShape::of::<ImportOutput>("adoptions")),
    value("forget", OutputShape::of::<ForgetResult>("forgotten")),
    row("run", SERVING),
    value("reconcile", OutputShape::of::<ReconcileOutput>("reconciled")),
    value("wait", OutputShape::of::<WaitOutput>("waited")),
    row("sandbox", SERVING),
    row("sandbox env", OutputContent::Text("variables for a shell")),
    value("get", RESOURCES),
    row("get --watch", OutputContent::Lines(RESOURCE)),
    row(
        "get --watch, for a resource that is gone",
        OutputContent::Lines(OutputShape::of::<GoneResource<'static>>("gone-resource")),
    ),
    value("describe", OutputShape::of::<DescribedResource<'static>>("described-resource")),
    value("status", STATUS),
    value("link", OutputShape::of::<LinkOutput<'static>>("link")),
    value("attach", OutputShape::of::<AttachOutput<'static>>("attached")),
    value("events urls", OutputShape::of::<EventUrls>("event-urls")),
    value("events list", EVENTS),
    value("events show", EVENT),
    row("events tail", OutputContent::Lines(EVENT)),
    value("events failed", OutputShape::of::<HooksView>("hooks")),
    value("events failed --ack", ACKNOWLEDGED),
    value("events failed --ack-script", ACKNOWLEDGED),
    value("events replay", REPLAYED),
    value("events replay --since", OutputShape::of::<ReplayCost>("replay-cost")),
    value("events replay --since --yes", REPLAYED),
    value("events resync", OutputShape::of::<ResyncOutput<'static>>("resynced")),
    row("events trigger", OutputContent::Foreign("the event, as the sandbox sends it")),
    value("explain", OutputShape::of::<Explanation>("explanation")),
    value("explain, for all kinds", OutputShape::of::<KindList>("kinds")),
    row("schema", OutputContent::Foreign("a JSON Schema, draft 2020-12")),
    value("intents", INTENTS),
    value("intents resolve", OutputShape::of::<ResolveResult>("resolution")),
    value("intents dismiss", OutputShape::of::<DismissOutput<'static>>("dismissed-intent")),
    value("gateway ACTION", OutputShape::of::<ActionReport>("action")),
    row("gateway get READ", OutputContent::Foreign("the answer of the service")),
    row("gateway get", OutputContent::Text("the reads and their parameters")),
    value("hooks check", PROBLEMS),
    value("hooks test", OutputShape::of::<CaseResultsView<'static>>("case-results")),
    value("hooks try", OutputShape::of::<TrialView<'static>>("trial")),
    value("hooks diff", OutputShape::of::<HooksDiff>("hook-differences")),
    value("hooks list", OutputShape::of::<ScriptsView<'static>>("scripts")),
    value("hooks forget", OutputShape::of::<ForgottenScript<'static>>("forgotten-script")),
    row("hooks repl", OutputContent::Lines(OutputShape::of::<ReplLine>("repl-line"))),
    value("hooks doc", OutputShape::of::<HookDocView>("hook-doc")),
    value("seal", OutputShape::of::<SealOutput>("sealed")),
    value("why", OutputShape::of::<WhyView>("why")),
    value("store check", STORE_CHECK),
    value("store rebuild", STORE_CHECK),
    value("store backup", OutputShape::of::<BackupOutput>("backup")),
    value("store restore", OutputShape::of::<RestoreOutput>("restore")),
    value("store compact", OutputShape::of::<CompactOutput>("compaction")),
    value("store rekey", OutputShape::of::<RekeyOutput>("rekeying")),
    value("store release", OutputShape::of::<Vec<Key>>("released")),
    value("completions", OutputShape::of::<CompletionsOutput>("completions")),
    value("man", OutputShape::of::<ManOutput>("manual")),
    value("chaos", OutputShape::of::<ChaosReport>("chaos")),
    value("GET /api/v1/status", STATUS),
    value("GET /api/v1/resources", RESOURCES),
    value("GET /api/v1/resources/KIND/NAMESPACE/NAME", RESOURCE),
    value("GET /api/v1/plan", PLAN),
    value("GET /api/v1/intents", INTENTS),
    value("GET /api/v1/events", EVENTS),
    value("/api/v1/…, for a request that fails", OutputShape::of::<ApiError<'static>>("api-error")),
];

const fn value(source: &'static str, shape: OutputShape) -> OutputRow {
    row(source, OutputContent::Value(shape))
}

const fn row(source: &'static str, content: OutputContent) -> OutputRow {
    OutputRow { source, content }
}
