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
