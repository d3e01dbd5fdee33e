//! The choice of when. The freeze: from its answer on no change goes to the service, whatever was under way, and nothing is lost or done
//! twice after its end. A manual daemon sends nothing that no person saw.

use serde_json::{Value, json};

use crate::support::payments::{MERCHANT, START, document};
use crate::support::requests::Seen;
use crate::support::shell::{Shell, code, stderr, stdout};
use crate::support::webhooks::Ears;
use crate::support::world::World;
use reckon::config::value::SyncMode;
use reckon::control::requests::{FreezeAll, Sync};
use reckon::engine::protocol::input::EngineCommand;
use reckon::engine::protocol::query::{EngineQuery, OverviewQuery, Reply};
use reckon::engine::protocol::views::Overview;
use reckon::model::holds::{FreezeRequest, FreezeResult, SyncResult};
use reckon::sandbox::options::ServiceSurface;

const INVOICE: &str = "contact: jane\n  bank_account: Operating\n  invoice_date: 2030-01-15\n  \
    line_items: [{description: Retainer, rate_per_quantity: \"125.00 USD\"}]";

fn contact(name: &str) -> String {
    let address = format!("email_addresses: [{{address: {name}@example.com}}]");
    document("Contact", name, &format!("first_name: Jane\n  last_name: Doe\n  {address}"))
}

fn contacts(count: usize) -> String {
    (0..count).map(|number| contact(&format!("jane-{number}"))).collect()
}

/// A world whose requests are recorded as they leave the engine.
fn world(tree: &str) -> (World, Seen) {
    let mut world = World::new(ServiceSurface::Public, START);
    world.write(tree);
    let seen = Seen::default();
    world.seen = Some(seen.clone());
    (world, seen)
}

/// Requests that change something; a token of the partner changes nothing.
fn changes(seen: &Seen) -> usize {
    seen.all().iter().filter(|one| one.method != "GET" && one.body["scope"] != "tenant").count()
}

fn freeze() -> FreezeRequest {
    FreezeRequest::Freeze { reason: "wrong amounts".to_owned() }
}

/// Freezes or thaws while no engine runs.
async fn say(world: &World, request: FreezeRequest) -> FreezeResult {
    let command = EngineCommand::Freeze(request, "uid 7".to_owned());
    let Reply::Freeze(result) = world.engine().command(command).await.unwrap() else {
        panic!("unexpected response")
    };
    result
}

async fn tell(ears: &Ears<'_>, request: FreezeRequest) -> FreezeResult {
    ears.control.send(FreezeAll(request), "uid 7".to_owned()).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_frozen_state_plans_and_sends_nothing_until_a_person_thaws_it() {
    let (world, seen) = world(MERCHANT);
    world.settle().await;
    world.write(&format!("{MERCHANT}{}", contacts(2)));
    assert_eq!(say(&world, FreezeRequest::Thaw).await, FreezeResult::NotFrozen);
    assert!(matches!(say(&world, freeze()).await, FreezeResult::Frozen(_)));
    let before = changes(&seen);
    let again = FreezeRequest::Freeze { reason: "another".to_owned() };
    let FreezeResult::AlreadyFrozen(first) = say(&world, again).await else { panic!("twice") };
    assert_eq!((first.reason.as_str(), first.actor.as_str()), ("wrong amounts", "uid 7"));
    let told = world.settle().await;
    assert_eq!(
        told.iter().filter(|step| step.starts_with("Create Contact")).count(),
        2,
        "{told:?}"
    );
    assert_eq!(changes(&seen), before);
    let engine = world.engine();
    let Reply::Overview(now) = engine.answer(EngineQuery::Overview).unwrap() else { panic!() };
    assert_eq!(now.freeze.as_deref(), Some(&first));
    let Reply::Resource(Some(view)) =
        engine.answer(EngineQuery::Resource("Contact/jane-0".parse().unwrap())).unwrap()
    else {
        panic!("no resource")
    };
    assert_eq!((view.reason.as_str(), view.next[0].command.as_str()), ("Frozen", "reckon thaw"));
    drop(engine);
    assert_eq!(say(&world, FreezeRequest::Thaw).await, FreezeResult::Thawed(first));
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(world.objects("contacts").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn from_its_answer_on_nothing_leaves_and_what_had_left_is_settled() {
    let (world, seen) = world(MERCHANT);
    world.settle().await;
    world.control(
        "POST",
        "faults",
        &json!({"method": "POST", "fault": "delay", "delay_ms": 3_000}),
    );
    world.write(&format!("{MERCHANT}{}", contacts(60)));
    let before = changes(&seen);
    world
        .hearing(async |ears| {
            ears.wait(4).await;
            assert!(matches!(tell(ears, freeze()).await, FreezeResult::Frozen(_)));
            let left = changes(&seen);
            assert!((1..60).contains(&(left - before)), "{left} in the midst of the work");
            ears.wait(1_200).await;
            assert_eq!(changes(&seen), left, "a change left during the freeze");
            assert_eq!(world.objects("contacts").len(), left - before);
            let now = overview(ears).await;
            assert_eq!((now.open_intents, now.under_way), (0, 0), "what had left is settled");
            tell(ears, FreezeRequest::Thaw).await;
            ears.wait(120).await;
        })
        .await;
    assert_eq!(world.objects("contacts").len(), 60, "each one once");
    assert_eq!(world.settle().await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_is_not_sent_again_during_a_freeze_nor_after_a_restart_in_it() {
    let tree = format!("{MERCHANT}{}", contact("jane"));
    let (world, seen) = world(&tree);
    world.settle().await;
    let before = changes(&seen);
    world.write(&format!("{tree}{}", document("Invoice", "first", INVOICE)));
    let lost =
        json!({"method": "POST", "path": "/invoices", "fault": "error_before", "status": 500});
    world.control("POST", "faults", &lost);
    let mut left = 0;
    world
        .hearing(async |ears| {
            ears.wait(1).await;
            tell(ears, freeze()).await;
            left = changes(&seen);
            assert!(left > before, "the invoice was sent");
            ears.wait(600).await;
            assert_eq!(changes(&seen), left);
        })
        .await;
    world.control("DELETE", "faults", &Value::Null);
    world
        .hearing(async |ears| {
            ears.wait(600).await;
            assert_eq!(changes(&seen), left, "the next process is frozen, too");
            tell(ears, FreezeRequest::Thaw).await;
            ears.wait(120).await;
        })
        .await;
    assert_eq!((changes(&seen), world.objects("invoices").len()), (left + 1, 1));
}

async fn sync(ears: &Ears<'_>, checksum: &str) -> SyncResult {
    ears.control.send(Sync(checksum.to_owned()), "uid 7".to_owned()).await.unwrap()
}

async fn overview(ears: &Ears<'_>) -> Overview {
    ears.control.ask(OverviewQuery).await.unwrap()
}

async fn checksum(ears: &Ears<'_>) -> String {
    let Ok(Reply::Plan(plan)) = ears.control.ask(EngineQuery::Plan).await else {
        panic!("unexpected response")
    };
    plan.checksum
}

#[tokio::test(start_paused = true)]
async fn a_manual_daemon_sends_what_a_person_saw_and_waits_again_after_each_edit() {
    let (mut world, seen) = world(MERCHANT);
    world.settle().await;
    world.sync = SyncMode::Manual;
    world.write(&format!("{MERCHANT}{}", contact("jane")));
    let before = changes(&seen);
    world
        .hearing(async |ears| {
            ears.wait(600).await;
            assert_eq!(changes(&seen), before);
            let key = "Contact/jane".parse().unwrap();
            let Ok(Reply::Resource(Some(view))) =
                ears.control.ask(EngineQuery::Resource(key)).await
            else {
                panic!("no resource")
            };
            let next = view.next[0].command.as_str();
            assert_eq!((view.reason.as_str(), next), ("AwaitsSync", "reckon sync"));
            let old = checksum(ears).await;
            world.write(&format!("{MERCHANT}{}{}", contact("jane"), contact("june")));
            let new = checksum(ears).await;
            assert_eq!(sync(ears, &old).await, SyncResult::Changed(new.clone()));
            ears.wait(60).await;
            assert_eq!(changes(&seen), before, "a plan that nobody saw is not sent");
            assert!(matches!(sync(ears, &new).await, SyncResult::Synced(_)));
            ears.wait(60).await;
            assert_eq!(world.objects("contacts").len(), 2);
        })
        .await;
    world
        .hearing(async |ears| {
            world.write(&format!("{MERCHANT}{}", contacts(1)));
            checksum(ears).await;
            ears.wait(60).await;
            let edited = world.objects("contacts").len();
            // Another name alone is another document, although its content is the same.
            let renamed = contact("june").replace("name: june}", "name: juno}");
            world.write(&format!("{MERCHANT}{}{renamed}", contact("jane")));
            checksum(ears).await;
            ears.wait(60).await;
            assert!(overview(ears).await.sync.unwrap().awaits, "nobody saw the new name");
            assert_eq!(world.objects("contacts").len(), 2);
            world.write(&format!("{MERCHANT}{}{}", contact("jane"), contact("june")));
            checksum(ears).await;
            ears.wait(60).await;
            let synced = overview(ears).await.sync.unwrap();
            assert_eq!((edited, synced.awaits), (2, false), "the synced documents are back");
            assert_eq!(synced.last.unwrap().actor, "uid 7");
        })
        .await;
}

#[test]
fn every_screen_names_the_freeze_and_apply_refuses() {
    let shell = Shell::start();
    shell.write("specs/tree.yaml", MERCHANT);
    assert_eq!(code(&shell.reckon(&["apply", "--yes"])), 0);
    shell.write("specs/tree.yaml", &format!("{MERCHANT}{}", contacts(1)));
    assert_eq!(code(&shell.reckon(&["freeze", "--reason", " "])), 1);
    let frozen = shell.reckon(&["freeze", "--reason", "wrong amounts"]);
    assert_eq!(code(&frozen), 0, "{}", stderr(&frozen));
    let screens = [&["status"][..], &["plan"], &["plan", "-o", "markdown"], &["get"], &["intents"]];
    for screen in screens {
        let text = stdout(&shell.reckon(screen));
        assert!(
            text.contains("wrong amounts") && text.contains("reckon thaw"),
            "{screen:?}: {text}"
        );
    }
    let described = stdout(&shell.reckon(&["describe", "Contact/jane-0"]));
    assert!(described.contains("Frozen") && described.contains("reckon thaw"), "{described}");
    let applied = shell.reckon(&["apply", "--yes"]);
    assert_eq!(code(&applied), 3, "{}", stderr(&applied));
    assert!(stderr(&applied).contains("reckon::apply::frozen"), "{}", stderr(&applied));
    let thawed = shell.reckon(&["thaw", "-o", "json"]);
    let view: Value = serde_json::from_str(&stdout(&thawed)).unwrap();
    assert_eq!(view["thawed"]["reason"], "wrong amounts");
    assert_eq!(code(&shell.reckon(&["thaw"])), 1);
    assert_eq!(code(&shell.reckon(&["apply", "--yes"])), 0);
    assert_eq!(shell.count("contacts"), 1);
}
