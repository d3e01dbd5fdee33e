//! The client side of the socket.

use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::Mutex;

use super::line::LineRead;
use super::{address, line};
use crate::control::protocol::{ControlError, ControlRequest, Response};
use crate::engine::queries::protocol::EngineQuery;

/// Largest response, in bytes.
const RESPONSE_BYTES_MAX: u64 = 1 << 30;
/// Longest time for a listening process to accept.
const CONNECT_MAX: Duration = Duration::from_secs(5);

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
            let short = address::short_address(path)?;
            UnixStream::connect(&short.path).await
        };
        match tokio::time::timeout(CONNECT_MAX, connecting).await {
            Ok(Ok(stream)) => Ok(Some(Self { stream: Mutex::new(Some(BufReader::new(stream))) })),
            Ok(Err(error)) if is_not_listening(&error) => Ok(None),
            Ok(Err(error)) => Err(unusable(path, &error.to_string())),
            Err(_) => Err(unusable(path, "timed out")),
        }
    }

    /// Asks a question and waits for the answer without a time limit.
    ///
    /// # Errors
    /// The other side's error, or [`ControlError::LOST`].
    pub async fn ask(&self, question: &EngineQuery) -> Response {
        self.request(&ControlRequest::Ask(question.clone())).await
    }

    /// Returns the plan after the content of every file was read again.
    ///
    /// # Errors
    /// As of [`SocketClient::ask`].
    pub async fn verify(&self) -> Response {
        self.request(&ControlRequest::Verify).await
    }

    /// Sends a request and waits for the answer without a time limit.
    ///
    /// # Errors
    /// As of [`Self::ask`].
    pub async fn request(&self, request: &ControlRequest) -> Response {
        let mut place = self.stream.lock().await;
        let mut stream =
            place.take().ok_or_else(|| connection_lost("an earlier request was abandoned"))?;
        let response =
            exchange(&mut stream, request).await.map_err(|error| connection_lost(&error))?;
        *place = Some(stream);
        response
    }
}

/// Sends a request and reads its response.
async fn exchange(
    stream: &mut BufReader<UnixStream>,
    request: &ControlRequest,
) -> Result<Response, String> {
    let mut bytes = serde_json::to_vec(request).map_err(|error| error.to_string())?;
    bytes.push(b'\n');
    let sent = stream.write_all(&bytes).await;
    // A server that rejects the peer sends its refusal and reads nothing more, so a failed write
    // may still have a response.
    let line = line::read(stream, RESPONSE_BYTES_MAX).await.map_err(|error| error.to_string())?;
    match (line, sent) {
        (LineRead::Whole(line), _) => {
            serde_json::from_slice(&line).map_err(|error| error.to_string())
        }
        (LineRead::TooLong, _) => Err("the answer is too long".to_owned()),
        (LineRead::End, Err(error)) => Err(error.to_string()),
        (LineRead::End, Ok(())) => Err("the daemon closed the connection".to_owned()),
    }
}

/// Returns true if the error means that no process listens: no socket file, or one left behind.
fn is_not_listening(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
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
