//! A first apply, and what other makers of the same contacts need.

use std::time::{Duration, Instant};

use http::Method;
use serde_json::json;

use crate::connection::Failed;
use crate::stand::{Stand, text};
use crate::tree::Kinds;
use crate::{Bench, control, meter, tree};

/// The cost of a run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cost {
    /// CPU of all its threads.
    pub(crate) cpu: Duration,
    /// Time from start to end.
    pub(crate) wall: Duration,
}

/// Applies the present tree.
pub(crate) fn apply(stand: &Stand) -> Result<Cost, Failed> {
    let (cpu, started) = (meter::children()?, Instant::now());
    stand.run(&["apply", "--yes"], &[0])?;
    Ok(Cost { wall: started.elapsed(), cpu: meter::children()?.saturating_sub(cpu) })
}

/// Makes a new sandbox and a new state with one connected merchant. The contacts are written and not applied.
pub(crate) async fn contacts(bench: &Bench, name: &str, count: usize) -> Result<Stand, Failed> {
    let tree = tree::documents(Kinds::Contacts, count.saturating_add(1), bench.seed)?;
    let stand = Stand::start(&bench.binary, &bench.folder(name), "public", 1).await?;
    stand.settle_config(stand.sandbox.address, "127.0.0.1:0", ["30s", "30s"])?;
    stand.write(&tree, |_, document| document.kind == "Merchant")?;
    stand.run(&["apply", "--yes"], &[0])?;
    stand.write(&tree, |_, _| true)?;
    Ok(stand)
}

/// Ends a sandbox and deletes its files.
pub(crate) fn clear(stand: Stand) -> Result<(), Failed> {
    let folder = stand.folder.clone();
    drop(stand);
    Ok(std::fs::remove_dir_all(folder)?)
}

/// Returns a token of another merchant.
pub(crate) async fn token(stand: &Stand, merchant: &str) -> Result<String, Failed> {
    let sandbox = stand.sandbox.address;
    let asked = json!({"merchant": merchant});
    let path = "/_sandbox/credentials";
    let code = control::json(sandbox, Method::POST, path, Some(&asked)).await?;
    let partner = &stand.partner;
    let asked = json!({
        "client_id": text(partner, "client_id")?,
        "client_secret": text(partner, "client_secret")?,
        "redirect_uri": text(partner, "redirect_uri")?,
        "grant_type": "authorization_code",
        "scope": "payments",
        "code": text(&code, "authorization_code")?,
    });
    text(&control::json(sandbox, Method::POST, "/oauth/token", Some(&asked)).await?, "access_token")
}
