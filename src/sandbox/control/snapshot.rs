//! `/_sandbox/snapshot` and `/_sandbox/restore`: the whole state of a sandbox as JSON.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::sandbox::answer::{Result, SandboxAnswer, SandboxRefusal};
use crate::sandbox::server::Sandbox;

/// Version 2 held events and counts of lists in another form.
const VERSION: u32 = 3;
const OLDEST_VERSION: u32 = 2;

#[derive(Serialize, Deserialize)]
struct SandboxSnapshot {
    version: u32,
    seed: u64,
    entries: Map<String, Value>,
}

/// Returns the whole state.
pub(super) fn save(sandbox: &Sandbox) -> Result<SandboxAnswer> {
    let _whole = sandbox.lock();
    let mut entries = Map::new();
    for (key, value) in sandbox.inner.index.scan(b"")? {
        let key = String::from_utf8_lossy(&key).into_owned();
        entries.insert(key, serde_json::from_slice(&value)?);
    }
    SandboxAnswer::json(&SandboxSnapshot {
        version: VERSION,
        seed: sandbox.inner.environment.options.seed,
        entries,
    })
}

/// Replaces the state by a snapshot's. A snapshot of another seed has other keys and is refused.
pub(super) fn restore(sandbox: &Sandbox, body: &[u8]) -> Result<SandboxAnswer> {
    let snapshot: SandboxSnapshot = serde_json::from_slice(body)
        .map_err(|_| SandboxRefusal::malformed_body("Body is not a snapshot"))?;
    let is_known = (OLDEST_VERSION..=VERSION).contains(&snapshot.version);
    if !is_known || snapshot.seed != sandbox.inner.environment.options.seed {
        return Err(SandboxRefusal::invalid("The snapshot belongs to another seed or version"));
    }
    let mut entries = Vec::new();
    for (key, value) in snapshot.entries {
        entries.push((key.into_bytes(), serde_json::to_vec(&value)?));
    }
    sandbox.replace(&mut sandbox.lock(), entries)?;
    sandbox.inner.index.flush()?;
    SandboxAnswer::json(&json!({}))
}
