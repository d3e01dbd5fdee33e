//! Server for the emulator: HTTPS with its own authority, made once for each state directory, or
//! plain HTTP on loopback on request.
//!
//! While the server listens, it also delivers the outbox's webhooks. An answer that must not arrive
//! ([`Dropped`]) closes the connection before a byte of it is written.

use std::convert::Infallible;
use std::future::Future;
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::response::Response;
use axum_server::Handle;
use axum_server::tls_rustls::RustlsConfig;
use http::Request;
use hyper::body::Incoming;
use hyper_util::rt::TokioTimer;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::task::JoinHandle;
use tower::service_fn;

use crate::sandbox::server::Sandbox;
use crate::sandbox::state::faults::Dropped;
use crate::sandbox::webhooks::deliver_forever;

/// Maximum time for a client's headers.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum time for open requests after the shutdown.
const GRACE: Duration = Duration::from_secs(5);

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("serve plain HTTP on {0}: only loopback addresses are allowed")]
    PlainNotLoopback(SocketAddr),
    #[error("listen on {address}: {source}")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("set up the certificate authority in {directory}: {source}")]
    Authority { directory: PathBuf, source: io::Error },
}

/// A bound address. Clients wait there until a sandbox is served.
#[derive(Debug)]
pub struct BoundAddress {
    listener: TcpListener,
    address: SocketAddr,
    plain_http: bool,
}

impl BoundAddress {
    /// Binds `listen`; port 0 picks a free one.
    pub fn bind(listen: SocketAddr, plain_http: bool) -> Result<Self, ServeError> {
        if plain_http && !listen.ip().is_loopback() {
            return Err(ServeError::PlainNotLoopback(listen));
        }
        let failed = |source| ServeError::Listen { address: listen, source };
        let listener = TcpListener::bind(listen).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, plain_http })
    }

    /// Returns the address as a URL without a trailing slash: the base of the sandbox's links.
    pub fn url(&self) -> String {
        let scheme = if self.plain_http { "http" } else { "https" };
        format!("{scheme}://{}", self.address)
    }
}

#[derive(Debug)]
pub struct ListeningSandbox {
    /// Its URL, without a trailing slash.
    pub url: String,
    pub address: SocketAddr,
    /// The authority's certificate to trust; `None` for plain HTTP.
    pub ca: Option<PathBuf>,
    /// Ends when the sandbox has shut down.
    pub done: JoinHandle<io::Result<()>>,
}

/// Serves until `shutdown` ends; the authority is kept in `state_dir`. Needs a tokio runtime.
pub fn serve(
    sandbox: &Sandbox,
    place: BoundAddress,
    state_dir: &Path,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<ListeningSandbox, ServeError> {
    let url = place.url();
    let BoundAddress { listener, address, plain_http } = place;
    let failed = |source| ServeError::Listen { address, source };
    let handle = Handle::new();
    let stop = handle.clone();
    let (ca, work) = if plain_http {
        let server = axum_server::from_tcp(listener).map_err(failed)?;
        let mut server = server.handle(handle).http1_only();
        set_timeout(server.http_builder());
        (None, tokio::spawn(server.serve(connections(sandbox.clone()))))
    } else {
        let authority = |source| ServeError::Authority { directory: state_dir.to_owned(), source };
        let (ca, config) = server_config(state_dir).map_err(authority)?;
        let config = RustlsConfig::from_config(Arc::new(config));
        let server = axum_server::tls_rustls::from_tcp_rustls(listener, config).map_err(failed)?;
        let mut server = server.handle(handle).http1_only();
        set_timeout(server.http_builder());
        (Some(ca), tokio::spawn(server.serve(connections(sandbox.clone()))))
    };
    let posting = deliver_forever(sandbox.clone());
    let done = tokio::spawn(async move {
        tokio::pin!(work);
        tokio::select! {
            ended = &mut work => return ended.map_err(io::Error::other)?,
            () = shutdown => stop.graceful_shutdown(Some(GRACE)),
            never = posting => match never {},
        }
        work.await.map_err(io::Error::other)?
    });
    Ok(ListeningSandbox { url, address, ca, done })
}

type Builder = hyper_util::server::conn::auto::Builder<hyper_util::rt::TokioExecutor>;

fn set_timeout(builder: &mut Builder) {
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
}

/// Error that closes a connection without an answer.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("a fault dropped the connection")]
struct DroppedConnection;

type ConnectionService =
    tower::util::BoxCloneService<Request<Incoming>, Response, DroppedConnection>;

/// Returns the service of each connection: the sandbox, with an error for a dropped answer.
fn connections(
    sandbox: Sandbox,
) -> impl tower::Service<
    SocketAddr,
    Response = ConnectionService,
    Error = Infallible,
    Future = std::future::Ready<Result<ConnectionService, Infallible>>,
> + Send
+ Clone {
    service_fn(move |peer: SocketAddr| {
        let sandbox = sandbox.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            let sandbox = sandbox.clone();
            request.extensions_mut().insert(ConnectInfo(peer));
            async move {
                let answer = sandbox.handle(request.map(Body::new)).await;
                match answer.extensions().get::<Dropped>() {
                    None => Ok(answer),
                    Some(Dropped::Answer | Dropped::Connection) => Err(DroppedConnection),
                }
            }
        });
        std::future::ready(Ok(ConnectionService::new(service)))
    })
}

/// The certificate that clients are configured to trust.
const CERTIFICATE_FILE: &str = "ca.pem";
/// The private key, readable only by its owner.
const KEY_FILE: &str = "ca.key";
const NAME: &str = "reckon sandbox authority";
const OWN_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Returns the path of the authority's certificate, and a TLS configuration (1.2 or later) with a
/// fresh server certificate signed by it. Makes the authority if the directory has none.
fn server_config(directory: &Path) -> io::Result<(PathBuf, ServerConfig)> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let certificate = directory.join(CERTIFICATE_FILE);
    let key = load_or_make(&certificate, &directory.join(KEY_FILE))?;
    let issuer = Issuer::new(authority()?, key);
    let server_key = KeyPair::generate().map_err(io::Error::other)?;
    let names = OWN_NAMES.map(str::to_owned).to_vec();
    let params = CertificateParams::new(names).map_err(io::Error::other)?;
    let own = params.signed_by(&server_key, &issuer).map_err(io::Error::other)?;
    let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(server_key.serialize_der()));
    let mut config = ServerConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(vec![own.der().clone()], private)
        .map_err(io::Error::other)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok((certificate, config))
}

fn authority() -> io::Result<CertificateParams> {
    let mut params = CertificateParams::new(Vec::new()).map_err(io::Error::other)?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.distinguished_name.push(DnType::CommonName, NAME);
    Ok(params)
}

/// Loads or makes the authority's key. The certificate, written last, makes a key count.
fn load_or_make(certificate: &Path, key: &Path) -> io::Result<KeyPair> {
    if certificate.exists() {
        let text = fs::read_to_string(key)?;
        return KeyPair::from_pem(&text).map_err(io::Error::other);
    }
    let pair = KeyPair::generate().map_err(io::Error::other)?;
    let own = authority()?.self_signed(&pair).map_err(io::Error::other)?;
    write(key, 0o600, &pair.serialize_pem())?;
    write(certificate, 0o644, &own.pem())?;
    Ok(pair)
}

/// Writes a file atomically: a draft, synced, then renamed.
fn write(path: &Path, mode: u32, text: &str) -> io::Result<()> {
    let draft = path.with_extension("draft");
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&draft)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&draft, path)
}
