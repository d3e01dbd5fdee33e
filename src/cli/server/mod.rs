//! Commands that ask a daemon on another machine: `--server URL --token-file FILE`. They keep no
//! state, and need no key and no secret; their requests are the same as over the socket.

mod address;
pub(super) mod apply;
mod client;
mod failure;
pub(super) mod tree;

use std::path::Path;

use serde_json::Value;

use super::args::{Cli, ServerArgs};
use super::exit::CommandFailure;
use crate::config::{Config, FILE_NAME, ProcessEnv};
use crate::control::look::LocalQuery;
use crate::control::socket::SocketClient;
use crate::control::{ControlError, ControlRequest, Response};
use crate::engine::{EngineQuery, LocalReply, Reply};
use crate::kinds::CheckCx;
use crate::spec::document::API_VERSION;

pub(super) use client::ServerClient;
pub(super) use failure::{failure, local_only};

/// Returns the daemon that the arguments name, if they name one.
///
/// # Errors
/// The arguments are incomplete, or conflict with `--state`.
pub(super) fn from_args(cli: &Cli) -> Result<Option<ServerClient>, CommandFailure> {
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
pub(super) fn config(
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
pub(super) fn check(
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
pub(super) enum Daemon {
    /// On this machine, over its socket.
    Socket(SocketClient),
    /// Anywhere, over HTTP.
    Server(ServerClient),
}

impl Daemon {
    /// Sends a query and waits for the answer, without a time limit.
    pub(super) async fn ask(&self, question: &EngineQuery) -> Response {
        self.request(&ControlRequest::Ask(question.clone())).await
    }

    /// Requests the plan, after the content of every file is read again.
    pub(super) async fn verify(&self) -> Response {
        self.request(&ControlRequest::Verify).await
    }

    /// Sends a request and waits for the answer, without a time limit.
    pub(super) async fn request(&self, request: &ControlRequest) -> Response {
        match self {
            Self::Socket(client) => client.request(request).await,
            Self::Server(client) => client.request(request).await,
        }
    }
}

impl ServerClient {
    /// Asks the daemon for an answer that its engine cannot give.
    pub(super) async fn local_query(&self, look: LocalQuery) -> Result<Value, CommandFailure> {
        let Reply::Local(LocalReply(value)) =
            self.request(&ControlRequest::Local(Box::new(look))).await?
        else {
            return Err(CommandFailure::bug(
                "internal error: unexpected response type; expected an \
                answer of the daemon",
            ));
        };
        Ok(value)
    }
}

/// Creates an error of the connection, with a message of this program.
fn error(code: &str, message: impl Into<String>, help: impl Into<String>) -> ControlError {
    ControlError::new(code, message, help)
}
