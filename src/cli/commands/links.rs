//! `link` and `attach`: addresses to send to a payer, and the tokens that their pages supply.
//!
//! A link is made on request and shown once, on standard output. It leads to the portal page of an
//! invoice, or to the page on which a payer enters the details of a saved method. The latter is
//! valid for one generation of the document, and for one card or bank account: the first one, or a
//! replacement of the saved one. `attach` gives a token to a saved method in place of that page.
//! `events urls` shows the addresses for the service's webhooks and the links of applicants, and
//! exchanges an address for a new one.

use std::io::{self, Read};

use chrono::TimeDelta;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::base::clock::{Clock, SystemClock};
use crate::base::id::{Key, Mode};
use crate::base::secret::Secret;
use crate::cli::args::events::UrlsArgs;
use crate::cli::args::resources::{AttachArgs, LinkArgs};
use crate::cli::commands::gateway_actions;
use crate::cli::commands::get::parse_resource;
use crate::cli::context::open::Context;
use crate::cli::context::session::{StateSession, daemon};
use crate::cli::exit::{CommandFailure, CommandResult};
use crate::config::setting::ProcessEnv;
use crate::control::protocol::{ControlRequest, LocalQuery};
use crate::control::requests::{Attach, IntakeUrl, PortalLink, Rotate, requests};
use crate::engine::protocol::diagnostics::LocalReply;
use crate::engine::protocol::payers::{AttachToken, IntakeLink, IntakeTerms};
use crate::engine::protocol::query::{AddressesQuery, IntakeLinkQuery, Reply};
use crate::kinds::invoice::InvoiceKind;
use crate::kinds::planning::step::MERCHANT;
use crate::kinds::saved_method::SavedMethodKind;
use crate::kinds::schema::kind::SpecSchema;
use crate::model::operator::{Rotation, RotationRequest, RotationStep, WebhookAddress};

/// Output of `link -o json`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LinkOutput<'a> {
    link: &'a str,
}

/// Output of `attach -o json`: the name of the saved method.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AttachOutput<'a> {
    attached: &'a str,
}

pub(crate) async fn run(setup: &Context, args: &LinkArgs) -> CommandResult {
    let key = parse_resource(&args.what)?;
    let link = match key.kind.as_str() {
        SavedMethodKind::NAME => link(setup, &key, args.days).await?,
        InvoiceKind::NAME if args.days.is_some() => {
            let what = "--days does not apply: the service decides how long the link of an \
                invoice is valid";
            return Err(CommandFailure::input("reckon::link::days", what).help("leave --days out"));
        }
        InvoiceKind::NAME => portal_link(setup, &key).await?,
        _ => {
            let what = format!("{} has no link for a payer", key.short());
            let failure = CommandFailure::input("reckon::link::kind", what);
            return Err(failure.help("write Invoice/NAME or SavedMethod/NAME"));
        }
    };
    setup.out.finish(&LinkOutput { link: link.expose() }, || link.expose().to_owned())
}

async fn portal_link(setup: &Context, key: &Key) -> CommandResult<Secret> {
    let link = setup.send(PortalLink(key.clone())).await?;
    link.map(|link| link.0).ok_or_else(|| {
        let what = format!("no portal link of {} is available now", key.short());
        CommandFailure::input("reckon::link::none", what).help(
            "check its status with `reckon get`: the invoice must exist at the service, with no \
            effect in flight",
        )
    })
}

const STDIN: &str = "-";
/// Bytes that are read of standard input at most; a token is shorter.
const TOKEN_BYTES_MAX: u64 = 4 * 1024;

pub(crate) async fn attach(setup: &Context, args: &AttachArgs) -> CommandResult {
    let key = parse_resource(&args.what)?;
    let (token, more) = tokens(&args.tokens)?;
    let is_running = daemon(setup).await?.is_some();
    let token = AttachToken { key: key.clone(), token, more, replace: args.replace };
    let attached = setup.send(Attach(token)).await?;
    attached.map_err(|why| {
        let help =
            "check its reason with `reckon get`: it accepts a token while that is AwaitsIntake, and with \
            --replace while it is InSync";
        CommandFailure::input("reckon::attach::refused", why).help(help)
    })?;
    let name = key.short();
    setup.out.finish(&AttachOutput { attached: &name }, || {
        let place = if args.replace { " in place of the saved details" } else { "" };
        if is_running {
            format!("attached to {name}; the daemon saves it{place}")
        } else {
            format!("attached to {name}; `reckon apply` within five minutes saves it{place}")
        }
    })
}

/// Returns the tokens of arguments or standard input; the first is empty where there is none.
fn tokens(arguments: &[String]) -> CommandResult<(Secret, Vec<Secret>)> {
    let mut all = Vec::new();
    for argument in arguments {
        if argument == STDIN {
            all.extend(read()?);
        } else {
            all.push(Secret::from(argument.as_str()));
        }
    }
    let mut all = all.into_iter();
    Ok((all.next().unwrap_or_else(|| Secret::from("")), all.collect()))
}

fn read() -> CommandResult<Vec<Secret>> {
    let mut text = Zeroizing::new(String::new());
    let read = io::stdin().lock().take(TOKEN_BYTES_MAX).read_to_string(&mut text);
    read.map_err(|error| {
        CommandFailure::environment("reckon::attach::input", format!("read the token: {error}"))
    })?;
    Ok(text.split_whitespace().map(Secret::from).collect())
}

const DAYS: u16 = 7;

/// Returns the link of a payer's page; notes that its details replace those of a saved method.
async fn link(setup: &Context, key: &Key, days: Option<u16>) -> CommandResult<Secret> {
    let session = StateSession::open(setup).await?;
    let terms = session.ask(IntakeLinkQuery(key.clone())).await;
    let terms = session.end(setup, terms).await?;
    let terms = terms.map_err(|why| {
        let help = "check its reason with `reckon get`: a link is made while that is AwaitsIntake \
            or InSync";
        CommandFailure::input("reckon::link::none", why).help(help)
    })?;
    let days = days.unwrap_or(DAYS);
    let replaces = terms.replaces.is_some();
    let link = match &setup.server {
        None => make_link(setup, key, terms, days)?,
        Some(server) => Secret::from(server.send(IntakeUrl(key.clone(), terms, days)).await?),
    };
    if replaces {
        let name = key.short();
        setup.out.note(&format!(
            "{name} is saved already: the details given under this link replace it"
        ));
    }
    Ok(link)
}

/// Returns the link on these terms, valid for a number of days from now.
pub(crate) fn make_link(
    setup: &Context,
    key: &Key,
    terms: IntakeTerms,
    days: u16,
) -> CommandResult<Secret> {
    let until = SystemClock.now().checked_add_signed(TimeDelta::days(i64::from(days)));
    let until = until.ok_or_else(|| {
        CommandFailure::bug("internal error: the end of the link is out of range")
    })?;
    let link = IntakeLink { key: key.clone(), terms, until };
    Ok(Secret::from(setup.public_routes()?.intake_url(&base(setup)?, &link)))
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct EventUrls {
    partner: PartnerUrl,
    gateway: Vec<GatewayUrl>,
    applicants: Vec<ApplicantUrl>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct PartnerUrl {
    event_url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct GatewayUrl {
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

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct ApplicantUrl {
    application: String,
    url: String,
}

pub(crate) async fn urls(setup: &Context, args: &UrlsArgs) -> CommandResult {
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
    setup.out.finish(&addresses, || urls_text(&addresses))
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
fn base(setup: &Context) -> CommandResult<String> {
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

fn urls_text(addresses: &EventUrls) -> String {
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

/// Documents that have an address of their own.
pub(crate) struct AddressedDocuments {
    pub(crate) merchants: Vec<(Key, Mode)>,
    /// Applications that another person finishes by a sign-up link.
    applicants: Vec<Key>,
}

pub(crate) fn documents(setup: &Context) -> AddressedDocuments {
    let loader = setup.loaded_tree();
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
