//! A payer replaces a stored card by another one, and its charges continue with the new card.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::partner::Daemon;
use crate::support::payments::{START, document, only, requests};
use crate::support::renewals::{
    FIRST, LAGS, NEW, OLD, SECOND, bring, browse, form, given, intake, jane, link, shown, stored,
    token, tree,
};
use crate::support::world::World;
use crate::support::{payers, payments};
use reckon::base::id::Key;
use reckon::base::secret::Secret;
use reckon::control::protocol::ControlRequest;
use reckon::engine::protocol::actions::{ActionReport, ActionStatus};
use reckon::engine::protocol::payers::AttachToken;
use reckon::engine::protocol::query::{EngineQuery, Reply};
use reckon::model::effect::Action;
use reckon::sandbox::options::ServiceSurface;
use reckon::store::disk::traits::Disk;
use reckon::store::index::ordered::Index;

#[tokio::test(start_paused = true)]
async fn a_payer_gives_another_card_under_a_link_and_it_pays_from_then_on() {
    for surface in [ServiceSurface::Public, ServiceSurface::Documented] {
        let world = stored(surface).await;
        let (card, charge) = (only(&world, "cards"), only(&world, "recurring_charges"));
        let after = world
            .while_running(async |daemon| {
                let (first, other) = (link(&daemon.control).await, link(&daemon.control).await);
                let (status, page) = browse(daemon, "GET", &first, "").await;
                assert_eq!(status, 200);
                assert!(page.contains("It takes the place of the one that is kept now"), "{page}");
                assert!(
                    page.contains("data-tokens=\"2\""),
                    "a second token for the charge: {page}"
                );
                assert_eq!(
                    browse(daemon, "POST", &first, &form(&world, &[SECOND, SECOND])).await.0,
                    303
                );
                daemon.control.ask(EngineQuery::Settle).await.unwrap();
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
        assert_eq!(only(&world, "cards")["id"], card["id"], "the card keeps its id");
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
    let world = World::new(ServiceSurface::Public, START);
    world.write(&tree().replace("type: card", "type: bank"));
    world.settle().await;
    for (account, replace) in [("12345678", false), ("87654321", true)] {
        let one = || payers::token(&world, &payers::bank(account));
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
async fn what_the_service_refuses_changes_nothing_and_the_same_link_asks_once_more() {
    let world = stored(ServiceSurface::Public).await;
    let after = world
        .while_running(async |daemon| {
            let path = link(&daemon.control).await;
            let wrong = payers::token(&world, &payers::bank("12345678"));
            let body = format!("token_id={wrong}&{}", form(&world, &[SECOND]));
            assert_eq!(browse(daemon, "POST", &path, &body).await.0, 303);
            daemon.control.ask(EngineQuery::Settle).await.unwrap();
            let (status, page) = browse(daemon, "GET", &path, "").await;
            assert!(status == 200 && page.contains("It could not be saved"), "{page}");
        })
        .await;
    assert_eq!(after, Vec::<String>::new(), "the stored card stays in use");
    assert_eq!(shown(&world), (OLD.to_owned(), OLD.to_owned()));
    assert_eq!(
        requests(&world, "PATCH", "/v1/recurring/").len(),
        0,
        "the charge waits for the method"
    );
    assert_eq!(given(&world, &[SECOND, SECOND], true).await, Vec::<String>::new());
    assert_eq!(shown(&world), (NEW.to_owned(), NEW.to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_charge_without_a_token_of_its_own_says_so_and_changes_in_everything_else() {
    let world = stored(ServiceSurface::Public).await;
    let after = given(&world, &[SECOND], true).await;
    assert!(after.len() == 1 && after[0].starts_with(LAGS), "{after:?}");
    assert!(after[0].contains("`reckon link SavedMethod/jane` prints the link"), "{after:?}");
    assert_eq!(shown(&world), (NEW.to_owned(), OLD.to_owned()));
    world.write(&tree().replace("20.00", "21.00"));
    let after = world.settle().await;
    assert!(after.len() == 1 && after[0].starts_with(LAGS), "{after:?}");
    assert_eq!(only(&world, "recurring_charges")["amount"], 2100);
    assert_eq!(
        world.engine().view().overview().stuck,
        0,
        "the charge waits for its payer and needs no attention"
    );
    assert_eq!(given(&world, &[SECOND, SECOND], true).await, Vec::<String>::new());
    assert_eq!(shown(&world), (NEW.to_owned(), NEW.to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_token_of_another_card_for_the_charge_is_held_for_a_person() {
    let world = stored(ServiceSurface::Public).await;
    let after = given(&world, &[SECOND, "4111111111111111"], true).await;
    assert!(after[0].starts_with("Blocked RecurringCharge/club: Held"), "{after:?}");
    assert!(after[0].contains("the answer is not what was asked: method.fingerprint"), "{after:?}");
}

#[tokio::test(start_paused = true)]
async fn a_person_says_so_before_anything_is_replaced_and_the_same_token_twice_is_one() {
    let world = stored(ServiceSurface::Public).await;
    let tokens = [token(&world, SECOND), token(&world, SECOND)];
    let twice = [tokens[0].clone(), tokens[0].clone()];
    let after = world
        .while_running(async |daemon| {
            let control = &daemon.control;
            let why = bring(control, &tokens, false).await.unwrap_err();
            assert!(why.contains("is saved already: say --replace"), "{why}");
            let why = bring(control, &twice, true).await.unwrap_err();
            assert!(why.contains("each token works once"), "{why}");
            for _ in 0..2 {
                assert_eq!(bring(control, &tokens, true).await, Ok(jane()));
            }
            control.ask(EngineQuery::Settle).await.unwrap();
            assert_eq!(
                bring(control, &tokens, true).await,
                Ok(jane()),
                "the same tokens are accepted again"
            );
        })
        .await;
    assert_eq!(after, Vec::<String>::new());
    assert_eq!(shown(&world), (NEW.to_owned(), NEW.to_owned()));
    assert_eq!(requests(&world, "PATCH", "/v1/").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn details_that_stood_in_the_document_are_replaced_once_it_says_intake() {
    let world = World::new(ServiceSurface::Public, START);
    let written = tree().replace(&intake(), &payments::card("jane", FIRST));
    world.write(&written);
    assert_eq!(world.settle().await, Vec::<String>::new());
    world
        .while_running(async |daemon| {
            let reply = daemon.control.ask(EngineQuery::IntakeLink(jane())).await.unwrap();
            let Reply::IntakeLink(Err(why)) = reply else { panic!("unexpected link: {reply:?}") };
            assert!(why.contains("does not say `source: intake`"), "{why}");
            assert!(why.contains("in the place of `card` or `bank`"), "{why}");
        })
        .await;
    world.write(&tree());
    let waits = world.settle().await;
    let told = "Wait SavedMethod/jane: AwaitsIntake (the saved details came from the document";
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
    assert_eq!(shown(&world), (OLD.to_owned(), OLD.to_owned()), "the document restores its card");
}

#[tokio::test(start_paused = true)]
async fn a_charge_that_is_given_to_another_method_takes_it_from_that_one_s_payer() {
    let world = stored(ServiceSurface::Public).await;
    let other = document("SavedMethod", "joe", "type: card\n  source: intake");
    world.write(&[tree().replace("method: jane", "method: joe"), other].concat());
    let waits = world.settle().await;
    let club =
        "Wait RecurringCharge/club: AwaitsIntake (the service accepts another method only by";
    assert!(waits.iter().any(|one| one.starts_with(club)), "{waits:?}");
    let tokens = [token(&world, SECOND), token(&world, SECOND)];
    let after = world
        .while_running(async |daemon| {
            let joe: Key = "SavedMethod/default/joe".parse().unwrap();
            let [token, more] = tokens.each_ref().map(|one| Secret::from(one.as_str()));
            let more = vec![more];
            let attaching = AttachToken { key: joe.clone(), token, more, replace: false };
            let reply = daemon
                .control
                .send(ControlRequest::Attach(attaching), "ada".to_owned())
                .await
                .unwrap();
            assert_eq!(reply, Reply::Attached(Ok(joe)));
        })
        .await;
    assert_eq!(after, Vec::<String>::new());
    assert_eq!(world.objects("cards").len(), 2);
    assert_eq!(only(&world, "recurring_charges")["method"]["number"], NEW);
}

#[tokio::test(start_paused = true)]
async fn no_token_is_anywhere_but_in_the_vault_even_where_the_service_names_it() {
    let world = stored(ServiceSurface::Public).await;
    let tokens = [token(&world, SECOND), token(&world, SECOND)];
    let used = json!({"token_id": tokens[1]});
    assert!(world.ask("acme", "POST", "/v1/cards", &used)["id"].is_string());
    let mut said = String::new();
    let after = world
        .while_running(async |daemon| {
            let control = &daemon.control;
            assert_eq!(bring(control, &tokens, true).await, Ok(jane()));
            control.ask(EngineQuery::Settle).await.unwrap();
            let club: Key = "RecurringCharge/default/club".parse().unwrap();
            for question in
                [EngineQuery::Plan, EngineQuery::Resource(jane()), EngineQuery::Resource(club)]
            {
                let reply = control.ask(question).await.unwrap();
                write!(said, "{reply:?}{}", serde_json::to_string(&reply).unwrap()).unwrap();
            }
        })
        .await;
    assert!(after[0].starts_with(LAGS), "the service refuses a used token: {after:?}");
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
    assert!(text.contains("SavedMethod/default/jane"), "the search covers the index");
    for token in tokens {
        assert!(!text.contains(&token));
    }
}

/// Closes the item of a person's one-time token: a dead token is not sent again, and another one is requested.
#[tokio::test(start_paused = true)]
async fn a_dead_token_of_a_person_is_sent_once_whatever_the_time() {
    let world = stored(ServiceSurface::Public).await;
    let tokens = [token(&world, SECOND), token(&world, SECOND)];
    assert!(
        world.ask("acme", "POST", "/v1/cards", &json!({"token_id": tokens[1]}))["id"].is_string()
    );
    let after = world
        .while_running(async |daemon| {
            assert_eq!(bring(&daemon.control, &tokens, true).await, Ok(jane()));
            daemon.control.ask(EngineQuery::Settle).await.unwrap();
            tokio::time::sleep(Duration::from_hours(1)).await;
        })
        .await;
    assert!(after[0].starts_with(LAGS), "{after:?}");
    assert!(after[0].contains("`reckon link SavedMethod/jane` prints the link"), "{after:?}");
    assert_eq!(requests(&world, "PATCH", "/v1/recurring/").len(), 1);
    assert_eq!(given(&world, &[SECOND, SECOND], true).await, Vec::<String>::new());
    assert_eq!(only(&world, "recurring_charges")["method"]["number"], NEW);
}

/// Changes the recurring charge of this id by a command.
async fn changed(daemon: &Daemon<'_>, id: &Value, set: Value) -> ActionReport {
    let action = Action {
        verb: "change".to_owned(),
        merchant: "Merchant/acme".parse().unwrap(),
        name: None,
        fields: json!({"type": "recurring", "id": id, "set": set}),
    };
    let asked = ControlRequest::Act(Box::new(action));
    let reply = daemon.control.send(asked, "ada".to_owned()).await.unwrap();
    let Reply::Action(acted) = reply else { panic!("unexpected response: {reply:?}") };
    *acted
}

/// Closes the item of C: the new date of a card from an intake page needs no payer. No document holds the date, so a
/// person may change it. Everything else of the charge belongs to its document.
#[tokio::test(start_paused = true)]
async fn a_charge_by_a_payer_s_card_gets_its_new_date_without_the_payer() {
    for surface in [ServiceSurface::Public, ServiceSurface::Documented] {
        let world = stored(surface).await;
        let id = only(&world, "recurring_charges")["id"].clone();
        let tokens = requests(&world, "POST", "/v1/tokens").len();
        let after = world
            .while_running(async |daemon| {
                let date = json!({"exp_month": 7, "exp_year": 2034});
                let acted = changed(daemon, &id, date).await;
                assert_eq!(acted.status, ActionStatus::Done, "{acted:?}");
                let more = json!({"exp_month": 7, "exp_year": 2035, "description": "more"});
                let acted = changed(daemon, &id, more).await;
                assert_eq!(acted.status, ActionStatus::Invalid, "{acted:?}");
                assert!(acted.message.contains("change its document at"), "{}", acted.message);
            })
            .await;
        assert_eq!(after, Vec::<String>::new(), "{surface:?}");
        let charge = only(&world, "recurring_charges");
        assert_eq!((&charge["id"], &charge["status"]), (&id, &json!("ACTIVE")), "the same charge");
        let method = &charge["method"];
        assert_eq!((&method["exp_month"], &method["exp_year"]), (&json!(7), &json!(2034)));
        assert_eq!(method["number"], OLD);
        assert_eq!(requests(&world, "POST", "/v1/tokens").len(), tokens, "no token is made");
        assert_eq!(world.settle().await, Vec::<String>::new(), "the next run does not revert it");
    }
}

/// A card whose details are in a document gets a new date only there.
#[tokio::test(start_paused = true)]
async fn the_date_of_a_card_that_a_document_holds_is_its_document_s() {
    let world = World::new(ServiceSurface::Public, START);
    world.write(&tree().replace(&intake(), &payments::card("jane", FIRST)));
    assert_eq!(world.settle().await, Vec::<String>::new());
    let id = only(&world, "recurring_charges")["id"].clone();
    world
        .while_running(async |daemon| {
            let acted = changed(daemon, &id, json!({"exp_month": 7, "exp_year": 2034})).await;
            assert_eq!(acted.status, ActionStatus::Invalid, "{acted:?}");
        })
        .await;
    assert_eq!(requests(&world, "PATCH", "/v1/recurring/").len(), 0);
}
