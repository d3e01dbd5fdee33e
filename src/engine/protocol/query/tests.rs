use std::fmt::Debug;

use serde_json::json;

use super::*;
use crate::base::id::IntentId;
use crate::base::secret::Secret;
use crate::engine::protocol::payers::SecretLink;

fn key() -> Key {
    "Contact/jane".parse().unwrap()
}

fn queries() -> Vec<EngineQuery> {
    let scope = StepSelection { target: vec![key()], ..StepSelection::default() };
    vec![
        EngineQuery::Overview,
        EngineQuery::Status,
        EngineQuery::Resources(Box::default()),
        EngineQuery::Resource(key()),
        EngineQuery::Metrics,
        EngineQuery::Intents,
        EngineQuery::Events(EventsWanted {
            merchant: Some(key()),
            most: 7,
            ..EventsWanted::default()
        }),
        EngineQuery::Event("evt_1".to_owned()),
        EngineQuery::Hooks,
        EngineQuery::ScriptResource("Contact/jane".to_owned()),
        EngineQuery::ScriptFind("Contact".to_owned(), json!({"ready": true})),
        EngineQuery::TrialRun(TrialRunQuery::Event("evt_1".to_owned())),
        EngineQuery::Replay(Box::new(ReplaySelection {
            script: "answers".to_owned(),
            handlers: [("refund.created".to_owned(), "on_event".to_owned())].into(),
            merchant: Some(key()),
            since: chrono::DateTime::UNIX_EPOCH,
            until: None,
            limit: 7,
        })),
        EngineQuery::Graph(GraphSubject::Resource(key())),
        EngineQuery::Plan,
        EngineQuery::Scoped(scope.clone()),
        EngineQuery::Save(Box::new(SavePlan { scope, dirty: Some(true) })),
        EngineQuery::Approvals,
        EngineQuery::IntakeLink(key()),
        EngineQuery::JournalRefs(WhySubject::Intent(IntentId::new(1))),
        EngineQuery::Addresses,
        EngineQuery::Effects(9),
        EngineQuery::Settle,
    ]
}

fn reads_back<T>(value: &T)
where
    T: Serialize + for<'de> Deserialize<'de> + PartialEq + Debug,
{
    let text = serde_json::to_string(value).unwrap();
    assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value, "{text}");
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).unwrap();
    assert_eq!(&ciborium::from_reader::<T, _>(&*bytes).unwrap(), value);
}

#[test]
fn every_query_reads_back_from_its_written_form() {
    queries().iter().for_each(reads_back);
}

#[test]
fn replies_read_back_from_their_written_form() {
    let link = SecretLink(Secret::from("https://pay.example/x"));
    for reply in [
        Reply::Overview(Box::default()),
        Reply::Resource(None),
        Reply::ReplayCandidates(Box::default()),
        Reply::Settled,
        Reply::Allowed(vec![key()]),
        Reply::ScriptData(Err("why".to_owned())),
        Reply::RemoteGet(Ok(json!({"id": "c1"}))),
        Reply::Resolved(ResolveResult::Differs(key(), "why".to_owned())),
        Reply::Link(Some(link)),
        Reply::Link(None),
        Reply::Attached(Ok(key())),
        Reply::Addresses(vec![(WebhookAddress::Partner, Rotation::default())]),
        Reply::State(StateReply::Released(true)),
        Reply::OrphanSeen(None),
        Reply::Unknown(vec![UnknownName { key: key(), nearest: None }]),
        Reply::Local(LocalReply(json!([1]))),
    ] {
        reads_back(&reply);
    }
}

#[test]
fn only_answers_from_the_files_wait_for_the_files_to_be_read() {
    let about: Vec<EngineQuery> =
        queries().into_iter().filter(EngineQuery::is_about_files).collect();
    assert_eq!(about.len(), 4);
    let plans = |one: &EngineQuery| {
        matches!(
            one,
            EngineQuery::Plan | EngineQuery::Scoped(_) | EngineQuery::Save(_) | EngineQuery::Settle
        )
    };
    assert!(about.iter().all(plans));
}

#[test]
fn a_query_accepts_its_own_reply_and_no_other() {
    assert_eq!(OverviewQuery::answer(Reply::Overview(Box::default())), Some(Overview::default()));
    assert_eq!(OverviewQuery::answer(Reply::Settled), None);
    assert_eq!(SettleQuery::answer(Reply::Settled), Some(()));
    assert_eq!(PlanQuery::answer(Reply::Unknown(Vec::new())), None);
    let unknown = vec![UnknownName { key: key(), nearest: None }];
    let scoped = ScopedPlanQuery::answer(Reply::Unknown(unknown.clone()));
    assert_eq!(scoped, Some(Err(unknown)), "a refusal is an answer, too");
    assert_eq!(ResourceQuery::answer(Reply::Resource(None)), Some(None));
    let any = <EngineQuery as Query>::answer(Reply::Settled);
    assert_eq!(any, Some(Reply::Settled));
}

#[test]
fn no_secret_of_a_reply_shows_in_its_debug_form() {
    let link = Reply::Link(Some(SecretLink(Secret::from("canary"))));
    let local = Reply::Local(LocalReply(json!({"address": "canary"})));
    for reply in [link, local] {
        let shown = format!("{reply:?}");
        assert!(!shown.contains("canary"), "{shown}");
        assert!(serde_json::to_string(&reply).unwrap().contains("canary"), "its reader gets it");
    }
}
