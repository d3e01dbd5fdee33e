//! Hooks of a running daemon: each event runs them once, and each action that they request is done once.

mod replay;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use crate::support::notifier::Pigeon;
use crate::support::payments::{MERCHANT, START, card, recurring};
use crate::support::webhooks::{Ears, merchant};
use crate::support::world::World;
use crate::support::{payments, webhooks};
use reckon::base::hash::sha256;
use reckon::control::protocol::ControlRequest;
use reckon::control::requests::FreezeAll;
use reckon::engine::protocol::events::ResyncEvents;
use reckon::engine::protocol::hooks::HooksView;
use reckon::engine::protocol::input::{EngineCommand, ScriptSet};
use reckon::engine::protocol::query::{EngineQuery, Reply};
use reckon::model::events::event::EventLedger;
use reckon::model::events::hook_run::ActionOutcome;
use reckon::model::holds::FreezeRequest;
use reckon::model::operator::SuspensionRequest;
use reckon::notify::message::DeliveryResult;
use reckon::policy::Rights;
use reckon::sandbox::options::ServiceSurface;
use reckon::scripting::hooks::Hooks;
use reckon::scripting::language::names::ConfiguredNames;
use reckon::scripting::language::source::ScriptSource;
use reckon::store::index::ordered::Index;
use reckon::store::read_model::model::ReadModel;

const REFUND: &str = r#"
fn on_transaction_authorized(event) {
    if event.data.type != "CHARGE" || event.data.amount != 700 { return; }
    refund(event.data, #{name: "give-back"});
    kv_set("last", event.id);
}
"#;

/// Loads a set of one script.
fn scripts(name: &str, text: &str) -> ScriptSet {
    let path = format!("{name}.rhai");
    let source = ScriptSource { display_path: format!("scripts/{path}"), path, text: text.into() };
    let set = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<BTreeSet<_>>();
    let kinds = set(&["Merchant", "SavedMethod", "RecurringCharge"]);
    let known = ConfiguredNames {
        targets: set(&["ops", "chat"]),
        kinds,
        rights: Rights::all(),
        ..ConfiguredNames::default()
    };
    let hooks = Hooks::load(&[source], &known);
    assert!(hooks.is_ok(), "{:?}", hooks.err());
    ScriptSet { hooks: hooks.ok(), files: sha256(text.as_bytes()), problems: 0 }
}

async fn connected() -> World {
    let world = World::new(ServiceSurface::Public, START);
    let tree =
        [MERCHANT.to_owned(), card("jane", "4242424242424242"), recurring("rent", "jane", "")];
    world.write(&tree.concat());
    assert_eq!(world.settle().await, Vec::<String>::new());
    world
}

fn charge(world: &World, minor: i64) -> String {
    let method = json!({"type": "card", "number": "4242424242424242", "exp_month": 12,
        "exp_year": 2031, "cvv": "123"});
    let charge = json!({"amount": minor, "method": method});
    let charge = world.ask("acme", "POST", "/v1/charges", &charge);
    charge["id"].as_str().unwrap().to_owned()
}

fn refunds(world: &World) -> usize {
    world.objects("transactions").iter().filter(|one| one["type"] == "REFUND").count()
}

async fn hooks(ears: &Ears<'_>) -> HooksView {
    let Ok(Reply::Hooks(view)) = ears.control.ask(EngineQuery::Hooks).await else {
        panic!("unexpected response")
    };
    *view
}

#[tokio::test(start_paused = true)]
async fn what_a_hook_asks_for_is_done_once() {
    let world = connected().await;
    world
        .hearing_with(Some(scripts("give_back", REFUND)), None, async |ears| {
            ears.wait(5).await;
            charge(&world, 700);
            charge(&world, 800);
            ears.wait(120).await;
            assert_eq!(refunds(&world), 1);
            assert_eq!(hooks(ears).await.waiting, []);
        })
        .await;
    let renamed = scripts("another_name", REFUND);
    world
        .hearing_with(Some(renamed), None, async |ears| {
            ears.wait(300).await;
            assert_eq!(refunds(&world), 1, "a renamed script requests the same action");
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn during_a_freeze_an_action_waits_and_afterwards_it_is_done_once() {
    let world = connected().await;
    world
        .hearing_with(Some(scripts("give_back", REFUND)), None, async |ears| {
            ears.wait(5).await;
            let tell = |request| ears.control.send(FreezeAll(request), "uid 7".to_owned());
            tell(FreezeRequest::Freeze { reason: "audit".to_owned() }).await.unwrap();
            charge(&world, 700);
            ears.wait(600).await;
            assert_eq!((refunds(&world), hooks(ears).await.waiting.len()), (0, 1));
            tell(FreezeRequest::Thaw).await.unwrap();
            ears.wait(30).await;
            assert_eq!((refunds(&world), hooks(ears).await.waiting.len()), (1, 0));
        })
        .await;
}

async fn suspended(ears: &Ears<'_>) -> usize {
    let Ok(Reply::Overview(now)) = ears.control.ask(EngineQuery::Overview).await else {
        panic!("unexpected response")
    };
    now.suspended
}

/// A script suspends by the former name, and a person resumes. After an update, another script asks
/// for the same by the present name.
#[tokio::test(start_paused = true)]
async fn what_was_done_by_a_former_name_is_not_done_again_by_the_present_one() {
    let function = |name: &str| {
        format!(
            "fn on_transaction_authorized(event) {{ {name}(\"RecurringCharge/rent\", \"looked at\"); "
        )
    };
    let (world, pigeon) = (connected().await, Pigeon::answering(&[]));
    let former = scripts("a", &format!("{}}}", function("hold")));
    world
        .hearing_with(Some(former), None, async |ears| {
            ears.wait(5).await;
            charge(&world, 700);
            ears.wait(70).await;
            assert_eq!(suspended(ears).await, 1);
        })
        .await;
    let resume = SuspensionRequest::Resume { key: "RecurringCharge/rent".parse().unwrap() };
    let resume = EngineCommand::Suspend(resume, "ann".to_owned());
    world.engine().command(resume).await.unwrap();
    let present = format!(
        "const SINCE = \"2020-01-01\";\n{}notify(\"ops\", \"ran\"); }}",
        function("suspend")
    );
    world
        .hearing_with(Some(scripts("b", &present)), Some(pigeon.clone()), async |ears| {
            ears.wait(120).await;
            assert_eq!((pigeon.carried().len(), suspended(ears).await), (1, 0), "done once");
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn what_was_asked_for_is_done_by_the_next_process_and_once() {
    for fault in ["drop_after", "error_before", "error_after"] {
        let world = connected().await;
        world.hearing_with(Some(scripts("a", REFUND)), None, async |ears| ears.wait(5).await).await;
        charge(&world, 700);
        let order = json!({"method": "POST", "path": "/v1/charges/", "fault": fault,
            "status": 503, "times": 1});
        world.control("POST", "faults", &order);
        for seconds in [1, 2, 3, 400, 400] {
            world
                .hearing_with(Some(scripts("b", REFUND)), None, async |ears| {
                    ears.wait(seconds).await;
                })
                .await;
        }
        assert_eq!(refunds(&world), 1, "{fault}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_fails_asks_for_nothing_backs_off_and_is_left_to_a_person() {
    let text = r#"
fn on_transaction_authorized(event) {
    if event.data.amount != 700 { return; }
    refund(event.data, #{name: "give-back"});
    if kv_get("mended") == () { throw "not yet"; }
}
fn on_transaction_voided(event) { kv_set("mended", true); }
"#;
    let world = connected().await;
    world
        .hearing_with(Some(scripts("careful", text)), None, async |ears| {
            ears.wait(5).await;
            charge(&world, 700);
            ears.wait(65).await;
            let view = hooks(ears).await;
            assert_eq!((view.failed.len(), view.dead.len()), (1, 0));
            assert!(view.failed[0].message.contains("not yet"), "{:?}", view.failed);
            ears.wait(3600).await;
            let view = hooks(ears).await;
            assert_eq!((view.failed.len(), view.dead.len()), (0, 1));
            assert_eq!(
                (view.dead[0].tries, refunds(&world)),
                (5, 0),
                "a failed run requests nothing"
            );
            let other = charge(&world, 900);
            world.ask("acme", "POST", &format!("/v1/transactions/{other}/void"), &json!({}));
            ears.wait(65).await;
            let event = view.dead[0].event.clone();
            let asked = ears.control.send(ControlRequest::Replay(event), "ann".to_owned()).await;
            assert_eq!(asked, Ok(Reply::Replayed(1)));
            ears.wait(60).await;
            assert_eq!((hooks(ears).await.dead.len(), refunds(&world)), (0, 1));
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_script_reads_what_there_is_and_waits_as_long_as_it_says() {
    let text = r#"
fn on_transaction_authorized(event) {
    if event.data.amount != 700 { return; }
    let rent = resource("RecurringCharge/rent");
    let cards = find("SavedMethod", #{ready: true});
    let charge = gateway_get("transaction.get", #{id: event.data.id});
    if rent == () || cards.len() != 1 || charge.amount != 700 { throw "not as expected"; }
    suspend("RecurringCharge/rent", "looked at", #{name: "stop", at: add_days(date(event.created), 2)});
}
"#;
    let world = connected().await;
    world
        .hearing_with(Some(scripts("reader", text)), None, async |ears| {
            ears.wait(5).await;
            charge(&world, 700);
            ears.wait(70).await;
            let view = hooks(ears).await;
            assert_eq!((view.failed, view.dead), (Vec::new(), Vec::new()));
            assert_eq!((view.waiting.len(), view.waiting[0].verb.as_str()), (1, "suspend"));
            ears.wait(3 * 24 * 3600).await;
            assert_eq!((hooks(ears).await.waiting, suspended(ears).await), (Vec::new(), 1));
        })
        .await;
}

const TELL: &str = r#"
fn on_transaction_authorized(event) {
    if event.data.amount != 700 { return; }
    notify("ops", `charged ${amount_of(event.data)}`, #{name: "tell"});
}
"#;

#[tokio::test(start_paused = true)]
async fn somebody_is_told_once_and_never_again_where_that_is_in_doubt() {
    let gone = DeliveryResult::NotSent("nobody listens".to_owned());
    let lost = DeliveryResult::InDoubt("no answer came".to_owned());
    for (answers, times) in [(vec![gone.clone(), gone, DeliveryResult::Done], 3), (vec![lost], 1)] {
        let world = connected().await;
        let pigeon = Pigeon::answering(&answers);
        let found = scripts("tell", TELL);
        world
            .hearing_with(Some(found), Some(pigeon.clone()), async |ears| {
                ears.wait(5).await;
                charge(&world, 700);
                ears.wait(1800).await;
                let view = hooks(ears).await;
                assert_eq!(
                    (view.waiting, view.undone.len()),
                    (Vec::new(), usize::from(times == 1))
                );
                let Some(lost) = view.undone.first() else { return };
                assert_eq!(
                    (lost.fate, lost.message.as_str()),
                    (ActionOutcome::Unknown, "no answer came")
                );
                assert!(lost.help.starts_with("check whether it arrived"), "{}", lost.help);
                let seen = async |event: &str| {
                    let request = ControlRequest::Dismiss(event.to_owned());
                    ears.control.send(request, "uid 7".to_owned()).await.unwrap()
                };
                assert_eq!(seen("evt_other").await, Reply::Dismissed(0));
                assert_eq!(seen(&lost.event).await, Reply::Dismissed(1));
                assert_eq!(hooks(ears).await.undone, []);
            })
            .await;
        let carried = pigeon.carried();
        assert_eq!(carried.len(), times);
        assert!(carried.iter().all(|one| one.key == carried[0].key && one.target == "ops"));
        assert_eq!(carried[0].body, Value::from("charged 7.00 USD"));
    }
}

/// Sends 20 notifications for each charge: two days later for 7.00, else at once. A charge of 9.00 fails the run.
const MANY: &str = r#"
fn on_transaction_authorized(event) {
    if event.data.amount == 900 { throw "no"; }
    for number in 0..20 {
        if event.data.amount == 700 {
            notify("ops", "later", #{name: `later-${number}`, at: add_days(date(event.created), 2)});
        } else {
            notify("ops", "now", #{name: `now-${number}`});
        }
    }
}
"#;

/// Closes K6.
#[tokio::test(start_paused = true)]
async fn what_waits_and_what_failed_is_not_read_again_for_each_action_that_is_done() {
    let (world, pigeon) = (connected().await, Pigeon::answering(&[]));
    let found = scripts("many", MANY);
    world
        .hearing_with(Some(found), Some(pigeon.clone()), async |ears| {
            ears.wait(5).await;
            for amount in [700, 900] {
                (0..20).for_each(|_| drop(charge(&world, amount)));
                ears.wait(3600).await;
            }
            let view = hooks(ears).await;
            assert_eq!((view.waiting.len(), view.dead.len()), (400, 20));
            assert_eq!((view.totals.waiting, view.totals.dead), (400, 20));
            let before = world.reads.load(Ordering::Relaxed);
            (0..10).for_each(|_| drop(charge(&world, 800)));
            ears.wait(600).await;
            assert_eq!(pigeon.carried().len(), 200);
            let reads = world.reads.load(Ordering::Relaxed) - before;
            assert!(reads < 10 * 200, "{reads} reads for 200 notifications");
            ears.wait(3 * 24 * 3600).await;
            let totals = hooks(ears).await.totals;
            assert_eq!((pigeon.carried().len(), totals.waiting, totals.dead), (600, 0, 20));
        })
        .await;
}

/// Closes K7.
#[tokio::test(start_paused = true)]
async fn a_target_that_hangs_holds_up_neither_money_nor_other_targets() {
    let text = r#"
fn on_transaction_authorized(event) {
    if event.data.type != "CHARGE" { return; }
    for number in 0..20 { notify("ops", "slow", #{name: `slow-${number}`}); }
    if event.data.amount == 700 {
        notify("chat", "quick", #{name: "quick"});
        refund(event.data, #{name: "give-back"});
    }
}
"#;
    let world = connected().await;
    let pigeon = Arc::new(Pigeon { hangs: Some("ops"), ..Pigeon::telling(&[]) });
    world
        .hearing_with(Some(scripts("slow", text)), Some(pigeon.clone()), async |ears| {
            ears.wait(5).await;
            charge(&world, 800);
            ears.wait(120).await;
            charge(&world, 700);
            ears.wait(120).await;
            assert_eq!(refunds(&world), 1);
            let to = |target| pigeon.carried().iter().filter(|one| one.target == target).count();
            assert_eq!((to("chat"), to("ops")), (1, 4), "a target has four slots");
        })
        .await;
}

/// Closes K7.
#[tokio::test(start_paused = true)]
async fn a_target_that_drops_repeats_is_told_again_under_one_key_until_a_day_is_over() {
    let lost = DeliveryResult::InDoubt("no answer came".to_owned());
    for (lost_answers, fate) in [(3, None), (1000, Some(ActionOutcome::Unknown))] {
        let world = connected().await;
        let answers = vec![lost.clone(); lost_answers];
        let pigeon = Arc::new(Pigeon { repeats: true, ..Pigeon::telling(&answers) });
        let told = scripts("tell", TELL);
        world
            .hearing_with(Some(told.clone()), Some(pigeon.clone()), async |ears| {
                ears.wait(5).await;
                charge(&world, 700);
                ears.wait(62).await;
            })
            .await;
        assert!(!pigeon.carried().is_empty(), "the first process sends before it ends");
        world
            .hearing_with(Some(told), Some(pigeon.clone()), async |ears| {
                ears.wait(25 * 3600).await;
                let view = hooks(ears).await;
                assert_eq!(view.undone.first().map(|one| one.fate), fate);
                assert_eq!(view.waiting, []);
            })
            .await;
        let carried = pigeon.carried();
        assert!(carried.iter().all(|one| one.key == carried[0].key));
        assert!(fate.is_some() || carried.len() == 4, "{}", carried.len());
    }
}

#[tokio::test(start_paused = true)]
async fn a_chain_of_causes_comes_to_an_end() {
    let text = r#"
fn on_transaction_authorized(event) {
    if event.data.type != "CHARGE" { return; }
    charge("jane", amount_of(event.data), #{name: "again"});
}
"#;
    let world = connected().await;
    world
        .hearing_with(Some(scripts("echo", text)), None, async |ears| {
            ears.wait(5).await;
            charge(&world, 700);
            ears.wait(3600).await;
            let view = hooks(ears).await;
            assert_eq!(view.dead.len(), 1, "{:?}", view.dead);
            assert!(view.dead[0].message.contains("chain"), "{:?}", view.dead);
        })
        .await;
    let charges = world.objects("transactions").iter().filter(|one| one["amount"] == 700).count();
    assert_eq!(charges, 5, "one charge from outside, and four of hooks");
}

#[tokio::test(start_paused = true)]
async fn a_template_is_told_with_its_html_and_the_link_that_only_its_reader_sees() {
    let file = |path: &str, text: &str| ScriptSource {
        display_path: format!("scripts/{path}"),
        path: path.to_owned(),
        text: text.into(),
    };
    let script = r#"
fn on_transaction_authorized(event) {
    let values = #{name: "<Jane>", link: new_card_link("SavedMethod/later")};
    notify("ops", values, #{template: "pay", name: "tell"});
}
"#;
    let sources = [
        file("tell.rhai", script),
        file("templates/pay.txt", "Subject: For {{name}}\n\n{{name}}: {{link}}\n"),
        file("templates/pay.html", "<a href=\"{{link}}\">{{name}}</a>\n"),
    ];
    let set = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<BTreeSet<_>>();
    let known = ConfiguredNames {
        targets: set(&["ops"]),
        kinds: set(&["Merchant", "SavedMethod"]),
        rights: Rights::all(),
        ..ConfiguredNames::default()
    };
    let hooks = Hooks::load(&sources, &known).unwrap();
    let found = ScriptSet { hooks: Some(hooks), files: sha256(b"templates"), problems: 0 };
    let (world, pigeon) = (connected().await, Pigeon::answering(&[]));
    let waits = payments::document("SavedMethod", "later", "type: card\n  source: intake");
    world.write_beside("later.yaml", &waits);
    world
        .hearing_with(Some(found), Some(pigeon.clone()), async |ears| {
            ears.wait(5).await;
            charge(&world, 700);
            ears.wait(120).await;
        })
        .await;
    let carried = pigeon.carried();
    assert_eq!(carried.len(), 1);
    assert_eq!(carried[0].subject.as_deref(), Some("For <Jane>"));
    let link = carried[0].body.as_str().unwrap().strip_prefix("<Jane>: ").unwrap();
    assert!(link.starts_with("https://pay.example/intake/default_later_"), "{link}");
    let html = format!("<a href=\"{link}\">&lt;Jane&gt;</a>\n");
    assert_eq!(carried[0].html, Some(html));
}

/// Returns the merchant's ledger of events in the index.
fn event_ledger(world: &World) -> EventLedger {
    ReadModel::new(world.index.clone()).event_ledger(&merchant()).unwrap()
}

/// Closes K11: after `keep`, settled events are dropped and open ones stay. A dropped event that the list shows again
/// is not new.
#[tokio::test(start_paused = true)]
async fn what_is_settled_and_old_is_dropped_and_is_no_news_when_the_list_shows_it_again() {
    let text = r#"
fn on_transaction_authorized(event) {
    if event.data.type != "CHARGE" { return; }
    if event.data.amount == 900 { throw "no"; }
    if event.data.amount == 700 { refund(event.data, #{name: "give-back"}); }
    if event.data.amount == 600 {
        notify("ops", "later", #{name: "later", at: add_days(date(event.created), 2)});
    }
}
"#;
    let mut world = connected().await;
    world.keep = Some(chrono::TimeDelta::hours(10));
    let pigeon = Pigeon::answering(&[]);
    world
        .hearing_with(Some(scripts("old", text)), Some(pigeon.clone()), async |ears| {
            ears.wait(5).await;
            for amount in [600, 700, 800, 900] {
                charge(&world, amount);
            }
            ears.wait(9 * 3600).await;
            assert_eq!(event_ledger(&world).dropped, 0, "no event is old yet");
            charge(&world, 800);
            ears.wait(3 * 3600).await;
            let ledger = event_ledger(&world);
            assert!(ledger.dropped >= 2 && ledger.dropped <= ledger.verified - 3, "{ledger:?}");
            assert_eq!((ledger.pending, ledger.dead), (1, 1), "open work stays");
            let (merchant, start) = (None, START.parse().unwrap());
            let asked = ResyncEvents { merchant, since: start, without_hooks: false };
            let reply =
                ears.control.send(ControlRequest::ResyncEvents(asked), "ann".to_owned()).await;
            let Ok(Reply::Recovered(Ok(read))) = reply else { panic!("{reply:?}") };
            assert_eq!(read[0].new, 0, "{read:?}");
            assert!(read[0].read > 3 && read[0].horizon.is_some(), "{read:?}");
            assert_eq!(refunds(&world), 1);
            let dead = hooks(ears).await.dead[0].event.clone();
            let known = |id: &str| {
                let facts = ReadModel::new(world.index.clone());
                facts.event(&webhooks::merchant(), id).unwrap().is_some()
            };
            let seen =
                ears.control.send(ControlRequest::Dismiss(dead.clone()), "ann".to_owned()).await;
            assert_eq!((seen, known(&dead)), (Ok(Reply::Dismissed(1)), true));
            ears.wait(40 * 3600).await;
            charge(&world, 800);
            ears.wait(12 * 3600).await;
            assert_eq!((pigeon.carried().len(), hooks(ears).await.waiting), (1, Vec::new()));
            assert!(!known(&dead), "an acknowledged old failure is dropped");
        })
        .await;
}

/// Returns the bytes of the index by the class of the entries. The first letters of a key name its class.
fn classes(world: &World) -> BTreeMap<String, usize> {
    let mut classes = BTreeMap::new();
    for (key, value) in world.index.scan(b"").unwrap() {
        let shown = String::from_utf8_lossy(&key).into_owned();
        let parts: Vec<&str> = shown.splitn(3, '/').collect();
        let class = match parts.as_slice() {
            ["v" | "w" | "x" | "f", second, ..] => format!("{}/{second}", parts[0]),
            _ => parts[0].to_owned(),
        };
        let bytes = classes.entry(class).or_insert(0_usize);
        *bytes = bytes.saturating_add(key.len()).saturating_add(value.len());
    }
    classes
}

/// Closes K11: six months after a hook's refund the index holds nothing of it. Its event, which the list still shows,
/// causes no further hook run.
#[tokio::test(start_paused = true)]
async fn a_refund_of_half_a_year_ago_leaves_the_index_and_is_not_made_again() {
    let mut world = connected().await;
    world.keep = Some(chrono::TimeDelta::hours(10));
    world
        .hearing_with(Some(scripts("refunds", REFUND)), None, async |ears| {
            ears.wait(60).await;
        })
        .await;
    let before = classes(&world);
    world
        .hearing_with(Some(scripts("refunds", REFUND)), None, async |ears| {
            ears.wait(5).await;
            for _ in 0..10 {
                charge(&world, 700);
            }
            ears.wait(3600).await;
        })
        .await;
    let actions = || world.index.scan(b"o/Action/").unwrap().len();
    assert_eq!((refunds(&world), actions()), (10, 10));
    // The service settles the refunds, and their last events arrive.
    tokio::time::advance(std::time::Duration::from_hours(72)).await;
    world
        .hearing_with(Some(scripts("refunds", REFUND)), None, async |ears| {
            ears.wait(1800).await;
        })
        .await;
    tokio::time::advance(std::time::Duration::from_hours(184 * 24)).await;
    world
        .hearing_with(Some(scripts("refunds", REFUND)), None, async |ears| {
            ears.wait(3 * 3600).await;
            let (merchant, since) = (None, START.parse().unwrap());
            let asked = ResyncEvents { merchant, since, without_hooks: false };
            let reply =
                ears.control.send(ControlRequest::ResyncEvents(asked), "ann".to_owned()).await;
            let Ok(Reply::Recovered(Ok(read))) = reply else { panic!("{reply:?}") };
            assert_eq!(read[0].new, 0, "{read:?}");
            ears.wait(60).await;
        })
        .await;
    let after = classes(&world);
    assert_eq!((refunds(&world), actions()), (10, 0), "{after:?}");
    // The world binds its state to no partner, so marks are not known by their names. The rest keeps its size.
    for class in ["j", "q", "u", "w/c", "w/d", "w/p"] {
        let (was, is) = (before.get(class).unwrap_or(&0), after.get(class).unwrap_or(&0));
        assert!(*is <= was + 200, "{class}: {was} {is}\n{before:?}\n{after:?}");
    }
}
