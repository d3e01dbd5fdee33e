//! Folds runs that a person requested: they wait beside failed hook runs that are due again.
//!
//! Guarantees: a requested run is made once, in the order of the request, and its failure stops no
//! script. A hook that had failed before the request keeps its place in the count of failures.

use chrono::{DateTime, TimeDelta, Utc};

use crate::base::id::Key;
use crate::model::events::hook_run::{FailedHook, HookFailure, HookRunRecord};
use crate::model::events::replay::{ReplayRequest, RequestedRun, Requester};
use crate::store::error::Folded;
use crate::store::projection::events::{new_events, scripts};
use crate::store::projection::ledger::put_failed_run;
use crate::store::read_model::hooks::HOOKS_FAILED;
use crate::store::read_model::model::{Changes, Entries};
use crate::store::read_model::resources::EVENT_LEDGERS;

/// Makes the requested runs due. The times keep the order of the request: the last one is due a
/// microsecond before the request.
pub(crate) fn request_runs(changes: &mut Changes<'_>, request: &ReplayRequest) -> Folded {
    for (left, run) in (1_i64..).zip(request.runs.iter().rev()) {
        let due = request.at.checked_sub_signed(TimeDelta::microseconds(left));
        request_run(changes, request, run, due.unwrap_or(request.at))?;
    }
    Ok(())
}

fn request_run(
    changes: &mut Changes<'_>,
    request: &ReplayRequest,
    run: &RequestedRun,
    due: DateTime<Utc>,
) -> Folded {
    let event = (&run.merchant, run.event.as_str());
    let known = HOOKS_FAILED.get(changes, (event, request.script.as_str()))?;
    let mut failed = match known {
        Some(known) => known,
        None => first_request(request, run, is_in_doubt(changes, &run.merchant, run.number)?),
    };
    failed.failed.tries = 0;
    failed.failed.retry_at = Some(due);
    let mut ledger = EVENT_LEDGERS.get(changes, &run.merchant)?.unwrap_or_default();
    put_failed_run(changes, &mut ledger, &failed)?;
    Ok(EVENT_LEDGERS.put(changes, &run.merchant, &ledger)?)
}

/// Returns true if a lost state may have run the hooks of this event.
fn is_in_doubt(entries: &impl Entries, merchant: &Key, number: u64) -> Folded<bool> {
    Ok(!new_events(entries, merchant)?.covers(number))
}

fn first_request(request: &ReplayRequest, run: &RequestedRun, maybe_ran: bool) -> FailedHook {
    let failed = HookFailure {
        script: request.script.clone(),
        function: run.function.clone(),
        message: String::new(),
        tries: 0,
        retry_at: None,
        text: request.text,
        log: Vec::new(),
    };
    let requester = Some(Requester { actor: request.actor.clone(), at: request.at });
    let (merchant, event) = (run.merchant.clone(), run.event.clone());
    FailedHook { merchant, event, failed, maybe_ran, requester }
}

/// Returns the person who requested a run that ended now.
pub(crate) fn requester(entries: &impl Entries, ran: &HookRunRecord) -> Folded<Option<Requester>> {
    if !ran.is_retry {
        return Ok(None);
    }
    for script in scripts(ran).chain(ran.former_script.as_deref()) {
        let event = (&ran.merchant, ran.event.as_str());
        if let Some(known) = HOOKS_FAILED.get(entries, (event, script))? {
            return Ok(known.requester);
        }
    }
    Ok(None)
}
