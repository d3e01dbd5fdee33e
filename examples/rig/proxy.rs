//! A reverse proxy that loses answers, in front of a sandbox on plain HTTP.
//!
//! It loses an answer after the effect, or fails before it. With `spare_reads` only requests that change something are
//! harmed. It refuses and counts requests for the sandbox's control paths, so a client that uses one is detected.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{fmt, io};

use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

use crate::connection::Connection;
use crate::random::Random;

const CONTROL: &str = "/_sandbox";
/// Pause after the machine had no room for a connection.
const NO_ROOM: Duration = Duration::from_millis(50);
const WHOLE: u64 = 1_000;

/// The rates of faults, and the longest delay.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Odds {
    /// The share of answers that are lost after the effect, from 0 to 1.
    #[arg(long = "lose", default_value = "0.2", value_parser = per_mille)]
    pub(crate) lose_per_mille: u64,
    /// The share of requests that fail before the effect, from 0 to 1: with a 503 or a broken connection.
    #[arg(long = "error", default_value = "0.1", value_parser = per_mille)]
    pub(crate) error_per_mille: u64,
    /// The longest delay of a request, in milliseconds.
    #[arg(long = "delay", default_value_t = 20)]
    pub(crate) delay_ms_max: u64,
    /// Harms only requests that change something.
    #[arg(long)]
    pub(crate) spare_reads: bool,
}

/// Reads `0.15` as 150, without a float.
fn per_mille(text: &str) -> Result<u64, String> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let thousandths: Option<u64> = format!("{whole}{decimals:0<3}").parse().ok();
    thousandths
        .filter(|number| decimals.len() <= 3 && *number <= WHOLE)
        .ok_or_else(|| format!("`{text}` is not between 0 and 1 with at most three decimals"))
}

/// The fate of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Pass,
    Lose,
    Refuse,
    Break,
}

/// Number of requests with each fate.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    reads: AtomicU64,
    reads_lost: AtomicU64,
    changes: AtomicU64,
    lost: AtomicU64,
    refused: AtomicU64,
    broken: AtomicU64,
    control: AtomicU64,
}

impl Counts {
    /// Requests that reached the sandbox, whether their answer was lost or not.
    pub(crate) fn forwarded(&self) -> u64 {
        [&self.reads, &self.reads_lost, &self.changes, &self.lost]
            .iter()
            .map(|count| count.load(Ordering::SeqCst))
            .sum()
    }

    /// Requests that changed something, whether their answer was lost or not.
    pub(crate) fn changed(&self) -> u64 {
        [&self.changes, &self.lost].iter().map(|count| count.load(Ordering::SeqCst)).sum()
    }

    /// Requests for control paths; a client makes none.
    pub(crate) fn control(&self) -> u64 {
        self.control.load(Ordering::SeqCst)
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reads, reads_lost, changes, lost, refused, broken, control } = self;
        let [reads, reads_lost, changes, lost, refused, broken, control] =
            [reads, reads_lost, changes, lost, refused, broken, control]
                .map(|count| count.load(Ordering::SeqCst));
        write!(
            f,
            "{reads} reads and {changes} changes passed; {lost} answers lost after the effect, {reads_lost} of reads; \
             {refused} refused before it with 503 and {broken} broken off; {control} calls of control paths refused"
        )
    }
}

/// A running proxy.
#[derive(Debug)]
pub(crate) struct Proxy {
    /// The address at which the proxy listens.
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    upstream: SocketAddr,
    odds: Odds,
    random: Mutex<Random>,
    calm: AtomicBool,
    counts: Counts,
}

impl Proxy {
    /// Listens on a free port of this machine and forwards to `upstream`.
    pub(crate) async fn start(upstream: SocketAddr, odds: Odds, seed: u64) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let random = Mutex::new(Random::new(seed));
        let (calm, counts) = (AtomicBool::new(false), Counts::default());
        let shared = Arc::new(Shared { upstream, odds, random, calm, counts });
        drop(tokio::spawn(accept(listener, Arc::clone(&shared))));
        Ok(Self { address, shared })
    }

    /// Sets whether every request passes.
    pub(crate) fn calm(&self, calm: bool) {
        self.shared.calm.store(calm, Ordering::SeqCst);
    }

    /// Returns the counts so far.
    pub(crate) fn counts(&self) -> &Counts {
        &self.shared.counts
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(serve(stream, Arc::clone(&shared)))),
            Err(_) => tokio::time::sleep(NO_ROOM).await,
        }
    }
}

/// Serves one connection with one connection of its own behind it. An error of a request closes it, which the client
/// sees as a lost answer.
async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let behind = Arc::new(tokio::sync::Mutex::new(Connection::new(shared.upstream)));
    let service = service_fn(move |request| {
        let (shared, behind) = (Arc::clone(&shared), Arc::clone(&behind));
        async move { shared.answer(request, &behind).await }
    });
    stream.set_nodelay(true).unwrap_or_default();
    http1::Builder::new().serve_connection(TokioIo::new(stream), service).await.unwrap_or_default();
}

impl Shared {
    async fn answer(
        &self,
        request: Request<Incoming>,
        behind: &tokio::sync::Mutex<Connection>,
    ) -> io::Result<Response<Full<Bytes>>> {
        if request.uri().path().trim_start_matches('/').starts_with(CONTROL.trim_start_matches('/'))
        {
            count(&self.counts.control);
            return Ok(plain(StatusCode::FORBIDDEN, "control paths are not for clients"));
        }
        let changes = changes(request.method());
        let (fate, delay) = self.draw(changes);
        tokio::time::sleep(delay).await;
        match fate {
            Fate::Refuse => {
                count(&self.counts.refused);
                Ok(plain(StatusCode::SERVICE_UNAVAILABLE, "nothing was done"))
            }
            Fate::Break => {
                count(&self.counts.broken);
                Err(io::Error::other("the connection was closed before the effect"))
            }
            Fate::Pass | Fate::Lose => {
                let request = whole(request).await.map_err(io::Error::other)?;
                let answer = behind.lock().await.send(request).await.map_err(io::Error::other)?;
                match (fate, changes) {
                    (Fate::Lose, changes) => {
                        let Counts { reads_lost, lost, .. } = &self.counts;
                        count(if changes { lost } else { reads_lost });
                        return Err(io::Error::other("the answer was lost after the effect"));
                    }
                    (_, true) => count(&self.counts.changes),
                    (_, false) => count(&self.counts.reads),
                }
                Ok(unhopped(answer).map(Full::new))
            }
        }
    }

    /// Returns the fate and the delay of the next request.
    fn draw(&self, changes: bool) -> (Fate, Duration) {
        let Odds { lose_per_mille, error_per_mille, delay_ms_max, spare_reads } = self.odds;
        if self.calm.load(Ordering::SeqCst) || (spare_reads && !changes) {
            return (Fate::Pass, Duration::ZERO);
        }
        let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        let delay = Duration::from_millis(random.below(delay_ms_max.saturating_add(1)));
        let lot = random.below(WHOLE);
        let fate = match lot {
            _ if lot < error_per_mille / 2 => Fate::Refuse,
            _ if lot < error_per_mille => Fate::Break,
            _ if lot < error_per_mille.saturating_add(lose_per_mille) => Fate::Lose,
            _ => Fate::Pass,
        };
        (fate, delay)
    }
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::SeqCst);
}

fn changes(method: &Method) -> bool {
    [Method::POST, Method::PUT, Method::PATCH, Method::DELETE].contains(method)
}

fn plain(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::from(text));
    *answer.status_mut() = status;
    answer
}

/// Returns the request with its whole body, without the headers of one connection.
async fn whole(request: Request<Incoming>) -> hyper::Result<Request<Full<Bytes>>> {
    let (mut head, body) = request.into_parts();
    for name in [header::CONNECTION, header::TRANSFER_ENCODING, header::CONTENT_LENGTH] {
        head.headers.remove(name);
    }
    Ok(Request::from_parts(head, Full::new(body.collect().await?.to_bytes())))
}

fn unhopped(mut answer: Response<Bytes>) -> Response<Bytes> {
    for name in [header::CONNECTION, header::TRANSFER_ENCODING, header::CONTENT_LENGTH] {
        answer.headers_mut().remove(name);
    }
    answer
}
