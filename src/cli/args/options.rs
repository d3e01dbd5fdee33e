//! Command line arguments: commands, options and their help.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::base::id::{Key, Name};
use crate::base::money::Money;
use crate::cli::args::events::{EventsCommand, HooksCommand};
use crate::cli::args::gateway_actions::GatewayCommand;
use crate::cli::args::resources::{
    self, AttachArgs, ChoiceArgs, IntentsArgs, LinkArgs, PlanCommand, ResumeArgs, SignedArgs,
    SuspendArgs,
};
use crate::cli::args::store::StoreCommand;

/// Billing as code: YAML in git, a payment service made to match exactly once.
#[derive(Debug, Parser)]
#[command(name = "reckon", version, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Cli {
    /// The configuration file; ./reckon.yaml by default.
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The state directory; overrides the configuration's.
    #[arg(long, global = true, value_name = "DIR")]
    pub state: Option<PathBuf>,
    #[command(flatten)]
    pub server: ServerArgs,
    /// The form of the output.
    #[arg(short = 'o', long, global = true, value_name = "FORM", default_value = "text")]
    pub output: Output,
    /// Log more; -vv logs still more, -vvv everything.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// The command to run.
    #[command(subcommand)]
    pub command: CliCommand,
}

const EXIT_CODES: &str = "Exit codes: 0 done; 1 your input; 2 changes pending (plan --detailed-exitcode); 3 \
    needs attention: blocked, on hold or in doubt; 4 the environment; 5 a bug in reckon.";

/// The form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// Text for people.
    Text,
    /// JSON for programs.
    Json,
    /// YAML for programs and people.
    Yaml,
    /// For pull requests (plan alone; elsewhere as text).
    Markdown,
    /// Text with more columns (get alone).
    Wide,
    /// One name a line (get alone).
    Name,
    /// A table for a spreadsheet (get alone).
    Csv,
}

/// Commands of `reckon`.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Scaffold a repository, or declare that nothing at the service is yours.
    Init(InitArgs),
    /// Check everything that can be checked offline; reports all problems in one run.
    Validate(PathArgs),
    /// Show the changes and their reasons, with totals of money. Reads nothing from the service.
    Plan(PlanArgs),
    /// Make the service match.
    Apply(ApplyArgs),
    /// Approve a plan that a limit blocks, confirm the live merchant that an application's code
    /// opened, or confirm a live application of a state that began empty.
    Approve(ApproveArgs),
    /// Suspend a resource, or everything of a merchant: nothing new is done; effects in flight are
    /// settled.
    Suspend(SuspendArgs),
    /// Resume a suspended resource or merchant.
    Resume(ResumeArgs),
    /// Take over an existing object of the service for a document that describes it.
    Import(resources::ImportArgs),
    /// Stop managing a resource or object; nothing is done at the service.
    Forget(resources::ForgetArgs),
    /// Watch the files, reconcile and serve status, until a signal stops it.
    Run(RunArgs),
    /// Run the emulator of the service alone.
    Sandbox(SandboxArgs),
    /// List resources with their state.
    Get(GetArgs),
    /// Show everything that is known of one resource.
    Describe(ResourceArgs),
    /// Print a secret link that you send to a payer yourself: to the portal page of an invoice, or
    /// to the page for the details of a saved method.
    Link(LinkArgs),
    /// Give a one-time token to a saved method with `source: intake`, in place of the payer's page.
    Attach(AttachArgs),
    /// Inspect, read again and replay events: what the service reports in webhooks and lists.
    #[command(subcommand)]
    Events(EventsCommand),
    /// Explain a kind, or one of its fields: type, changes, privacy, values and source.
    Explain(ExplainArgs),
    /// Print the JSON Schema of a kind, or the one for any document.
    Schema(SchemaArgs),
    /// List unsettled effects with their evidence, or settle one by hand.
    Intents(IntentsArgs),
    /// Change the service directly, without a document: refund, void, capture. Each action is done
    /// once, whatever happens.
    #[command(subcommand)]
    Gateway(GatewayCommand),
    /// Check, try and explain the scripts that answer events. No subcommand changes the service.
    #[command(subcommand)]
    Hooks(HooksCommand),
    /// Seal a secret for one field of one document; the value is read from standard input.
    Seal(SealArgs),
    /// Explain the history of something: from the money back to intent, approval, commit, file and
    /// line, author.
    Why(WhyArgs),
    /// Check, back up, restore and maintain the state on disk.
    #[command(subcommand)]
    Store(StoreCommand),
    /// Run the simulator: the production engine in a seeded, failing world.
    Chaos(ChaosArgs),
}

/// Arguments of `init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// The directory to scaffold; the present one by default.
    #[arg(value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Declare that objects at the service with your marks that this state does not know are not
    /// yours; for a state that was lost on purpose. Dangerous: objects may then be created again.
    #[arg(long, conflicts_with = "dir")]
    pub empty_remote: bool,
    /// Do not ask; with `--empty-remote`.
    #[arg(long, requires = "empty_remote")]
    pub yes: bool,
}

/// Files and folders to show.
#[derive(Debug, Args, Default)]
pub struct PathArgs {
    /// Show only the resources of these files or folders. The whole tree is always read.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
}

/// Arguments of `plan`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct PlanArgs {
    /// Subcommands for a saved plan.
    #[command(subcommand)]
    pub command: Option<PlanCommand>,
    #[command(flatten)]
    pub paths: PathArgs,
    #[command(flatten)]
    pub choice: ChoiceArgs,
    /// First read everything that the service shows, so that the plan contains drift.
    #[arg(long)]
    pub refresh: bool,
    /// Save the plan to this file; `apply FILE` applies it once.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Plan the change from a git revision of the tree to the present tree, or from A to B. Works
    /// offline, as if the service matched the first revision exactly.
    #[arg(long, value_name = "REV[..REV]", conflicts_with_all = ["out", "verify", "refresh"])]
    pub against: Option<String>,
    /// Exit with 2 if anything would change.
    #[arg(long)]
    pub detailed_exitcode: bool,
    /// Read every file again, even where size and time are unchanged.
    #[arg(long)]
    pub verify: bool,
}

/// Arguments of `apply`.
#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// Act only on the resources of these files or folders, or apply a saved plan unchanged.
    #[arg(value_name = "PATH|PLANFILE")]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    pub choice: ChoiceArgs,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
    /// Continue with the valid documents although others are invalid.
    #[arg(long)]
    pub isolate: bool,
    /// Allow the removal of this resource, past every guard of policy.prune; `all`: of everything
    /// that a guard stops now. Recorded with your name; may be repeated.
    #[arg(long, value_name = "KIND/NAME|all")]
    pub allow_prune: Vec<String>,
}

/// Arguments of `approve`.
#[derive(Debug, Args)]
pub struct ApproveArgs {
    /// The merchant or application that waits for an approval, or the plan, by its checksum or its
    /// JSON file.
    #[arg(
        value_name = "KIND/NAME|CHECKSUM|PLAN.json",
        default_value = "",
        hide_default_value = true
    )]
    pub what: String,
    /// The most that the plan may move in a currency; a plan that moves more is not approved. May
    /// be repeated.
    #[arg(long, value_name = "AMOUNT")]
    pub ceiling: Vec<Money>,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
    /// Approvals in signed commits.
    #[command(flatten)]
    pub signed: SignedArgs,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Run the emulator inside, with its own state, and take partner, service and codes from it.
    #[arg(long)]
    pub sandbox: bool,
}

/// Arguments of `sandbox`. Its own state is kept where `--state` says, `sandbox` beneath the
/// configured state by default.
#[derive(Debug, Args)]
pub struct SandboxArgs {
    /// Subcommands for a running sandbox.
    #[command(subcommand)]
    pub command: Option<SandboxCommand>,
    /// The address to listen at; port 0 takes a free one [default: `service.base_url`, else
    /// 127.0.0.1:8700].
    #[arg(long)]
    pub listen: Option<SocketAddr>,
    /// Serve plain HTTP, on loopback only.
    #[arg(long)]
    pub plain_http: bool,
    /// `real`, or the moment at which the sandbox's own clock starts.
    #[arg(long, default_value = "real", value_name = "real|RFC3339")]
    pub clock: String,
    /// The seed of ids, keys and the demo merchant.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// The API surface: the two documents alone, or with the additions of public material.
    #[arg(long, default_value = "public")]
    pub surface: SurfaceArg,
    /// A scenario to play into an empty state before listening (examples/scenarios); it is played
    /// once, and kept.
    #[arg(long, value_name = "FILE", conflicts_with = "clock")]
    pub scenario: Option<PathBuf>,
    /// The party that decides on merchant applications: the sandbox, 5 seconds after submission, or
    /// its control path.
    #[arg(long, default_value = "auto")]
    pub decide: DecideArg,
}

/// The party that decides on merchant applications.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DecideArg {
    /// The sandbox, 5 seconds after submission.
    Auto,
    /// A control path.
    Manual,
}

/// The API surface of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SurfaceArg {
    /// The two documents and the additions of public material.
    Public,
    /// The two documents alone.
    Documented,
}

/// Subcommands of `sandbox`.
#[derive(Debug, Subcommand)]
pub enum SandboxCommand {
    /// Print the settings of a running sandbox: `eval "$(reckon sandbox env)"`.
    Env,
}

/// Arguments of `get`.
#[derive(Debug, Args)]
pub struct GetArgs {
    /// List only this kind, or this one resource.
    #[arg(value_name = "KIND[/NAME]")]
    pub what: Option<String>,
    /// List only resources whose documents have these labels: KEY=VALUE, KEY!=VALUE or KEY, with
    /// commas between them.
    #[arg(short = 'l', long, value_name = "LABELS")]
    pub labels: Option<String>,
    /// List only resources of this namespace.
    #[arg(short = 'n', long, value_name = "NAME")]
    pub namespace: Option<Name>,
    /// List only this merchant and its resources.
    #[arg(long, value_name = "NAME")]
    pub merchant: Option<String>,
    /// List only resources that are not ready.
    #[arg(long)]
    pub not_ready: bool,
    /// Print the list, then each resource that changes, until a signal ends it.
    #[arg(short = 'w', long)]
    pub watch: bool,
}

/// Argument that names one resource.
#[derive(Debug, Args)]
pub struct ResourceArgs {
    /// The resource.
    #[arg(value_name = "KIND/NAME")]
    pub key: Key,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A kind, or a field by its path below `spec`, such as `RecurringCharge.schedule.start`;
    /// `Config` for `reckon.yaml`, such as `Config.policy.limits`.
    #[arg(value_name = "KIND[.FIELD]")]
    pub what: String,
}

/// Arguments of `schema`.
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// Only the schema for documents of this kind; `Config` for that of `reckon.yaml`.
    #[arg(value_name = "KIND")]
    pub kind: Option<String>,
}

/// Arguments of `seal`.
#[derive(Debug, Args)]
pub struct SealArgs {
    /// The document that the secret is for; the sealed text opens in no other.
    #[arg(value_name = "KIND/NAME")]
    pub key: Key,
    /// The field that the secret is for, such as `source.card.number`.
    #[arg(value_name = "FIELD")]
    pub field: String,
}

/// Arguments of `chaos`.
#[derive(Debug, Args)]
pub struct ChaosArgs {
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The number of runs, each with the next seed.
    #[arg(long, default_value_t = 100)]
    pub runs: u32,
}

/// Arguments of `why`.
#[derive(Debug, Args)]
pub struct WhyArgs {
    /// An identifier that a command printed: a resource, an id of the service (a payment, an
    /// invoice …), a mark, an intent, an event, an action, an approval or a saved plan.
    #[arg(value_name = "ID|KIND/NAME", allow_hyphen_values = true)]
    pub what: String,
    /// Verify the complete journal, from its first record to its last.
    #[arg(long)]
    pub verify: bool,
}

/// Arguments of `--server URL --token-file FILE`.
#[derive(Debug, Args)]
pub struct ServerArgs {
    /// Ask the daemon at this address, and keep no state here: https, or http on this machine.
    #[arg(
        long,
        global = true,
        value_name = "URL",
        requires = "token_file",
        conflicts_with = "state"
    )]
    pub server: Option<String>,
    /// The file that holds the daemon's token.
    #[arg(long, global = true, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
}
