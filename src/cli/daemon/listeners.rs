//! The daemon's listeners. They open before the state does: while the state is recovered and the
//! tree is read, requests wait for their answer. Meanwhile `/healthz` says that the daemon lives,
//! and `/readyz` that it is not ready yet. The sockets of one configuration go on under the next.

use std::fs::{File, OpenOptions};
use std::future::Future;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use data_encoding::HEXLOWER;
use ipnet::IpNet;
use tokio::sync::{mpsc, watch};
use zeroize::Zeroizing;

use crate::base::clock::{Clock, SystemClock};
use crate::cli::context::open::Context;
use crate::cli::exit::{CommandFailure, CommandResult};
use crate::config::events::WebhookSettings;
use crate::config::setting::{ConfigError, ProcessEnv, Setting};
use crate::config::settings::Config;
use crate::control::handle::Control;
use crate::engine::protocol::input::EngineInput;
use crate::http::listener::{BoundSocket, HttpError};
use crate::http::private::auth::Tokens;
use crate::http::private::router;
use crate::http::public::{ingress, webhooks};

/// Events that wait for the engine, at most; a listener that finds no room waits.
const EVENTS_MAX: usize = 256;

/// The open listeners, and the channels behind them.
pub(crate) struct Listeners {
    pub(crate) sender: mpsc::Sender<EngineInput>,
    pub(crate) events: mpsc::Receiver<EngineInput>,
    pub(crate) control: Control,
    /// Set once the daemon does its work.
    pub(crate) ready: watch::Sender<bool>,
    pub(crate) ending: watch::Sender<bool>,
    pub(crate) sockets: Sockets,
    /// Address of the private listener, for operators.
    pub(crate) private: SocketAddr,
    /// Address for the service and applicants: `private` unless the public listener has its own.
    pub(crate) outside: SocketAddr,
}

impl Listeners {
    /// Opens the listeners; earlier sockets of the same addresses stay, and go on counting.
    pub(crate) async fn open(
        setup: &Context,
        rehearses: bool,
        earlier: Option<(&Sockets, &Control)>,
    ) -> CommandResult<Self> {
        let sockets = Sockets::bind(setup, earlier.map(|(sockets, _)| sockets)).await?;
        let (sender, events) = mpsc::channel(EVENTS_MAX);
        let control = match earlier {
            Some((_, control)) => control.of_next_engine(),
            None => Control::new(sender.clone()),
        };
        if earlier.is_none() {
            control.configuration_loaded(SystemClock.now());
        }
        let (ending, ended) = watch::channel(false);
        let (ready, is_ready) = watch::channel(false);
        let (private, outside) = listen(setup, &sockets, &control, (is_ready, &ended), rehearses)?;
        Ok(Self { sender, events, control, ready, ending, sockets, private, outside })
    }

    /// Sends to the engine behind these listeners what the one before it has not begun.
    pub(crate) fn hand_over(
        &self,
        unhandled: Vec<EngineInput>,
    ) -> impl Future<Output = ()> + Send + use<> {
        let engine = self.sender.clone();
        async move {
            for input in unhandled {
                // The engine may have ended; the askers are told so then.
                drop(engine.send(input).await);
            }
        }
    }

    pub(crate) fn until_end(&self) -> impl Future<Output = ()> + Send + use<> {
        over(&self.ending.subscribe())
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Sockets {
    private: BoundSocket,
    /// `None` if the private listener serves the service, too.
    public: Option<BoundSocket>,
}

impl Sockets {
    /// Listens at the configured addresses, through earlier sockets that listen there already.
    async fn bind(setup: &Context, earlier: Option<&Self>) -> CommandResult<Self> {
        let before = earlier.and_then(|earlier| earlier.public.as_ref());
        let listen = setup.config.listen.get(&ProcessEnv)?;
        let private = bind("listen", listen, earlier.map(|earlier| &earlier.private)).await?;
        let public = match &setup.config.public_listen {
            Some(listen) => Some(bind("public_listen", listen.get(&ProcessEnv)?, before).await?),
            None => None,
        };
        Ok(Self { private, public })
    }
}

/// Listens at an address; the failure names the setting to change.
async fn bind(
    setting: &str,
    listen: SocketAddr,
    earlier: Option<&BoundSocket>,
) -> CommandResult<BoundSocket> {
    if let Some(earlier) = earlier.and_then(|earlier| earlier.at(listen)) {
        return Ok(earlier);
    }
    BoundSocket::bind(listen).await.map_err(|error| cannot_listen(&error, setting))
}

fn cannot_listen(error: &HttpError, setting: &str) -> CommandFailure {
    let what = format!("listen on {}: {}", error.address, error.source);
    CommandFailure::environment("reckon::listen", what)
        .help(format!("choose another address: {setting} in reckon.yaml"))
}

fn listen(
    setup: &Context,
    sockets: &Sockets,
    control: &Control,
    (is_ready, ended): (watch::Receiver<bool>, &watch::Receiver<bool>),
    rehearses: bool,
) -> CommandResult<(SocketAddr, SocketAddr)> {
    // An embedded sandbox posts from this machine, whatever the service's networks are.
    let rules =
        if rehearses { ingress::IngressRules::default() } else { ingress_rules(&setup.config)? };
    setup.key_or_make()?;
    let outside = setup.public_routes()?.with_ingress(ingress::Ingress::new(rules));
    let router = router::router(control.clone(), is_ready, tokens(&setup.state)?);
    let start = |socket: &BoundSocket, router, setting| {
        let started = socket.start(router, over(ended));
        started.map(|serving| serving.address).map_err(|error| cannot_listen(&error, setting))
    };
    let Some(public_socket) = &sockets.public else {
        let router = router.merge(webhooks::webhook_router(control.clone(), &outside));
        let private = start(&sockets.private, router, "listen")?;
        control.page().serve_at(private);
        return Ok((private, private));
    };
    let public = webhooks::public_router(control.clone(), &outside);
    let outside = start(public_socket, public, "public_listen")?;
    let private = start(&sockets.private, router, "listen")?;
    control.page().serve_at(private);
    Ok((private, outside))
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

/// Returns a future that ends when the daemon does.
fn over(ended: &watch::Receiver<bool>) -> impl Future<Output = ()> + Send + use<> {
    let mut ended = ended.clone();
    async move {
        // A dropped sender is an end, too.
        drop(ended.wait_for(|ended| *ended).await);
    }
}

// The daemon's token file, `STATE/api.token`: made at the first start, readable by its owner alone
// (design.md part 4).

pub(crate) const TOKEN_FILE: &str = "api.token";
const TOKEN_BYTES: usize = 32;
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// Returns the tokens of the file; makes a file with one token if there is none.
///
/// # Errors
/// Others may read the file, or a line of it is no token.
pub(crate) fn tokens(state: &Path) -> CommandResult<Tokens> {
    let path = state.join(TOKEN_FILE);
    let failed = |why: &dyn std::fmt::Display| {
        let what = format!("read or make {}: {why}", path.display());
        CommandFailure::environment("reckon::state::token", what)
    };
    let text = match text(&path).map_err(|error| failed(&error))? {
        Some(text) => text,
        None => make(&path).map_err(|error| failed(&error))?,
    };
    Tokens::parse(&text).map_err(|error| {
        failed(&error).help(
            "write one token a line, or remove the file: the daemon then makes one with a new \
            token",
        )
    })
}

fn text(path: &Path) -> io::Result<Option<Zeroizing<String>>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        let what = "readable by other users; change its tokens, then `chmod 600` the file";
        return Err(io::Error::other(what));
    }
    let mut text = Zeroizing::new(String::new());
    file.take(FILE_BYTES_MAX).read_to_string(&mut text)?;
    Ok(Some(text))
}

/// Makes a file with one token; the lock of the state keeps other processes from doing so.
fn make(path: &Path) -> io::Result<Zeroizing<String>> {
    let mut bytes = Zeroizing::new([0; TOKEN_BYTES]);
    getrandom::fill(bytes.as_mut_slice()).map_err(io::Error::other)?;
    let text = Zeroizing::new(format!("{}\n", HEXLOWER.encode(bytes.as_slice())));
    let fresh = path.with_extension("token.new");
    drop(std::fs::remove_file(&fresh));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&fresh, path)?;
    Ok(text)
}
