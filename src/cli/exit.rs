//! Exit codes, and the failures that a command prints when its code is not 0.

use std::{fmt, io};

use schemars::JsonSchema;
use serde::Serialize;

use crate::config::read::LoadError;
use crate::config::setting::ConfigError;
use crate::control::protocol::ControlError;
use crate::engine::handles::shared::{EngineError, SecretError};
use crate::model::issue::{PlacedIssue, Severity};
use crate::render::diagnostic::{self, OutputStyle};
use crate::store::error::{OpenError, StoreError};
use crate::store::read_model::model::ReadModelError;

/// The exit codes (design.md part 4), the most serious last; of several that one is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    Done,
    /// Changes are pending (`--detailed-exitcode`).
    Pending,
    /// Needs attention: blocked, declined, on hold or in doubt.
    NeedsAttention,
    /// The user's input is wrong, usage included.
    Input,
    /// The environment is wrong: unreachable, locked, a mismatched state.
    Environment,
    /// A signal ended the command before its work was done, but for SIGTERM and a daemon.
    Interrupted,
    Bug,
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Input => 1,
            Self::Pending => 2,
            Self::NeedsAttention => 3,
            Self::Environment => 4,
            Self::Bug => 5,
            Self::Interrupted => 130,
        }
    }

    /// Returns the more serious of two.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        self.max(other)
    }
}

pub type CommandResult<T = Exit> = Result<T, CommandFailure>;

#[derive(Debug)]
pub struct CommandFailure {
    pub exit: Exit,
    pub code: &'static str,
    pub message: String,
    /// The way out, as an imperative.
    pub help: Option<String>,
    pub problems: Vec<PlacedIssue>,
}

impl CommandFailure {
    pub fn input(code: &'static str, message: impl fmt::Display) -> Self {
        Self::new(Exit::Input, code, message)
    }

    pub fn environment(code: &'static str, message: impl fmt::Display) -> Self {
        Self::new(Exit::Environment, code, message)
    }

    /// Returns a failure that needs a person, and no correction of the input.
    pub fn attention(code: &'static str, message: impl fmt::Display) -> Self {
        Self::new(Exit::NeedsAttention, code, message)
    }

    pub fn bug(message: impl fmt::Display) -> Self {
        let help = "please report this bug; everything that was sent is in the journal".to_owned();
        Self { help: Some(help), ..Self::new(Exit::Bug, "reckon::bug", message) }
    }

    fn new(exit: Exit, code: &'static str, message: impl fmt::Display) -> Self {
        Self { exit, code, message: message.to_string(), help: None, problems: Vec::new() }
    }

    #[must_use]
    pub fn help(mut self, help: impl fmt::Display) -> Self {
        self.help = Some(help.to_string());
        self
    }
}

/// A failed command, for programs: written to standard error.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ErrorOutput<'a> {
    error: ErrorDetails<'a>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ErrorDetails<'a> {
    /// The machine code: docs/reference/errors.md lists every one.
    code: &'a str,
    message: &'a str,
    /// The action or command to continue with.
    help: Option<&'a str>,
    /// Problems of files that caused the failure.
    problems: &'a [PlacedIssue],
}

impl<'a> From<&'a CommandFailure> for ErrorOutput<'a> {
    fn from(failure: &'a CommandFailure) -> Self {
        let CommandFailure { exit: _, code, message, help, problems } = failure;
        Self { error: ErrorDetails { code, message, help: help.as_deref(), problems } }
    }
}

const DISK_FULL_HELP: &str = "free some space on the disk of the state (`df` shows it), then run the command again; \
    nothing that was acknowledged is lost";

/// Returns true if the cause of an error is a disk without space.
fn is_disk_full(error: &(dyn std::error::Error + 'static)) -> bool {
    let is_full = |error: &io::Error| {
        matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
    };
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.any(|error| error.downcast_ref::<io::Error>().is_some_and(is_full))
}

impl From<OpenError> for CommandFailure {
    fn from(error: OpenError) -> Self {
        let is_full = is_disk_full(&error);
        let failure = Self::environment("reckon::state::open", error);
        if is_full { failure.help(DISK_FULL_HELP) } else { failure }
    }
}

impl From<ReadModelError> for CommandFailure {
    fn from(error: ReadModelError) -> Self {
        Self::environment("reckon::state::index", error)
            .help("rebuild the index from the journal: `reckon store rebuild`")
    }
}

pub(crate) const UNREACHABLE: &str = "server_unreachable";
pub(crate) const TLS: &str = "server_tls";
pub(crate) const ANSWER: &str = "not_a_daemon";

/// Returns an error at the start of a file.
pub(crate) fn file_problem(file: &str, code: &str, message: String, help: &str) -> PlacedIssue {
    PlacedIssue {
        file: file.to_owned(),
        line: 1,
        column: 1,
        length: 1,
        code: code.to_owned(),
        severity: Severity::Error,
        message,
        help: help.to_owned(),
        related: Vec::new(),
    }
}

/// Returns the failure of a command that a daemon elsewhere cannot run, with the reason.
pub(crate) fn local_only(what: &str, why: &str) -> CommandFailure {
    let message = format!("{what} does not work with --server: {why}");
    CommandFailure::input("reckon::server::local", message)
        .help("run it without --server, on the machine that holds the state")
}

/// Help where an environment variable is not set.
pub(crate) const WAY_ON: &str =
    "export the variable; for a running sandbox: eval \"$(reckon sandbox env)\"";

impl From<ConfigError> for CommandFailure {
    fn from(error: ConfigError) -> Self {
        match error {
            ConfigError::Missing { .. } => Self::input("reckon::config::missing", error),
            ConfigError::Unset { .. } => {
                Self::environment("reckon::config::variable", error).help(WAY_ON)
            }
            ConfigError::Invalid { .. } => Self::environment("reckon::config::variable", error),
        }
    }
}

impl From<LoadError> for CommandFailure {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Invalid(broken) => {
                let look = OutputStyle { color: false, unicode: true, width: 100 };
                let file = broken.file.to_string();
                let sources = [(file.clone(), broken.source)].into_iter().collect();
                let message = diagnostic::text(&broken.problems, &sources, look);
                let what = format!("{file} has problems\n{message}");
                let failure = Self::input("reckon::config::broken", what);
                Self { problems: broken.problems, ..failure }
            }
            LoadError::Unreadable { .. } => Self::input("reckon::config::unreadable", error).help(
                "scaffold a repository with `reckon init`, or name the file with --config FILE",
            ),
        }
    }
}

/// A daemon that did not answer, or refused: as a rule a failure of the environment.
impl From<ControlError> for CommandFailure {
    fn from(error: ControlError) -> Self {
        if error.code == ControlError::BUG {
            return Self::bug(error.message);
        }
        let code = match error.code.as_str() {
            UNREACHABLE => "reckon::server::unreachable",
            TLS => "reckon::server::tls",
            ANSWER => "reckon::server::answer",
            ControlError::TOKEN_NEEDED | ControlError::WRONG_TOKEN => "reckon::server::token",
            ControlError::READ_ONLY => "reckon::server::read_only",
            ControlError::OTHER_VERSION => "reckon::server::version",
            _ => "reckon::control",
        };
        let failure = Self::environment(code, &error.message);
        if error.help.is_empty() { failure } else { failure.help(error.help) }
    }
}

impl From<SecretError> for CommandFailure {
    fn from(error: SecretError) -> Self {
        Self::environment("reckon::secret::missing", error)
    }
}

impl From<EngineError> for CommandFailure {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Store(StoreError::Fold(_))
            | EngineError::Bug(_)
            | EngineError::Task(_) => Self::bug(error),
            EngineError::Store(_) | EngineError::Vault(_) | EngineError::Fact(_) => {
                Self::environment("reckon::state::failed", error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::journal::chain::JournalError;

    #[test]
    fn the_most_serious_code_wins_in_the_order_of_the_contract() {
        let order = [
            Exit::Done,
            Exit::Pending,
            Exit::NeedsAttention,
            Exit::Input,
            Exit::Environment,
            Exit::Bug,
        ];
        let codes: Vec<u8> = order.iter().map(|exit| exit.code()).collect();
        assert_eq!(codes, [0, 2, 3, 1, 4, 5]);
        for pair in order.windows(2) {
            assert_eq!(pair[0].or(pair[1]), pair[1]);
            assert_eq!(pair[1].or(pair[0]), pair[1]);
        }
    }

    #[test]
    fn a_full_disk_has_a_way_out_wherever_it_is_found() {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        let file = "00000000000000000001.seg".to_owned();
        let error = JournalError::Io { doing: "allocate", file, source: full() };
        let help = CommandFailure::from(OpenError::Journal(error)).help.unwrap_or_default();
        assert!(help.contains("free some space"), "{help}");
        let error = OpenError::Io { dir: "state".into(), source: io::ErrorKind::NotFound.into() };
        assert_eq!(CommandFailure::from(error).help, None);
    }
}
