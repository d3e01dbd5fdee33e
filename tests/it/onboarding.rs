//! Onboarding, end to end: submitted, decided, connected, in doubt, on hold, tested, and by sign-up.

use std::time::Duration;

use reckon::base::secret::Secret;
use reckon::engine::protocol::events::EventsWanted;
use reckon::engine::protocol::query::{EngineQuery, Reply};
use reckon::render::words::Screen;
use reckon::store::disk::traits::Disk;
use reckon::store::index::ordered::Index;
use reckon::store::read_model::model::ReadModel;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::support::applicants::{
    BORN, COMPLETE, LICENSE, MERCHANT, SIGN_UP, SSN, form, tree, world,
};
use crate::support::canaries::Canaries;
use crate::support::covers;
use crate::support::partner::{declined, provisioned};
use crate::support::requests::Seen;
use crate::support::world::World;

fn told(told: &[String], start: &str) -> bool {
    told.iter().any(|one| one.starts_with(start))
}

/// Returns the status with which a page of the sign-up opens.
async fn opened(world: &World, page: &Secret) -> u16 {
    let path = page.expose().splitn(4, '/').nth(3).unwrap();
    let request = http::Request::get(format!("/{path}")).header("host", "localhost");
    let request = request.body(axum::body::Body::empty()).unwrap();
    world.sandbox.router().oneshot(request).await.unwrap().status().as_u16()
}

/// Counts the webhooks of the partner in the index.
fn notices(world: &World) -> usize {
    world.index.scan_from(b"n/", None, usize::MAX).unwrap().len()
}

/// Loses the answer to the next submission.
fn lose_the_answer(world: &World) {
    let path = "/api/v1/merchant_applications";
    let body = json!({"method": "POST", "path": path, "fault": "drop_after", "times": 1});
    world.control("POST", "faults", &body);
}

#[tokio::test(start_paused = true)]
async fn an_approved_application_becomes_a_merchant_with_a_contact_and_then_nothing_is_left_to_do()
{
    let mut world = world(&tree());
    let seen = Seen::default();
    world.seen = Some(seen.clone());
    let waiting = world.settle().await;
    assert!(told(&waiting, "Wait MerchantApplication/harbor: AwaitsDecision"), "{waiting:?}");
    assert!(told(&waiting, "Wait Merchant/harbor: WaitsFor"), "{waiting:?}");
    assert_eq!(world.objects("applications")[0]["state"], "submitted");
    assert_eq!(world.decided().await, Vec::<String>::new());
    assert_eq!(world.objects("contacts").len(), 1);
    assert_eq!(world.objects("contacts")[0]["merchant"], "Harbor Books");
    assert_eq!(world.objects("applications")[0]["merchant"], "Harbor Books");
    assert!(keeps_a_code(&world));
    let (requests, position) = (world.requests(), world.position());
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!((world.requests(), world.position()), (requests, position));
    let tokens = seen.of("POST", "/oauth/token").into_iter();
    let codes = tokens.filter(|one| one.body["grant_type"] == "authorization_code");
    assert_eq!(codes.count(), 1, "the code is exchanged once");
    covers::covers(&["13.5", "14.3"]);
}

#[tokio::test(start_paused = true)]
async fn a_declined_application_needs_a_person_and_what_depends_on_it_waits() {
    let world = world(&tree().replace("Harbor Books", "demo"));
    world.settle().await;
    let after = world.decided().await;
    assert!(after[0].starts_with("Blocked MerchantApplication/harbor: Declined"), "{after:?}");
    assert!(after[0].contains("duplicate_merchant"), "{after:?}");
    assert!(after[0].contains("the applicant has to contact support"), "{after:?}");
    assert_eq!(world.engine().view().overview().stuck, 1);
    assert!(told(&after, "Wait Merchant/harbor: WaitsFor"), "{after:?}");
    assert!(told(&after, "Create Contact/jane: WaitsFor"), "{after:?}");
    assert_eq!(world.settle().await, after);
    assert_eq!(world.objects("applications").len(), 1);
    covers::covers(&["15.4"]);
}

#[tokio::test(start_paused = true)]
async fn what_comes_twice_or_too_late_or_from_strangers_changes_nothing() {
    let world = world(&tree());
    world.settle().await;
    let reference = world.reference();
    let code = world.code("Harbor Books");
    let approval = provisioned(&reference, &code);
    assert_eq!(world.notified(&reference, &approval).await, Vec::<String>::new());
    assert_eq!(notices(&world), 1);
    let (requests, position) = (world.requests(), world.position());
    assert_eq!(world.notified(&reference, &approval).await, Vec::<String>::new());
    assert_eq!((notices(&world), world.position()), (1, position));
    let denial = declined(&reference);
    assert_eq!(world.notified(&reference, &denial).await, Vec::<String>::new());
    assert_eq!((notices(&world), world.requests()), (2, requests));
    assert_eq!(world.notified("nobody", &declined("nobody")).await, Vec::<String>::new());
    assert_eq!(world.notified(&reference, &declined("nobody")).await, Vec::<String>::new());
    assert_eq!((notices(&world), world.requests()), (4, requests));
    // Closes K17: ignored webhooks are listed with their reason, and counted.
    let facts = ReadModel::new(world.index.clone());
    assert_eq!(facts.ignored_webhooks().unwrap(), 2);
    let wanted = EventsWanted { most: 10, ..EventsWanted::default() };
    let asked = world.engine().answer(EngineQuery::Events(wanted));
    let view = match asked {
        Ok(Reply::Events(view)) => Some(view),
        Ok(_) | Err(_) => None,
    };
    let view = view.expect("the response has events");
    let reasons: Vec<(&str, &str)> =
        view.ignored.iter().map(|one| (one.reference.as_str(), one.reason.as_str())).collect();
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    assert!(
        reasons.contains(&("nobody", "no application that was submitted here has its reference"))
    );
    assert!(reasons.contains(&(reference.as_str(), "its events have another reference")));
}

#[tokio::test(start_paused = true)]
async fn what_becomes_of_an_older_submission_says_nothing_once_the_newest_was_decided() {
    let world = world(&tree());
    world.settle().await;
    let older = world.reference();
    let id = world.objects("applications")[0]["id"].to_string();
    let path = format!("applications/{}/decision", id.trim_matches('"'));
    world.control("POST", &path, &json!({"decision": "decline"}));
    let raised = "metadata: {name: harbor, annotations: {reckon.dev/generation: '1'}}";
    world.write(&tree().replacen("metadata: {name: harbor}", raised, 1));
    world.settle().await;
    let all = world.objects("applications");
    assert_eq!(all.len(), 2, "{all:?}");
    let mut marks = all.iter().map(|one| one["reference"].as_str().unwrap());
    let newer = marks.find(|one| *one != older).unwrap();
    let code = world.code("Harbor Books");
    assert_eq!(world.notified(newer, &provisioned(newer, &code)).await, Vec::<String>::new());
    assert_eq!(world.notified(&older, &declined(&older)).await, Vec::<String>::new());
    assert_eq!(notices(&world), 2);
}

#[tokio::test(start_paused = true)]
async fn what_is_no_notification_is_stored_and_says_nothing() {
    let world = world(COMPLETE);
    let before = world.settle().await;
    let reference = world.reference();
    for event in [json!(7), json!({"type": "merchant.renamed", "data": {"reference": reference}})] {
        assert_eq!(world.notified(&reference, &event).await, before);
    }
    assert_eq!(notices(&world), 2);
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_is_settled_by_the_decision_and_nothing_is_submitted_twice() {
    let world = world(&tree());
    lose_the_answer(&world);
    let after = world
        .while_running(async |daemon| {
            while daemon.deliver().await.is_empty() {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        })
        .await;
    assert_eq!(after, Vec::<String>::new());
    assert_eq!(world.objects("applications").len(), 1);
    assert_eq!(world.objects("contacts").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn without_a_notification_a_lost_answer_is_held_and_a_late_one_settles_it() {
    let world = world(&tree());
    lose_the_answer(&world);
    let held = world.settle().await;
    assert!(held[0].starts_with("Blocked MerchantApplication/harbor: Held"), "{held:?}");
    assert!(held[0].contains("no notification"), "{held:?}");
    assert_eq!(world.settle().await, held);
    let after = world.while_running(async |daemon| assert_eq!(daemon.deliver().await.len(), 1));
    assert_eq!(after.await, Vec::<String>::new());
    assert_eq!(world.objects("applications").len(), 1);
    assert_eq!(world.objects("contacts").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_process_that_ends_in_doubt_leaves_the_notification_to_the_next_one() {
    let world = world(&tree());
    lose_the_answer(&world);
    let cut = tokio::time::timeout(Duration::from_secs(9), world.settle()).await;
    assert!(cut.is_err(), "no webhook has arrived");
    let after = world.while_running(async |daemon| assert_eq!(daemon.deliver().await.len(), 1));
    assert_eq!(after.await, Vec::<String>::new());
    assert_eq!(world.objects("applications").len(), 1);
    assert_eq!(world.objects("contacts").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_held_submission_is_settled_once_by_several_decisions_at_once() {
    for together in [true, false] {
        let world = world(&tree());
        lose_the_answer(&world);
        world.settle().await;
        let reference = world.reference();
        let code = world.code("Harbor Books");
        let (yes, no) = (provisioned(&reference, &code), declined(&reference));
        let after = world.while_running(async |daemon| {
            if together {
                daemon.notify(&reference, &[&no, &yes]).await;
            } else {
                let (yes, no) = ([&yes], [&no]);
                tokio::join!(daemon.notify(&reference, &no), daemon.notify(&reference, &yes));
            }
        });
        assert_eq!(after.await, Vec::<String>::new(), "{together}");
        assert_eq!(world.objects("contacts").len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_test_ends_as_it_was_to_end_and_its_code_is_not_even_kept() {
    for (test, word) in [("validate", "TestPassed"), ("fail", "TestFailed")] {
        for is_lost in [false, true] {
            let world = world(&format!("{COMPLETE}  test: {test}\n"));
            if is_lost {
                lose_the_answer(&world);
            }
            world.settle().await;
            assert_eq!(application(&world)["ready"], false, "{test}: no decision has arrived yet");
            let told = world.decided().await;
            assert_eq!(told, Vec::<String>::new());
            let view = application(&world);
            assert_eq!((&view["reason"], &view["ready"]), (&json!(word), &json!(true)), "{view}");
            assert_eq!(world.objects("applications").len(), 0);
            assert!(!keeps_a_code(&world), "{test}, lost: {is_lost}");
        }
    }
    covers::covers(&["10.9"]);
}

/// Returns true if the code of the application's approval is known.
fn keeps_a_code(world: &World) -> bool {
    let key = "MerchantApplication/default/harbor".parse().unwrap();
    let known = ReadModel::new(world.index.clone()).observed_state(&key).unwrap().unwrap();
    !known.fact("code").is_null()
}

/// Returns the view of the application.
fn application(world: &World) -> Value {
    let key = "MerchantApplication/default/harbor".parse().unwrap();
    let reply = world.engine().answer(EngineQuery::Resource(key)).unwrap();
    let Reply::Resource(Some(view)) = reply else { return Value::Null };
    serde_json::to_value(view).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_code_that_opens_a_merchant_of_another_name_blocks_everything_behind_it() {
    let world = world(&tree());
    world.settle().await;
    let reference = world.reference();
    let code = world.code("Somebody Else");
    let after = world.notified(&reference, &provisioned(&reference, &code)).await;
    assert!(told(&after, "Blocked Merchant/harbor: Unfit"), "{after:?}");
    assert!(after[0].contains("another name"), "{after:?}");
    assert!(told(&after, "Create Contact/jane: WaitsFor"), "{after:?}");
    assert_eq!(world.objects("contacts").len(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_approval_without_a_code_connects_nothing() {
    let world = world(&tree());
    world.settle().await;
    let reference = world.reference();
    let approval = json!({"type": "merchant.provisioned", "data": {"reference": reference}});
    let after = world.notified(&reference, &approval).await;
    assert!(after.iter().any(|one| one.contains("Merchant/harbor: Unfit")), "{after:?}");
}

#[tokio::test(start_paused = true)]
async fn an_applicant_gets_a_page_at_each_click_and_nothing_is_submitted_before_the_form_is_sent() {
    let world = world(&format!("{SIGN_UP}{MERCHANT}"));
    let waiting = world.settle().await;
    assert!(told(&waiting, "Wait MerchantApplication/harbor: AwaitsApplicant"), "{waiting:?}");
    assert_eq!(world.objects("applications").len(), 0);
    let mut pages = Vec::new();
    let clicked = world.while_running(async |daemon| {
        for _ in 0..2 {
            pages.push(daemon.visit("harbor").await.unwrap());
        }
        assert!(daemon.visit("nobody").await.is_none());
    });
    assert_eq!(clicked.await, waiting);
    assert_ne!(pages[0].expose(), pages[1].expose());
    world.control("POST", "clock", &json!({"advance": "PT6M"}));
    assert_eq!(opened(&world, &pages[1]).await, 410, "the page expires after five minutes");
    let again = world.while_running(async |daemon| {
        pages.push(daemon.visit("harbor").await.unwrap());
    });
    assert_eq!(again.await, waiting);
    assert_eq!(opened(&world, &pages[2]).await, 200);
    let states = |world: &World| -> Vec<Value> {
        world.objects("applications").iter().map(|one| one["state"].clone()).collect()
    };
    assert!(states(&world).iter().all(|state| state == "started"), "{:?}", states(&world));
    world.fill_in(&pages[2], &form());
    assert!(states(&world).contains(&json!("submitted")), "{:?}", states(&world));
    assert_eq!(world.decided().await, Vec::<String>::new());
    assert_eq!(world.objects("contacts").len(), 1);
    let late = world.while_running(async |daemon| {
        assert!(daemon.visit("harbor").await.is_none());
    });
    assert_eq!(late.await, Vec::<String>::new());
    covers::covers(&["11.6", "12.9"]);
}

#[tokio::test(start_paused = true)]
async fn the_test_of_the_sign_up_is_submitted_once_whatever_its_generation() {
    let test = |generation: u32| {
        let name = format!("name: harbor, annotations: {{reckon.dev/generation: '{generation}'}}");
        SIGN_UP.replace("name: harbor", &name).replace("Harbor Books", "Harbor - TEST")
    };
    let world = world(&test(0));
    let waiting = world.settle().await;
    let mut form = form();
    form["business_name"] = json!("Harbor - TEST");
    let clicked = world.while_running(async |daemon| {
        let page = daemon.visit("harbor").await.unwrap();
        world.fill_in(&page, &form);
    });
    assert_eq!(clicked.await, waiting);
    let id = world.objects("applications")[0]["id"].to_string();
    let path = format!("applications/{id}/decision");
    world.control("POST", &path, &json!({"decision": "approve"}));
    assert_eq!(world.decided().await, Vec::<String>::new());
    world.write(&test(1));
    let after = world.while_running(async |daemon| {
        assert!(daemon.visit("harbor").await.is_none());
    });
    let after = after.await;
    assert!(told(&after, "Blocked MerchantApplication/harbor: Unfit"), "{after:?}");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_names_the_field() {
    let mut complete = world(&tree());
    complete.files.insert("born".to_owned(), "yesterday".to_owned());
    let after = complete.settle().await;
    assert!(after[0].starts_with("Blocked MerchantApplication/harbor: Refused"), "{after:?}");
    assert!(after[0].contains("owner_date_of_birth: "), "{after:?}");
    assert!(!after[0].contains("yesterday"), "{after:?}");
    let Reply::Plan(plan) = complete.engine().answer(EngineQuery::Plan).unwrap() else { panic!() };
    let [problem] = plan.steps[0].problems.as_slice() else { panic!("{plan:?}") };
    let text = tree();
    let line = text.lines().nth(problem.line - 1).unwrap();
    assert!(line.trim_start().starts_with("owner_date_of_birth:"), "{problem:?}");
    assert_eq!(line.find('{').map(|at| at + 1), Some(problem.column));
    assert_eq!(problem.code, "reckon::service::refused");
    assert!(problem.message.starts_with("the service refused it (HTTP 422): "), "{problem:?}");
    let shown = reckon::render::plan::text(&plan, Screen::PLAIN);
    assert!(
        shown
            .contains(&format!("{}:{}:{} the service", problem.file, problem.line, problem.column))
    );
    let sign_up = world(SIGN_UP);
    sign_up.control("POST", "partner", &json!({"plans": [{"id": "gold"}]}));
    let after = sign_up
        .while_running(async |daemon| {
            assert!(daemon.visit("harbor").await.is_none());
            assert!(daemon.visit("harbor").await.is_none());
        })
        .await;
    assert!(after[0].starts_with("Blocked MerchantApplication/harbor: Refused"), "{after:?}");
    assert!(after[0].contains("plan: "), "{after:?}");
    sign_up.write(&SIGN_UP.replace("basic", "gold"));
    let mended = sign_up.while_running(async |daemon| {
        assert!(daemon.visit("harbor").await.is_some());
    });
    assert!(told(&mended.await, "Wait MerchantApplication/harbor: AwaitsApplicant"));
    covers::covers(&["9.4"]);
}

#[tokio::test(start_paused = true)]
async fn no_code_and_no_secret_of_an_applicant_is_in_the_journal_the_index_or_a_view() {
    let world = world(&tree());
    let mut canaries = Canaries::default();
    canaries.plant("the social security number", SSN);
    canaries.plant("the date of birth", BORN);
    canaries.plant("the licence", LICENSE);
    let mut said = world.settle().await.join("\n");
    world.control("POST", "clock", &json!({"advance": "PT6S"}));
    let heard = world.while_running(async |daemon| {
        for body in daemon.deliver().await {
            let code = body["events"][0]["data"]["auth_code"].as_str().expect("a code");
            canaries.plant("the code", code);
        }
        for question in
            [EngineQuery::Plan, EngineQuery::Resources(Box::default()), EngineQuery::Intents]
        {
            let reply = daemon.control.ask(question).await.unwrap();
            said.push_str(&serde_json::to_string(&reply).unwrap());
        }
    });
    let heard = heard.await.join("\n");
    said.push_str(&heard);
    said.push_str(&application(&world).to_string());
    assert!(said.contains("AwaitsDecision") && said.contains("provisioned"), "{said}");
    assert_eq!(world.objects("contacts").len(), 1, "the code connected the merchant");
    let folder = tempfile::tempdir().unwrap();
    for name in world.journal.list().unwrap() {
        let length = usize::try_from(world.journal.len(&name).unwrap()).unwrap();
        let bytes = world.journal.read_at(&name, 0, length).unwrap();
        std::fs::write(folder.path().join(name.replace('/', "_")), bytes).unwrap();
    }
    let entries = world.index.scan(b"").unwrap();
    let entries: Vec<u8> =
        entries.into_iter().flat_map(|(key, value)| [key, value].concat()).collect();
    assert!(!entries.is_empty());
    std::fs::write(folder.path().join("index"), entries).unwrap();
    let mut found = canaries.in_folder(folder.path());
    found.extend(canaries.in_bytes("the output", said.as_bytes()));
    assert_eq!(found, Vec::<String>::new());
}
