//! The daemon of a trial: start, check of readiness, kill; and delivery of the notifications that it missed.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::Child;
use std::time::{Duration, Instant};

use http::Method;
use serde_json::{Value, json};

use crate::connection::Failed;
use crate::control;
use crate::judge::objects;
use crate::stand::Stand;

/// Interval of checks for readiness.
const GLANCE: Duration = Duration::from_millis(20);
/// Interval of checks for open work.
const LOOK: Duration = Duration::from_millis(200);
/// Longest time until a daemon is ready.
const START_TIME_MAX: Duration = Duration::from_mins(2);
/// After this time without a change no further one is expected.
const QUIET: Duration = Duration::from_secs(8);
/// Longest time until a daemon has nothing left to do.
const QUIET_TIME_MAX: Duration = Duration::from_mins(20);

/// A process; dropping the value kills it.
#[derive(Debug)]
pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        self.0.kill().unwrap_or_default();
        drop(self.0.wait());
    }
}

/// Returns an address of this machine that is free now.
pub(crate) fn free_address() -> Result<SocketAddr, Failed> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

impl Process {
    /// Returns the exit code of an ended process.
    pub(crate) fn ended(&mut self) -> Result<Option<i32>, Failed> {
        Ok(self.0.try_wait()?.map(|status| status.code().unwrap_or(-1)))
    }

    /// Waits until the daemon is ready; returns its exit code where it ended instead.
    pub(crate) async fn ready(&mut self, listen: SocketAddr) -> Result<Option<i32>, Failed> {
        let started = Instant::now();
        while control::ask(listen, Method::GET, "/readyz", None).await.is_err() {
            if let Some(code) = self.ended()? {
                return Ok(Some(code));
            }
            if started.elapsed() > START_TIME_MAX {
                return Err("the daemon does not become ready".into());
            }
            tokio::time::sleep(GLANCE).await;
        }
        Ok(None)
    }

    /// Waits until the daemon sends no more requests, and the service has delivered every notification.
    pub(crate) async fn quiet(&mut self, stand: &Stand) -> Result<(), Failed> {
        let (started, mut changed) = (Instant::now(), Instant::now());
        let mut before = None;
        while changed.elapsed() < QUIET {
            if let Some(code) = self.ended()? {
                return Err(format!("the daemon ended by itself, with {code}").into());
            }
            if started.elapsed() > QUIET_TIME_MAX {
                return Err("the daemon does not settle".into());
            }
            let now = (requests(stand).await?, redeliver(stand).await?, undecided(stand).await?);
            if now.1 > 0 || now.2 > 0 || before.replace(now) != Some(now) {
                changed = Instant::now();
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    }
}

/// Has the service repeat at once each failed delivery to the daemon, instead of after its ten minutes. Returns the
/// number of open deliveries.
pub(crate) async fn redeliver(stand: &Stand) -> Result<usize, Failed> {
    let path = "/_sandbox/webhooks";
    let answer = control::json(stand.sandbox.address, Method::GET, path, None).await?;
    let all = answer.get("deliveries").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut waiting = 0_usize;
    for one in all.iter().filter(|one| one.get("state") != Some(&json!("delivered"))) {
        waiting = waiting.saturating_add(1);
        let tried = one.get("attempts").and_then(Value::as_u64).unwrap_or(0) > 0;
        let id = one.get("id").and_then(Value::as_str).unwrap_or_default();
        if tried {
            let path = format!("{path}/{id}/redeliver");
            control::ask(stand.sandbox.address, Method::POST, &path, None).await?;
        }
    }
    Ok(waiting)
}

async fn requests(stand: &Stand) -> Result<u64, Failed> {
    let path = "/_sandbox/requests?limit=0";
    let answer = control::json(stand.sandbox.address, Method::GET, path, None).await?;
    Ok(answer.get("total").and_then(Value::as_u64).unwrap_or(0))
}

async fn undecided(stand: &Stand) -> Result<usize, Failed> {
    let all = objects(stand, "applications").await?;
    Ok(all.iter().filter(|one| one.get("state") == Some(&json!("submitted"))).count())
}

/// Sets the daemon's address for notifications at the service.
pub(crate) async fn tell_event_url(stand: &Stand, urls: &Value) -> Result<(), Failed> {
    let url = urls.pointer("/partner/event_url").and_then(Value::as_str);
    let url = url.ok_or("`events urls` names no Event URL")?;
    let order = json!({ "event_url": url });
    let path = "/_sandbox/partner";
    control::ask(stand.sandbox.address, Method::POST, path, Some(&order)).await?;
    Ok(())
}
