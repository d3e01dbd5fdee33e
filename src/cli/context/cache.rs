//! Cache of the last plan, for a tree that did not change since.
//!
//! The plan is kept beside the fold and is no part of the state. Everything that it was made from
//! (files, configuration, journal head, program) must be the same, else it is made anew. So a plan
//! over a hundred thousand unchanged files costs one check of each file and nothing else.

use serde::{Deserialize, Serialize};

use crate::base::clock::{Clock, SystemClock};
use crate::cli::context::open::Context;
use crate::cli::context::{machine, state_handle};
use crate::cli::exit::CommandResult;
use crate::config::setting::ProcessEnv;
use crate::control::protocol::VERSION;
use crate::engine::protocol::time_rules::TimeRuleView;
use crate::engine::protocol::views::PlanView;
use crate::kinds::schema::kind::Stamp;
use crate::spec::tree::index::SpecIndex;
use crate::spec::tree::loader::Loader;
use crate::store::disk::directory::LockError;
use crate::store::error::OpenError;
use crate::store::index::ordered::{Batch, Index};
use crate::store::state::index::open_closed;

const ENTRY: &[u8] = b"x/plan";
/// Steps of a plan that is cached, at most; a longer plan is made anew each time.
const STEPS_MAX: usize = 500;
/// Seconds after which a date may have changed somewhere.
const QUARTER_S: i64 = 15 * 60;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnchangedBy {
    Metadata,
    /// By its content, which is read.
    Content,
}

/// A plan and everything that it was made from.
#[derive(Debug, Serialize, Deserialize)]
struct CachedPlan {
    /// Another version may plan otherwise.
    program: String,
    config: [u8; 32],
    position: u64,
    head: [u8; 32],
    /// True if no step remains: then no date changes the plan.
    settled: bool,
    /// The quarter of an hour in which the plan was made: the steps that are due depend on it.
    quarter: i64,
    seen: FileMarks,
    plan: String,
}

/// Size, time and content marks of the files when they were loaded.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct FileMarks {
    /// The packed index of the specs.
    specs: Vec<u8>,
    attached: Vec<(String, Option<Stamp>)>,
}

/// Returns the last plan, if nothing that it was made from has changed.
pub(crate) fn cached_plan(setup: &Context, look: UnchangedBy) -> CommandResult<Option<PlanView>> {
    let mark = state_handle::mark_settings(&setup.config, &setup.state)?;
    let peeked = match open_closed(&setup.state, &machine::owner(), Some(&mark)) {
        Ok(peeked) => peeked,
        Err(error @ OpenError::Lock(LockError::Held { .. })) => return Err(error.into()),
        // The command that opens the state afterwards reports any other error.
        Err(_) => None,
    };
    let Some(peeked) = peeked else { return Ok(None) };
    let kept = peeked.index.get(ENTRY).ok().flatten();
    let Some(kept) = kept.and_then(|bytes| ciborium::from_reader::<CachedPlan, _>(&*bytes).ok())
    else {
        return Ok(None);
    };
    let same = kept.program == VERSION
        && kept.config == config_digest(setup)
        && (kept.position, kept.head) == (peeked.head.sequence, peeked.head.hash)
        && (kept.settled || kept.quarter == quarter())
        && SpecIndex::decode(&kept.seen.specs).is_ok_and(|files| match look {
            UnchangedBy::Metadata => files.is_unchanged(&setup.specs.roots()),
            UnchangedBy::Content => files.has_same_contents(&setup.specs.roots()),
        })
        && setup.attachments_unchanged(&kept.seen.attached);
    let plan = if same { serde_json::from_str::<PlanView>(&kept.plan).ok() } else { None };
    let times = setup.config.rules(&ProcessEnv)?.times;
    let plan = plan.filter(|plan| plan.rules == TimeRuleView::holding(&times, SystemClock.now()));
    Ok(plan.map(|plan| PlanView { commit: setup.commit(), ..plan }))
}

fn quarter() -> i64 {
    SystemClock.now().timestamp().div_euclid(QUARTER_S)
}

pub(crate) fn file_marks(loader: &Loader, read_at_ns: i64) -> FileMarks {
    FileMarks { specs: loader.index(read_at_ns).header(), attached: loader.attached_files() }
}

pub(crate) fn store_plan(setup: &Context, index: &dyn Index, seen: FileMarks, plan: &PlanView) {
    let head = data_encoding::HEXLOWER.decode(plan.head.as_bytes());
    let head = head.ok().and_then(|head| <[u8; 32]>::try_from(head).ok());
    let (Some(head), Ok(text)) = (head, serde_json::to_string(plan)) else { return };
    if plan.steps.len() > STEPS_MAX {
        return;
    }
    let config = config_digest(setup);
    let position = plan.position;
    let (settled, quarter) = (plan.steps.is_empty(), quarter());
    let program = VERSION.to_owned();
    let kept = CachedPlan { program, config, position, head, settled, quarter, seen, plan: text };
    let mut bytes = Vec::new();
    if ciborium::into_writer(&kept, &mut bytes).is_ok() {
        let mut batch = Batch::new();
        batch.put(ENTRY, bytes);
        // A plan that is not cached is made again.
        drop(index.apply(batch));
    }
}

/// Returns a digest of the configuration file and of the paths, each part behind its length.
fn config_digest(setup: &Context) -> [u8; 32] {
    let mut hash = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        hash.update(&u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes()).update(bytes);
    };
    part(&std::fs::read(setup.root.join(&*setup.config.file)).unwrap_or_default());
    for folder in setup.specs.paths() {
        part(folder.as_os_str().as_encoded_bytes());
    }
    // Limits may come from environment variables.
    part(format!("{:?}", setup.config.rules(&ProcessEnv)).as_bytes());
    part(setup.live_refused().unwrap_or_default().as_bytes());
    *hash.finalize().as_bytes()
}
