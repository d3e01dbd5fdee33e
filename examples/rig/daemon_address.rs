//! The address of a daemon, and its paths for events.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::Stdio;

use serde_json::Value;

use crate::connection::Failed;
use crate::stand::Stand;

/// Returns an address of this machine that is free now.
pub(crate) fn free() -> Result<SocketAddr, Failed> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

/// Returns the paths for the events of a merchant's test mode, and for the partner's, where a reference follows.
pub(crate) fn paths(stand: &Stand, merchant: &str) -> Result<[String; 2], Failed> {
    let mut command = stand.command(&["events", "urls", "--output", "json"])?;
    let output = command.stdout(Stdio::piped()).spawn()?.wait_with_output()?;
    let urls: Value = serde_json::from_slice(&output.stdout)?;
    let gateway =
        urls.get("gateway").and_then(Value::as_array).ok_or("`events urls` shows no addresses")?;
    let is_own = |one: &&Value| {
        let named = one.get("merchant").and_then(Value::as_str).unwrap_or_default();
        named.rsplit('/').next() == Some(merchant)
            && one.get("mode").is_some_and(|mode| mode == "test")
    };
    let own = gateway.iter().find(is_own).and_then(|one| one.get("url")?.as_str());
    let partner = urls.pointer("/partner/event_url").and_then(Value::as_str);
    Ok([path(own)?, path(partner)?])
}

fn path(url: Option<&str>) -> Result<String, Failed> {
    let url = url.ok_or("`events urls` lacks an address")?;
    let begins = url.find("/webhooks/").ok_or("an address has no path")?;
    Ok(url.get(begins..).unwrap_or_default().to_owned())
}
