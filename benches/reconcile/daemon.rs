//! A running daemon, and its costs.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use http::Method;

use crate::connection::Failed;
use crate::control;
use crate::meter::{Memory, Threads};
use crate::stand::Stand;

/// Longest time until the daemon is ready, whatever the number of documents.
const READY_MAX: Duration = Duration::from_mins(5);
/// The same for each document.
const READY_EACH_MAX: Duration = Duration::from_millis(1);
const GLANCE: Duration = Duration::from_millis(20);
/// Interval of checks for an answer.
const KNOCK: Duration = Duration::from_micros(500);
/// Time in which the memory must stay equal.
const SETTLING: Duration = Duration::from_secs(2);
const SETTLINGS_MAX: usize = 8;

/// A daemon; dropping the value kills it.
#[derive(Debug)]
pub(crate) struct Daemon {
    child: Child,
    listen: SocketAddr,
    started: Instant,
    ready_max: Duration,
    threads: Threads,
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        drop(self.child.wait());
    }
}

/// Returns an address that is free now. The bench chooses the daemon's address, so it need not read it from the state.
pub(crate) fn free_address() -> Result<SocketAddr, Failed> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

impl Daemon {
    /// Starts `reckon run` over so many documents and waits for any answer; returns the time that it took.
    ///
    /// # Errors
    ///
    /// The daemon ends, or takes too long.
    pub(crate) async fn launch(
        stand: &Stand,
        listen: SocketAddr,
        documents: usize,
    ) -> Result<(Self, Duration), Failed> {
        let more = READY_EACH_MAX.saturating_mul(u32::try_from(documents)?);
        let ready_max = READY_MAX.saturating_add(more);
        let mut command = stand.command(&["run"])?;
        let started = Instant::now();
        let child = command.spawn()?;
        let mut daemon = Self { child, listen, started, ready_max, threads: Threads::default() };
        daemon.until("/healthz", KNOCK).await?;
        Ok((daemon, started.elapsed()))
    }

    /// Starts the daemon and waits until it is ready.
    pub(crate) async fn start(
        stand: &Stand,
        listen: SocketAddr,
        documents: usize,
    ) -> Result<Self, Failed> {
        let (mut daemon, _) = Self::launch(stand, listen, documents).await?;
        daemon.ready().await?;
        Ok(daemon)
    }

    /// Waits until the daemon is ready: the whole state is open and the tree read. Returns the time since its start.
    pub(crate) async fn ready(&mut self) -> Result<Duration, Failed> {
        self.until("/readyz", GLANCE).await?;
        Ok(self.started.elapsed())
    }

    async fn until(&mut self, path: &str, every: Duration) -> Result<(), Failed> {
        let started = Instant::now();
        while control::ask(self.listen, Method::GET, path, None).await.is_err() {
            if let Some(status) = self.child.try_wait()? {
                return Err(format!("the daemon ended: {status}").into());
            }
            if started.elapsed() > self.ready_max {
                return Err(format!("the daemon does not answer {path}").into());
            }
            tokio::time::sleep(every).await;
        }
        Ok(())
    }

    /// Stops the daemon and waits for its end.
    ///
    /// # Errors
    ///
    /// The exit status is not success.
    pub(crate) fn stop(mut self) -> Result<(), Failed> {
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        let status = self.child.wait()?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("the daemon ended with {status}").into())
        }
    }

    /// Returns the number of the process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Returns the CPU so far.
    pub(crate) fn cpu(&mut self) -> Result<Duration, Failed> {
        self.threads.cpu(&self.child.id().to_string())
    }

    /// Returns the memory, once it no longer changes.
    pub(crate) async fn memory(&self) -> Result<Memory, Failed> {
        let mut before = Memory::default();
        for _ in 0..SETTLINGS_MAX {
            tokio::time::sleep(SETTLING).await;
            let now = Memory::of(self.child.id())?;
            if now == before {
                break;
            }
            before = now;
        }
        Ok(before)
    }
}
