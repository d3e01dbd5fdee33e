//! `sandbox`: the emulator alone, and the embedded one of `run --sandbox`.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::base::hash::Digest;
use crate::base::id::{Key, Mode};
use crate::base::secret::Secret;
use crate::cli::args::options::Cli;
use crate::cli::args::sandbox::{
    DecideArg as Decides, SandboxArgs, SandboxCommand, SurfaceArg as Wanted,
};
use crate::cli::commands::sandbox::env::{control_in_process, merchant_text, text, token};
use crate::cli::commands::sandbox::scenario::Scenario;
use crate::cli::commands::sandbox::{env, scenario};
use crate::cli::context::machine;
use crate::cli::context::open::Context;
use crate::cli::context::secrets::OpenedSecrets;
use crate::cli::context::state_handle::Embedded;
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::cli::print::{Printer, ServingLine};
use crate::config::setting::ProcessEnv;
use crate::engine::handles::shared::{PartnerAccess, SecretError, SecretResolver};
use crate::http::public::public_routes::PublicRoutes;
use crate::kinds::planning::step::MERCHANT;
use crate::model::operator::WebhookAddress;
use crate::sandbox::options::{DecisionMode, SandboxOptions, ServiceSurface};
use crate::sandbox::serve::{BoundAddress, ListeningSandbox, ServeError, serve};
use crate::sandbox::server::Sandbox;
use crate::sandbox::state::store::LOOKED_UP;
use crate::store::disk::directory::private_dir;
use crate::store::read_model::model::ReadModel;
use crate::store::state::index::logged_index;

pub(crate) async fn run(cli: &Cli, args: &SandboxArgs, out: Printer) -> CommandResult {
    if let Some(SandboxCommand::Env) = args.command {
        return env::run(&Context::load(cli, out)?).await;
    }
    let dir = directory(cli, out);
    let scenario = args.scenario.as_deref().map(Scenario::read).transpose()?;
    let begins = scenario.as_ref().and_then(Scenario::clock);
    let Listen { listen, plain_http } = Listen::choose(cli, args, out)?;
    let place = BoundAddress::bind(listen, plain_http).map_err(cannot_listen)?;
    let options = SandboxOptions {
        seed: args.seed,
        surface: match args.surface {
            Wanted::Public => ServiceSurface::Public,
            Wanted::Documented => ServiceSurface::Documented,
        },
        start: parse_clock(&args.clock)?.or(begins),
        decide: match args.decide {
            Decides::Auto => DecisionMode::Auto,
            Decides::Manual => DecisionMode::Manual,
        },
        web_url: place.url(),
        portal_url: place.url(),
        ..SandboxOptions::default()
    };
    let sandbox = open(&dir, options)?;
    if let Some(scenario) = &scenario {
        out.note(&scenario::play(&sandbox, scenario).await?);
    }
    let running = serve(&sandbox, place, &dir, async {
        machine::stop().await;
    });
    let running = running.map_err(cannot_listen)?;
    let line = ServingLine::Listening(&running.url);
    out.line(&line, || format!("listening {}", running.url))?;
    if let Some(ca) = &running.ca {
        out.note(&format!("authority {}", ca.display()));
    }
    wait_for_end(running).await?;
    Ok(Exit::Done)
}

/// The address of a sandbox where neither an argument nor a configuration names one.
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8700);

struct Listen {
    listen: SocketAddr,
    plain_http: bool,
}

impl Listen {
    /// Returns the argument, else `service.base_url` of the configuration, else [`LISTEN`].
    fn choose(cli: &Cli, args: &SandboxArgs, out: Printer) -> CommandResult<Self> {
        let plain_http = args.plain_http;
        if let Some(listen) = args.listen {
            return Ok(Self { listen, plain_http });
        }
        let configured =
            Context::load(cli, out).ok().and_then(|setup| setup.config.service.base_url);
        let Some(base) = configured else { return Ok(Self { listen: LISTEN, plain_http }) };
        let base = base.get(&ProcessEnv)?;
        let plain_http = plain_http || base.as_str().starts_with("http://");
        let listen = loopback(base.as_str());
        let listen =
            listen.map_err(|failure| failure.help("choose an address: --listen 127.0.0.1:8700"))?;
        Ok(Self { listen, plain_http })
    }
}

fn cannot_listen(error: ServeError) -> CommandFailure {
    CommandFailure::environment("reckon::sandbox::listen", error)
}

/// Returns the sandbox's state directory: the argument, else one beneath the configured state.
fn directory(cli: &Cli, out: Printer) -> PathBuf {
    let configured = || Context::load(cli, out).ok().map(|setup| setup.state.join("sandbox"));
    cli.global.state.clone().or_else(configured).unwrap_or_else(|| PathBuf::from(".reckon/sandbox"))
}

/// Parses the moment at which the sandbox's clock starts; `None` for the real time.
fn parse_clock(text: &str) -> CommandResult<Option<DateTime<Utc>>> {
    if text == "real" {
        return Ok(None);
    }
    let time = DateTime::parse_from_rfc3339(text).map_err(|error| {
        CommandFailure::input("reckon::usage::clock", format!("--clock {text}: {error}"))
            .help("write `real`, or a moment such as 2030-01-01T00:00:00Z")
    })?;
    Ok(Some(time.with_timezone(&Utc)))
}

fn open(dir: &Path, options: SandboxOptions) -> CommandResult<Sandbox> {
    let failed = |error: &dyn std::fmt::Display| {
        let what = format!("open the sandbox's state {}: {error}", dir.display());
        CommandFailure::environment("reckon::sandbox::state", what)
    };
    private_dir(dir).map_err(|error| failed(&error))?;
    let index = logged_index(&dir.join("state"), LOOKED_UP, &dir.join("index"));
    let index = index.map_err(|error| failed(&error))?;
    Sandbox::open(index, options).map_err(|error| failed(&error))
}

async fn wait_for_end(running: ListeningSandbox) -> CommandResult<()> {
    let ended = running.done.await.map_err(std::io::Error::other).and_then(|ended| ended);
    ended.map_err(|error| CommandFailure::environment("reckon::sandbox::serve", error))
}

#[derive(Debug)]
pub(crate) struct EmbeddedSandbox {
    pub access: Embedded,
    sandbox: Sandbox,
    running: ListeningSandbox,
    stop: oneshot::Sender<()>,
}

/// Starts a sandbox at the configured service's loopback address.
pub(crate) fn embed(setup: &Context) -> CommandResult<EmbeddedSandbox> {
    let base = setup.config.service.base_url.as_ref();
    let base = setup.config.require("service.base_url", base, &ProcessEnv)?;
    let listen = loopback(base.as_str())?;
    let dir = setup.state.join("sandbox");
    let taken = |error| {
        cannot_listen(error).help("stop the other sandbox if one runs, or change service.base_url")
    };
    let place = BoundAddress::bind(listen, base.as_str().starts_with("http://")).map_err(taken)?;
    let own = own_url(base.as_str(), listen, &place);
    let options =
        SandboxOptions { portal_url: own.clone(), web_url: own, ..SandboxOptions::default() };
    let sandbox = open(&dir, options)?;
    let (stop, stopped) = oneshot::channel();
    let stopped = async move { drop(stopped.await) };
    let running = serve(&sandbox, place, &dir, stopped).map_err(taken)?;
    let ca = running.ca.as_ref().map(std::fs::read).transpose();
    let ca = ca.map_err(|error| CommandFailure::environment("reckon::sandbox::ca", error))?;
    let partner = partner(&sandbox)?;
    let clock = Arc::new(sandbox.clock());
    let access = Embedded { partner, base_url: running.url.clone(), ca, clock };
    Ok(EmbeddedSandbox { access, sandbox, running, stop })
}

/// Returns the address in an embedded sandbox's links: configured, but for a port left open.
fn own_url(base: &str, listen: SocketAddr, place: &BoundAddress) -> String {
    if listen.port() == 0 { place.url() } else { base.to_owned() }
}

fn loopback(url: &str) -> CommandResult<SocketAddr> {
    let host = url.split_once("://").map_or(url, |(_, host)| host).trim_end_matches('/');
    let host = host.replace("localhost", "127.0.0.1");
    let address = host.parse::<SocketAddr>().ok().filter(|address| address.ip().is_loopback());
    address.ok_or_else(|| {
        let what = format!("a sandbox cannot listen at service.base_url {url}");
        CommandFailure::input("reckon::sandbox::address", what).help(
            "set service.base_url to a loopback address with a port, such as \
            https://127.0.0.1:8700",
        )
    })
}

fn partner(sandbox: &Sandbox) -> CommandResult<PartnerAccess> {
    let all = control_in_process(sandbox, "GET", "/_sandbox/credentials", None)
        .map_err(CommandFailure::bug)?;
    Ok(PartnerAccess {
        client_id: Secret::from(text(&all, "/partner/client_id")),
        client_secret: Secret::from(text(&all, "/partner/client_secret")),
        redirect_uri: text(&all, "/partner/redirect_uri"),
    })
}

impl EmbeddedSandbox {
    /// Returns the secrets of a run against this sandbox: merchants' credentials come from the
    /// sandbox, whatever their documents name. From then on, the sandbox sends each merchant's
    /// events to this daemon.
    pub(crate) fn secrets(
        &self,
        setup: &Context,
        addresses: WebhookAddresses,
    ) -> CommandResult<Arc<dyn SecretResolver>> {
        let loader = setup.loaded_tree();
        let manifests = loader.desired().manifests.iter();
        let credentials = manifests.filter_map(|(key, manifest)| {
            manifest.unpack().spec.get("credentials").map(|value| (key.clone(), value.clone()))
        });
        let secrets = SandboxSecrets {
            sandbox: self.sandbox.clone(),
            credentials: credentials.collect(),
            operator_secrets: setup.secrets()?,
            addresses,
        };
        // A merchant that is connected already may need another address after another start.
        secrets.credentials.keys().for_each(|merchant| secrets.send_events(merchant));
        Ok(Arc::new(secrets))
    }

    pub(crate) fn notify(&self, addresses: &WebhookAddresses) -> CommandResult<()> {
        let generation = addresses.facts.rotation(&WebhookAddress::Partner)?.generation;
        let event_url = addresses.outside.event_url(&addresses.base, generation);
        let told = json!({ "event_url": event_url });
        control_in_process(&self.sandbox, "POST", "/_sandbox/partner", Some(&told))
            .map_err(CommandFailure::bug)?;
        Ok(())
    }

    pub(crate) async fn close(self) {
        // The listener may have ended already.
        if self.stop.send(()).is_ok() {
            drop(self.running.done.await);
        }
    }
}

/// Addresses at which the daemon receives the service's webhooks.
#[derive(Debug, Clone)]
pub(crate) struct WebhookAddresses {
    pub outside: PublicRoutes,
    pub base: String,
    /// Holds the current generation of each address.
    pub facts: ReadModel,
}

/// Merchants' credentials from a sandbox; other secrets from the sources of the operator.
#[derive(Debug)]
pub(crate) struct SandboxSecrets {
    sandbox: Sandbox,
    credentials: BTreeMap<Key, Value>,
    operator_secrets: OpenedSecrets,
    addresses: WebhookAddresses,
}

impl SandboxSecrets {
    /// Sets this merchant's event addresses; a later call does it for one that is not there yet.
    fn send_events(&self, merchant: &Key) {
        let WebhookAddresses { outside, base, facts } = &self.addresses;
        let address = WebhookAddress::Merchant(merchant.clone());
        let Ok(rotation) = facts.rotation(&address) else { return };
        let url = |mode| outside.gateway_url(base, merchant, mode, rotation.generation);
        let urls = json!({"test": url(Mode::Test), "live": url(Mode::Live)});
        let told = json!({"merchant": merchant.name, "events_urls": urls});
        drop(control_in_process(&self.sandbox, "POST", "/_sandbox/policy", Some(&told)));
    }
}

impl SecretResolver for SandboxSecrets {
    fn attachment(&self, path: &str, sha256: Digest) -> Result<Vec<u8>, SecretError> {
        self.operator_secrets.attachment(path, sha256)
    }

    fn resolve(&self, source: &Value, key: &Key) -> Result<Secret, SecretError> {
        if key.kind.as_str() != MERCHANT {
            return self.operator_secrets.resolve(source, key);
        }
        let failed = |error: String| SecretError { message: format!("the sandbox: {error}") };
        let named = json!({"merchant": key.name});
        let code = control_in_process(&self.sandbox, "POST", "/_sandbox/credentials", Some(&named));
        let code = text(&code.map_err(failed)?, "/authorization_code");
        self.send_events(key);
        let credentials = self.credentials.get(key);
        let is = |pointer| credentials.and_then(|one| one.pointer(pointer)) == Some(source);
        if is("/keys/secret_key") {
            let all = control_in_process(&self.sandbox, "GET", "/_sandbox/credentials", None)
                .map_err(failed)?;
            let own = merchant_text(&all, key.name.as_str(), "/test/secret_key");
            return Ok(Secret::from(own.unwrap_or_default()));
        }
        if is("/access_token") {
            return token(&self.sandbox, &code).map(Secret::from).map_err(failed);
        }
        Ok(Secret::from(code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Closes E16: no link of an embedded sandbox leads to port 0.
    #[test]
    fn links_have_the_port_that_the_sandbox_got() {
        let free: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let place = BoundAddress::bind(free, true).unwrap();
        let own = own_url("http://127.0.0.1:0", free, &place);
        assert!(own == place.url() && !own.ends_with(":0"), "{own}");
        let fixed: SocketAddr = "127.0.0.1:8700".parse().unwrap();
        assert_eq!(own_url("https://localhost:8700", fixed, &place), "https://localhost:8700");
    }
}
