//! The asking side of the socket.

use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::Mutex;

use super::line::{self, Line};
use super::{ControlError, Request, Response, address};
use crate::engine::Question;

/// The greatest response, in bytes.
const RESPONSE_BYTES_MAX: u64 = 1 << 30;
/// How long a process that listens may take to accept.
const CONNECT_MAX: Duration = Duration::from_secs(5);

/// A connection to the process that owns the state.
#[derive(Debug)]
pub struct SocketClient {
    /// Gone while a question is under way, and for ever if that one was given up: its answer may
    /// still come and would be taken for the next one's.
    stream: Mutex<Option<BufReader<UnixStream>>>,
}

impl SocketClient {
    /// Connects; `None` when nobody listens. Errors: somebody may, but the socket cannot be used.
    pub async fn connect(path: &Path) -> Result<Option<Self>, ControlError> {
        let connecting = async {
            let short = address::short(path)?;
            UnixStream::connect(&short.path).await
        };
        match tokio::time::timeout(CONNECT_MAX, connecting).await {
            Ok(Ok(stream)) => Ok(Some(Self { stream: Mutex::new(Some(BufReader::new(stream))) })),
            Ok(Err(error)) if nobody(&error) => Ok(None),
            Ok(Err(error)) => Err(unusable(path, &error.to_string())),
            Err(_) => Err(unusable(path, "it does not accept")),
        }
    }

    /// Asks and waits for the answer, for as long as it takes. Errors: what the other side says,
    /// or [`ControlError::LOST`].
    pub async fn ask(&self, question: &Question) -> Response {
        self.request(&Request::Ask(question.clone())).await
    }

    /// The plan, once every file's content was read again. Errors: as of [`SocketClient::ask`].
    pub async fn verify(&self) -> Response {
        self.request(&Request::Verify).await
    }

    /// Requests and waits for the answer, for as long as it takes. Errors: as of [`Self::ask`].
    pub async fn request(&self, request: &Request) -> Response {
        let mut place = self.stream.lock().await;
        let mut stream = place.take().ok_or_else(|| lost("an earlier question was given up"))?;
        let response = exchange(&mut stream, request).await.map_err(|error| lost(&error))?;
        *place = Some(stream);
        response
    }
}

/// Sends a request and reads the response to it.
async fn exchange(
    stream: &mut BufReader<UnixStream>,
    request: &Request,
) -> Result<Response, String> {
    let mut bytes = serde_json::to_vec(request).map_err(|error| error.to_string())?;
    bytes.push(b'\n');
    let sent = stream.write_all(&bytes).await;
    // Who is turned away is told so, and then nothing more is read from him.
    let line = line::read(stream, RESPONSE_BYTES_MAX).await.map_err(|error| error.to_string())?;
    match (line, sent) {
        (Line::Whole(line), _) => serde_json::from_slice(&line).map_err(|error| error.to_string()),
        (Line::TooLong, _) => Err("the answer is too long".to_owned()),
        (Line::End, Err(error)) => Err(error.to_string()),
        (Line::End, Ok(())) => Err("the other side hung up".to_owned()),
    }
}

/// Whether this says that nobody listens: no file, or one that was left behind.
fn nobody(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

fn unusable(path: &Path, why: &str) -> ControlError {
    ControlError::new(
        ControlError::UNUSABLE,
        format!("connect to {}: {why}", path.display()),
        "run the command as the user that runs the daemon",
    )
}

fn lost(why: &str) -> ControlError {
    ControlError::new(
        ControlError::LOST,
        format!("the connection was lost before the answer: {why}"),
        "look at the daemon's log; if it ended, the command can do without it",
    )
}
