//! The daemon's listeners. They open before the state does: while the state is recovered and the
//! tree is read, requests wait for their answer. Meanwhile `/healthz` says that the daemon lives,
//! and `/readyz` that it is not ready yet.

use std::future::Future;
use std::net::SocketAddr;

use ipnet::IpNet;
use tokio::sync::{mpsc, watch};

use super::api_token;
use crate::cli::context::open::Context;
use crate::cli::output::exit::CommandFailure;
use crate::config::setting::{ConfigError, ProcessEnv, Setting};
use crate::config::settings::Config;
use crate::config::webhooks::WebhookSettings;
use crate::control::protocol::Control;
use crate::engine::core::input::EngineInput;
use crate::http::private::router;
use crate::http::public::{ingress, webhooks};
use crate::http::serve::listener;

/// Events that wait for the engine, at most; a listener that finds no room waits.
const EVENTS_MAX: usize = 256;

/// The open listeners, and the channels behind them.
pub(crate) struct Listeners {
    /// Sends events to the engine.
    pub(crate) sender: mpsc::Sender<EngineInput>,
    /// The engine's end of the channel.
    pub(crate) events: mpsc::Receiver<EngineInput>,
    /// Sends requests to the engine.
    pub(crate) control: Control,
    /// Set once the daemon does its work.
    pub(crate) ready: watch::Sender<bool>,
    /// Closes the listeners.
    pub(crate) ending: watch::Sender<bool>,
    /// Address of the private listener, for operators.
    pub(crate) private: SocketAddr,
    /// Address for the service and for applicants: equal to `private`, unless the public listener
    /// has an address of its own.
    pub(crate) outside: SocketAddr,
}

impl Listeners {
    /// Opens the listeners.
    ///
    /// # Errors
    /// The process cannot listen at an address.
    pub(crate) async fn open(setup: &Context, rehearses: bool) -> Result<Self, CommandFailure> {
        let (sender, events) = mpsc::channel(EVENTS_MAX);
        let control = Control::new(sender.clone());
        let (ending, ended) = watch::channel(false);
        let (ready, is_ready) = watch::channel(false);
        let (private, outside) = listen(setup, &control, (is_ready, &ended), rehearses).await?;
        Ok(Self { sender, events, control, ready, ending, private, outside })
    }

    /// Returns a future that ends when the daemon does.
    pub(crate) fn until_end(&self) -> impl Future<Output = ()> + Send + use<> {
        over(&self.ending.subscribe())
    }
}

/// Opens the private and the public listener, and returns their addresses.
async fn listen(
    setup: &Context,
    control: &Control,
    (is_ready, ended): (watch::Receiver<bool>, &watch::Receiver<bool>),
    rehearses: bool,
) -> Result<(SocketAddr, SocketAddr), CommandFailure> {
    let listen = setup.config.listen.get(&ProcessEnv)?;
    // An embedded sandbox posts from this machine, whatever the service's networks are.
    let rules =
        if rehearses { ingress::IngressRules::default() } else { ingress_rules(&setup.config)? };
    setup.key_or_make()?;
    let outside = setup.public_routes()?.with_ingress(ingress::Ingress::new(rules));
    let router = router::router(control.clone(), is_ready, api_token::tokens(&setup.state)?);
    let Some(public_listen) = &setup.config.public_listen else {
        let router = router.merge(webhooks::webhook_router(control.clone(), &outside));
        let private = listen_at(router, listen, over(ended), "listen").await?;
        return Ok((private, private));
    };
    let public = webhooks::public_router(control.clone(), &outside);
    let public_listen = public_listen.get(&ProcessEnv)?;
    let outside = listen_at(public, public_listen, over(ended), "public_listen").await?;
    Ok((listen_at(router, listen, over(ended), "listen").await?, outside))
}

/// Returns the networks and rates that webhooks are accepted from.
fn ingress_rules(config: &Config) -> Result<ingress::IngressRules, ConfigError> {
    let all = |networks: &[Setting<IpNet>]| {
        networks.iter().map(|network| network.get(&ProcessEnv)).collect::<Result<Vec<_>, _>>()
    };
    let WebhookSettings { gateway, partner, .. } = &config.webhooks;
    let (rate, burst) = config.webhooks.rates(&ProcessEnv)?;
    Ok(ingress::IngressRules {
        gateway: all(gateway)?,
        partner: all(partner)?,
        proxies: all(&config.trusted_proxies)?,
        rate: Some(ingress::PostRate { per_second: rate, burst }),
    })
}

/// Listens at an address.
///
/// # Errors
/// The process cannot listen; the help names the setting to change.
async fn listen_at(
    router: axum::Router,
    listen: SocketAddr,
    over: impl Future<Output = ()> + Send + 'static,
    setting: &str,
) -> Result<SocketAddr, CommandFailure> {
    listener::serve(router, listen, over).await.map_err(|error| {
        CommandFailure::environment("reckon::listen", format!("listen on {listen}: {error}"))
            .help(format!("choose another address: {setting} in reckon.yaml"))
    })
}

/// Returns a future that ends when the daemon does.
fn over(ended: &watch::Receiver<bool>) -> impl Future<Output = ()> + Send + use<> {
    let mut ended = ended.clone();
    async move {
        // A dropped sender is an end, too.
        drop(ended.wait_for(|ended| *ended).await);
    }
}
