//! `events urls`: the addresses for the service's webhooks, the links of applicants, and the
//! exchange of an address for a new one.

use serde::{Deserialize, Serialize};

use crate::base::id::{Key, Mode};
use crate::cli::args::events::UrlsArgs;
use crate::cli::commands::gateway_actions;
use crate::cli::context::open::Context;
use crate::cli::context::session::daemon;
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::config::setting::ProcessEnv;
use crate::control::local::LocalQuery;
use crate::control::protocol::ControlRequest;
use crate::control::requests::{Rotate, requests};
use crate::engine::protocol::diagnostics::LocalReply;
use crate::engine::protocol::query::{AddressesQuery, Reply};
use crate::kinds::planning::step::MERCHANT;
use crate::model::operator::{Rotation, RotationRequest, RotationStep, WebhookAddress};

#[derive(Serialize, Deserialize)]
pub(crate) struct EventUrls {
    partner: PartnerUrl,
    gateway: Vec<GatewayUrl>,
    applicants: Vec<ApplicantUrl>,
}

#[derive(Serialize, Deserialize)]
struct PartnerUrl {
    event_url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct GatewayUrl {
    merchant: String,
    mode: Mode,
    url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<String>,
}

requests! {
    pub(crate) Urls -> EventUrls: ControlRequest::Local(Box::new(LocalQuery::Urls)),
        Reply::Local(LocalReply(value)) => serde_json::from_value(value).ok();
}

#[derive(Serialize, Deserialize)]
struct ApplicantUrl {
    application: String,
    url: String,
}

/// Runs the command: exchanges addresses if requested, and prints all of them.
pub(crate) async fn run(setup: &Context, args: &UrlsArgs) -> CommandResult {
    let step = match (args.rotate, args.finish) {
        (true, false) => Some(RotationStep::Begun),
        (false, true) => Some(RotationStep::Finished),
        (true, true) => Some(RotationStep::AtOnce),
        (false, false) => None,
    };
    if let Some(step) = step {
        rotate(setup, args, step).await?;
    }
    let addresses = match &setup.server {
        Some(server) => server.send(Urls).await?,
        None => addresses(setup, &rotations(setup).await?)?,
    };
    setup.out.result(&addresses, || text(&addresses))?;
    Ok(Exit::Done)
}

async fn rotate(setup: &Context, args: &UrlsArgs, step: RotationStep) -> CommandResult<()> {
    let merchant = args.merchant.as_deref().map(gateway_actions::merchant).transpose()?;
    let rotated = setup.send(Rotate(RotationRequest { merchant, step })).await?;
    let addresses = rotated.map_err(|why| {
        CommandFailure::input("reckon::events::rotate", why).help(
            "end an exchange with `--finish` once the service has the new addresses; for a leaked \
            address, use `--rotate --finish`, which ends the old one at once",
        )
    })?;
    let next = match step {
        RotationStep::Begun => {
            "new; configure it at the service; the old one stays valid until `reckon events urls \
            --finish`"
        }
        RotationStep::Finished => "finished; the old one is no longer valid",
        RotationStep::AtOnce => {
            "new; configure it at the service now; the old one is no longer valid"
        }
    };
    for address in addresses {
        setup.out.note(&format!("{address}: {next}"));
    }
    Ok(())
}

/// Returns the rotations of the addresses, from the process that holds the state.
async fn rotations(setup: &Context) -> CommandResult<Vec<(WebhookAddress, Rotation)>> {
    if let Some(daemon) = daemon(setup).await? {
        return Ok(daemon.send(AddressesQuery).await?);
    }
    let open =
        if setup.has_state()? { setup.open_state(false).await? } else { setup.future_state()? };
    let found = open.state.facts.rotations();
    open.state.close().await?;
    Ok(found?)
}

pub(crate) fn addresses(
    setup: &Context,
    rotations: &[(WebhookAddress, Rotation)],
) -> CommandResult<EventUrls> {
    let base = base(setup)?;
    let outside = setup.public_routes()?;
    let of = |address: &WebhookAddress| {
        let found = rotations.iter().find(|(one, _)| one == address);
        found.map(|(_, rotation)| *rotation).unwrap_or_default()
    };
    let own = of(&WebhookAddress::Partner);
    let event_url = |generation| outside.event_url(&base, generation);
    let partner =
        PartnerUrl { event_url: event_url(own.generation), before: own.previous().map(event_url) };
    let documents = documents(setup);
    let link =
        |key: &Key| ApplicantUrl { application: key.short(), url: outside.apply_url(&base, key) };
    let gateway = |(key, mode): &(Key, Mode)| {
        let own = of(&WebhookAddress::Merchant(key.clone()));
        let url = |generation| outside.gateway_url(&base, key, *mode, generation);
        let (merchant, before) = (key.short(), own.previous().map(url));
        GatewayUrl { merchant, mode: *mode, url: url(own.generation), before }
    };
    Ok(EventUrls {
        partner,
        gateway: documents.merchants.iter().map(gateway).collect(),
        applicants: documents.applicants.iter().map(link).collect(),
    })
}

/// Returns the public base URL of the daemon; without one, the private listener's.
pub(crate) fn base(setup: &Context) -> CommandResult<String> {
    if let Some(url) = &setup.config.public_url {
        return Ok(url.get(&ProcessEnv)?.as_str().trim_end_matches('/').to_owned());
    }
    let listen = setup.config.listen.get(&ProcessEnv)?;
    let running = (listen.port() == 0).then(|| running_address(setup)).flatten();
    Ok(running.unwrap_or_else(|| format!("http://{listen}")))
}

/// Returns the address of a running daemon that took a free port.
fn running_address(setup: &Context) -> Option<String> {
    let text = std::fs::read_to_string(setup.state.join("addresses.json")).ok()?;
    let told: serde_json::Value = serde_json::from_str(&text).ok()?;
    told.get("http")?.as_str().map(str::to_owned)
}

fn text(addresses: &EventUrls) -> String {
    let mut lines = Vec::new();
    let mut say = |name: &str, url: &str, before: Option<&String>| {
        lines.push(format!("{name}  {url}"));
        lines.extend(before.map(|url| format!("{name}, until the exchange is finished  {url}")));
    };
    let PartnerUrl { event_url, before } = &addresses.partner;
    say("Event URL", event_url, before.as_ref());
    for one in &addresses.gateway {
        say(&format!("{} ({})", one.merchant, one.mode), &one.url, one.before.as_ref());
    }
    for one in &addresses.applicants {
        say(&one.application, &one.url, None);
    }
    lines.join("\n")
}

pub(crate) fn merchants(setup: &Context) -> Vec<(Key, Mode)> {
    documents(setup).merchants
}

/// Documents that have an address of their own.
struct AddressedDocuments {
    merchants: Vec<(Key, Mode)>,
    /// Applications that another person finishes by a sign-up link.
    applicants: Vec<Key>,
}

fn documents(setup: &Context) -> AddressedDocuments {
    let mut loader = setup.loader();
    loader.load_all();
    let mut found = AddressedDocuments { merchants: Vec::new(), applicants: Vec::new() };
    for (key, manifest) in &loader.desired().manifests {
        let spec = manifest.unpack().spec;
        let mode = spec.get("mode").and_then(|mode| serde_json::from_value(mode.clone()).ok());
        if let Some(mode) = mode.filter(|_| key.kind.as_str() == MERCHANT) {
            found.merchants.push((key.clone(), mode));
        }
        if spec.get("submission").is_some_and(|submission| submission == "sign_up") {
            found.applicants.push(key.clone());
        }
    }
    found
}
