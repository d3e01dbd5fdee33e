//! Saved methods whose details a payer enters: from the link to the charge that waited for them.

use std::fmt::Write;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::support::canaries::Canaries;
use crate::support::partner::Daemon;
use crate::support::payments::{MERCHANT, START, document, only, recurring, requests};
use crate::support::world::World;
use crate::support::{payers, payments};
use reckon::base::id::Key;
use reckon::base::secret::Secret;
use reckon::control::handle::Control;
use reckon::control::protocol::ControlRequest;
use reckon::engine::core::coordinator::RunUntil;
use reckon::engine::protocol::input::EngineInput;
use reckon::engine::protocol::payers::{AttachToken, IntakeLink, IntakeTerms};
use reckon::engine::protocol::query::{EngineQuery, Reply};
use reckon::http::public::public_routes::PublicRoutes;
use reckon::http::public::webhooks::webhook_router;
use reckon::sandbox::options::ServiceSurface;
use reckon::store::disk::traits::Disk;
use reckon::store::index::ordered::Index;

const NUMBER: &str = "4242424242424242";

fn jane() -> Key {
    "SavedMethod/default/jane".parse().unwrap()
}

fn intake(sort: &str) -> String {
    document("SavedMethod", "jane", &format!("type: {sort}\n  source: intake"))
}

/// Returns a merchant, a method without details, and a charge that waits for it.
fn tree(sort: &str) -> String {
    [MERCHANT.to_owned(), intake(sort), recurring("club", "jane", "")].concat()
}

/// Returns the same tree with another generation of the method.
fn raised(sort: &str) -> String {
    let name = "metadata: {name: jane, annotations: {reckon.dev/generation: '1'}}";
    tree(sort).replacen("metadata: {name: jane}", name, 1)
}

fn told(told: &[String], start: &str) -> bool {
    told.iter().any(|one| one.starts_with(start))
}

/// Builds a world in which only the payer's part is missing.
async fn waiting(surface: ServiceSurface, sort: &str) -> (World, Vec<String>) {
    let world = World::new(surface, START);
    world.write(&tree(sort));
    let told = world.settle().await;
    (world, told)
}

fn outside() -> PublicRoutes {
    PublicRoutes::new(&[5; 32])
}

/// Returns the path of a link that is valid for this number of days from the start.
fn link(generation: u32, days: i64) -> String {
    let start: DateTime<Utc> = START.parse().unwrap();
    let until = start + TimeDelta::days(days);
    outside().intake_url(
        "",
        &IntakeLink { key: jane(), terms: IntakeTerms { generation, replaces: None }, until },
    )
}

/// Sends a browser's request. Returns the status and the page.
async fn browse(daemon: &Daemon<'_>, method: &str, path: &str, body: &str) -> (u16, String) {
    payers::browse(webhook_router(daemon.control.clone(), &outside()), method, path, body).await
}

/// Makes a one-time token of a card or a bank account, as the service's own fields do.
fn token(world: &World, sort: &str) -> String {
    let details = if sort == "card" { payers::card(NUMBER) } else { payers::bank("12345678") };
    payers::token(world, &details)
}

/// Attaches a token, as a person does.
async fn attach(control: &Control, token: &str) -> Result<Key, String> {
    let (token, more) = (Secret::from(token), Vec::new());
    let attaching = AttachToken { key: jane(), token, more, replace: false };
    let reply = control.send(ControlRequest::Attach(attaching), "ada".to_owned()).await.unwrap();
    let Reply::Attached(attached) = reply else { return Err("unexpected response".to_owned()) };
    attached
}

/// Runs a process that records these tokens, and that ends before it uses them.
async fn cut_off(world: &World, tokens: &[&str]) -> Vec<Result<Key, String>> {
    let mut engine = world.engine();
    engine.select_targets([].into());
    let (sender, events) = mpsc::channel(8);
    let control = Control::new(sender.clone());
    let acting = async {
        let mut answers = Vec::new();
        for token in tokens {
            answers.push(attach(&control, token).await);
        }
        sender.send(EngineInput::Stop).await.unwrap();
        answers
    };
    let (ran, answers) = tokio::join!(engine.run(events, RunUntil::Stopped), acting);
    ran.unwrap();
    answers
}

/// Attaches a token in a running engine. Returns the plan once everything has settled.
async fn attached(world: &World, token: &str) -> Vec<String> {
    world
        .while_running(async |daemon| assert_eq!(attach(&daemon.control, token).await, Ok(jane())))
        .await
}

#[tokio::test(start_paused = true)]
async fn a_payer_gives_a_card_or_an_account_and_what_waited_goes_on_by_itself() {
    for surface in [ServiceSurface::Public, ServiceSurface::Documented] {
        for (sort, objects) in [("card", "cards"), ("bank", "banks")] {
            let (world, waits) = waiting(surface, sort).await;
            assert!(told(&waits, "Wait SavedMethod/jane: AwaitsIntake"), "{waits:?}");
            assert!(told(&waits, "Create RecurringCharge/club: WaitsFor"), "{waits:?}");
            assert_eq!(world.engine().view().overview().stuck, 0, "nothing needs attention");
            let after = world
                .while_running(async |daemon| {
                    let (status, page) = browse(daemon, "GET", &link(0, 7), "").await;
                    assert_eq!(status, 200);
                    assert!(page.contains(&format!("data-sort=\"{sort}\"")), "{page}");
                    let body = format!("token_id={}", token(&world, sort));
                    assert_eq!(browse(daemon, "POST", &link(0, 7), &body).await.0, 303);
                    daemon.control.ask(EngineQuery::Settle).await.unwrap();
                    let (status, page) = browse(daemon, "GET", &link(0, 7), "").await;
                    assert!(status == 410 && page.contains("Your details are saved"), "{page}");
                    let again = format!("token_id={}", token(&world, sort));
                    assert_eq!(browse(daemon, "POST", &link(0, 7), &again).await.0, 410);
                })
                .await;
            assert_eq!(after, Vec::<String>::new(), "{surface:?} {sort}");
            let saved = only(&world, objects);
            assert!(saved["reference"].as_str().unwrap().starts_with("rk"), "{saved}");
            assert_eq!(only(&world, "recurring_charges")["status"], "ACTIVE");
            assert_eq!(world.settle().await, Vec::<String>::new());
            assert_eq!(requests(&world, "POST", &format!("/v1/{objects}")).len(), 1);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_is_settled_by_the_mark_and_a_token_that_made_nothing_is_sent_again() {
    for surface in [ServiceSurface::Public, ServiceSurface::Documented] {
        for (fault, status, sent) in [
            ("drop_after", 0, 1),
            ("error_after", 500, 1),
            ("error_before", 500, 2),
            ("throttle", 429, 2),
        ] {
            let (world, _) = waiting(surface, "card").await;
            let strike = json!({"method": "POST", "path": "/v1/cards", "fault": fault, "times": 1,
                "status": status});
            world.control("POST", "faults", &strike);
            let after = attached(&world, &token(&world, "card")).await;
            assert_eq!(after, Vec::<String>::new(), "{surface:?} {fault}");
            assert_eq!(world.objects("cards").len(), 1);
            assert_eq!(requests(&world, "POST", "/v1/cards").len(), sent, "{surface:?} {fault}");
            assert_eq!(only(&world, "recurring_charges")["status"], "ACTIVE");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_that_was_brought_outlives_the_process() {
    let (world, _) = waiting(ServiceSurface::Public, "card").await;
    assert_eq!(cut_off(&world, &[&token(&world, "card")]).await, [Ok(jane())]);
    assert_eq!(world.objects("cards").len(), 0);
    let plan = world.plan();
    assert!(told(&plan, "Create SavedMethod/jane: NotCreated"), "{plan:?}");
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(world.objects("cards").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_process_that_ends_in_doubt_leaves_the_proof_to_the_next_one() {
    for fault in ["drop_after", "error_before"] {
        let (world, _) = waiting(ServiceSurface::Public, "card").await;
        cut_off(&world, &[&token(&world, "card")]).await;
        let strike = json!({"method": "POST", "path": "/v1/cards", "fault": fault, "times": 1,
            "status": 500});
        world.control("POST", "faults", &strike);
        let blind = json!({"method": "GET", "path": "/v1/cards", "fault": "error_before",
            "times": 99, "status": 500});
        world.control("POST", "faults", &blind);
        let cut = tokio::time::timeout(Duration::from_secs(9), world.settle()).await;
        assert!(cut.is_err(), "nothing can be proved");
        assert_eq!(requests(&world, "POST", "/v1/cards").len(), 1, "{fault}");
        world.control("DELETE", "faults", &Value::Null);
        assert_eq!(world.settle().await, Vec::<String>::new(), "{fault}");
        assert_eq!(world.objects("cards").len(), 1, "{fault}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_that_is_too_old_is_asked_for_again_and_that_is_no_error() {
    let late = "Wait SavedMethod/jane: AwaitsIntake (the token expired before it was used";
    // The process was down for too long.
    let (world, _) = waiting(ServiceSurface::Public, "card").await;
    cut_off(&world, &[&token(&world, "card")]).await;
    tokio::time::sleep(Duration::from_secs(301)).await;
    let after = world.settle().await;
    assert!(told(&after, late), "{after:?}");
    assert_eq!(requests(&world, "POST", "/v1/cards").len(), 0, "an expired token is not sent");
    assert_eq!(world.engine().view().overview().stuck, 0);
    assert_eq!(attached(&world, &token(&world, "card")).await, Vec::<String>::new());
    // The token was too old when it arrived.
    let (world, _) = waiting(ServiceSurface::Public, "card").await;
    let old = token(&world, "card");
    tokio::time::sleep(Duration::from_secs(301)).await;
    let after = attached(&world, &old).await;
    let dead = "Wait SavedMethod/jane: AwaitsIntake (the one-time token was used or has expired: supply another one";
    assert!(told(&after, dead), "{after:?}");
    assert_eq!(world.settle().await, after, "nothing is sent again by itself");
    assert_eq!(requests(&world, "POST", "/v1/cards").len(), 1);
    assert_eq!(world.engine().view().overview().stuck, 0);
    assert_eq!(attached(&world, &token(&world, "card")).await, Vec::<String>::new());
    assert_eq!(world.objects("cards").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_token_of_the_wrong_type_saves_nothing_and_the_payer_is_asked_once_more() {
    for (sort, other, objects) in [("card", "bank", "cards"), ("bank", "card", "banks")] {
        let (world, _) = waiting(ServiceSurface::Public, sort).await;
        let after = world
            .while_running(async |daemon| {
                let body = format!("token_id={}", token(&world, other));
                assert_eq!(browse(daemon, "POST", &link(0, 7), &body).await.0, 303);
                daemon.control.ask(EngineQuery::Settle).await.unwrap();
                let (status, page) = browse(daemon, "GET", &link(0, 7), "").await;
                assert!(status == 200 && page.contains("It could not be saved"), "{page}");
            })
            .await;
        let refused = format!(
            "Wait SavedMethod/jane: AwaitsIntake (the service did not save the details: Token is not of a {sort}"
        );
        assert!(told(&after, &refused), "{after:?}");
        assert_eq!(world.objects(objects).len(), 0);
        assert_eq!(attached(&world, &token(&world, sort)).await, Vec::<String>::new());
        assert_eq!(world.objects(objects).len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn one_token_is_taken_at_a_time_and_the_same_one_twice_is_one() {
    let (world, _) = waiting(ServiceSurface::Public, "card").await;
    let (first, second) = (token(&world, "card"), token(&world, "card"));
    let answers = cut_off(&world, &[&first, &second, &first, "no token!", ""]).await;
    assert_eq!((&answers[0], &answers[2]), (&Ok(jane()), &Ok(jane())));
    for (answer, words) in [
        (1, "a token that is being saved"),
        (3, "not a one-time token"),
        (4, "not a one-time token"),
    ] {
        let why = answers[answer].as_ref().unwrap_err();
        assert!(why.contains(words), "{why}");
    }
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(world.objects("cards").len(), 1);
    let unused = world.objects("tokens");
    assert!(unused.iter().any(|one| one["id"] == second.as_str()), "{unused:?}");
}

#[tokio::test(start_paused = true)]
async fn another_generation_asks_again_and_keeps_what_is_stored_beside() {
    let (world, _) = waiting(ServiceSurface::Public, "card").await;
    assert_eq!(attached(&world, &token(&world, "card")).await, Vec::<String>::new());
    let late = world.while_running(async |daemon| {
        let why = attach(&daemon.control, &token(&world, "card")).await.unwrap_err();
        assert!(why.contains("say --replace"), "{why}");
        assert!(why.contains("raise reckon.dev/generation"), "{why}");
    });
    assert_eq!(late.await, Vec::<String>::new());
    world.write(&raised("card"));
    let waits = world.settle().await;
    assert!(told(&waits, "Wait SavedMethod/jane: AwaitsIntake"), "{waits:?}");
    let after = world.while_running(async |daemon| {
        let reply = daemon.control.ask(EngineQuery::IntakeLink(jane())).await.unwrap();
        assert_eq!(reply, Reply::IntakeLink(Ok(IntakeTerms { generation: 1, replaces: None })));
        let (status, page) = browse(daemon, "GET", &link(0, 7), "").await;
        assert!(status == 410 && page.contains("not valid any more"), "{page}");
        let body = format!("token_id={}", token(&world, "card"));
        assert_eq!(browse(daemon, "POST", &link(0, 7), &body).await.0, 410);
        let body = format!("{body}&token_id={}", token(&world, "card"));
        assert_eq!(browse(daemon, "POST", &link(1, 7), &body).await.0, 303);
    });
    assert_eq!(after.await, Vec::<String>::new());
    assert_eq!(
        requests(&world, "PATCH", "/v1/recurring/").len(),
        1,
        "the charge gets the new card"
    );
    let marks: Vec<Value> =
        world.objects("cards").iter().map(|one| one["reference"].clone()).collect();
    assert!(marks.len() == 2 && marks[0] != marks[1], "{marks:?}");
}

#[tokio::test(start_paused = true)]
async fn a_link_ends_and_takes_nothing_afterwards() {
    let (world, waits) = waiting(ServiceSurface::Public, "card").await;
    let position = world.position();
    let after = world.while_running(async |daemon| {
        tokio::time::sleep(Duration::from_hours(24)).await;
        let body = format!("token_id={}", token(&world, "card"));
        for (method, body) in [("GET", ""), ("POST", body.as_str())] {
            let (status, page) = browse(daemon, method, &link(0, 1), body).await;
            assert!(status == 410 && page.contains("not valid any more"), "{page}");
        }
        let (status, _) = browse(daemon, "GET", &link(0, 2), "").await;
        assert_eq!(status, 200, "another link is valid");
    });
    assert_eq!(after.await, waits);
    assert_eq!(world.position(), position, "nothing is recorded");
}

#[tokio::test(start_paused = true)]
async fn nobody_is_asked_for_what_no_document_asks_for() {
    let world = World::new(ServiceSurface::Public, START);
    world.write(&[MERCHANT.to_owned(), payments::card("jane", NUMBER)].concat());
    assert_eq!(world.settle().await, Vec::<String>::new());
    let after = world.while_running(async |daemon| {
        let why = attach(&daemon.control, &token(&world, "card")).await.unwrap_err();
        assert!(why.contains("does not say `source: intake`"), "{why}");
        assert_eq!(browse(daemon, "GET", &link(0, 7), "").await.0, 410);
    });
    assert_eq!(after.await, Vec::<String>::new());
    world.write(MERCHANT);
    let gone = world.while_running(async |daemon| {
        let why = attach(&daemon.control, &token(&world, "card")).await.unwrap_err();
        assert!(why.contains("no good document says SavedMethod/jane"), "{why}");
    });
    gone.await;
}

#[tokio::test(start_paused = true)]
async fn neither_the_token_nor_the_link_is_anywhere_but_in_the_vault() {
    let (world, _) = waiting(ServiceSurface::Public, "card").await;
    let (good, bad) = (token(&world, "card"), token(&world, "bank"));
    let (mut canaries, mut said) = (Canaries::default(), String::new());
    canaries.plant("the token", &good);
    canaries.plant("the refused token", &bad);
    canaries.plant("the link", link(0, 7).rsplit('.').next().unwrap());
    for token in [&bad, &good] {
        let heard = world.while_running(async |daemon| {
            let body = format!("token_id={token}");
            assert_eq!(browse(daemon, "POST", &link(0, 7), &body).await.0, 303);
            for question in [
                EngineQuery::Plan,
                EngineQuery::Resources(Box::default()),
                EngineQuery::Resource(jane()),
                EngineQuery::Intents,
            ] {
                let reply = daemon.control.ask(question).await.unwrap();
                write!(said, "{reply:?}{}", serde_json::to_string(&reply).unwrap()).unwrap();
            }
        });
        let heard = heard.await.join("\n");
        said.push_str(&heard);
    }
    assert!(said.contains("AwaitsIntake"), "{said}");
    assert_eq!(world.objects("cards").len(), 1, "the token saved a card");
    let folder = tempfile::tempdir().unwrap();
    for (place, disk) in [("journal", &world.journal), ("vault", &world.vault)] {
        for name in disk.list().unwrap() {
            let length = usize::try_from(disk.len(&name).unwrap()).unwrap();
            let bytes = disk.read_at(&name, 0, length).unwrap();
            let file = format!("{place}-{}", name.replace('/', "_"));
            std::fs::write(folder.path().join(file), bytes).unwrap();
        }
    }
    let entries = world.index.scan(b"").unwrap();
    let entries: Vec<u8> =
        entries.into_iter().flat_map(|(key, value)| [key, value].concat()).collect();
    std::fs::write(folder.path().join("index"), entries).unwrap();
    let mut found = canaries.in_folder(folder.path());
    found.extend(canaries.in_bytes("the output", said.as_bytes()));
    assert_eq!(found, Vec::<String>::new());
}
