//! Builds one event with all of its history: the index names the event's records, and the journal
//! holds them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::base::clock::timestamp;
use crate::base::id::Key;
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::hooks::event::event_value;
use crate::engine::protocol::event_detail::{
    EventDelivery, EventDeliveryAttempt, EventDetail, EventReplay, EventVerification,
};
use crate::engine::protocol::event_filter::EventState;
use crate::engine::protocol::next_steps::NextStep;
use crate::engine::queries::event_list::{HookStates, event_view};
use crate::engine::queries::event_runs::{ActionHistory, RunViews};
use crate::model::events::event::{EventEntry, EventStatus, WebhookContent};
use crate::model::record::Record;
use crate::scripting::host::script_event::record_without_private;
use crate::store::history::DecodedRecords;
use crate::store::journal::read::JournalSet;

/// Records of one event that are read, at most: the newest ones.
const RECORDS_MAX: usize = 500;

/// Returns an event with its history; `None` if this state does not know it.
pub(crate) fn event_detail(
    shared: &EngineShared,
    books: &JournalSet,
    id: &str,
) -> EngineResult<Option<EventDetail>> {
    for merchant in shared.facts.event_merchants()? {
        if let Some(entry) = shared.facts.event(&merchant, id)? {
            return detail_of(shared, books, (&merchant, id, &entry)).map(Some);
        }
    }
    Ok(None)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the others add nothing of their own")]
fn detail_of(
    shared: &EngineShared,
    books: &JournalSet,
    (merchant, id, entry): (&Key, &str, &EventEntry),
) -> EngineResult<EventDetail> {
    let sequences = shared.facts.event_records(merchant, id, RECORDS_MAX)?;
    let DecodedRecords { records, dropped } = books.decoded(&sequences)?;
    let mut detail = empty_detail(shared, (merchant, id, entry))?;
    let mut runs = RunViews::default();
    let history = ActionHistory::new(shared, books, attempts(&records));
    for (record, content) in &records {
        match content {
            Record::WebhookReceived(post) => detail.deliveries.push(EventDelivery {
                at: timestamp(&post.at),
                record: *record,
                other_mode: matches!(post.what, WebhookContent::OtherMode(_)),
            }),
            Record::HooksRun(ran) => runs.add(*record, ran, &history)?,
            Record::Replayed(replay) => {
                runs.begin_again();
                let (at, actor) = (timestamp(&replay.at), replay.actor.clone());
                detail.replays.push(EventReplay { at, actor, script: None });
            }
            Record::ReplayRequested(request) => {
                runs.begin_again();
                let (at, actor) = (timestamp(&request.at), request.actor.clone());
                let script = Some(request.script.clone());
                detail.replays.push(EventReplay { at, actor, script });
            }
            _ => {}
        }
    }
    detail.runs = runs.views;
    detail.not_known = gaps(entry, &detail, (records.len(), dropped.len()));
    detail.next = next_steps(&detail);
    Ok(detail)
}

fn empty_detail(
    shared: &EngineShared,
    (merchant, id, entry): (&Key, &str, &EventEntry),
) -> EngineResult<EventDetail> {
    let mut event = event_view(merchant, id, entry);
    let mut data = Value::Null;
    let mut verified = None;
    if let EventStatus::Verified(told) = &entry.status {
        let states = HookStates::of(&shared.facts, merchant)?;
        event.hooks = Some(states.hooks(id, states.is_next(id, told)?)?);
        data = event_value(shared, told)?.get_mut("data").map(Value::take).unwrap_or_default();
        verified = Some(EventVerification { at: timestamp(&told.at), without_hooks: told.quiet });
    }
    Ok(EventDetail {
        event,
        at: timestamp(&shared.now()),
        data: record_without_private(&data),
        verified,
        deliveries: Vec::new(),
        runs: Vec::new(),
        replays: Vec::new(),
        not_known: Vec::new(),
        next: Vec::new(),
    })
}

/// Gathers the starts and failures of deliveries by the names of their actions.
fn attempts(records: &[(u64, Record)]) -> BTreeMap<String, Vec<EventDeliveryAttempt>> {
    let mut found: BTreeMap<String, Vec<EventDeliveryAttempt>> = BTreeMap::new();
    for (_, record) in records {
        if let Record::NotificationAttempt(attempt) = record {
            let (at, started) = (timestamp(&attempt.at), attempt.in_progress);
            let attempts = found.entry(attempt.id.name.to_string()).or_default();
            attempts.push(EventDeliveryAttempt { at, started });
        }
    }
    found
}

/// Returns sentences about what this state does not know.
fn gaps(entry: &EventEntry, detail: &EventDetail, (read, dropped): (usize, usize)) -> Vec<String> {
    let mut gaps = Vec::new();
    if dropped > 0 {
        gaps.push(format!("{dropped} older records of this event were dropped by a compaction"));
    }
    if read == 0 && dropped == 0 {
        gaps.push(
            "its posts and hook runs were recorded before this state kept their places".to_owned(),
        );
    }
    if read >= RECORDS_MAX {
        gaps.push(format!("only its newest {RECORDS_MAX} records are shown"));
    }
    let posts = usize::try_from(entry.posts).unwrap_or(usize::MAX);
    if posts > detail.deliveries.len() && read > 0 {
        gaps.push("the times of some posts are not known".to_owned());
    }
    if detail.verified.is_some() && detail.data.is_null() {
        gaps.push("its data was erased with its merchant".to_owned());
    }
    gaps
}

fn next_steps(detail: &EventDetail) -> Vec<NextStep> {
    let id = &detail.event.id;
    let mut steps = Vec::new();
    let mut add = |purpose: &str, command: String| steps.push(NextStep::new(purpose, command));
    match detail.event.hooks.as_ref().map(|hooks| hooks.state) {
        Some(EventState::Failed) => {
            add("try the scripts of the folder on it", format!("reckon hooks try {id}"));
            add("run its failed hooks again", format!("reckon events replay {id}"));
            add("acknowledge the failure", format!("reckon events failed --ack {id}"));
        }
        Some(EventState::NotDone) => {
            add("acknowledge the action", format!("reckon events failed --ack {id}"));
        }
        Some(EventState::Acting | EventState::Retrying) => {
            add("see the reason why it waits", "reckon events failed".to_owned());
        }
        Some(_) | None => {}
    }
    let mut effects =
        detail.runs.iter().flat_map(|run| &run.actions).flat_map(|action| &action.effects);
    if let Some(effect) = effects.next_back() {
        add("see the history of its effect", format!("reckon why {}", effect.intent));
    }
    steps
}
