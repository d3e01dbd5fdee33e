//! Rates of requests. Reads keep their cadence and are spread out, refused effects are sent once, and failing effects
//! ever more rarely.

use std::collections::BTreeMap;
use std::time::Duration;

use reckon::engine::core::coordinator::RunUntil;
use reckon::engine::protocol::input::EngineInput;
use reckon::sandbox::options::ServiceSurface;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::support::payments::{MERCHANT, START, bank, card, document, recurring, requests};
use crate::support::world::World;

const DAY: Duration = Duration::from_hours(24);

/// Runs a daemon for this time.
async fn daemon(world: &World, time: Duration) {
    let mut engine = world.engine();
    engine.start_sweeps().unwrap();
    let (sender, events) = mpsc::channel::<EngineInput>(1);
    let stop = async {
        tokio::time::sleep(time).await;
        sender.send(EngineInput::Stop).await.unwrap();
    };
    let (ended, ()) = tokio::join!(engine.run(events, RunUntil::Stopped), stop);
    ended.unwrap();
}

fn strike(world: &World, path: &str, fault: &str) {
    let order = json!({"method": "POST", "path": path, "fault": fault, "status": 500});
    world.control("POST", "faults", &order);
}

fn contact(said: &str) -> String {
    let spec =
        "first_name: Jane\n  last_name: Doe\n  email_addresses: [{address: jane@example.com}]";
    let text = document("Contact", "jane", spec);
    text.replace("{name: jane}", &format!("{{name: jane, annotations: {{{said}}}}}"))
}

#[tokio::test(start_paused = true)]
async fn looks_keep_their_time_and_do_not_come_all_at_once() {
    let world = World::new(ServiceSurface::Public, START);
    let merchants = ["acme", "beech", "cedar", "dale", "elm"];
    let documents = merchants.map(|name| {
        let upper = name.to_uppercase();
        let all = [
            MERCHANT,
            &card("card", "4242424242424242"),
            &bank("bank"),
            &recurring("rent", "card", ""),
        ];
        let text = all.concat().replace("acme", name).replace("ACME", &upper);
        text.replace("metadata: {name: ", &format!("metadata: {{namespace: {name}, name: "))
    });
    world.write(&documents.join("---"));
    assert_eq!(world.settle().await, Vec::<String>::new());
    let looks = |path: &str| {
        let all = requests(&world, "GET", path);
        all.into_iter().filter(|one| one["path"] == path).collect::<Vec<_>>()
    };
    let paths = ["/v1/recurring/charges", "/v1/cards", "/v1/banks"];
    let before = paths.map(|path| looks(path).len());
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(paths.map(|path| looks(path).len()), before, "only a daemon polls");
    daemon(&world, Duration::from_hours(13)).await;
    // Reads come by their cadence, up to a fifth earlier. The cadences are a quarter of an hour and six hours.
    for ((path, before), (fewest, most)) in
        paths.into_iter().zip(before).zip([(50, 66), (2, 4), (2, 4)])
    {
        let all = looks(path).split_off(before);
        let range = fewest * merchants.len()..=most * merchants.len();
        assert!(range.contains(&all.len()), "{path}: {} reads", all.len());
        let mut by_minute: BTreeMap<&str, usize> = BTreeMap::new();
        for one in &all {
            *by_minute.entry(one["time"].as_str().unwrap().get(..16).unwrap()).or_default() += 1;
        }
        let busiest = by_minute.values().max().unwrap();
        assert!(*busiest < merchants.len(), "{path}: {busiest} reads in one minute");
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_service_refuses_for_good_is_asked_for_once_in_a_day() {
    let world = World::new(ServiceSurface::Public, START);
    world.write(&format!("{MERCHANT}{}", card("late", "4242424242424242").replace("2031", "2028")));
    daemon(&world, DAY).await;
    assert_eq!(requests(&world, "POST", "/v1/cards").len(), 1);
    world.write(&format!("{MERCHANT}{}", card("late", "4242424242424242")));
    assert_eq!(world.settle().await, Vec::<String>::new(), "a changed document is sent");
}

#[tokio::test(start_paused = true)]
async fn what_always_fails_is_tried_less_and_less_and_ends_an_apply() {
    let mut world = World::new(ServiceSurface::Public, START);
    world.write(&format!("{MERCHANT}{}", card("jane", "4242424242424242")));
    strike(&world, "/v1/cards", "error_before");
    world.failures_max = Some(5);
    let told = world.settle().await;
    assert!(told.iter().any(|line| line.contains("no answer came to card.save")), "{told:?}");
    assert_eq!(requests(&world, "POST", "/v1/cards").len(), 5);
    world.failures_max = None;
    daemon(&world, DAY).await;
    let tried = requests(&world, "POST", "/v1/cards").len() - 5;
    assert!((100..=500).contains(&tried), "{tried} tries in a day");
    world.control("DELETE", "faults", &Value::Null);
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(world.objects("cards").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_nothing_can_prove_is_made_again_a_few_times_and_never_without_end() {
    for runs in 1..=2 {
        let mut world = World::new(ServiceSurface::Public, START);
        world.write(&format!("{MERCHANT}{}", contact("")));
        strike(&world, "/contacts", "error_after");
        if runs == 1 {
            daemon(&world, DAY).await;
        } else {
            world.failures_max = Some(5);
            world.settle().await;
            world.settle().await;
        }
        let told = world.settle().await;
        assert!(told[0].contains("it was made again 5 times already"), "{told:?}");
        assert_eq!(world.objects("contacts").len(), 6, "one contact, and five more");
    }
    let world = World::new(ServiceSurface::Public, START);
    world.write(&format!("{MERCHANT}{}", contact("reckon.dev/on-doubt: hold")));
    strike(&world, "/contacts", "error_after");
    daemon(&world, DAY).await;
    assert_eq!(world.objects("contacts").len(), 1);
}
