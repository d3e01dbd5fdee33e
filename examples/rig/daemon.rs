//! The daemon of a trial: started, asked whether it is ready, killed; and the notifications that it missed.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::Child;
use std::time::{Duration, Instant};

use http::Method;
use serde_json::{Value, json};

use crate::connection::Failed;
use crate::control;
use crate::judge::objects;
use crate::stand::Stand;

/// How often it is asked.
const GLANCE: Duration = Duration::from_millis(20);
/// How often everything is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// A daemon is ready in this time.
const START_TIME_MAX: Duration = Duration::from_mins(2);
/// Nothing more comes when nothing came for so long.
const QUIET: Duration = Duration::from_secs(8);
/// A daemon has nothing left to do in this time.
const QUIET_TIME_MAX: Duration = Duration::from_mins(20);

/// A process that ends with this value.
#[derive(Debug)]
pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        self.0.kill().unwrap_or_default();
        drop(self.0.wait());
    }
}

/// An address of this machine that nobody listens at now.
pub(crate) fn free_address() -> Result<SocketAddr, Failed> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

impl Process {
    /// How it ended, if it did.
    pub(crate) fn ended(&mut self) -> Result<Option<i32>, Failed> {
        Ok(self.0.try_wait()?.map(|status| status.code().unwrap_or(-1)))
    }

    /// Waits until the daemon does its work; its exit code where it ended instead.
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

    /// Waits until nothing is asked of the service any more, and every notification is delivered.
    pub(crate) async fn quiet(&mut self, stand: &Stand) -> Result<(), Failed> {
        let (started, mut changed) = (Instant::now(), Instant::now());
        let mut before = None;
        while changed.elapsed() < QUIET {
            if let Some(code) = self.ended()? {
                return Err(format!("the daemon ended by itself, with {code}").into());
            }
            if started.elapsed() > QUIET_TIME_MAX {
                return Err("the daemon does not come to rest".into());
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

/// The service tries again now what a daemon that was not there did not take: nobody waits for its ten minutes.
/// Tells how many are on their way.
pub(crate) async fn redeliver(stand: &Stand) -> Result<usize, Failed> {
    let path = "/_sandbox/webhooks";
    let told = control::json(stand.sandbox.address, Method::GET, path, None).await?;
    let all = told.get("deliveries").and_then(Value::as_array).cloned().unwrap_or_default();
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
    let told = control::json(stand.sandbox.address, Method::GET, path, None).await?;
    Ok(told.get("total").and_then(Value::as_u64).unwrap_or(0))
}

async fn undecided(stand: &Stand) -> Result<usize, Failed> {
    let all = objects(stand, "applications").await?;
    Ok(all.iter().filter(|one| one.get("state") == Some(&json!("submitted"))).count())
}

/// Tells the service where the daemon takes its notifications.
pub(crate) async fn tell_event_url(stand: &Stand, urls: &Value) -> Result<(), Failed> {
    let url = urls.pointer("/partner/event_url").and_then(Value::as_str);
    let url = url.ok_or("`events urls` names no Event URL")?;
    let order = json!({ "event_url": url });
    let path = "/_sandbox/partner";
    control::ask(stand.sandbox.address, Method::POST, path, Some(&order)).await?;
    Ok(())
}
