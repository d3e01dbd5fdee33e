//! `sandbox env`: prints the settings of a running sandbox, as lines for a shell. Calls an embedded
//! sandbox of this process without a socket, too.
//!
//! Beside the client, this is the one module that speaks HTTP to a service's address: only to the
//! sandbox's own control paths, which the client never calls.

use std::time::Duration;

use axum::body::Body;
use futures::FutureExt;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::cli::context::open::Context;
use crate::cli::context::parts;
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::config::setting::{ProcessEnv, Setting};
use crate::sandbox::server::Sandbox;

/// A sandbox answers at once or not at all.
const TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) async fn run(setup: &Context) -> CommandResult {
    let base = base_url(setup)?;
    let http = client(setup, base.starts_with("https"))?;
    let all = ask(&http, http::Method::GET, &base, None).await?;
    let mut lines = partner_lines(setup, &all);
    let loader = setup.loaded_tree();
    for (key, manifest) in &loader.desired().manifests {
        let name = key.name.as_str();
        lines.extend(merchant_lines(&http, &base, name, &manifest.unpack().spec).await?);
    }
    setup.out.text(&lines.join("\n"))?;
    Ok(Exit::Done)
}

fn base_url(setup: &Context) -> CommandResult<String> {
    let base = setup.config.service.base_url.as_ref();
    Ok(setup.config.require("service.base_url", base, &ProcessEnv)?.as_str().to_owned())
}

/// Posts an order to a control path of a sandbox on this machine, never to the service itself.
pub(crate) async fn control(setup: &Context, path: &str, order: &Value) -> CommandResult<Value> {
    let base = base_url(setup)?;
    let not_one = || {
        let message = format!("{base} is not a sandbox: only a sandbox makes events on request");
        let help = "start `reckon sandbox` or `reckon run --sandbox`, and set service.base_url to \
            its address";
        CommandFailure::input("reckon::sandbox::none", message).help(help)
    };
    if !is_loopback(&base) {
        return Err(not_one());
    }
    let http = client(setup, base.starts_with("https"))?;
    let url = format!("{}/_sandbox/{path}", base.trim_end_matches('/'));
    let sent = http.post(url).json(order).send().await;
    let answer = sent.map_err(|error| unreachable(&base, &error))?;
    let refused = !answer.status().is_success();
    let value: Value = answer.json().await.map_err(|_| not_one())?;
    if refused {
        let message = value.pointer("/messages/0/message").or_else(|| value.get("message"));
        let message = message.and_then(Value::as_str).unwrap_or("no reason given");
        let what = format!("the sandbox refused: {message}");
        return Err(CommandFailure::input("reckon::sandbox::refused", what));
    }
    Ok(value)
}

fn is_loopback(url: &str) -> bool {
    let uri: Option<http::Uri> = url.parse().ok();
    let host = uri.as_ref().and_then(http::Uri::host).unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn partner_lines(setup: &Context, all: &Value) -> Vec<String> {
    let partner = &setup.config.partner;
    let mut lines = Vec::new();
    if let Some(Setting::Env(variable)) = &partner.client_id {
        lines.push(export(&variable.name, &text(all, "/partner/client_id")));
    }
    if let Some(Setting::Env(variable)) = &partner.client_secret {
        lines.push(export(&variable.name, &text(all, "/partner/client_secret")));
    }
    if let Some(Setting::Env(variable)) = &partner.redirect_uri {
        lines.push(export(&variable.name, &text(all, "/partner/redirect_uri")));
    }
    lines
}

/// Returns the variables of a merchant's document: a fresh code each time, or its secret key.
async fn merchant_lines(
    http: &reqwest::Client,
    base: &str,
    name: &str,
    spec: &Value,
) -> CommandResult<Vec<String>> {
    let variable = |pointer: &str| spec.pointer(pointer).and_then(Value::as_str);
    let code = variable("/credentials/authorization_code/env");
    let secret_key = variable("/credentials/keys/secret_key/env");
    if code.is_none() && secret_key.is_none() {
        return Ok(Vec::new());
    }
    let answer = ask(http, http::Method::POST, base, Some(&json!({"merchant": name}))).await?;
    let given = answer.get("authorization_code").and_then(Value::as_str).unwrap_or_default();
    let mut lines: Vec<String> = code.map(|variable| export(variable, given)).into_iter().collect();
    if let Some(variable) = secret_key {
        let all = ask(http, http::Method::GET, base, None).await?;
        let key = merchant_text(&all, name, "/test/secret_key").unwrap_or_default();
        lines.push(export(variable, &key));
    }
    Ok(lines)
}

/// Returns a text of a merchant's credentials; `None` if there is no merchant of that name.
pub(crate) fn merchant_text(all: &Value, merchant: &str, pointer: &str) -> Option<String> {
    let mut merchants = all.get("merchants")?.as_array()?.iter();
    let mine = merchants.find(|one| text(one, "/name") == merchant)?;
    Some(text(mine, pointer))
}

/// Returns one line for a shell. Values are letters and digits; a quote would be escaped.
fn export(variable: &str, value: &str) -> String {
    format!("export {variable}='{}'", value.replace('\'', r"'\''"))
}

/// Creates a client that trusts the sandbox's authority.
fn client(setup: &Context, tls: bool) -> CommandResult<reqwest::Client> {
    let failed = |error: &dyn std::fmt::Display| {
        CommandFailure::environment("reckon::sandbox::env", format!("reach the sandbox: {error}"))
    };
    let mut builder = reqwest::Client::builder().timeout(TIMEOUT).no_proxy();
    if let Some(ca) = setup.config.service.ca_file.as_ref().filter(|_| tls) {
        let path = ca.get(&ProcessEnv)?;
        let pem = parts::pem(&path).map_err(|error| {
            failed(&format!("{}: {error}", path.display())).help("start it first: `reckon sandbox`")
        })?;
        let ca = reqwest::Certificate::from_pem(&pem).map_err(|error| failed(&error))?;
        builder = builder.tls_certs_merge([ca]);
    }
    builder.build().map_err(|error| failed(&error))
}

async fn ask(
    http: &reqwest::Client,
    method: http::Method,
    base: &str,
    body: Option<&Value>,
) -> CommandResult<Value> {
    let url = format!("{}/_sandbox/credentials", base.trim_end_matches('/'));
    let mut request = http.request(method, url);
    if let Some(body) = body {
        request = request.json(body);
    }
    let failed = |error: reqwest::Error| unreachable(base, &error);
    let answer = request.send().await.map_err(failed)?.error_for_status().map_err(failed)?;
    answer.json().await.map_err(failed)
}

fn unreachable(base: &str, error: &reqwest::Error) -> CommandFailure {
    let what = format!("reach the sandbox at {base}: {error}");
    CommandFailure::environment("reckon::sandbox::env", what)
        .help("start it first: `reckon sandbox`")
}

const ANSWER_BYTES_MAX: usize = 16 << 20;

/// Sends one request. Returns the status and the body, null where the body is no JSON.
pub(crate) async fn send(
    sandbox: &Sandbox,
    method: &str,
    path: &str,
    authorization: Option<&str>,
    body: Option<&Value>,
) -> Result<(StatusCode, Value), String> {
    let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
    let mut request = Request::builder().method(method).uri(path).header("host", "localhost");
    if let Some(authorization) = authorization {
        request = request.header("authorization", authorization);
    }
    let request = request.body(body).map_err(|error| error.to_string())?;
    let answer = sandbox.router().oneshot(request).await.map_err(|error| error.to_string())?;
    let status = answer.status();
    let bytes = axum::body::to_bytes(answer.into_body(), ANSWER_BYTES_MAX).await;
    let bytes = bytes.map_err(|error| error.to_string())?;
    Ok((status, serde_json::from_slice(&bytes).unwrap_or_default()))
}

/// Sends one request to a control path, which answers without waiting.
pub(crate) fn control_in_process(
    sandbox: &Sandbox,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Result<Value, String> {
    let answered = send(sandbox, method, path, None, body).now_or_never();
    let (_, answer) = answered.ok_or("the sandbox did not answer at once")??;
    Ok(answer)
}

pub(crate) fn token(sandbox: &Sandbox, code: &str) -> Result<String, String> {
    let all = control_in_process(sandbox, "GET", "/_sandbox/credentials", None)?;
    let body = json!({
        "client_id": text(&all, "/partner/client_id"),
        "client_secret": text(&all, "/partner/client_secret"),
        "redirect_uri": text(&all, "/partner/redirect_uri"),
        "grant_type": "authorization_code",
        "scope": "payments",
        "code": code,
    });
    Ok(text(&control_in_process(sandbox, "POST", "/oauth/token", Some(&body))?, "/access_token"))
}

/// Returns a text of an answer, empty where there is none.
pub(crate) fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}
