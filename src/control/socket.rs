//! Control over a Unix socket, both sides: one request a line, one response a line.
//!
//! Only users that may read the state directory's files may ask: the socket has mode 0600, and the
//! peer's user must be the socket's owner or root. The kernel supplies that user, who is the actor
//! of the request.

#[cfg(test)]
mod tests;

use std::fs::{File, Permissions};
use std::io::ErrorKind::{ConnectionRefused, NotFound};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Mutex, Semaphore, watch};
use tokio::task::JoinSet;

use super::handle::Control;
use super::protocol::{ControlError, ControlRequest, Response};
use super::requests::{Request, typed};

const CONNECT_MAX: Duration = Duration::from_secs(5);
const RESPONSE_BYTES_MAX: u64 = 1 << 30;

/// A connection to the process that owns the state.
#[derive(Debug)]
pub struct SocketClient {
    /// `None` while a request is under way, and for ever after a cancelled one: its answer may
    /// still arrive and would be taken for the next request's.
    stream: Mutex<Option<BufReader<UnixStream>>>,
}

impl SocketClient {
    /// Connects; `None` if no process listens.
    ///
    /// # Errors
    /// A process may listen, but the socket cannot be used.
    pub async fn connect(path: &Path) -> Result<Option<Self>, ControlError> {
        let connecting = async {
            let short = short_address(path)?;
            UnixStream::connect(&short.path).await
        };
        match tokio::time::timeout(CONNECT_MAX, connecting).await {
            Ok(Ok(stream)) => Ok(Some(Self { stream: Mutex::new(Some(BufReader::new(stream))) })),
            // No process listens: there is no socket file, or one left behind.
            Ok(Err(error)) if matches!(error.kind(), NotFound | ConnectionRefused) => Ok(None),
            Ok(Err(error)) => Err(unusable(path, &error.to_string())),
            Err(_) => Err(unusable(path, "timed out")),
        }
    }

    /// Sends a request and waits for the response without a time limit.
    ///
    /// # Errors
    /// The other side's error, or [`ControlError::LOST`].
    pub async fn send<R: Request>(&self, request: R) -> Result<R::Response, ControlError> {
        let mut place = self.stream.lock().await;
        let mut stream =
            place.take().ok_or_else(|| connection_lost("an earlier request was abandoned"))?;
        let response = exchange(&mut stream, &request.into_request()).await;
        let response = response.map_err(|error| connection_lost(&error))?;
        *place = Some(stream);
        typed::<R>(response?)
    }
}

async fn exchange(
    stream: &mut BufReader<UnixStream>,
    request: &ControlRequest,
) -> Result<Response, String> {
    let mut bytes = serde_json::to_vec(request).map_err(|error| error.to_string())?;
    bytes.push(b'\n');
    let sent = stream.write_all(&bytes).await;
    // A rejecting server refuses and reads no more, so a failed write may still have a response.
    let line = read_line(stream, RESPONSE_BYTES_MAX).await.map_err(|error| error.to_string())?;
    match (line, sent) {
        (LineRead::Whole(line), _) => {
            serde_json::from_slice(&line).map_err(|error| error.to_string())
        }
        (LineRead::TooLong, _) => Err("the answer is too long".to_owned()),
        (LineRead::End, Err(error)) => Err(error.to_string()),
        (LineRead::End, Ok(())) => Err("the daemon closed the connection".to_owned()),
    }
}

fn unusable(path: &Path, why: &str) -> ControlError {
    ControlError::new(
        ControlError::UNUSABLE,
        format!("connect to {}: {why}", path.display()),
        "run the command as the user of the daemon",
    )
}

fn connection_lost(why: &str) -> ControlError {
    ControlError::new(
        ControlError::LOST,
        format!("lost the connection before the answer: {why}"),
        "check the daemon's log; if the daemon has ended, repeat the command without it",
    )
}

/// Bytes of a path that surely fit an address; 107 do on Linux, 103 elsewhere.
const ADDRESS_BYTES_MAX: usize = 100;

/// An address that is short enough; valid while this value lives.
pub(crate) struct ShortAddress {
    pub(crate) path: PathBuf,
    _folder: Option<File>,
}

/// Returns a short address of the socket at `path`: the address of a Unix socket has room for about
/// a hundred bytes, so the folder of a longer path is replaced by its short name under `/proc`.
pub(crate) fn short_address(path: &Path) -> io::Result<ShortAddress> {
    let long = path.as_os_str().len() > ADDRESS_BYTES_MAX;
    let (Some(folder), Some(name), true) = (path.parent(), path.file_name(), long) else {
        return Ok(ShortAddress { path: path.to_owned(), _folder: None });
    };
    let folder = File::open(folder)?;
    let short = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name);
    Ok(ShortAddress { path: short, _folder: Some(folder) })
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LineRead {
    /// A line without its end. The last one may have none.
    Whole(Vec<u8>),
    TooLong,
    End,
}

/// Reads up to the end of a line, at most `limit` bytes.
pub(crate) async fn read_line<R>(reader: &mut R, limit: u64) -> io::Result<LineRead>
where
    R: AsyncBufRead + Unpin,
{
    let mut line = Vec::new();
    reader.take(limit.saturating_add(1)).read_until(b'\n', &mut line).await?;
    if line.is_empty() {
        return Ok(LineRead::End);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    let length = u64::try_from(line.len()).unwrap_or(u64::MAX);
    Ok(if length > limit { LineRead::TooLong } else { LineRead::Whole(line) })
}

/// Largest request, in bytes: it may hold a file of 10 MiB in base64.
const REQUEST_BYTES_MAX: u64 = 16 << 20;
const CONNECTIONS_MAX: usize = 64;
/// Longest silence of a connection between two requests.
const SILENCE_MAX: Duration = Duration::from_mins(1);
/// Longest time to send the refusal to a rejected peer.
const REFUSAL_MAX: Duration = Duration::from_secs(1);
/// Pause after the operating system failed to accept, usually for lack of file handles.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The reason why the socket cannot be served: the environment.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    #[error("another process serves {}; use that process, or stop it first", path.display())]
    Served { path: PathBuf },
    /// The operating system refuses.
    #[error("{what} {}: {source}", path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
}

#[derive(Debug)]
pub struct ControlSocket {
    listener: UnixListener,
    path: PathBuf,
    owner: u32,
    inode: u64,
}

impl ControlSocket {
    /// Makes the socket, with mode 0600 before it has its name; replaces one without a listener.
    ///
    /// # Errors
    /// Another process answers, or the operating system refuses.
    pub async fn bind(path: &Path) -> Result<Self, SocketError> {
        if SocketClient::connect(path).await.is_ok_and(|client| client.is_some()) {
            return Err(SocketError::Served { path: path.to_owned() });
        }
        let failed = |what| move |source| SocketError::Io { what, path: path.to_owned(), source };
        let fresh = path.with_extension("sock.new");
        if let Err(error) = fs::remove_file(&fresh)
            && error.kind() != NotFound
        {
            return Err(failed("remove the leftover of")(error));
        }
        let short = short_address(&fresh).map_err(failed("open the folder of"))?;
        let listener = UnixListener::bind(&short.path).map_err(failed("listen at"))?;
        let private = Permissions::from_mode(0o600);
        fs::set_permissions(&fresh, private).map_err(failed("make private"))?;
        let made = fs::symlink_metadata(&fresh).map_err(failed("look at"))?;
        fs::rename(&fresh, path).map_err(failed("name"))?;
        let (owner, inode) = (made.uid(), made.ino());
        Ok(Self { listener, path: path.to_owned(), owner, inode })
    }

    /// Answers until `shutdown` ends, then removes the socket. Waiting peers are disconnected.
    pub async fn serve(self, control: Control, shutdown: impl Future<Output = ()>) {
        self.serve_latest(watch::channel(control).1, shutdown).await;
    }

    /// Answers as [`Self::serve`] does; each request goes to the latest handle.
    pub async fn serve_latest(
        self,
        control: watch::Receiver<Control>,
        shutdown: impl Future<Output = ()>,
    ) {
        let mut shutdown = pin!(shutdown);
        let seats = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                biased;
                () = &mut shutdown => break,
                Some(_ended) = connections.join_next(), if !connections.is_empty() => {}
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        let connection =
                            SocketConnection { stream, control: control.clone(), owner: self.owner };
                        connections.spawn(connection.run(seats.clone()));
                    }
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept a connection on the control socket");
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                },
            }
        }
    }
}

impl Drop for ControlSocket {
    /// Removes the socket, unless another socket has taken its name.
    fn drop(&mut self) {
        let ours = fs::symlink_metadata(&self.path).is_ok_and(|now| now.ino() == self.inode);
        if ours && let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(%error, path = %self.path.display(), "cannot remove the control socket");
        }
    }
}

fn may_ask(uid: u32, owner: u32) -> bool {
    uid == owner || uid == 0
}

struct SocketConnection {
    stream: UnixStream,
    control: watch::Receiver<Control>,
    owner: u32,
}

impl SocketConnection {
    /// Answers one request after another, if there is a free place and the peer may ask.
    async fn run(mut self, seats: Arc<Semaphore>) {
        let seat = seats.try_acquire();
        let actor = self.stream.peer_cred().map(|peer| peer.uid());
        let refusal = match (&seat, actor) {
            (Ok(_), Ok(uid)) if may_ask(uid, self.owner) => return self.serve_requests(uid).await,
            (Ok(_), Ok(_) | Err(_)) => not_allowed(),
            (Err(_), _) => {
                let message = format!("too many connections: {CONNECTIONS_MAX} are open");
                ControlError::new(ControlError::BUSY, message, "try again in a moment")
            }
        };
        let told = Err(refusal);
        drop(tokio::time::timeout(REFUSAL_MAX, send(&mut self.stream, &told)).await);
    }

    /// Reads requests until the peer disconnects or is silent for too long.
    async fn serve_requests(self, actor: u32) {
        let Self { stream, control, owner: _ } = self;
        let mut stream = BufReader::new(stream);
        loop {
            let line = read_line(&mut stream, REQUEST_BYTES_MAX);
            let response = match tokio::time::timeout(SILENCE_MAX, line).await {
                Ok(Ok(LineRead::Whole(line))) => {
                    let control = control.borrow().clone();
                    answer(&control, actor, &line).await
                }
                Ok(Ok(LineRead::TooLong)) => Err(too_long()),
                Ok(Ok(LineRead::End) | Err(_)) | Err(_) => return,
            };
            let last = matches!(&response, Err(error) if error.code == ControlError::TOO_LONG);
            if send(&mut stream, &response).await.is_err() || last {
                return;
            }
        }
    }
}

async fn answer(control: &Control, actor: u32, line: &[u8]) -> Response {
    match serde_json::from_slice::<ControlRequest>(line) {
        Ok(request) => {
            tracing::debug!(actor, ?request, "control");
            control.send(request, format!("uid {actor}")).await
        }
        Err(error) => Err(ControlError::new(
            ControlError::BAD_REQUEST,
            format!("invalid request: {error}"),
            "send one JSON object a line, such as {\"ask\":\"overview\"}",
        )),
    }
}

async fn send<S>(stream: &mut S, response: &Response) -> io::Result<()>
where
    S: tokio::io::AsyncWrite + Unpin,
{
    let mut bytes = serde_json::to_vec(response)?;
    bytes.push(b'\n');
    stream.write_all(&bytes).await?;
    stream.flush().await
}

fn not_allowed() -> ControlError {
    ControlError::new(
        ControlError::NOT_ALLOWED,
        "permission denied: only the owner of this socket and root may use it",
        "run the command as the user of the daemon",
    )
}

fn too_long() -> ControlError {
    let message = format!("the request has more than {REQUEST_BYTES_MAX} bytes");
    ControlError::new(ControlError::TOO_LONG, message, "send a shorter request")
}
