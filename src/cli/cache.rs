//! The plan of a tree that did not change since the last one is the last one.
//!
//! Kept beside the fold, no part of the state: what it was made from (files, configuration,
//! journal head, program) must be the same, else a plan is made anew. So a plan over a hundred
//! thousand unchanged files costs a look at each file and nothing else.

use serde::{Deserialize, Serialize};

use super::exit::Failure;
use super::setup::Setup;
use super::{host, marking};
use crate::base::clock::{Clock, SystemClock};
use crate::config::ProcessEnv;
use crate::engine::PlanView;
use crate::kinds::files::Stamp;
use crate::spec::loader::Loader;
use crate::spec::source::index::SpecIndex;
use crate::store::index::{Batch, Index};
use crate::store::lock::LockError;
use crate::store::open::{OpenError, peek};

/// Where it is kept.
const ENTRY: &[u8] = b"x/plan";
/// A plan with more open steps is made anew each time.
const STEPS_MAX: usize = 500;
/// Seconds after which a date may have changed somewhere.
const QUARTER_S: i64 = 15 * 60;

/// How a file is known to be unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// By size, time and inode.
    AtStats,
    /// By its content, which is read.
    AtContents,
}

/// A plan and what it was made from.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    program: String,
    config: [u8; 32],
    position: u64,
    head: [u8; 32],
    /// Whether nothing is left to do: then no date changes it.
    settled: bool,
    /// The quarter of an hour it was made in: what is due today depends on it.
    quarter: i64,
    seen: Seen,
    plan: String,
}

/// What the files looked like when they were loaded.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Seen {
    /// The packed index of the specs.
    specs: Vec<u8>,
    /// The files that specs attach.
    attached: Vec<(String, Option<Stamp>)>,
}

/// The last plan, if nothing that it was made from has changed.
pub(super) fn recall(setup: &Setup, look: Look) -> Result<Option<PlanView>, Failure> {
    let peeked = match peek(&setup.state, &host::owner(), Some(&marking::of(setup)?)) {
        Ok(peeked) => peeked,
        Err(error @ OpenError::Lock(LockError::Held { .. })) => return Err(error.into()),
        // Whatever else is wrong is told by who opens the state in earnest.
        Err(_) => None,
    };
    let Some(peeked) = peeked else { return Ok(None) };
    let kept = peeked.index.get(ENTRY).ok().flatten();
    let Some(kept) = kept.and_then(|bytes| ciborium::from_reader::<Kept, _>(&*bytes).ok()) else {
        return Ok(None);
    };
    let same = kept.program == program()
        && kept.config == config(setup)
        && (kept.position, kept.head) == (peeked.head.sequence, peeked.head.hash)
        && (kept.settled || kept.quarter == quarter())
        && SpecIndex::decode(kept.seen.specs).is_ok_and(|files| match look {
            Look::AtStats => files.unchanged(&setup.place()),
            Look::AtContents => files.verified(&setup.place()),
        })
        && setup.attached_are(&kept.seen.attached);
    let plan = if same { serde_json::from_str::<PlanView>(&kept.plan).ok() } else { None };
    Ok(plan.map(|plan| PlanView { commit: setup.commit(), ..plan }))
}

/// The time before a load, for [`seal`].
pub(super) fn moment() -> i64 {
    SystemClock.now().timestamp_nanos_opt().unwrap_or(0)
}

/// The quarter of an hour that it is.
fn quarter() -> i64 {
    SystemClock.now().timestamp().div_euclid(QUARTER_S)
}

/// What the files look like to this loader.
pub(super) fn seal(loader: &Loader, read_at_ns: i64) -> Seen {
    Seen { specs: loader.index(read_at_ns).header().to_vec(), attached: loader.looked() }
}

/// Keeps a plan for the next time.
pub(super) fn keep(setup: &Setup, index: &dyn Index, seen: Seen, plan: &PlanView) {
    let head = data_encoding::HEXLOWER.decode(plan.head.as_bytes());
    let head = head.ok().and_then(|head| <[u8; 32]>::try_from(head).ok());
    let (Some(head), Ok(text)) = (head, serde_json::to_string(plan)) else { return };
    if plan.steps.len() > STEPS_MAX {
        return;
    }
    let config = config(setup);
    let position = plan.position;
    let (settled, quarter) = (plan.steps.is_empty(), quarter());
    let program = program();
    let kept = Kept { program, config, position, head, settled, quarter, seen, plan: text };
    let mut bytes = Vec::new();
    if ciborium::into_writer(&kept, &mut bytes).is_ok() {
        let mut batch = Batch::new();
        batch.put(ENTRY, bytes);
        // A plan that is not kept is made again.
        drop(index.apply(batch));
    }
}

/// Another program may plan otherwise.
fn program() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// The configuration file as it stands, and where specs and state are. Each part has its length before it.
fn config(setup: &Setup) -> [u8; 32] {
    let mut hash = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        hash.update(&u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes()).update(bytes);
    };
    part(&std::fs::read(setup.root.join(&*setup.config.file)).unwrap_or_default());
    part(setup.specs.as_os_str().as_encoded_bytes());
    // Limits may stand in variables.
    part(format!("{:?}", setup.config.rules(&ProcessEnv)).as_bytes());
    part(setup.live_refused().unwrap_or_default().as_bytes());
    *hash.finalize().as_bytes()
}
