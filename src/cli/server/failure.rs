//! How a command ends when the daemon did not answer, or refused: the environment, as a rule.

use crate::cli::exit::Failure;
use crate::control::ControlError;

/// Nobody is there.
pub(super) const UNREACHABLE: &str = "server_unreachable";
/// Its certificate is not trusted.
pub(super) const TLS: &str = "server_tls";
/// What answers is no daemon.
pub(super) const ANSWER: &str = "not_a_daemon";

/// The failure of a command.
pub(in crate::cli) fn failure(error: ControlError) -> Failure {
    let code = match error.code.as_str() {
        UNREACHABLE => "reckon::server::unreachable",
        TLS => "reckon::server::tls",
        ANSWER => "reckon::server::answer",
        ControlError::TOKEN_NEEDED | ControlError::WRONG_TOKEN => "reckon::server::token",
        ControlError::READ_ONLY => "reckon::server::read_only",
        ControlError::OTHER_VERSION => "reckon::server::version",
        _ => "reckon::control",
    };
    let failure = Failure::environment(code, &error.message);
    if error.help.is_empty() { failure } else { failure.help(error.help) }
}

/// A command that cannot be given to a daemon elsewhere, and why.
pub(in crate::cli) fn local(what: &str, why: &str) -> Failure {
    let message = format!("{what} cannot be asked of a server: {why}");
    Failure::input("reckon::server::local", message)
        .help("run it without --server, on the machine that holds the state")
}
