//! A running daemon, and what it costs.

use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::Child;
use std::time::{Duration, Instant};

use http::Method;

use crate::connection::Failed;
use crate::control;
use crate::stand::Stand;

/// How long it may take to be ready.
const READY_MAX: Duration = Duration::from_mins(2);
const GLANCE: Duration = Duration::from_millis(20);

/// The daemon; it ends with this value.
#[derive(Debug)]
pub(crate) struct Daemon {
    child: Child,
    /// CPU of each thread when it was last seen, in nanoseconds: threads that are gone still count.
    threads: BTreeMap<String, u64>,
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
    /// Starts `reckon run` and waits until it is ready. Errors: it ends, or takes too long.
    pub(crate) async fn start(stand: &Stand, listen: SocketAddr) -> Result<Self, Failed> {
        let child = stand.command(&["run"])?.spawn()?;
        let mut daemon = Self { child, threads: BTreeMap::new() };
        let started = Instant::now();
        while control::ask(listen, Method::GET, "/readyz", None).await.is_err() {
            if let Some(status) = daemon.child.try_wait()? {
                return Err(format!("the daemon ended: {status}").into());
            }
            if started.elapsed() > READY_MAX {
                return Err("the daemon does not become ready".into());
            }
            tokio::time::sleep(GLANCE).await;
        }
        Ok(daemon)
    }

    /// CPU so far, from `/proc/PID/task/*/schedstat`, where it stands in nanoseconds.
    pub(crate) fn cpu(&mut self) -> Result<Duration, Failed> {
        for task in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let task = task?;
            // A thread may end between the listing and the reading.
            let Ok(text) = fs::read_to_string(task.path().join("schedstat")) else {
                continue;
            };
            let nanoseconds = text.split(' ').next().and_then(|word| word.parse().ok());
            let name = task.file_name().to_string_lossy().into_owned();
            self.threads.insert(name, nanoseconds.ok_or("schedstat holds no number")?);
        }
        Ok(Duration::from_nanos(self.threads.values().sum()))
    }
}
