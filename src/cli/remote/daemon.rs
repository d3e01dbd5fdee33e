//! Commands that ask a daemon on another machine: `--server URL --token-file FILE`. They keep no
//! state, and need no key and no secret; their requests are the same as over the socket.

use std::path::Path;

use super::client::ServerClient;
use super::{address, client};
use crate::cli::args::options::{Cli, ServerArgs};
use crate::cli::exit::CommandFailure;
use crate::config::setting::ProcessEnv;
use crate::config::settings::{Config, FILE_NAME};
use crate::control::protocol::ControlError;
use crate::control::requests::Request;
use crate::control::socket_client::SocketClient;
use crate::kinds::schema::kind::CheckCx;
use crate::spec::documents::header::API_VERSION;

/// Returns the daemon that the arguments name, if they name one.
///
/// # Errors
/// The arguments are incomplete, or conflict with `--state`.
pub(crate) fn from_args(cli: &Cli) -> Result<Option<ServerClient>, CommandFailure> {
    let usage = |what: &str, help: &str| {
        Err(CommandFailure::input("reckon::server::usage", what).help(help))
    };
    let ServerArgs { server, token_file } = &cli.server;
    match (server, token_file) {
        (None, None) => Ok(None),
        (Some(_), None) => {
            let help = "add --token-file FILE, a file with a token of `api.token` in the daemon's \
                state directory";
            usage("--server without a token", help)
        }
        (None, Some(_)) => usage("--token-file without --server", "add --server URL"),
        (Some(_), Some(_)) if cli.state.is_some() => usage(
            "--state conflicts with --server: the state is at the daemon",
            "leave --state out",
        ),
        (Some(url), Some(file)) => {
            Ok(Some(ServerClient::new(address::read(url)?, client::token(file)?)?))
        }
    }
}

/// Returns the configuration. Commands that ask a daemon elsewhere need none, unless one is named
/// or exists.
pub(crate) fn config(
    server: Option<&ServerClient>,
    cli: &Cli,
    file: &Path,
) -> Result<Config, CommandFailure> {
    if server.is_some() && cli.config.is_none() && !file.exists() {
        empty_config()
    } else {
        Ok(Config::load(file)?)
    }
}

/// Returns the context of document checks. A daemon elsewhere checks by its own configuration: the
/// variables that this one names need not be set here.
pub(crate) fn check(
    server: Option<&ServerClient>,
    config: &Config,
) -> Result<CheckCx, CommandFailure> {
    match config.check_context(&ProcessEnv) {
        Err(_) if server.is_some() => Ok(empty_config()?.check_context(&ProcessEnv)?),
        check => Ok(check?),
    }
}

/// Returns the configuration without a file.
fn empty_config() -> Result<Config, CommandFailure> {
    let text = format!("apiVersion: {API_VERSION}\nkind: Config\n");
    let config = Config::parse(FILE_NAME, Path::new("."), text.into_bytes());
    config.map_err(|broken| {
        CommandFailure::bug(format!(
            "internal error: {} problems in the empty configuration",
            broken.problems.len()
        ))
    })
}

/// A connection to the process that holds the state.
#[derive(Debug)]
pub(crate) enum Daemon {
    /// On this machine, over its socket.
    Socket(SocketClient),
    /// Anywhere, over HTTP.
    Server(ServerClient),
}

impl Daemon {
    /// Sends a request and waits for the response, without a time limit.
    pub(crate) async fn send<R: Request>(&self, request: R) -> Result<R::Response, ControlError> {
        match self {
            Self::Socket(client) => client.send(request).await,
            Self::Server(client) => client.send(request).await,
        }
    }
}
