//! Failure of a command whose daemon did not answer, or refused: as a rule one of the environment.

use crate::cli::output::exit::CommandFailure;
use crate::control::protocol::ControlError;

/// No daemon answers at the address.
pub(crate) const UNREACHABLE: &str = "server_unreachable";
/// The certificate is not trusted.
pub(crate) const TLS: &str = "server_tls";
/// The answer is not a daemon's.
pub(crate) const ANSWER: &str = "not_a_daemon";

/// Returns the failure of a command.
pub(crate) fn failure(error: ControlError) -> CommandFailure {
    let code = match error.code.as_str() {
        UNREACHABLE => "reckon::server::unreachable",
        TLS => "reckon::server::tls",
        ANSWER => "reckon::server::answer",
        ControlError::TOKEN_NEEDED | ControlError::WRONG_TOKEN => "reckon::server::token",
        ControlError::READ_ONLY => "reckon::server::read_only",
        ControlError::OTHER_VERSION => "reckon::server::version",
        _ => "reckon::control",
    };
    let failure = CommandFailure::environment(code, &error.message);
    if error.help.is_empty() { failure } else { failure.help(error.help) }
}

/// Returns the failure of a command that a daemon elsewhere cannot run, with the reason.
pub(crate) fn local_only(what: &str, why: &str) -> CommandFailure {
    let message = format!("{what} does not work with --server: {why}");
    CommandFailure::input("reckon::server::local", message)
        .help("run it without --server, on the machine that holds the state")
}
