//! Approvals of live merchants and live applications, end to end: accounts of other merchants, raised generations, and
//! a daemon.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::support::applicants::{BORN, COMPLETE, LICENSE, MERCHANT, SIGNATURE, SSN, world};
use crate::support::partner::provisioned;
use crate::support::shell::{Shell, code, stderr, stdout};
use crate::support::world::{World, request};
use crate::support::{applicants, covers};
use reckon::base::id::{Key, Mode};
use reckon::control::handle::Control;
use reckon::control::protocol::ControlRequest;
use reckon::control::socket::ControlSocket;
use reckon::control::socket::SocketClient;
use reckon::engine::core::coordinator::RunUntil;
use reckon::engine::protocol::approvals::ApproveLive;
use reckon::engine::protocol::diagnostics::StateReply;
use reckon::engine::protocol::input::{EngineCommand, EngineInput};
use reckon::engine::protocol::query::{EngineQuery, Reply};
use reckon::model::record::Record;
use reckon::model::state::credentials::{BindingApproval, LiveBinding};
use reckon::model::state::lifecycle::ReleaseRequest;
use reckon::model::state::observed::Observed;
use reckon::store::read_model::model::ReadModel;
use reckon::store::writer::core::Commit;

/// Returns the tree of the onboarding with a live merchant.
fn live() -> String {
    format!("{COMPLETE}{}", MERCHANT.replace("mode: test", "mode: live"))
}

/// Returns a merchant with an authorization code from the file of its name.
fn by_code(name: &str, mode: &str, generation: u32) -> String {
    format!(
        "---\napiVersion: reckon.dev/v1\nkind: Merchant\nmetadata: {{name: {name}, annotations: \
         {{reckon.dev/generation: '{generation}'}}}}\nspec: {{mode: {mode}, credentials: \
         {{authorization_code: {{file: {name}}}}}}}\n"
    )
}

fn told(told: &[String], start: &str) -> bool {
    told.iter().any(|one| one.starts_with(start))
}

/// Returns the bindings that wait for an approval.
fn waiting(world: &World) -> Vec<LiveBinding> {
    let Reply::Approvals(waiting) = world.engine().answer(EngineQuery::Approvals).unwrap() else {
        panic!("unexpected response");
    };
    waiting
}

/// Approves a binding while no engine runs.
async fn approve(world: &World, binding: &LiveBinding) -> Option<BindingApproval> {
    let approving = ApproveLive { binding: binding.clone(), actor: "uid 7".to_owned() };
    let reply = world.engine().command(EngineCommand::ApproveLive(approving)).await.unwrap();
    let Reply::Approved(approved) = reply else { panic!("{reply:?}") };
    approved.map(|approval| *approval)
}

/// Returns the observed state of a merchant.
fn known(world: &World, name: &str) -> Observed {
    let key = format!("Merchant/{name}").parse().unwrap();
    ReadModel::new(world.index.clone()).observed_state(&key).unwrap().expect("a state")
}

/// Returns a field of a merchant in a mode, as the service has it.
fn of_service(world: &World, merchant: &str, mode: &str, field: &str) -> Value {
    let all = world.control("GET", "credentials", &Value::Null);
    let mut merchants = all["merchants"].as_array().unwrap().iter();
    merchants.find(|one| one["name"] == merchant).unwrap()[mode][field].clone()
}

/// Returns the public keys of a merchant's accounts in a mode, sorted.
fn public_keys(world: &World, merchant: &str, mode: &str) -> Value {
    let accounts = of_service(world, merchant, mode, "accounts");
    let accounts = accounts.as_array().unwrap().iter();
    let keys: BTreeSet<String> =
        accounts.map(|account| account["public_key"].as_str().unwrap().to_owned()).collect();
    json!(keys)
}

fn public_key(world: &World, merchant: &str, mode: &str) -> Value {
    of_service(world, merchant, mode, "public_key")
}

/// Submits the application, and lets the service approve it with a code for this merchant. Returns the plan.
async fn approved_with(world: &World, merchant: &str) -> Vec<String> {
    world.settle().await;
    let (reference, code) = (world.reference(), world.code(merchant));
    world.notified(&reference, &provisioned(&reference, &code)).await
}

#[tokio::test(start_paused = true)]
async fn a_live_binding_waits_for_a_person_and_nothing_is_sent_for_it_before() {
    let world = world(&live());
    world.settle().await;
    let waits = world.decided().await;
    assert!(told(&waits, "Wait Merchant/harbor: AwaitsApproval"), "{waits:?}");
    assert!(waits[0].contains("`reckon approve Merchant/harbor`"), "{waits:?}");
    assert!(told(&waits, "Create Contact/jane: WaitsFor"), "{waits:?}");
    assert_eq!((world.engine().view().overview().stuck, world.objects("contacts").len()), (1, 0));
    assert!(known(&world, "harbor").fact("surveyed").is_null());
    let (requests, position) = (world.requests(), world.position());
    assert_eq!(world.settle().await, waits);
    assert_eq!((world.requests(), world.position()), (requests, position));

    let binding = waiting(&world).pop().unwrap();
    assert_eq!((binding.mode, binding.generation), (Mode::Live, 0));
    assert_eq!(binding.name.as_deref(), Some("Harbor Books"));
    assert_eq!(binding.application.short(), "MerchantApplication/harbor");
    let keys = json!(binding.public_keys);
    assert_eq!(keys, public_keys(&world, "Harbor Books", "live"));
    let approval = approve(&world, &binding).await.unwrap();
    assert_eq!((approval.actor.as_str(), &approval.binding), ("uid 7", &binding));
    assert_eq!(world.settle().await, Vec::<String>::new());
    let contacts = world.objects("contacts");
    assert_eq!((contacts.len(), &contacts[0]["test_mode"]), (1, &json!(false)));
    assert_eq!(approve(&world, &binding).await, None, "the binding is approved already");
    covers::covers(&["30.4"]);
}

#[tokio::test(start_paused = true)]
async fn an_approval_is_for_what_was_shown_and_for_nothing_else() {
    let world = world(&live());
    world.settle().await;
    let waits = world.decided().await;
    let binding = waiting(&world).pop().unwrap();
    let position = world.position();
    let others = [
        LiveBinding { name: Some("Harbour Books".to_owned()), ..binding.clone() },
        LiveBinding { generation: 1, ..binding.clone() },
        LiveBinding { public_keys: ["m_other".parse().unwrap()].into(), ..binding.clone() },
        LiveBinding { application: "MerchantApplication/x".parse().unwrap(), ..binding.clone() },
        LiveBinding { merchant: "Merchant/x".parse().unwrap(), ..binding.clone() },
    ];
    for other in &others {
        assert_eq!(approve(&world, other).await, None, "{other:?}");
    }
    assert_eq!((world.settle().await, world.position()), (waits, position));
}

#[tokio::test(start_paused = true)]
async fn a_document_that_names_a_code_instead_does_not_get_around_the_approval() {
    let mut world = world(&live());
    world.settle().await;
    world.decided().await;
    world.files.insert("harbor".to_owned(), world.code("Harbor Books"));
    let code = "authorization_code: {file: harbor}";
    world.write(&live().replace("application: harbor", code));
    let waits = world.settle().await;
    assert!(told(&waits, "Wait Merchant/harbor: AwaitsApproval"), "{waits:?}");
    assert_eq!(world.objects("contacts").len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_live_merchant_of_another_name_cannot_even_be_approved() {
    let world = world(&live());
    let after = approved_with(&world, "Somebody Else").await;
    assert!(told(&after, "Blocked Merchant/harbor: Unfit"), "{after:?}");
    assert_eq!(waiting(&world), Vec::new());
    assert_eq!(world.objects("contacts").len(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_opens_the_account_of_another_merchant_is_blocked_and_names_it() {
    for mode in ["test", "live"] {
        let tree = live().replace("mode: live", &format!("mode: {mode}"));
        let mut world = world(COMPLETE);
        world.files.insert("first".to_owned(), world.code("Harbor Books"));
        world.write(&format!("{tree}{}", by_code("first", mode, 0)));
        let after = approved_with(&world, "Harbor Books").await;
        assert!(told(&after, "Blocked Merchant/harbor: BoundElsewhere"), "{after:?}");
        assert!(after[0].contains("Merchant/first"), "{after:?}");
        assert_eq!((world.engine().view().overview().stuck, waiting(&world)), (1, Vec::new()));
        assert_eq!(world.objects("contacts").len(), 0);
        assert_eq!(world.settle().await, after, "{mode}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_account_of_the_other_mode_is_another_one() {
    let mut world = world("");
    world.files.insert("one".to_owned(), world.code("Harbor Books"));
    world.files.insert("two".to_owned(), world.code("Harbor Books"));
    world.write(&format!("{}{}", by_code("one", "test", 0), by_code("two", "live", 0)));
    assert_eq!(world.settle().await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_raised_generation_binds_anew_and_leaves_the_old_account_to_others() {
    let mut world = world(&by_code("acme", "test", 0));
    world.files.insert("acme".to_owned(), world.code("Alpha"));
    assert_eq!(world.settle().await, Vec::<String>::new());
    let keys = |world: &World, name: &str| {
        json!(known(world, name).merchant_binding().unwrap().public_keys)
    };
    assert_eq!(keys(&world, "acme"), public_keys(&world, "Alpha", "test"));
    world.files.insert("acme".to_owned(), world.code("Beta"));
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(keys(&world, "acme"), public_keys(&world, "Alpha", "test"));
    world.write(&by_code("acme", "test", 1));
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(keys(&world, "acme"), public_keys(&world, "Beta", "test"));
    let account = &known(&world, "acme").facts["accounts"][0]["id"];
    assert_eq!(*account, of_service(&world, "Beta", "test", "card_account_id"));
    world.files.insert("other".to_owned(), world.code("Alpha"));
    world.write(&format!("{}{}", by_code("acme", "test", 1), by_code("other", "test", 0)));
    assert_eq!(world.settle().await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_raised_generation_reads_with_the_token_that_the_document_names_now() {
    let tree = |generation| {
        by_code("acme", "test", generation).replace("authorization_code", "access_token")
    };
    let mut world = world(&tree(0));
    world.files.insert("acme".to_owned(), token(&world, "Alpha"));
    assert_eq!(world.settle().await, Vec::<String>::new());
    world.files.insert("acme".to_owned(), token(&world, "Beta"));
    world.write(&tree(1));
    assert_eq!(world.settle().await, Vec::<String>::new());
    let bound = known(&world, "acme").merchant_binding().unwrap();
    assert_eq!(json!(bound.public_keys), public_keys(&world, "Beta", "test"));
    assert_eq!(bound.generation, 1);
}

#[tokio::test(start_paused = true)]
async fn keys_that_take_the_place_of_a_code_leave_nothing_of_its_token() {
    let mut world = world(&by_code("acme", "test", 0));
    world.files.insert("acme".to_owned(), world.code("Alpha"));
    assert_eq!(world.settle().await, Vec::<String>::new());
    world.code("Beta");
    let (public, secret) =
        (public_key(&world, "Beta", "test"), of_service(&world, "Beta", "test", "secret_key"));
    world.files.insert("acme".to_owned(), secret.as_str().unwrap().to_owned());
    let keys = format!("keys: {{public_key: {public}, secret_key: {{file: acme}}}}");
    let code = "authorization_code: {file: acme}";
    world.write(&by_code("acme", "test", 1).replace(code, &keys));
    assert_eq!(world.settle().await, Vec::<String>::new());
    let known = known(&world, "acme");
    assert_eq!(json!(known.merchant_binding().unwrap().public_keys), json!([public]));
    for older in ["token", "secret_key", "bank_accounts", "merchant_name"] {
        assert!(known.fact(older).is_null(), "{older}");
    }
}

/// Exchanges a code outside reckon. Returns the token of the merchant.
fn token(world: &World, merchant: &str) -> String {
    let partner = world.control("GET", "credentials", &Value::Null)["partner"].clone();
    let body = json!({"client_id": partner["client_id"], "client_secret": partner["client_secret"],
        "grant_type": "authorization_code", "scope": "payments",
        "redirect_uri": partner["redirect_uri"], "code": world.code(merchant)});
    let answer = request(&world.sandbox.router(), "POST", "/oauth/token", None, Some(&body));
    answer["access_token"].as_str().expect("a token").to_owned()
}

#[tokio::test]
async fn an_approval_reaches_the_daemon_over_its_socket_and_it_goes_on_by_itself() {
    let world = world(&live());
    world.settle().await;
    world.decided().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("control.sock");
    let door = ControlSocket::bind(&path).await.unwrap();
    let mut engine = world.engine();
    let (sender, events) = mpsc::channel(8);
    let serving = tokio::spawn(door.serve(Control::new(sender.clone()), std::future::pending()));
    let acting = async {
        let client = SocketClient::connect(&path).await.unwrap().expect("a daemon listens");
        let Ok(Reply::Approvals(waiting)) = client.send(EngineQuery::Approvals).await else {
            panic!("unexpected response");
        };
        let approve = ControlRequest::Approve(Box::new(waiting[0].clone()));
        let Ok(Reply::Approved(Some(approval))) = client.send(approve.clone()).await else {
            panic!("the daemon did not approve");
        };
        let again = client.send(approve).await;
        client.send(EngineQuery::Settle).await.unwrap();
        sender.send(EngineInput::Stop).await.unwrap();
        (approval, again)
    };
    let (ran, (approval, again)) = tokio::join!(engine.run(events, RunUntil::Stopped), acting);
    serving.abort();
    ran.unwrap();
    assert!(approval.actor.starts_with("uid "), "{}", approval.actor);
    assert_eq!(again, Ok(Reply::Approved(None)));
    assert_eq!(world.objects("contacts").len(), 1);
    assert_eq!(known(&world, "harbor").approval.as_deref(), Some(&*approval));
    assert_eq!(world.plan(), Vec::<String>::new());
}

/// Releases the application, as a person does. Returns false if it did not wait.
async fn release(world: &World) -> bool {
    let application: Key = "MerchantApplication/harbor".parse().unwrap();
    let said = ReleaseRequest { keys: vec![application], done: false };
    let reply =
        world.engine().command(EngineCommand::Release(said, "uid 7".to_owned())).await.unwrap();
    let Reply::State(StateReply::Released(done)) = reply else { panic!("{reply:?}") };
    done
}

/// Closes M8: after the loss of a state the application is not submitted a second time.
#[tokio::test(start_paused = true)]
async fn a_live_application_of_a_state_that_began_empty_waits_for_a_person() {
    let mut world = world(COMPLETE);
    world.cautious_start = true;
    let waits = world.settle().await;
    assert!(told(&waits, "Wait MerchantApplication/harbor: AwaitsApproval"), "{waits:?}");
    assert!(waits[0].contains("`reckon approve MerchantApplication/harbor`"), "{waits:?}");
    assert_eq!(
        (world.engine().view().overview().stuck, world.objects("applications").len()),
        (1, 0)
    );
    let (requests, position) = (world.requests(), world.position());
    assert_eq!(world.settle().await, waits);
    assert_eq!((world.requests(), world.position()), (requests, position));
    assert!(release(&world).await);
    let after = world.settle().await;
    assert!(told(&after, "Wait MerchantApplication/harbor: AwaitsDecision"), "{after:?}");
    assert_eq!(world.objects("applications").len(), 1);
    assert!(!release(&world).await, "the application does not wait any more");

    world.lose_the_state();
    assert_eq!(world.settle().await, waits);
    assert_eq!(world.objects("applications").len(), 1, "the application is not submitted again");
}

/// Closes M8: a test needs no approval, nor does an application at a service that a person declared empty.
#[tokio::test(start_paused = true)]
async fn a_test_waits_for_nobody_and_a_declared_service_neither() {
    let mut world = world(&format!("{COMPLETE}  test: validate\n"));
    world.cautious_start = true;
    let after = world.settle().await;
    assert!(!after.iter().any(|one| one.contains("AwaitsApproval")), "{after:?}");
    assert!(world.requests() > 0, "the test is sent: {after:?}");

    let mut world = applicants::world(COMPLETE);
    world.cautious_start = true;
    let at = "2026-11-21T10:00:00Z".parse().unwrap();
    let declared = Record::EmptyRemote { at, actor: "uid 7".to_owned() };
    world.shared().writer.append(Commit::of(vec![declared])).await.unwrap();
    let after = world.settle().await;
    assert!(told(&after, "Wait MerchantApplication/harbor: AwaitsDecision"), "{after:?}");
}

/// Closes M8: the command shows the reason, asks, and approves once.
#[test]
fn approve_takes_an_application_that_a_lost_state_may_have_submitted() {
    let shell = Shell::start();
    let config = std::fs::read_to_string(shell.path("reckon.yaml")).unwrap();
    shell.write("reckon.yaml", &config.replace("[CODE_*]", "[CODE_*]\n  files: secrets"));
    std::fs::create_dir(shell.path("secrets")).unwrap();
    for (name, text) in
        [("born", BORN), ("ssn", SSN), ("license", LICENSE), ("signature", SIGNATURE)]
    {
        shell.write(&format!("secrets/{name}"), text);
    }
    shell.write("specs/harbor.yaml", COMPLETE);
    let waits = shell.reckon(&["apply", "--yes"]);
    let told = format!("{}{}", stdout(&waits), stderr(&waits));
    assert_eq!((code(&waits), shell.count("applications")), (3, 0), "{told}");
    assert!(told.contains("reckon approve MerchantApplication/harbor"), "{told}");
    let name = "MerchantApplication/harbor";
    let unasked = shell.reckon(&["approve", name]);
    assert_eq!(code(&unasked), 1, "{}", stderr(&unasked));
    assert!(stderr(&unasked).contains("this state began empty"), "{}", stderr(&unasked));
    let approved = shell.reckon(&["approve", name, "--yes"]);
    assert_eq!(code(&approved), 0, "{}", stderr(&approved));
    let applied = shell.reckon(&["apply", "--yes"]);
    assert_eq!((code(&applied), shell.count("applications")), (0, 1), "{}", stderr(&applied));
    let again = shell.reckon(&["approve", name, "--yes"]);
    assert_eq!(code(&again), 1, "{}", stdout(&again));
}
