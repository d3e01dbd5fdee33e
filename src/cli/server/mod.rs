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
use super::exit::Failure;
use crate::config::{Config, FILE_NAME, ProcessEnv};
use crate::control::look::Look;
use crate::control::socket::SocketClient;
use crate::control::{ControlError, Request, Response};
use crate::engine::{Question, Reply, Told};
use crate::kinds::CheckCx;
use crate::spec::document::API_VERSION;

pub(super) use client::ServerClient;
pub(super) use failure::{failure, local};

/// Returns the daemon that the arguments name, if they name one.
///
/// # Errors
/// The arguments are incomplete, or conflict with `--state`.
pub(super) fn named(cli: &Cli) -> Result<Option<ServerClient>, Failure> {
    let usage =
        |what: &str, help: &str| Err(Failure::input("reckon::server::usage", what).help(help));
    let ServerArgs { server, token_file } = &cli.server;
    match (server, token_file) {
        (None, None) => Ok(None),
        (Some(_), None) => {
            let help = "--token-file names a file with a token of `api.token` in the daemon's state directory";
            usage("--server needs a token", help)
        }
        (None, Some(_)) => usage("a token is for a daemon elsewhere", "name it: --server URL"),
        (Some(_), Some(_)) if cli.state.is_some() => {
            usage("the state is with the daemon that --server names", "leave --state out")
        }
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
) -> Result<Config, Failure> {
    if server.is_some() && cli.config.is_none() && !file.exists() {
        nothing()
    } else {
        Ok(Config::load(file)?)
    }
}

/// Returns the context of document checks. A daemon elsewhere checks by its own configuration: the
/// variables that this one names need not be set here.
pub(super) fn check(server: Option<&ServerClient>, config: &Config) -> Result<CheckCx, Failure> {
    match config.check_cx(&ProcessEnv) {
        Err(_) if server.is_some() => Ok(nothing()?.check_cx(&ProcessEnv)?),
        check => Ok(check?),
    }
}

/// Returns the configuration without a file.
fn nothing() -> Result<Config, Failure> {
    let text = format!("apiVersion: {API_VERSION}\nkind: Config\n");
    let config = Config::parse(FILE_NAME, Path::new("."), text.into_bytes());
    config.map_err(|broken| Failure::bug(format!("{} problems in no file", broken.problems.len())))
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
    pub(super) async fn ask(&self, question: &Question) -> Response {
        self.request(&Request::Ask(question.clone())).await
    }

    /// Requests the plan, after the content of every file is read again.
    pub(super) async fn verify(&self) -> Response {
        self.request(&Request::Verify).await
    }

    /// Sends a request and waits for the answer, without a time limit.
    pub(super) async fn request(&self, request: &Request) -> Response {
        match self {
            Self::Socket(client) => client.request(request).await,
            Self::Server(client) => client.request(request).await,
        }
    }
}

impl ServerClient {
    /// Asks the daemon for an answer that its engine cannot give.
    pub(super) async fn look(&self, look: Look) -> Result<Value, Failure> {
        let Reply::Told(Told(value)) = self.request(&Request::Look(Box::new(look))).await? else {
            return Err(Failure::bug("a look was not answered by one"));
        };
        Ok(value)
    }
}

/// Creates an error of the connection, with a message of this program.
fn error(code: &str, message: impl Into<String>, help: impl Into<String>) -> ControlError {
    ControlError::new(code, message, help)
}
