//! The fold of action requests: which ones may have been done before, and what a compaction keeps.

use chrono::DateTime;
use serde_json::json;

use crate::base::hash::sha256;
use crate::model::events::event::{Polled, VerifiedEvent, Via};
use crate::model::events::hook::{HookRead, NOTIFY};
use crate::model::events::hook_run::ActionOutcome;
use crate::model::record::Record;
use crate::model::remote_object::Freshness;
use crate::model::state::lifecycle::{Release, Restored};
use crate::store::index::ordered::{Batch, Index as _, MemoryIndex};
use crate::store::projection::events::*;
use crate::store::read_model::model::ReadModel;
use crate::store::read_model::resources::{PROGRESS, entries};
use crate::store::tests::support::fold;

const AT: DateTime<Utc> = DateTime::UNIX_EPOCH;

fn merchant() -> Key {
    "Merchant/acme".parse().unwrap()
}

fn told(event: &str) -> Record {
    Record::EventVerified(Box::new(VerifiedEvent {
        merchant: merchant(),
        event: event.to_owned(),
        kind: "transaction.authorized".to_owned(),
        created: AT,
        via: Via::Poll,
        body: String::new(),
        object: None,
        freshness: Freshness::Newer,
        quiet: false,
        previous: None,
        resources: Vec::new(),
        at: AT,
    }))
}

fn polled(whole: bool) -> Record {
    Record::Polled(Box::new(Polled { merchant: merchant(), to: AT, whole, at: AT }))
}

fn wish(verb: &str, name: Option<&str>) -> ActionRequest {
    let fields = json!({"charge": "c", "amount": 1});
    let made = ActionRequest::content_name(verb, None, &fields, None).unwrap();
    let name = name.map_or(made, |name| name.parse().unwrap());
    ActionRequest {
        name,
        verb: verb.to_owned(),
        merchant: None,
        fields,
        at: None,
        at_most: None,
        content: None,
    }
}

/// The hooks of an event ran: they request a refund by a name, one by its content, and a
/// notification.
fn ran(event: &str, number: u64, reads: bool) -> Record {
    let look = HookRead { what: "find".to_owned(), arguments: json!([]), answer: sha256(b"") };
    let run = HookRun {
        script: "s".to_owned(),
        function: "on_event".to_owned(),
        hash: sha256(b"s"),
        requests: vec![
            wish("refund", Some("named")),
            wish("refund", None),
            wish(NOTIFY, Some("tell")),
        ],
        kept: vec![("k".to_owned(), json!(1))],
        added: Vec::new(),
        reads: if reads { vec![look] } else { Vec::new() },
        log: Vec::new(),
        operations: 1,
        answers: Vec::new(),
        sealed: None,
    };
    let (event, merchant) = (event.to_owned(), merchant());
    let (runs, failures, at) = (vec![run], Vec::new(), AT);
    Record::HooksRun(Box::new(HookRunRecord {
        merchant,
        event,
        number,
        is_retry: false,
        script_identity: None,
        former_script: None,
        runs,
        failures,
        depth: 0,
        at,
    }))
}

fn restored() -> Record {
    Record::Restored(Box::new(Restored {
        epoch: 1,
        backup_sequence: 1,
        backup_head: sha256(b"head"),
        backup_at: AT,
        at: AT,
        actor: "ann".to_owned(),
        put_back: false,
    }))
}

fn folded(records: &[Record]) -> (MemoryIndex, ReadModel) {
    let index = MemoryIndex::new();
    for record in records {
        let mut batch = Batch::new();
        fold(&index, &mut batch, record).unwrap();
        index.apply(batch).unwrap();
    }
    let copy = std::sync::Arc::new(MemoryIndex::new());
    let mut batch = Batch::new();
    for (key, value) in index.scan(b"").unwrap() {
        batch.put(key, value);
    }
    copy.apply(batch).unwrap();
    (index, ReadModel::new(copy))
}

/// Returns the verbs of the actions that the service cannot show, and the number of those that are
/// looked up.
fn doubts(facts: &ReadModel) -> (Vec<String>, usize) {
    let all = facts.all_pending().unwrap();
    let looked = all.iter().filter(|one| facts.is_doubted(&one.action().unwrap()).unwrap()).count();
    let unsure = all.iter().filter(|one| one.maybe_done);
    let mut unsure: Vec<String> = unsure.map(|one| one.request.verb.clone()).collect();
    unsure.sort();
    (unsure, looked)
}

#[test]
fn an_event_is_surely_new_once_the_whole_list_was_read() {
    let doubts_of = |records: &[Record]| doubts(&folded(records).1);
    let early = [told("a"), ran("a", 1, false)];
    assert_eq!(doubts_of(&early), (vec!["notify".to_owned()], 3));
    let page = [polled(false), told("a"), ran("a", 1, false)];
    assert_eq!(doubts_of(&page).1, 3, "a page is not the whole list");
    let new = [polled(true), told("a"), ran("a", 1, true)];
    assert_eq!(doubts_of(&new), (Vec::new(), 0));
    let before = [told("a"), polled(true), ran("a", 1, true)];
    let guessed = vec!["notify".to_owned(), "refund".to_owned()];
    assert_eq!(doubts_of(&before), (guessed, 3), "a name of what was read is a guess");
}

#[test]
fn a_restore_puts_all_that_waits_in_doubt_and_a_person_s_word_ends_it() {
    let mut records = vec![polled(true), told("a"), ran("a", 1, true), restored()];
    let (_, facts) = folded(&records);
    assert_eq!(doubts(&facts), (vec!["notify".to_owned()], 3), "names that stand are no guess");
    assert!(!facts.has_read_all_events(&merchant()).unwrap(), "the list has to be read again");
    let waiting = facts.all_pending().unwrap();
    let tell = waiting.iter().find(|one| one.maybe_done).unwrap();
    let (keys, actor) = (vec![tell.action().unwrap()], "ann".to_owned());
    records.push(Record::Released(Box::new(Release { keys, done: true, at: AT, actor })));
    let (_, facts) = folded(&records);
    assert_eq!(facts.all_pending().unwrap().len(), 2);
    let granted = facts.action_result(&tell.id).unwrap().unwrap();
    assert_eq!((granted.outcome, granted.message.contains("ann")), (ActionOutcome::Done, true));
}

#[test]
fn everything_in_the_index_but_its_own_mark_is_part_of_the_state() {
    let (index, _) = folded(&[polled(true), told("a"), ran("a", 1, true), told("b"), restored()]);
    let all = index.scan(b"").unwrap();
    let own = all.iter().filter(|(key, _)| key != PROGRESS.prefix()).count();
    assert_eq!(entries(&index).unwrap().len(), own);
}
