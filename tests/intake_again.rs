//! A payer gives another card in the place of one that is stored, and what it pays goes on with it.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a failure here is a failed test"
)]

#[path = "rig/partner.rs"]
#[expect(dead_code, reason = "there is no applicant here")]
mod partner;
#[path = "rig/payer.rs"]
mod payer;
#[path = "rig/payments.rs"]
#[expect(dead_code, reason = "not every payment is made here")]
mod payments;
#[path = "rig/world.rs"]
#[expect(dead_code, reason = "not everything of a world is used here")]
mod world;

use std::fmt::Write;
use std::time::Duration;

use chrono::TimeDelta;
use partner::Daemon;
use payments::{MERCHANT, START, document, only, recurring, requests};
use reckon::base::id::Key;
use reckon::base::secret::Secret;
use reckon::control::Control;
use reckon::engine::{Attaching, Event, IntakeLink, Question, Reply, Until};
use reckon::http::{Outside, hooks};
use reckon::sandbox::Surface;
use reckon::store::disk::Disk;
use reckon::store::index::Index;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use world::World;

const FIRST: &str = "4242424242424242";
const SECOND: &str = "5105105105105100";
const OLD: &str = "************4242";
const NEW: &str = "************5100";
/// What is told of a charge that has not got the new card.
const LAGS: &str = "Wait RecurringCharge/club: AwaitsIntake (it still pays by the details that its method had before";

fn jane() -> Key {
    "SavedMethod/default/jane".parse().unwrap()
}

fn outside() -> Outside {
    Outside::new(&[5; 32])
}

fn intake() -> String {
    document("SavedMethod", "jane", "type: card\n  source: intake")
}

fn tree() -> String {
    [MERCHANT.to_owned(), intake(), recurring("club", "jane", "")].concat()
}

/// A world in which the first card is stored and pays.
async fn stored(surface: Surface) -> World {
    let world = World::new(surface, START);
    world.write(&tree());
    world.settle().await;
    assert_eq!(given(&world, &[FIRST], false).await, Vec::<String>::new());
    assert_eq!(shown(&world), (OLD.to_owned(), OLD.to_owned()));
    // Whether something was changed since shows by the time of it.
    tokio::time::sleep(Duration::from_mins(1)).await;
    world
}

fn token(world: &World, number: &str) -> String {
    payer::token(world, &payer::card(number))
}

fn form(world: &World, numbers: &[&str]) -> String {
    let one = |number: &&str| format!("token_id={}", token(world, number));
    numbers.iter().map(one).collect::<Vec<_>>().join("&")
}

/// The number of the only card, and the one that the only charge has.
fn shown(world: &World) -> (String, String) {
    let (card, charge) = (only(world, "cards"), only(world, "recurring_charges"));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&card["number"]), text(&charge["method"]["number"]))
}

/// The path of a link that a running engine makes now.
async fn link(control: &Control) -> String {
    let reply = control.ask(Question::IntakeLink(jane())).await.unwrap();
    let Reply::IntakeLink(Ok(terms)) = reply else { panic!("no link: {reply:?}") };
    let until = START.parse::<chrono::DateTime<chrono::Utc>>().unwrap();
    let until = until.checked_add_signed(TimeDelta::days(7)).unwrap();
    outside().intake("", &IntakeLink { key: jane(), terms, until })
}

async fn browse(daemon: &Daemon<'_>, method: &str, path: &str, body: &str) -> (u16, String) {
    payer::browse(hooks(daemon.control.clone(), &outside()), method, path, body).await
}

/// A person brings tokens of cards of these numbers.
async fn bring(control: &Control, tokens: &[String], replace: bool) -> Result<Key, String> {
    let mut all = tokens.iter().map(|one| Secret::from(one.as_str()));
    let token = all.next().unwrap();
    let attaching = Attaching { key: jane(), token, more: all.collect(), replace };
    let reply = control.attach(attaching, None, "ada".to_owned()).await.unwrap();
    let Reply::Attached(attached) = reply else { panic!("another answer") };
    attached
}

/// The same to a running engine; answers the plan once everything has settled.
async fn given(world: &World, numbers: &[&str], replace: bool) -> Vec<String> {
    let tokens: Vec<String> = numbers.iter().map(|number| token(world, number)).collect();
    let acting = async |daemon: &Daemon<'_>| {
        assert_eq!(bring(&daemon.control, &tokens, replace).await, Ok(jane()));
    };
    world.while_running(acting).await
}

/// A process that takes these tokens in and ends before it does anything with them.
async fn cut_off(world: &World, numbers: &[&str]) {
    let tokens: Vec<String> = numbers.iter().map(|number| token(world, number)).collect();
    let mut engine = world.engine();
    engine.choose([].into());
    let (sender, events) = mpsc::channel(8);
    let control = Control::new(sender.clone());
    let acting = async {
        assert_eq!(bring(&control, &tokens, true).await, Ok(jane()));
        sender.send(Event::Stop).await.unwrap();
    };
    let (ran, ()) = tokio::join!(engine.run(events, Until::Stopped), acting);
    ran.unwrap();
}

fn strike(world: &World, path: &str, fault: &str) {
    let strike =
        json!({"method": "PATCH", "path": path, "fault": fault, "times": 1, "status": 500});
    world.control("POST", "faults", &strike);
}

#[tokio::test(start_paused = true)]
async fn a_payer_gives_another_card_under_a_link_and_it_pays_from_then_on() {
    for surface in [Surface::Public, Surface::Documented] {
        let world = stored(surface).await;
        let (card, charge) = (only(&world, "cards"), only(&world, "recurring_charges"));
        let after = world
            .while_running(async |daemon| {
                let (first, other) = (link(&daemon.control).await, link(&daemon.control).await);
                let (status, page) = browse(daemon, "GET", &first, "").await;
                assert_eq!(status, 200);
                assert!(page.contains("It takes the place of the one that is kept now"), "{page}");
                assert!(page.contains("data-tokens=\"2\""), "one for the charge, too: {page}");
                assert_eq!(
                    browse(daemon, "POST", &first, &form(&world, &[SECOND, SECOND])).await.0,
                    303
                );
                daemon.control.ask(Question::Settle).await.unwrap();
                for used in [&first, &other] {
                    let (status, page) = browse(daemon, "GET", used, "").await;
                    assert!(status == 410 && page.contains("Your details are saved"), "{page}");
                    let again = form(&world, &[FIRST, FIRST]);
                    assert_eq!(browse(daemon, "POST", used, &again).await.0, 410);
                }
            })
            .await;
        assert_eq!(after, Vec::<String>::new(), "{surface:?}");
        assert_eq!(shown(&world), (NEW.to_owned(), NEW.to_owned()));
        assert_eq!(only(&world, "cards")["id"], card["id"], "it has the same name on the service");
        assert_eq!(only(&world, "cards")["reference"], card["reference"]);
        assert_eq!(only(&world, "recurring_charges")["id"], charge["id"]);
        assert_eq!(world.settle().await, Vec::<String>::new());
        assert_eq!(requests(&world, "POST", "/v1/cards").len(), 1);
        assert_eq!(requests(&world, "PATCH", "/v1/cards").len(), 1);
        assert_eq!(requests(&world, "PATCH", "/v1/recurring/").len(), 1);
        world.control("POST", "clock", &json!({"advance": "P70D"}));
        let paid = world.objects("transactions");
        assert_eq!((paid.len(), &paid[0]["method"]["number"]), (1, &json!(NEW)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_bank_account_is_replaced_the_same_way() {
    let world = World::new(Surface::Public, START);
    world.write(&tree().replace("type: card", "type: bank"));
    world.settle().await;
    for (account, replace) in [("12345678", false), ("87654321", true)] {
        let one = || payer::token(&world, &payer::bank(account));
        let tokens = [one(), one()];
        let acting = async |daemon: &Daemon<'_>| {
            assert_eq!(bring(&daemon.control, &tokens, replace).await, Ok(jane()));
        };
        assert_eq!(world.while_running(acting).await, Vec::<String>::new());
    }
    assert_eq!(only(&world, "banks")["account_number"], "****4321");
    assert_eq!(only(&world, "recurring_charges")["method"]["account_number"], "****4321");
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_is_settled_and_a_token_is_used_once() {
    for surface in [Surface::Public, Surface::Documented] {
        for fault in ["drop_after", "error_after", "error_before", "throttle"] {
            let world = stored(surface).await;
            strike(&world, "/v1/cards", fault);
            let after = given(&world, &[SECOND, SECOND], true).await;
            assert_eq!(after, Vec::<String>::new(), "{surface:?} {fault}");
            assert_eq!(shown(&world), (NEW.to_owned(), NEW.to_owned()), "{surface:?} {fault}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_of_a_charge_is_settled_where_the_service_shows_it() {
    for fault in ["drop_after", "error_before"] {
        let world = stored(Surface::Public).await;
        strike(&world, "/v1/recurring", fault);
        assert_eq!(given(&world, &[SECOND, SECOND], true).await, Vec::<String>::new(), "{fault}");
        assert_eq!(shown(&world), (NEW.to_owned(), NEW.to_owned()), "{fault}");
    }
}

#[tokio::test(start_paused = true)]
async fn where_nothing_shows_what_became_of_a_charge_its_payer_is_asked_once_more() {
    let world = stored(Surface::Documented).await;
    strike(&world, "/v1/recurring", "drop_after");
    let after = given(&world, &[SECOND, SECOND], true).await;
    assert!(after.len() == 1 && after[0].starts_with(LAGS), "{after:?}");
    assert_eq!(given(&world, &[SECOND, SECOND], true).await, Vec::<String>::new());
    assert_eq!(shown(&world), (NEW.to_owned(), NEW.to_owned()));
}

#[tokio::test(start_paused = true)]
async fn tokens_that_were_brought_outlive_the_process() {
    let world = stored(Surface::Public).await;
    cut_off(&world, &[SECOND, SECOND]).await;
    assert_eq!(shown(&world), (OLD.to_owned(), OLD.to_owned()));
    let plan = world.plan();
    assert!(plan[0].starts_with("Update SavedMethod/jane: Given (a payer gave other"), "{plan:?}");
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(shown(&world), (NEW.to_owned(), NEW.to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_process_that_ends_in_doubt_leaves_the_proof_to_the_next_one() {
    for fault in ["drop_after", "error_before"] {
        let world = stored(Surface::Public).await;
        cut_off(&world, &[SECOND, SECOND]).await;
        strike(&world, "/v1/cards", fault);
        let blind = json!({"method": "GET", "path": "/v1/tokens", "fault": "error_before",
            "times": 99, "status": 500});
        world.control("POST", "faults", &blind);
        let cut = tokio::time::timeout(Duration::from_secs(9), world.settle()).await;
        assert!(cut.is_err(), "nothing can be proved yet");
        assert_eq!(requests(&world, "PATCH", "/v1/cards").len(), 1, "{fault}");
        world.control("DELETE", "faults", &Value::Null);
        assert_eq!(world.settle().await, Vec::<String>::new(), "{fault}");
        assert_eq!(shown(&world), (NEW.to_owned(), NEW.to_owned()), "{fault}");
        let sent = requests(&world, "PATCH", "/v1/cards").len();
        assert_eq!(sent, if fault == "drop_after" { 1 } else { 2 });
    }
}

#[tokio::test(start_paused = true)]
async fn what_comes_too_late_changes_nothing_and_the_same_link_asks_once_more() {
    let world = stored(Surface::Public).await;
    cut_off(&world, &[SECOND, SECOND]).await;
    tokio::time::sleep(Duration::from_secs(301)).await;
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(shown(&world), (OLD.to_owned(), OLD.to_owned()));
    let after = world
        .while_running(async |daemon| {
            let path = link(&daemon.control).await;
            let (status, page) = browse(daemon, "GET", &path, "").await;
            assert!(status == 200 && page.contains("It could not be saved"), "{page}");
            assert_eq!(
                browse(daemon, "POST", &path, &form(&world, &[SECOND, SECOND])).await.0,
                303
            );
        })
        .await;
    assert_eq!(after, Vec::<String>::new());
    assert_eq!(shown(&world), (NEW.to_owned(), NEW.to_owned()));
}

#[tokio::test(start_paused = true)]
async fn what_the_service_refuses_changes_nothing_and_the_same_link_asks_once_more() {
    let world = stored(Surface::Public).await;
    let after = world
        .while_running(async |daemon| {
            let path = link(&daemon.control).await;
            let wrong = payer::token(&world, &payer::bank("12345678"));
            let body = format!("token_id={wrong}&{}", form(&world, &[SECOND]));
            assert_eq!(browse(daemon, "POST", &path, &body).await.0, 303);
            daemon.control.ask(Question::Settle).await.unwrap();
            let (status, page) = browse(daemon, "GET", &path, "").await;
            assert!(status == 200 && page.contains("It could not be saved"), "{page}");
        })
        .await;
    assert_eq!(after, Vec::<String>::new(), "what is stored goes on");
    assert_eq!(shown(&world), (OLD.to_owned(), OLD.to_owned()));
    assert_eq!(requests(&world, "PATCH", "/v1/recurring/").len(), 0, "it waits for the method");
    assert_eq!(given(&world, &[SECOND, SECOND], true).await, Vec::<String>::new());
    assert_eq!(shown(&world), (NEW.to_owned(), NEW.to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_charge_without_a_token_of_its_own_says_so_and_changes_in_everything_else() {
    let world = stored(Surface::Public).await;
    let after = given(&world, &[SECOND], true).await;
    assert!(after.len() == 1 && after[0].starts_with(LAGS), "{after:?}");
    assert!(after[0].contains("`reckon link SavedMethod/jane` prints the link"), "{after:?}");
    assert_eq!(shown(&world), (NEW.to_owned(), OLD.to_owned()));
    world.write(&tree().replace("20.00", "21.00"));
    let after = world.settle().await;
    assert!(after.len() == 1 && after[0].starts_with(LAGS), "{after:?}");
    assert_eq!(only(&world, "recurring_charges")["amount"], 2100);
    assert_eq!(world.engine().overview().stuck, 0, "the payer is waited for, and nobody is called");
    assert_eq!(given(&world, &[SECOND, SECOND], true).await, Vec::<String>::new());
    assert_eq!(shown(&world), (NEW.to_owned(), NEW.to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_token_of_another_card_for_the_charge_is_held_for_a_person() {
    let world = stored(Surface::Public).await;
    let after = given(&world, &[SECOND, "4111111111111111"], true).await;
    assert!(after[0].starts_with("Blocked RecurringCharge/club: Held"), "{after:?}");
    assert!(after[0].contains("the answer is not what was asked: method.fingerprint"), "{after:?}");
}

#[tokio::test(start_paused = true)]
async fn a_person_says_so_before_anything_is_replaced_and_the_same_token_twice_is_one() {
    let world = stored(Surface::Public).await;
    let tokens = [token(&world, SECOND), token(&world, SECOND)];
    let twice = [tokens[0].clone(), tokens[0].clone()];
    let after = world
        .while_running(async |daemon| {
            let control = &daemon.control;
            let why = bring(control, &tokens, false).await.unwrap_err();
            assert!(why.contains("is saved already: say --replace"), "{why}");
            let why = bring(control, &twice, true).await.unwrap_err();
            assert!(why.contains("a token works once"), "{why}");
            for _ in 0..2 {
                assert_eq!(bring(control, &tokens, true).await, Ok(jane()));
            }
            control.ask(Question::Settle).await.unwrap();
            assert_eq!(bring(control, &tokens, true).await, Ok(jane()), "it gave what is saved");
        })
        .await;
    assert_eq!(after, Vec::<String>::new());
    assert_eq!(shown(&world), (NEW.to_owned(), NEW.to_owned()));
    assert_eq!(requests(&world, "PATCH", "/v1/").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn details_that_stood_in_the_document_are_replaced_once_it_says_intake() {
    let world = World::new(Surface::Public, START);
    let written = tree().replace(&intake(), &payments::card("jane", FIRST));
    world.write(&written);
    assert_eq!(world.settle().await, Vec::<String>::new());
    world
        .while_running(async |daemon| {
            let reply = daemon.control.ask(Question::IntakeLink(jane())).await.unwrap();
            let Reply::IntakeLink(Err(why)) = reply else { panic!("a link: {reply:?}") };
            assert!(why.contains("does not say `source: intake`"), "{why}");
            assert!(why.contains("in the place of `card` or `bank`"), "{why}");
        })
        .await;
    world.write(&tree());
    let waits = world.settle().await;
    let told = "Wait SavedMethod/jane: AwaitsIntake (what is saved stood in its document before";
    assert!(waits.len() == 1 && waits[0].starts_with(told), "{waits:?}");
    let after = world
        .while_running(async |daemon| {
            let path = link(&daemon.control).await;
            assert_eq!(
                browse(daemon, "POST", &path, &form(&world, &[SECOND, SECOND])).await.0,
                303
            );
        })
        .await;
    assert_eq!(after, Vec::<String>::new());
    assert_eq!(shown(&world), (NEW.to_owned(), NEW.to_owned()));
    world.write(&written);
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(shown(&world), (OLD.to_owned(), OLD.to_owned()), "and back, by its document");
}

#[tokio::test(start_paused = true)]
async fn a_charge_that_is_given_to_another_method_takes_it_from_that_one_s_payer() {
    let world = stored(Surface::Public).await;
    let other = document("SavedMethod", "joe", "type: card\n  source: intake");
    world.write(&[tree().replace("method: jane", "method: joe"), other].concat());
    let waits = world.settle().await;
    let club = "Wait RecurringCharge/club: AwaitsIntake (the service takes another method by";
    assert!(waits.iter().any(|one| one.starts_with(club)), "{waits:?}");
    let tokens = [token(&world, SECOND), token(&world, SECOND)];
    let after = world
        .while_running(async |daemon| {
            let joe: Key = "SavedMethod/default/joe".parse().unwrap();
            let [token, more] = tokens.each_ref().map(|one| Secret::from(one.as_str()));
            let more = vec![more];
            let attaching = Attaching { key: joe.clone(), token, more, replace: false };
            let reply = daemon.control.attach(attaching, None, "ada".to_owned()).await.unwrap();
            assert_eq!(reply, Reply::Attached(Ok(joe)));
        })
        .await;
    assert_eq!(after, Vec::<String>::new());
    assert_eq!(world.objects("cards").len(), 2);
    assert_eq!(only(&world, "recurring_charges")["method"]["number"], NEW);
}

#[tokio::test(start_paused = true)]
async fn no_token_is_anywhere_but_in_the_vault_even_where_the_service_names_it() {
    let world = stored(Surface::Public).await;
    let tokens = [token(&world, SECOND), token(&world, SECOND)];
    let used = json!({"token_id": tokens[1]});
    assert!(world.ask("acme", "POST", "/v1/cards", &used)["id"].is_string());
    let mut said = String::new();
    let after = world
        .while_running(async |daemon| {
            let control = &daemon.control;
            assert_eq!(bring(control, &tokens, true).await, Ok(jane()));
            control.ask(Question::Settle).await.unwrap();
            let club: Key = "RecurringCharge/default/club".parse().unwrap();
            for question in [Question::Plan, Question::Resource(jane()), Question::Resource(club)] {
                let reply = control.ask(question).await.unwrap();
                write!(said, "{reply:?}{}", serde_json::to_string(&reply).unwrap()).unwrap();
            }
        })
        .await;
    assert!(after[0].starts_with(LAGS), "its token was of no use: {after:?}");
    let mut all = said.into_bytes();
    for disk in [&world.journal, &world.vault] {
        for name in disk.list().unwrap() {
            let length = usize::try_from(disk.len(&name).unwrap()).unwrap();
            all.extend(disk.read_at(&name, 0, length).unwrap());
        }
    }
    for (key, value) in world.index.scan(b"").unwrap() {
        all.extend([key, value].concat());
    }
    let text = String::from_utf8_lossy(&all);
    assert!(text.contains("SavedMethod/default/jane"), "everything was looked at");
    for token in tokens {
        assert!(!text.contains(&token));
    }
}
