//! Arguments of the emulator and of the simulator: `sandbox`, `chaos`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

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
