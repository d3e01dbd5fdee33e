//! Folds the ledger of a merchant: the counts of its events, the queue of posted ids that wait to be
//! verified, and the failed actions of hooks, listed for people.
//!
//! The queue is oldest first, many ids to an entry, so that a flood of posts stays cheap. Pages are
//! numbered from 1. A waiting event knows its page; only the newest page grows. Of the failed actions
//! the newest of each merchant are listed, until a person has acknowledged them.

use crate::base::id::Key;
use crate::model::events::event::EventLedger;
use crate::model::events::hook_run::{
    ActionOutcome, ActionResult, FailedAction, HooksAcknowledged, PendingAction,
};
use crate::store::error::Folded;
use crate::store::projection::scripts;
use crate::store::projection::scripts::remove_failed_run;
use crate::store::read_model::events::{EVENT_LEDGERS, EVENT_PAGES, EVENTS_WAITING};
use crate::store::read_model::hooks::{FAILED_ACTIONS, HOOKS_FAILED, failed_run_key, is_stopped};
use crate::store::read_model::model::{Changes, Entries, decode};

/// Ids in one page.
const PAGE_MAX: usize = 64;

/// The newest page of a merchant, while posts are added.
#[derive(Debug)]
pub(crate) struct NewestPage {
    merchant: Key,
    newest: u64,
    ids: Vec<String>,
}

impl NewestPage {
    pub(crate) fn open(entries: &impl Entries, merchant: &Key) -> Folded<Self> {
        let newest = EVENT_PAGES.get(entries, merchant)?.unwrap_or(1);
        let ids = EVENTS_WAITING.get(entries, (merchant, newest))?.unwrap_or_default();
        Ok(Self { merchant: merchant.clone(), newest, ids })
    }

    /// Adds an id to the queue; returns its page.
    pub(crate) fn add(&mut self, changes: &mut Changes<'_>, id: &str) -> Folded<u64> {
        if self.ids.len() >= PAGE_MAX {
            self.write(changes)?;
            self.newest = self.newest.saturating_add(1);
            self.ids.clear();
            EVENT_PAGES.put(changes, &self.merchant, &self.newest)?;
        }
        self.ids.push(id.to_owned());
        Ok(self.newest)
    }

    pub(crate) fn write(&self, changes: &mut Changes<'_>) -> Folded {
        Ok(EVENTS_WAITING.put(changes, (&self.merchant, self.newest), &self.ids)?)
    }
}

/// Removes an id from the queue.
pub(crate) fn remove_waiting(changes: &mut Changes<'_>, page: (&Key, u64), id: &str) -> Folded {
    let mut ids = EVENTS_WAITING.get(changes, page)?.unwrap_or_default();
    ids.retain(|one| one != id);
    if ids.is_empty() {
        EVENTS_WAITING.remove(changes, page);
        return Ok(());
    }
    Ok(EVENTS_WAITING.put(changes, page, &ids)?)
}

/// Changes a merchant's ledger and writes it back.
pub(crate) fn change_ledger(
    changes: &mut Changes<'_>,
    merchant: &Key,
    change: impl FnOnce(&mut EventLedger),
) -> Folded {
    let mut ledger = EVENT_LEDGERS.get(changes, merchant)?.unwrap_or_default();
    change(&mut ledger);
    Ok(EVENT_LEDGERS.put(changes, merchant, &ledger)?)
}

/// Maximum of failed actions listed for each merchant; the journal has all of them.
const KEPT_MAX: u64 = 500;

/// Counts the end of an action, and lists a failed one.
pub(crate) fn count_result(
    changes: &mut Changes<'_>,
    pending: PendingAction,
    granted: &ActionResult,
) -> Folded {
    let merchant = &granted.id.merchant;
    let mut number = 0;
    change_ledger(changes, merchant, |ledger| {
        ledger.actions.count(granted.outcome);
        number = ledger.actions.failed();
    })?;
    if matches!(granted.outcome, ActionOutcome::Done | ActionOutcome::Skipped) {
        return Ok(());
    }
    if let Some(old) = number.checked_sub(KEPT_MAX) {
        FAILED_ACTIONS.remove(changes, (merchant, old));
    }
    let (verb, script) = (pending.request.verb, pending.script);
    let failed = FailedAction { result: granted.clone(), verb, script };
    Ok(FAILED_ACTIONS.put(changes, (merchant, number), &failed)?)
}

/// Records that a person has acknowledged the failures of an event's hooks.
pub(crate) fn acknowledge(changes: &mut Changes<'_>, dismissed: &HooksAcknowledged) -> Folded {
    for (key, value) in changes.scan(FAILED_ACTIONS.prefix())? {
        let undone: FailedAction = decode(&key, &value)?;
        if undone.result.id.event == dismissed.event {
            changes.batch.remove(key);
        }
    }
    let event = &dismissed.event;
    let merchants = EVENT_LEDGERS.keys(changes)?;
    merchants.iter().try_for_each(|merchant| acknowledge_runs(changes, merchant, event))
}

/// Removes an event's failed hook runs that are not retried.
fn acknowledge_runs(changes: &mut Changes<'_>, merchant: &Key, event: &str) -> Folded {
    for failed in HOOKS_FAILED.under((merchant, event)).list(changes)? {
        if failed.failed.retry_at.is_some() {
            continue;
        }
        let was_stopped = is_stopped(changes, merchant, &failed.failed.script)?;
        let mut ledger = EVENT_LEDGERS.get(changes, merchant)?.unwrap_or_default();
        remove_failed_run(changes, &mut ledger, failed_run_key(&failed))?;
        EVENT_LEDGERS.put(changes, merchant, &ledger)?;
        if was_stopped {
            scripts::queue_again(changes, merchant)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::base::hash::sha256;
    use crate::base::id::Mode;
    use crate::model::events::event::{ReceivedWebhook, WebhookContent};
    use crate::model::events::hook::{ActionRequest, NOTIFY};
    use crate::model::events::hook_run::ActionRequestId;
    use crate::model::record::Record;
    use crate::store::index::ordered::{Batch, Index as _, MemoryIndex};
    use crate::store::journal::chain::Head;
    use crate::store::projection::fold::IndexFold;
    use crate::store::read_model::hooks::ACTION_REQUESTS;
    use crate::store::read_model::model::ReadModel;
    use crate::store::writer::core::Fold as _;

    fn merchant() -> Key {
        "Merchant/acme".parse().unwrap()
    }

    fn add(index: &MemoryIndex, ids: std::ops::Range<usize>) -> Vec<u64> {
        let mut batch = Batch::new();
        let changes = &mut Changes::new(index, &mut batch);
        let mut pages = NewestPage::open(changes, &merchant()).unwrap();
        let added = ids.map(|id| pages.add(changes, &format!("{id:04}")).unwrap()).collect();
        pages.write(changes).unwrap();
        index.apply(batch).unwrap();
        added
    }

    #[test]
    fn the_oldest_come_first_and_none_is_lost_between_pages() {
        let index = Arc::new(MemoryIndex::new());
        let facts = ReadModel::new(index.clone());
        let mut pages = add(&index, 0..10);
        pages.extend(add(&index, 10..200));
        assert_eq!((pages.first(), pages.last()), (Some(&1), Some(&4)));
        let waiting = |most| facts.events_waiting(&merchant(), most).unwrap();
        let all: Vec<String> = (0..200).map(|id| format!("{id:04}")).collect();
        assert_eq!(waiting(1000), all);
        assert_eq!(waiting(70), all[..70]);
        let mut batch = Batch::new();
        let changes = &mut Changes::new(&*index, &mut batch);
        for (id, page) in all.iter().zip(&pages).take(130) {
            remove_waiting(changes, (&merchant(), *page), id).unwrap();
        }
        index.apply(batch).unwrap();
        assert_eq!(waiting(1000), all[130..]);
        assert_eq!(add(&index, 200..201), [4], "the newest page goes on");
        let mut batch = Batch::new();
        let changes = &mut Changes::new(&*index, &mut batch);
        for id in 130..201 {
            let page = if id < 192 { 3 } else { 4 };
            remove_waiting(changes, (&merchant(), page), &format!("{id:04}")).unwrap();
        }
        index.apply(batch).unwrap();
        assert_eq!((waiting(1), add(&index, 201..202)), (vec![], vec![4]));
    }

    fn post(number: usize) -> Record {
        let (id, mode) = (format!("e{}", number % 90), Mode::Test);
        let what = match number % 7 {
            0 => WebhookContent::OtherMode(id),
            1 => WebhookContent::Malformed(sha256(id.as_bytes())),
            _ => WebhookContent::Event(id),
        };
        let merchant = format!("Merchant/m{}", number % 2).parse().unwrap();
        let (body, at) = (String::new(), chrono::DateTime::UNIX_EPOCH);
        Record::WebhookReceived(Box::new(ReceivedWebhook { merchant, mode, what, body, at }))
    }

    #[test]
    fn many_posts_at_once_are_taken_in_as_one_after_the_other() {
        let posts: Vec<(u64, Record)> = (1..).zip((0..400).map(post)).collect();
        let states = [1, 7, 400].map(|size| {
            let index = Arc::new(MemoryIndex::new());
            let mut fold = IndexFold::new(index.clone());
            for group in posts.chunks(size) {
                let sequence = group.last().unwrap().0;
                fold.apply(group, Head { sequence, hash: [0; 32] }).unwrap();
            }
            (index.scan(b"").unwrap(), ReadModel::new(index))
        });
        let [(one, facts), (some, _), (all, _)] = states;
        assert!(one == some && one == all);
        let merchant = "Merchant/m1".parse().unwrap();
        let ledger = facts.event_ledger(&merchant).unwrap();
        let waiting = facts.events_waiting(&merchant, 1000).unwrap();
        assert_eq!((ledger.posts, ledger.waiting), (200, u64::try_from(waiting.len()).unwrap()));
        assert!(ledger.repeated > 100 && ledger.malformed > 0, "{ledger:?}");
        assert_eq!(waiting.first().map(String::as_str), Some("e3"));
    }

    /// Ends an action of this number in the state.
    fn end(index: &Arc<MemoryIndex>, number: u64, fate: ActionOutcome) {
        let merchant: Key = "Merchant/acme".parse().unwrap();
        let at = chrono::DateTime::UNIX_EPOCH;
        let name = "tell".parse().unwrap();
        let id = ActionRequestId { merchant, event: format!("evt_{number}"), name };
        let fields = serde_json::json!({});
        let wish = ActionRequest {
            name: id.name.clone(),
            verb: NOTIFY.to_owned(),
            merchant: None,
            fields,
            at: None,
            at_most: None,
            content: None,
        };
        let pending = PendingAction {
            id: id.clone(),
            request: wish,
            script: "alarm".to_owned(),
            at,
            maybe_done: false,
        };
        let mut batch = Batch::new();
        ACTION_REQUESTS.put(&mut Changes::new(&**index, &mut batch), &id, &pending).unwrap();
        index.apply(batch).unwrap();
        let granted = ActionResult { id, outcome: fate, message: "why".to_owned(), at };
        let mut batch = Batch::new();
        let changes = &mut Changes::new(&**index, &mut batch);
        crate::store::projection::hooks::record_result(changes, &granted).unwrap();
        index.apply(batch).unwrap();
    }

    #[test]
    fn what_was_not_done_is_kept_in_bounded_number_until_somebody_has_seen_it() {
        let index = Arc::new(MemoryIndex::new());
        let facts = ReadModel::new(index.clone());
        end(&index, 0, ActionOutcome::Done);
        for number in 1..=KEPT_MAX + 3 {
            end(
                &index,
                number,
                if number % 2 == 0 { ActionOutcome::Refused } else { ActionOutcome::Unknown },
            );
        }
        let undone = facts.failed_actions().unwrap();
        let kept = usize::try_from(KEPT_MAX).unwrap();
        assert_eq!((undone.len(), undone[0].result.id.event.as_str()), (kept, "evt_4"));
        assert_eq!((undone[0].script.as_str(), undone[0].verb.as_str()), ("alarm", NOTIFY));
        let merchant = "Merchant/acme".parse().unwrap();
        let actions = facts.event_ledger(&merchant).unwrap().actions;
        assert_eq!((actions.done, actions.refused, actions.unknown), (1, 251, 252));
        let mut batch = Batch::new();
        let (event, actor) = ("evt_9".to_owned(), "uid 7".to_owned());
        let seen = HooksAcknowledged { event, actor, at: chrono::DateTime::UNIX_EPOCH };
        acknowledge(&mut Changes::new(&*index, &mut batch), &seen).unwrap();
        index.apply(batch).unwrap();
        assert_eq!(facts.failed_actions().unwrap().len(), kept - 1);
    }
}
