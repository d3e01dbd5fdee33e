//! The command line: what there is to say and how it is said.

mod events;
mod intake;
mod plans;
mod server;
mod signed;
mod store;
mod suspend;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use events::{EventsCommand, EventsListArgs, FireArgs, RecoverArgs, UrlsArgs};
pub use intake::{AttachArgs, LinkArgs};
pub use plans::{Choice, PlanCommand, ShowArgs};
pub use server::ServerArgs;
pub use signed::SignedArgs;
pub use suspend::{ResumeArgs, SuspendArgs};

use crate::base::id::Key;
use crate::base::money::Money;
use gateway::GatewayCommand;
use hooks::HooksCommand;
use intents::IntentsArgs;

pub mod adopt;
pub mod gateway;
pub mod hooks;
pub mod intents;

pub use store::{BackupArgs, CompactArgs, RekeyArgs, ReleaseArgs, RestoreArgs, StoreCommand};

/// Billing as code: YAML in git, a payment service made to match exactly once.
#[derive(Debug, Parser)]
#[command(name = "reckon", version, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Cli {
    /// The configuration; ./reckon.yaml by default.
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The state directory, in place of the configuration's.
    #[arg(long, global = true, value_name = "DIR")]
    pub state: Option<PathBuf>,
    #[command(flatten)]
    pub server: ServerArgs,
    /// The form of the output.
    #[arg(short = 'o', long, global = true, value_name = "FORM", default_value = "text")]
    pub output: Output,
    /// Say more about what happens; twice says still more, three times everything.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done; 1 your input; 2 changes pending (plan \
    --detailed-exitcode); 3 blocked, held or in doubt; 4 the environment; 5 a bug of ours.";

/// A form of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// For programs and people.
    Yaml,
    /// For pull requests (plan alone; elsewhere as text).
    Markdown,
}

/// A command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Scaffold a repository, or declare that the service holds nothing of ours.
    Init(Init),
    /// Check everything that can be checked offline: all problems, in one run.
    Validate(Paths),
    /// Show what would change and why, with totals of money. Reads nothing from the service.
    Plan(PlanArgs),
    /// Make the service match.
    Apply(ApplyArgs),
    /// Approve a plan that a limit blocks; or confirm the live merchant that the code of an application opened, or a live
    /// application of a state that began empty.
    Approve(ApproveArgs),
    /// Do nothing new to a resource, of a merchant to any of its; what is under way is settled.
    Suspend(SuspendArgs),
    /// Go on with what was suspended.
    Resume(ResumeArgs),
    /// Take over an object that is on the service already, for a document that says what it is.
    Import(adopt::ImportArgs),
    /// Manage something no more: nothing is done at the service.
    Forget(adopt::ForgetArgs),
    /// Watch, reconcile and serve status, until a signal stops it.
    Run(RunArgs),
    /// The emulator of the service, alone.
    Sandbox(SandboxArgs),
    /// List resources with their state.
    Get(GetArgs),
    /// Everything known of one resource.
    Describe(OneArgs),
    /// Print a link that you send to a payer yourself, a secret: to the portal page of an invoice, or to the page on
    /// which a payer gives the details of a saved method.
    Link(LinkArgs),
    /// Bring a one-time token for a saved method that says `source: intake`, in place of the payer's page.
    Attach(AttachArgs),
    /// Events: what the service reports in webhooks and lists.
    #[command(subcommand)]
    Events(EventsCommand),
    /// Explain a kind, or one of its fields: type, changes, privacy, values and source.
    Explain(ExplainArgs),
    /// Print the JSON Schema of a kind, or the one for any document.
    Schema(SchemaArgs),
    /// Effects that are not settled, with their evidence, and what a person says of them.
    Intents(IntentsArgs),
    /// Change the service where no document says so: a refund, a void, a capture. Done once, whatever happens.
    #[command(subcommand)]
    Gateway(GatewayCommand),
    /// Check, try and explain the scripts that answer events. Nothing here reaches the service.
    #[command(subcommand)]
    Hooks(HooksCommand),
    /// Seal a secret for one field of one document; the value is read from standard input.
    Seal(SealArgs),
    /// Why something is as it is: from the money back to intent, approval, commit, file and line, author.
    Why(super::why::WhyArgs),
    /// Look after the state on disk.
    #[command(subcommand)]
    Store(StoreCommand),
    /// Run the simulator: the production engine against a seeded, failing world.
    Chaos(ChaosArgs),
}

/// `init`.
#[derive(Debug, Args)]
pub struct Init {
    /// The directory to scaffold; the present one by default.
    #[arg(value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Write down that objects on the service which carry our marks, but are not in this state,
    /// are not ours: for a state that was lost on purpose. Dangerous: their documents are made again.
    #[arg(long, conflicts_with = "dir")]
    pub empty_remote: bool,
    /// Agree without being asked: with `--empty-remote`.
    #[arg(long, requires = "empty_remote")]
    pub yes: bool,
}

/// Files and folders to look at.
#[derive(Debug, Args, Default)]
pub struct Paths {
    /// Show only the resources of these files or folders. The whole tree is always read.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
}

/// `plan`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct PlanArgs {
    /// A command for a saved plan.
    #[command(subcommand)]
    pub command: Option<PlanCommand>,
    #[command(flatten)]
    pub paths: Paths,
    #[command(flatten)]
    pub choice: Choice,
    /// First read everything that the service shows: the plan then contains drift.
    #[arg(long)]
    pub refresh: bool,
    /// Save the plan in this file, for `apply FILE`, once.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Plan the way from a git revision of the tree to the present tree, or from A to B: offline, as if
    /// the service were just as the first one says.
    #[arg(long, value_name = "REV[..REV]", conflicts_with_all = ["out", "verify", "refresh"])]
    pub against: Option<String>,
    /// Exit with 2 if anything would change.
    #[arg(long)]
    pub detailed_exitcode: bool,
    /// Read every file again, even where size and time say that it did not change.
    #[arg(long)]
    pub verify: bool,
}

/// `apply`.
#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// Act only on the resources of these files or folders, or apply a saved plan as it is.
    #[arg(value_name = "PATH|PLANFILE")]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    pub choice: Choice,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
    /// Go on with the good documents although others are broken.
    #[arg(long)]
    pub isolate: bool,
    /// The removal of this resource is meant, past every guard of policy.prune; `all`: of everything that a guard
    /// stops now. Written down with your name; may be repeated.
    #[arg(long, value_name = "KIND/NAME|all")]
    pub allow_prune: Vec<String>,
}

/// `approve`.
#[derive(Debug, Args)]
pub struct ApproveArgs {
    /// The merchant, the application, or the plan by its checksum or its JSON file, that waits for an approval.
    #[arg(
        value_name = "KIND/NAME|CHECKSUM|PLAN.json",
        default_value = "",
        hide_default_value = true
    )]
    pub what: String,
    /// The most that the plan may move of a currency; it is not approved if it moves more. May be repeated.
    #[arg(long, value_name = "AMOUNT")]
    pub ceiling: Vec<Money>,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
    /// Approvals in signed commits.
    #[command(flatten)]
    pub signed: SignedArgs,
}

/// `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Run the emulator inside, with its own state, and take partner, service and codes from it.
    #[arg(long)]
    pub sandbox: bool,
}

/// `sandbox`. Its own state is kept where `--state` says, `sandbox` beneath the configured state by
/// default.
#[derive(Debug, Args)]
pub struct SandboxArgs {
    /// A command for a running sandbox.
    #[command(subcommand)]
    pub command: Option<SandboxCommand>,
    /// The address to listen at; port 0 takes a free one [default: `service.base_url`, else 127.0.0.1:8700].
    #[arg(long)]
    pub listen: Option<SocketAddr>,
    /// Serve plain HTTP, on loopback only.
    #[arg(long)]
    pub plain_http: bool,
    /// `real`, or the moment at which its own clock starts.
    #[arg(long, default_value = "real", value_name = "real|RFC3339")]
    pub clock: String,
    /// The seed of ids, keys and the demo merchant.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// The interface: the two documents alone, or with the additions of public material.
    #[arg(long, default_value = "public")]
    pub surface: Surface,
    /// A story that is played into an empty state before it listens (examples/scenarios); played once, and kept.
    #[arg(long, value_name = "FILE", conflicts_with = "clock")]
    pub scenario: Option<PathBuf>,
    /// The party that decides on merchant applications: the sandbox, 5 seconds after submission, or its control path.
    #[arg(long, default_value = "auto")]
    pub decide: Decide,
}

/// The party that decides on merchant applications.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Decide {
    /// The sandbox, 5 seconds after submission.
    Auto,
    /// A control path.
    Manual,
}

/// The interface of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Surface {
    /// The two documents and the additions of public material.
    Public,
    /// The two documents alone.
    Documented,
}

/// Beside running the sandbox.
#[derive(Debug, Subcommand)]
pub enum SandboxCommand {
    /// Print what a running sandbox gives: `eval "$(reckon sandbox env)"`.
    Env,
}

/// `get`.
#[derive(Debug, Args)]
pub struct GetArgs {
    /// Only this kind, or this one resource.
    #[arg(value_name = "KIND[/NAME]")]
    pub what: Option<String>,
}

/// One resource.
#[derive(Debug, Args)]
pub struct OneArgs {
    /// The resource.
    #[arg(value_name = "KIND/NAME")]
    pub key: Key,
}

/// `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A kind, or a field by its path below `spec`, such as `RecurringCharge.schedule.start`.
    #[arg(value_name = "KIND[.FIELD]")]
    pub what: String,
}

/// `schema`.
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// Only documents of this kind.
    #[arg(value_name = "KIND")]
    pub kind: Option<String>,
}

/// `seal`.
#[derive(Debug, Args)]
pub struct SealArgs {
    /// The document that the secret is for; it opens in no other.
    #[arg(value_name = "KIND/NAME")]
    pub key: Key,
    /// The field that the secret is for, such as `source.card.number`.
    #[arg(value_name = "FIELD")]
    pub field: String,
}

/// `chaos`.
#[derive(Debug, Args)]
pub struct ChaosArgs {
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The number of runs, each with the next seed.
    #[arg(long, default_value_t = 100)]
    pub runs: u32,
}
