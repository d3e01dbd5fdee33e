//! The client side of the socket, and the lines and addresses that both sides use.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::Mutex;

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
            Ok(Err(error)) if is_not_listening(&error) => Ok(None),
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
        let response = exchange(&mut stream, &request.into_request())
            .await
            .map_err(|error| connection_lost(&error))?;
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
    // A server that rejects the peer sends its refusal and reads nothing more, so a failed write
    // may still have a response.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_ends_at_its_end_at_the_limit_or_with_the_input() {
        let mut input: &[u8] = b"one\n\nthree";
        let mut next = async || read_line(&mut input, 5).await.unwrap();
        assert_eq!(next().await, LineRead::Whole(b"one".to_vec()));
        assert_eq!(next().await, LineRead::Whole(Vec::new()));
        assert_eq!(next().await, LineRead::Whole(b"three".to_vec()));
        assert_eq!(next().await, LineRead::End);
        assert_eq!(
            read_line(&mut &b"12345\n"[..], 5).await.unwrap(),
            LineRead::Whole(b"12345".to_vec())
        );
        assert_eq!(read_line(&mut &b"123456\n"[..], 5).await.unwrap(), LineRead::TooLong);
    }
}
