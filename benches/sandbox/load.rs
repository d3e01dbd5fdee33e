//! Concurrent requests by a client of low cost. Requests are built beforehand; answers are read by their length and
//! checked afterwards.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::connection::Failed;

/// Enough for every answer of these servers.
const INBOUND_BYTES: usize = 16 << 10;
const HEAD_END: &[u8] = b"\r\n\r\n";
const LENGTH: &str = "content-length";

/// The answers of a run, with their times.
#[derive(Debug)]
pub(crate) struct Answers {
    /// Time from the first request to the last answer.
    pub(crate) wall: Duration,
    /// The bodies, in no order.
    pub(crate) bodies: Vec<Vec<u8>>,
    /// The time of each answer, in the order of the bodies.
    pub(crate) times: Vec<Duration>,
}

/// Sends every request once; each connection sends its share one after the other.
///
/// # Errors
///
/// An answer is not 2xx.
pub(crate) async fn run(
    to: SocketAddr,
    requests: &[Vec<u8>],
    connections: usize,
) -> Result<Answers, Failed> {
    let share = requests.len().div_ceil(connections.max(1)).max(1);
    let mut lines = Vec::new();
    for requests in requests.chunks(share) {
        lines.push((Line::open(to).await?, requests.to_vec()));
    }
    let started = Instant::now();
    let mut running = JoinSet::new();
    for (line, requests) in lines {
        running.spawn(line.ask_all(requests));
    }
    let mut answers = Vec::with_capacity(requests.len());
    while let Some(ended) = running.join_next().await {
        answers.extend(ended??);
    }
    let wall = started.elapsed();
    let (bodies, times) = answers.into_iter().unzip();
    Ok(Answers { wall, bodies, times })
}

/// One connection.
#[derive(Debug)]
struct Line {
    stream: TcpStream,
    inbound: Vec<u8>,
}

impl Line {
    async fn open(to: SocketAddr) -> Result<Self, Failed> {
        let stream = TcpStream::connect(to).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, inbound: Vec::with_capacity(INBOUND_BYTES) })
    }

    async fn ask_all(mut self, requests: Vec<Vec<u8>>) -> Result<Vec<(Vec<u8>, Duration)>, Failed> {
        let mut answers = Vec::with_capacity(requests.len());
        for request in &requests {
            let begun = Instant::now();
            let body = self.ask(request).await?;
            answers.push((body, begun.elapsed()));
        }
        Ok(answers)
    }

    async fn ask(&mut self, request: &[u8]) -> Result<Vec<u8>, Failed> {
        self.stream.write_all(request).await?;
        self.inbound.clear();
        let head = self.read_head().await?;
        let whole = head.bytes.saturating_add(head.body_bytes);
        while self.inbound.len() < whole {
            self.read().await?;
        }
        let body = self.inbound.split_off(head.bytes);
        if self.inbound.starts_with(b"HTTP/1.1 2") {
            Ok(body)
        } else {
            Err(format!("refused: {}", String::from_utf8_lossy(&body)).into())
        }
    }

    async fn read_head(&mut self) -> Result<Head, Failed> {
        loop {
            self.read().await?;
            let end = self.inbound.windows(HEAD_END.len()).position(|bytes| bytes == HEAD_END);
            if let Some(end) = end {
                return Head::of(self.inbound.get(..end).unwrap_or_default());
            }
        }
    }

    async fn read(&mut self) -> Result<(), Failed> {
        match self.stream.read_buf(&mut self.inbound).await? {
            0 => Err("the connection was closed before the answer".into()),
            _ => Ok(()),
        }
    }
}

/// Lengths of the parts of an answer.
#[derive(Debug)]
struct Head {
    bytes: usize,
    body_bytes: usize,
}

impl Head {
    fn of(head: &[u8]) -> Result<Self, Failed> {
        let text = str::from_utf8(head)?;
        let mut fields = text.lines().filter_map(|line| line.split_once(':'));
        let length = fields.find(|(name, _)| name.eq_ignore_ascii_case(LENGTH));
        let (_, length) = length.ok_or("an answer without a length")?;
        let bytes = head.len().saturating_add(HEAD_END.len());
        Ok(Self { bytes, body_bytes: length.trim().parse()? })
    }
}
