//! Command line arguments: commands, options and their help.

use std::path::PathBuf;

use clap::{Args, Command, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::base::money::Money;
use crate::cli::args::documents::{ExplainArgs, NewArgs, PathArgs, SchemaArgs, SealArgs};
use crate::cli::args::events::{EventsCommand, HooksCommand};
use crate::cli::args::examples::add_examples;
use crate::cli::args::gateway_actions::GatewayCommand;
use crate::cli::args::global::GlobalArgs;
use crate::cli::args::reading::{GetArgs, ResourceArgs, WhyArgs};
use crate::cli::args::resources::{
    self, AttachArgs, ChoiceArgs, FreezeArgs, IntentsArgs, LinkArgs, PlanCommand, ResumeArgs,
    SignedArgs, SuspendArgs,
};
use crate::cli::args::sandbox::{ChaosArgs, SandboxArgs};
use crate::cli::args::store::StoreCommand;
use crate::cli::args::waiting::{ReconcileArgs, WaitArgs};

/// Billing as code: YAML in git, a payment service made to match exactly once.
#[derive(Debug, Parser)]
#[command(name = "reckon", version, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Cli {
    #[command(flatten)]
    pub global: GlobalArgs,
    /// The command to run.
    #[command(subcommand)]
    pub command: CliCommand,
}

/// Returns the command of the whole program, with the examples in its help.
pub fn command() -> Command {
    add_examples(Cli::command(), "")
}

const EXIT_CODES: &str = "Exit codes: 0 done; 1 your input; 2 changes pending (plan --detailed-exitcode); 3 \
    needs attention: blocked, on hold or in doubt; 4 the environment; 5 a bug in reckon.";

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
    /// Stop every change at the service at once, until `thaw`. Reads and events go on, and effects in
    /// flight are settled by reads.
    Freeze(FreezeArgs),
    /// End the freeze: changes go to the service again.
    Thaw,
    /// Review the plan of a daemon with `policy.sync: manual`, and let the daemon send it.
    Sync(SyncArgs),
    /// Print a one-time link to the daemon's page, under which you act there in your name.
    Page,
    /// Take over an existing object of the service for a document that describes it.
    Import(resources::ImportArgs),
    /// Stop managing a resource or object; nothing is done at the service.
    Forget(resources::ForgetArgs),
    /// Watch the files, reconcile and serve status, until a signal stops it.
    Run(RunArgs),
    /// Have the daemon read the tree and reconcile now, and wait until it is done.
    Reconcile(ReconcileArgs),
    /// Wait until resources are ready, or in sync with their documents.
    Wait(WaitArgs),
    /// Run the emulator of the service alone.
    Sandbox(SandboxArgs),
    /// Show the whole on one screen: the service, what is not ready and why, and what to do next.
    Status,
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
    /// Print a new document of a kind: required fields with values, all others as comments.
    New(NewArgs),
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
    /// Print the completions of a shell.
    Completions(CompletionsArgs),
    /// Print the manual page of the program, or of a command.
    Man(ManArgs),
    /// Run the simulator: the production engine in a seeded, failing world.
    Chaos(ChaosArgs),
}

/// Arguments of `init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// The directory to scaffold; the present one by default.
    #[arg(value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Scaffold test and live mode: documents of both in a repository of their own, and beside it
    /// the operator's configuration for live money.
    #[arg(long)]
    pub live: bool,
    /// Declare that objects at the service with your marks that this state does not know are not
    /// yours; for a state that was lost on purpose. Dangerous: objects may then be created again.
    #[arg(long, conflicts_with_all = ["dir", "live"])]
    pub empty_remote: bool,
    /// Do not ask; with `--empty-remote`.
    #[arg(long, requires = "empty_remote")]
    pub yes: bool,
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

/// Arguments of `sync`.
#[derive(Debug, Args)]
pub struct SyncArgs {
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
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
    /// The format of all lines: for people, or one JSON object a line for a log collector.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub log_format: LogFormat,
}

/// The format of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// JSON for programs.
    Json,
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The words of the command, such as `store backup`; without them: the program itself.
    #[arg(value_name = "COMMAND")]
    pub command: Vec<String>,
}
