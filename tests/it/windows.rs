//! Windows and scheduled freezes: changes of documents begin by the clock of a zone, for all or for some merchants, and
//! what was sent before is settled.

use std::path::Path;

use chrono::{DateTime, Utc};
use serde_json::json;

use crate::support::payments::{MERCHANT, document};
use crate::support::requests::Seen;
use crate::support::shell::{Shell, code, stderr, stdout};
use crate::support::webhooks::Ears;
use crate::support::world::World;
use reckon::config::settings::Config;
use reckon::engine::protocol::query::{EngineQuery, OverviewQuery, Reply};
use reckon::engine::protocol::views::{Overview, PlanView, ResourceView};
use reckon::policy::PolicyRules;
use reckon::sandbox::options::ServiceSurface;

/// Monday morning, two hours before the office opens in Paris.
const MORNING: &str = "2029-12-03T06:00:00Z";
const OFFICE: &str = "  zone: Europe/Paris\n  windows:\n    - {name: office, days: [mon, tue, wed, thu, fri], \
    from: \"09:00\", to: \"17:00\"}";

fn rules(policy: &str) -> PolicyRules {
    let text = format!("apiVersion: reckon.dev/v1\nkind: Config\npolicy:\n{policy}\n");
    let config = Config::parse("reckon.yaml", Path::new("."), text.into_bytes()).unwrap();
    config.rules(&|_: &str| None).unwrap()
}

/// A world at this time, with its merchants made and its requests recorded, before the rules apply.
async fn world(epoch: &str, merchants: &str, policy: &str) -> (World, Seen) {
    let mut world = World::new(ServiceSurface::Public, epoch);
    world.write(merchants);
    world.settle().await;
    let seen = Seen::default();
    world.seen = Some(seen.clone());
    world.policy = rules(policy);
    (world, seen)
}

fn contact(name: &str) -> String {
    let address = format!("email_addresses: [{{address: {name}@example.com}}]");
    document("Contact", name, &format!("first_name: Jane\n  last_name: Doe\n  {address}"))
}

fn contacts(count: usize) -> String {
    (0..count).map(|number| contact(&format!("jane-{number}"))).collect()
}

/// The number of contacts whose creation was requested.
fn created(seen: &Seen) -> usize {
    seen.of("POST", "/contacts").len()
}

async fn wait_until(ears: &Ears<'_>, moment: &str) {
    let moment: DateTime<Utc> = moment.parse().unwrap();
    let wait = moment.signed_duration_since(ears.world.now()).to_std().unwrap();
    tokio::time::sleep(wait).await;
}

async fn plan(ears: &Ears<'_>) -> PlanView {
    let Ok(Reply::Plan(plan)) = ears.control.ask(EngineQuery::Plan).await else {
        panic!("no plan")
    };
    *plan
}

async fn overview(ears: &Ears<'_>) -> Overview {
    ears.control.ask(OverviewQuery).await.unwrap()
}

async fn resource(ears: &Ears<'_>, name: &str) -> ResourceView {
    let question = EngineQuery::Resource(name.parse().unwrap());
    let Ok(Reply::Resource(Some(view))) = ears.control.ask(question).await else {
        panic!("no resource")
    };
    *view
}

#[tokio::test(start_paused = true)]
async fn a_change_waits_for_its_window_and_begins_when_it_opens() {
    let (world, seen) = world(MORNING, MERCHANT, OFFICE).await;
    world.write(&format!("{MERCHANT}{}", contacts(2)));
    assert_eq!(world.plan().iter().filter(|step| step.starts_with("Create Contact")).count(), 2);
    world.settle().await;
    world
        .hearing(async |ears| {
            wait_until(ears, "2029-12-03T07:59:58Z").await;
            assert_eq!(created(&seen), 0, "the office is closed");
            let view = resource(ears, "Contact/jane-0").await;
            assert_eq!((view.reason.as_str(), view.ready), ("OutsideWindow", false));
            let until = "outside window `office`: nothing is sent until 2029-12-03 09:00 +01:00";
            assert_eq!(
                (view.message.as_str(), view.conditions[0].message.as_str()),
                (until, until)
            );
            let plan = plan(ears).await;
            assert_eq!(plan.hold.map(|hold| hold.sentence()).as_deref(), Some(until));
            assert!(plan.steps.iter().all(|step| step.held_by.as_deref() == Some("office")));
            let rule = overview(ears).await.rules.remove(0);
            assert_eq!((rule.holds, rule.waiting), (true, 2));
            assert!(rule.sentence().ends_with("2029-12-03 09:00 +01:00; 2 changes wait"));
            wait_until(ears, "2029-12-03T08:00:30Z").await;
            assert_eq!(world.objects("contacts").len(), 2, "it opened, and nothing else happened");
            let rule = overview(ears).await.rules.remove(0);
            assert_eq!((rule.holds, rule.waiting), (false, 0));
        })
        .await;
    assert_eq!(created(&seen), 2, "each one once");
}

#[tokio::test(start_paused = true)]
async fn what_was_sent_before_the_window_closed_is_settled_and_the_rest_waits_for_the_next_one() {
    let (world, seen) = world("2029-12-03T15:30:00Z", MERCHANT, OFFICE).await;
    let slow = json!({"method": "POST", "path": "/contacts", "fault": "delay", "delay_ms": 5_000});
    world.control("POST", "faults", &slow);
    world
        .hearing(async |ears| {
            wait_until(ears, "2029-12-03T15:59:58Z").await;
            world.write(&format!("{MERCHANT}{}", contacts(60)));
            plan(ears).await;
            wait_until(ears, "2029-12-03T16:00:04Z").await;
            let left = created(&seen);
            assert!((1..60).contains(&left), "{left} of 60 when the window closed");
            assert_eq!(resource(ears, "Contact/jane-59").await.reason, "OutsideWindow");
            wait_until(ears, "2029-12-04T07:59:00Z").await;
            assert_eq!(created(&seen), left, "nothing new began during the night");
            assert_eq!(world.objects("contacts").len(), left, "what had begun was settled");
            assert_eq!(overview(ears).await.open_intents, 0);
            wait_until(ears, "2029-12-04T08:10:00Z").await;
            assert_eq!((created(&seen), world.objects("contacts").len()), (60, 60));
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_freeze_for_one_merchant_holds_it_alone() {
    let other = format!("---{}", MERCHANT.replace("ACME", "OTHER").replace("acme", "other"));
    let frozen = "  zone: Europe/Paris\n  freezes:\n    - {name: audit, from: 2029-12-01, to: 2029-12-03 08:00, \
        reason: books are closed, merchants: [acme]}";
    let (world, seen) = world(MORNING, &format!("{MERCHANT}{other}"), frozen).await;
    let theirs = contact("june").replace("merchant: acme", "merchant: other");
    world.write(&format!("{MERCHANT}{other}{}{theirs}", contact("jane")));
    world
        .hearing(async |ears| {
            wait_until(ears, "2029-12-03T06:59:58Z").await;
            assert_eq!(created(&seen), 1);
            assert!(resource(ears, "Contact/june").await.ready);
            assert_eq!(resource(ears, "Contact/jane").await.reason, "ScheduledFreeze");
            let plan = plan(ears).await;
            assert_eq!((plan.hold, plan.rules.len(), plan.steps.len()), (None, 1, 1));
            assert_eq!(plan.steps[0].held_by.as_deref(), Some("audit"));
            wait_until(ears, "2029-12-03T07:00:30Z").await;
            assert_eq!((created(&seen), world.objects("contacts").len()), (2, 2));
            assert_eq!(overview(ears).await.rules, [], "a freeze that is over is not shown");
        })
        .await;
}

#[test]
fn every_screen_names_the_rule_and_apply_leaves_what_it_holds() {
    let shell = Shell::start();
    let before = std::fs::read_to_string(shell.path("reckon.yaml")).unwrap();
    let with = |merchants: &str| {
        let freeze = format!(
            "{{name: long, from: 2020-01-01, to: 2199-01-01, zone: UTC, reason: books are closed{merchants}}}"
        );
        let policy = format!("policy:\n  freezes: [{freeze}]\n");
        shell.write("reckon.yaml", &before.replacen("policy:\n", &policy, 1));
    };
    shell.write("specs/tree.yaml", MERCHANT);
    assert_eq!(code(&shell.reckon(&["apply", "--yes"])), 0);
    shell.write("specs/tree.yaml", &format!("{MERCHANT}{}", contacts(1)));
    with("");
    for screen in [&["status"][..], &["plan"], &["plan", "-o", "markdown"], &["get"]] {
        let text = stdout(&shell.reckon(screen)).replace('\\', "");
        assert!(text.contains("`long`") && text.contains("books are closed"), "{screen:?}: {text}");
        assert!(text.contains("2199-01-01 00:00 +00:00"), "{screen:?}: {text}");
    }
    let described = stdout(&shell.reckon(&["describe", "Contact/jane-0"]));
    assert!(described.contains("ScheduledFreeze"), "{described}");
    let applied = shell.reckon(&["apply", "--yes"]);
    assert_eq!(code(&applied), 3, "{}", stderr(&applied));
    assert!(stderr(&applied).contains("1 change (freeze `long` holds"), "{}", stderr(&applied));
    assert_eq!(shell.count("contacts"), 0);
    assert_eq!(code(&shell.reckon(&["plan", "--out", "plan.json"])), 0);
    let saved = shell.reckon(&["apply", "plan.json", "--yes"]);
    assert_eq!(code(&saved), 3, "{}", stderr(&saved));
    assert!(stderr(&saved).contains("reckon::apply::held"), "{}", stderr(&saved));
    with(", merchants: [acme]");
    let text = stdout(&shell.reckon(&["plan"]));
    assert!(text.contains("waits: `long` holds it back"), "{text}");
    assert_eq!(code(&shell.reckon(&["apply", "--yes"])), 3);
    assert_eq!(shell.count("contacts"), 0);
    with(", merchants: [other]");
    let saved = shell.reckon(&["apply", "plan.json", "--yes"]);
    assert_eq!(code(&saved), 0, "the plan was not used up: {}", stderr(&saved));
    assert_eq!(shell.count("contacts"), 1);
}
