//! A daemon on another machine: `--server URL --token-file FILE`, the address, and the HTTP client
//! side of `crate::control::protocol`.
//!
//! Commands that ask such a daemon keep no state, and need no key and no secret; their requests are
//! the same as over the socket. The client talks to reckon daemons only: no redirect, no proxy, no
//! second try. The token is in one header of the request, which is marked as sensitive so that no
//! log shows it. The token is sent to the address, so not every address is allowed.

use std::fs::File;
use std::io::Read;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{StatusCode, Url, redirect, retry, tls};
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::base::secret::Secret;
use crate::base::wording::{causes, root_cause};
use crate::cli::args::global::GlobalArgs;
use crate::cli::args::options::Cli;
use crate::cli::exit::{ANSWER, CommandFailure, CommandResult, TLS, UNREACHABLE};
use crate::config::setting::ProcessEnv;
use crate::config::settings::{Config, FILE_NAME};
use crate::control::protocol::{
    CONTROL_PATH, ControlError, ControlRequest, REQUEST_BYTES_MAX, RESPONSE_BYTES_MAX, Response,
    SILENCE_MAX, VERSION, VERSION_HEADER,
};
use crate::control::requests::{Request, typed};
use crate::control::socket::SocketClient;
use crate::http::private::auth::Tokens;
use crate::kinds::schema::kind::CheckCx;
use crate::spec::header::API_VERSION;

const CONNECT_MAX: Duration = Duration::from_secs(10);
const TOKEN_FILE_BYTES_MAX: u64 = 64 * 1024;

/// A connection to a daemon elsewhere. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct ServerClient {
    http: reqwest::Client,
    pub(crate) address: ServerAddress,
    token: Secret,
}

/// Reads the token in a file: the first one, where there are several.
pub(crate) fn read_token(file: &Path) -> CommandResult<Secret> {
    let failed = |why: &dyn std::fmt::Display| {
        let what = format!("read the token file {}: {why}", file.display());
        CommandFailure::environment("reckon::server::token_file", what)
            .help("write one line to it: a token of `api.token` in the daemon's state directory")
    };
    let mut text = Zeroizing::new(String::new());
    let opened = File::open(file).map_err(|error| failed(&error))?;
    let read = opened.take(TOKEN_FILE_BYTES_MAX).read_to_string(&mut text);
    read.map_err(|error| failed(&error))?;
    let tokens = Tokens::parse(&text).map_err(|error| failed(&error))?;
    let first = tokens.first().ok_or_else(|| failed(&"it contains no token"))?;
    Ok(first.secret.clone())
}

/// Code of a daemon's error for a path that it does not have.
const NO_SUCH_PATH: &str = "no_such_path";

#[derive(Deserialize)]
struct RefusalBody {
    error: ControlError,
}

impl ServerClient {
    pub(crate) fn new(address: ServerAddress, token: Secret) -> CommandResult<Self> {
        let builder = reqwest::Client::builder()
            .tls_version_min(tls::Version::TLS_1_2)
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .no_proxy()
            .referer(false)
            .connect_timeout(CONNECT_MAX)
            .read_timeout(SILENCE_MAX)
            .pool_max_idle_per_host(0);
        let builder = if address.plain { builder.tls_certs_only([]) } else { builder };
        let http = builder.build().map_err(|error| {
            CommandFailure::environment("reckon::server::tls", causes(&error))
                .help("set SSL_CERT_FILE to a file of certificates to trust")
        })?;
        Ok(Self { http, address, token })
    }

    /// Sends a request and waits for the answer as long as there are signs of life.
    pub(crate) async fn send<R: Request>(&self, request: R) -> Result<R::Response, ControlError> {
        typed::<R>(self.exchange(&request.into_request()).await?)
    }

    async fn exchange(&self, request: &ControlRequest) -> Response {
        let body =
            serde_json::to_vec(request).map_err(|why| self.not_a_daemon(&why.to_string()))?;
        if body.len() > REQUEST_BYTES_MAX {
            let message = format!("the request has more than {} MiB", REQUEST_BYTES_MAX >> 20);
            return Err(ControlError::new(ControlError::TOO_LONG, message, "split the tree"));
        }
        let sent = self
            .http
            .post(self.address.control.clone())
            .header(AUTHORIZATION, self.bearer()?)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .header(VERSION_HEADER, HeaderValue::from_static(VERSION))
            .body(body);
        let answer = sent.send().await.map_err(|why| self.no_answer(why))?;
        let status = answer.status();
        let ours = answer.headers().contains_key(VERSION_HEADER);
        let body = self.body(answer).await?;
        if status == StatusCode::OK && ours {
            return serde_json::from_slice(&body)
                .map_err(|why| self.lost_answer(&why.to_string()))?;
        }
        Err(match serde_json::from_slice::<RefusalBody>(&body) {
            Ok(RefusalBody { error }) if error.code == NO_SUCH_PATH => self.not_a_daemon(
                "it accepts no commands; it may be an older version, or the public listener",
            ),
            Ok(refused) => refused.error,
            Err(_) => self.not_a_daemon(&format!("it answers {status}")),
        })
    }

    fn bearer(&self) -> Result<HeaderValue, ControlError> {
        let text = Zeroizing::new(format!("Bearer {}", self.token.expose()));
        let value = HeaderValue::from_str(&text);
        let mut value = value.map_err(|_| self.not_a_daemon("the token cannot be sent"))?;
        value.set_sensitive(true);
        Ok(value)
    }

    async fn body(&self, mut answer: reqwest::Response) -> Result<Vec<u8>, ControlError> {
        let mut body = Vec::new();
        let lost = |why: reqwest::Error| self.lost_answer(&root_cause(&why.without_url()));
        while let Some(piece) = answer.chunk().await.map_err(lost)? {
            if body.len().saturating_add(piece.len()) > RESPONSE_BYTES_MAX {
                return Err(self.lost_answer("the answer is too long"));
            }
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }

    fn no_answer(&self, why: reqwest::Error) -> ControlError {
        let (connecting, slow) = (why.is_connect(), why.is_timeout());
        let cause = root_cause(&why.without_url());
        let at = &self.address.shown;
        if connecting && cause.contains("certificate") {
            let help =
                "check the host; trust a certificate authority of your own with SSL_CERT_FILE=FILE";
            let message = format!("the certificate of {at} is not trusted: {cause}");
            return ControlError::new(TLS, message, help);
        }
        if connecting {
            let help = "check that the daemon runs, and that it or its proxy listens there \
                (`listen` in its reckon.yaml)";
            let message = format!("{at} cannot be reached: {cause}");
            return ControlError::new(UNREACHABLE, message, help);
        }
        let silent = format!("no sign of life for {} seconds", SILENCE_MAX.as_secs());
        self.lost_answer(if slow { &silent } else { &cause })
    }

    /// Returns the error of a lost or incomplete answer: the daemon may have done the request.
    fn lost_answer(&self, why: &str) -> ControlError {
        let message = format!("lost the answer of {}: {why}", self.address.shown);
        let help = "check `reckon get` and `reckon intents`, since the request may have been \
            done, then repeat it; a proxy between must not buffer answers";
        ControlError::new(ControlError::LOST, message, help)
    }

    /// Returns the error of an answer that no reckon daemon gives.
    fn not_a_daemon(&self, why: &str) -> ControlError {
        let message = format!("{} is not a reckon daemon: {why}", self.address.shown);
        let help = "write the address of the daemon's private listener, or of the proxy before it \
            with its path";
        ControlError::new(ANSWER, message, help)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct ServerAddress {
    pub shown: String,
    /// URL that requests are posted to.
    pub control: Url,
    /// True without TLS: then the address is one of this machine.
    pub plain: bool,
}

/// Parses an address.
///
/// # Errors
/// The text is no address, carries credentials, a query or a fragment, or would show the token to
/// the network.
pub(crate) fn parse_address(text: &str) -> CommandResult<ServerAddress> {
    let wrong = |what: &str| {
        CommandFailure::input("reckon::server::url", format!("--server: {what}"))
            .help("write https://HOST[:PORT][/PATH], or http://127.0.0.1:PORT for a daemon on this machine")
    };
    let mut url = Url::parse(text).map_err(|error| wrong(&format!("invalid address: {error}")))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong(
            "the address contains a user name or password; name the token with --token-file",
        ));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("the address contains a query or fragment"));
    }
    let host = url.host_str().ok_or_else(|| wrong("the address has no host"))?;
    let plain = match url.scheme() {
        "https" => false,
        "http" if is_this_machine(host) => true,
        "http" => {
            return Err(wrong(&format!("plain http to {host} would expose the token")).help(
                "put a proxy with a certificate before the daemon and write https://…, or use a \
                tunnel: `ssh -L 8780:127.0.0.1:8780 HOST`, then http://127.0.0.1:8780",
            ));
        }
        other => return Err(wrong(&format!("unsupported scheme {other}"))),
    };
    let path = format!("{}{CONTROL_PATH}", url.path().trim_end_matches('/'));
    let shown = text.trim_end_matches('/').to_owned();
    url.set_path(&path);
    Ok(ServerAddress { shown, control: url, plain })
}

fn is_this_machine(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let loopback = |ip: IpAddr| ip.to_canonical().is_loopback();
    host.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok_and(loopback)
}

/// Returns the daemon that the arguments name, if they name one.
pub(crate) fn server_of_args(cli: &Cli) -> CommandResult<Option<ServerClient>> {
    let usage = |what: &str, help: &str| {
        Err(CommandFailure::input("reckon::server::usage", what).help(help))
    };
    let GlobalArgs { server, token_file, state, .. } = &cli.global;
    match (server, token_file) {
        (None, None) => Ok(None),
        (Some(_), None) => {
            let help = "add --token-file FILE, a file with a token of `api.token` in the daemon's \
                state directory";
            usage("--server without a token", help)
        }
        (None, Some(_)) => usage("--token-file without --server", "add --server URL"),
        (Some(_), Some(_)) if state.is_some() => usage(
            "--state conflicts with --server: the state is at the daemon",
            "leave --state out",
        ),
        (Some(url), Some(file)) => {
            Ok(Some(ServerClient::new(parse_address(url)?, read_token(file)?)?))
        }
    }
}

/// Returns the configuration, which `--server` needs only where one is named or exists.
pub(crate) fn load_config(
    server: Option<&ServerClient>,
    cli: &Cli,
    file: &Path,
) -> CommandResult<Config> {
    if server.is_some() && cli.global.config.is_none() && !file.exists() {
        empty_config()
    } else {
        Ok(Config::load(file)?)
    }
}

/// Returns the context of document checks. A daemon elsewhere checks by its own configuration: the
/// variables that this one names need not be set here.
pub(crate) fn check_context(
    server: Option<&ServerClient>,
    config: &Config,
) -> CommandResult<CheckCx> {
    match config.check_context(&ProcessEnv) {
        Err(_) if server.is_some() => Ok(empty_config()?.check_context(&ProcessEnv)?),
        check_context => Ok(check_context?),
    }
}

fn empty_config() -> CommandResult<Config> {
    let text = format!("apiVersion: {API_VERSION}\nkind: Config\n");
    let config = Config::parse(FILE_NAME, Path::new("."), text.into_bytes());
    config.map_err(|broken| {
        let count = broken.problems.len();
        CommandFailure::bug(format!("internal error: {count} problems in the empty configuration"))
    })
}

#[derive(Debug)]
pub(crate) enum Daemon {
    /// On this machine, over its socket.
    Socket(SocketClient),
    /// Anywhere, over HTTP.
    Server(ServerClient),
}

impl Daemon {
    pub(crate) async fn send<R: Request>(&self, request: R) -> Result<R::Response, ControlError> {
        match self {
            Self::Socket(client) => client.send(request).await,
            Self::Server(client) => client.send(request).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_over_tls_or_stays_on_this_machine() {
        for (text, posted, plain) in [
            ("https://billing.example", "https://billing.example/api/v1/control", false),
            ("https://h:8443/reckon/", "https://h:8443/reckon/api/v1/control", false),
            ("http://127.0.0.1:8780", "http://127.0.0.1:8780/api/v1/control", true),
            ("http://[::1]:1/", "http://[::1]:1/api/v1/control", true),
            ("http://LOCALHOST:2", "http://localhost:2/api/v1/control", true),
        ] {
            let address = parse_address(text).unwrap();
            assert_eq!((address.control.as_str(), address.plain), (posted, plain));
        }
        for text in [
            "http://billing.example",
            "http://10.0.0.1:8780",
            "http://localhost.example",
            "https://user:pass@billing.example",
            "https://token@billing.example",
            "https://billing.example?token=1",
            "https://billing.example#a",
            "unix:/run/control.sock",
            "billing.example",
            "",
        ] {
            let failure = parse_address(text).unwrap_err();
            assert_eq!(failure.code, "reckon::server::url", "{text}");
            assert!(!failure.message.contains("pass@"), "{}", failure.message);
        }
    }
}
