//! A running daemon, and what it costs.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use http::Method;

use crate::connection::Failed;
use crate::control;
use crate::meter::{Threads, resident_kib};
use crate::stand::Stand;

/// How long it may take to be ready.
const READY_MAX: Duration = Duration::from_mins(5);
const GLANCE: Duration = Duration::from_millis(20);
/// How often it is asked whether it listens.
const KNOCK: Duration = Duration::from_micros(500);
/// How long its memory must stay as it is.
const SETTLING: Duration = Duration::from_secs(2);
const SETTLINGS_MAX: usize = 8;

/// The daemon; it ends with this value.
#[derive(Debug)]
pub(crate) struct Daemon {
    child: Child,
    listen: SocketAddr,
    started: Instant,
    threads: Threads,
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        drop(self.child.wait());
    }
}

/// An address that is free now. The daemon's is chosen here so that nothing has to be read back from its state.
pub(crate) fn free_address() -> Result<SocketAddr, Failed> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

impl Daemon {
    /// Starts `reckon run`, waits until it answers at all, and says how long that took. Errors: it ends, or takes too long.
    pub(crate) async fn launch(
        stand: &Stand,
        listen: SocketAddr,
    ) -> Result<(Self, Duration), Failed> {
        let mut command = stand.command(&["run"])?;
        let started = Instant::now();
        let child = command.spawn()?;
        let mut daemon = Self { child, listen, started, threads: Threads::default() };
        daemon.until("/healthz", KNOCK).await?;
        Ok((daemon, started.elapsed()))
    }

    /// Starts it and waits until it is ready.
    pub(crate) async fn start(stand: &Stand, listen: SocketAddr) -> Result<Self, Failed> {
        let (mut daemon, _) = Self::launch(stand, listen).await?;
        daemon.ready().await?;
        Ok(daemon)
    }

    /// Waits until it is ready: the whole state is open and the tree read. Says how long after its start that is.
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
            if started.elapsed() > READY_MAX {
                return Err(format!("the daemon does not answer {path}").into());
            }
            tokio::time::sleep(every).await;
        }
        Ok(())
    }

    /// Tells it to stop and waits until it has. Errors: it does not end well.
    pub(crate) fn stop(mut self) -> Result<(), Failed> {
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        let status = self.child.wait()?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("the daemon ended with {status}").into())
        }
    }

    /// The number of its process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// CPU so far.
    pub(crate) fn cpu(&mut self) -> Result<Duration, Failed> {
        self.threads.cpu(&self.child.id().to_string())
    }

    /// Resident memory in KiB, once it has come to rest.
    pub(crate) async fn memory_kib(&self) -> Result<u64, Failed> {
        let mut before = 0;
        for _ in 0..SETTLINGS_MAX {
            tokio::time::sleep(SETTLING).await;
            let now = resident_kib(self.child.id())?;
            if now == before {
                break;
            }
            before = now;
        }
        Ok(before)
    }
}
