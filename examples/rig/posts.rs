//! The posts to a daemon: every event up to three times or never, with forgeries between them, in random order. Each
//! post is repeated until the daemon takes it.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{Request, header};
use http_body_util::Full;
use hyper::body::Bytes;
use tokio::task::JoinSet;

use crate::connection::{Connection, Failed};
use crate::random::Random;

/// Connections at once.
const CONNECTIONS: usize = 16;
/// Interval before a refused post is repeated.
const AGAIN: Duration = Duration::from_millis(20);

/// One request to the daemon.
#[derive(Debug, Clone)]
pub(crate) struct Post {
    pub(crate) path: String,
    pub(crate) body: String,
}

/// Posts that are still to be made.
#[derive(Debug)]
pub(crate) struct Posts {
    random: Random,
    waiting: Vec<Post>,
    /// Events that are never posted.
    pub(crate) lost: usize,
    /// Posts that the daemon took.
    pub(crate) taken: usize,
    /// Posts that had to be repeated.
    pub(crate) repeated: usize,
}

impl Posts {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: Random::new(seed), waiting: Vec::new(), lost: 0, taken: 0, repeated: 0 }
    }

    /// Adds an event that happened: one to three posts, and for one event in twenty none.
    pub(crate) fn event(&mut self, post: &Post) {
        if self.random.below(20) == 0 {
            self.lost = self.lost.saturating_add(1);
            return;
        }
        for _ in 0..=self.random.below(3) {
            self.waiting.push(post.clone());
        }
    }

    /// Adds a post of an event that never happened.
    pub(crate) fn forged(&mut self, post: Post) {
        self.waiting.push(post);
    }

    /// Makes this share of the posts, in hundredths and in random order; the others wait.
    pub(crate) async fn make(&mut self, to: SocketAddr, hundredths: usize) -> Result<(), Failed> {
        for at in (1..self.waiting.len()).rev() {
            let other = self.random.below(u64::try_from(at.saturating_add(1))?);
            self.waiting.swap(at, usize::try_from(other)?);
        }
        let kept = self.waiting.len().saturating_mul(100_usize.saturating_sub(hundredths)) / 100;
        let now = self.waiting.split_off(kept);
        self.taken = self.taken.saturating_add(now.len());
        let queue = Arc::new(Mutex::new(now));
        let mut running = JoinSet::new();
        for _ in 0..CONNECTIONS {
            running.spawn(work(to, Arc::clone(&queue)));
        }
        while let Some(ended) = running.join_next().await {
            self.repeated = self.repeated.saturating_add(ended??);
        }
        Ok(())
    }
}

/// Makes posts until none is left; returns the number of repetitions.
async fn work(to: SocketAddr, queue: Arc<Mutex<Vec<Post>>>) -> Result<usize, Failed> {
    let mut connection = Connection::new(to);
    let mut repeated = 0_usize;
    while let Some(post) = next(&queue) {
        while !taken(&mut connection, to, &post).await? {
            connection = Connection::new(to);
            repeated = repeated.saturating_add(1);
            tokio::time::sleep(AGAIN).await;
        }
    }
    Ok(repeated)
}

fn next(queue: &Mutex<Vec<Post>>) -> Option<Post> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).pop()
}

/// Returns whether the daemon took a post. An absent daemon, or one without room, did not.
async fn taken(connection: &mut Connection, to: SocketAddr, post: &Post) -> Result<bool, Failed> {
    let request = Request::post(&post.path)
        .header(header::HOST, to.to_string())
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(post.body.clone())))?;
    let Ok(answer) = connection.send(request).await else { return Ok(false) };
    match answer.status().as_u16() {
        200 => Ok(true),
        429 | 503 => Ok(false),
        other => Err(format!("a post to {} was answered with {other}", post.path).into()),
    }
}
