//! Suspensions: a suspended resource does not change, and shows the actor and the reason. It continues by a command, or
//! by itself at its time.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::support::payments::{MERCHANT, START, card, document};
use crate::support::shell::{Shell, code, stderr, stdout};
use crate::support::world::World;
use reckon::control::handle::Control;
use reckon::control::protocol::ControlRequest;
use reckon::control::socket::ControlSocket;
use reckon::control::socket::SocketClient;
use reckon::engine::core::coordinator::RunUntil;
use reckon::engine::protocol::input::{EngineCommand, EngineInput};
use reckon::engine::protocol::query::{EngineQuery, Reply};
use reckon::model::operator::{RemainingSuspension, SuspensionRequest, SuspensionResult};
use reckon::sandbox::options::ServiceSurface;

fn contact() -> String {
    let spec =
        "first_name: Jane\n  last_name: Doe\n  email_addresses: [{address: jane@example.com}]";
    document("Contact", "jane", spec)
}

fn world(tree: &str) -> World {
    let world = World::new(ServiceSurface::Public, START);
    world.write(tree);
    world
}

fn suspend(name: &str, until: Option<DateTime<Utc>>) -> SuspensionRequest {
    SuspensionRequest::Suspend { key: name.parse().unwrap(), reason: "audit".to_owned(), until }
}

/// Suspends or resumes while no engine runs.
async fn say(world: &World, pause: &SuspensionRequest) -> SuspensionResult {
    let reply = world
        .engine()
        .command(EngineCommand::Suspend(pause.clone(), "uid 7".to_owned()))
        .await
        .unwrap();
    let Reply::Suspension(paused) = reply else { panic!("unexpected response") };
    *paused
}

fn resume(name: &str) -> SuspensionRequest {
    SuspensionRequest::Resume { key: name.parse().unwrap() }
}

#[tokio::test(start_paused = true)]
async fn a_suspension_says_who_and_why_and_ends_by_itself() {
    let world = world(&format!("{MERCHANT}{}", contact()));
    let until = "2029-12-01T12:00:00Z".parse().unwrap();
    say(&world, &suspend("Contact/jane", Some(until))).await;
    let told = world.settle().await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told.iter().all(|step| step.starts_with("Wait Contact/jane: Suspended")), "{told:?}");
    let words = "Contact/jane was suspended by uid 7 at 2029-12-01T10:00:00.000Z until 2029-12-01T12:00:00.000Z: audit";
    assert!(told.iter().all(|step| step.contains(words)), "{told:?}");
    assert_eq!(world.engine().view().overview().suspended, 1);
    assert_eq!(world.objects("contacts").len(), 0);
    let mut engine = world.engine();
    let (sender, events) = mpsc::channel(1);
    let waiting = async {
        tokio::time::sleep(Duration::from_mins(110)).await;
        let before = world.objects("contacts").len();
        tokio::time::sleep(Duration::from_mins(20)).await;
        sender.send(EngineInput::Stop).await.unwrap();
        before
    };
    let (ran, before) = tokio::join!(engine.run(events, RunUntil::Stopped), waiting);
    ran.unwrap();
    assert_eq!(
        (before, world.objects("contacts").len()),
        (0, 1),
        "the suspension ends at its time"
    );
    assert_eq!(world.engine().view().overview().suspended, 0);
}

#[tokio::test(start_paused = true)]
async fn of_a_merchant_everything_stands_still_also_what_has_no_document_any_more() {
    let method = card("card", "4242424242424242")
        .replace("{name: card}", "{name: card, annotations: {reckon.dev/deletion: delete}}");
    let world = world(&format!("{MERCHANT}{method}"));
    assert_eq!(world.settle().await, Vec::<String>::new());
    say(&world, &suspend("Merchant/acme", None)).await;
    world.write(&format!("{MERCHANT}{}", contact()));
    let told = world.settle().await;
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told.iter().all(|step| step.contains("Merchant/acme was suspended")), "{told:?}");
    assert_eq!((world.objects("cards").len(), world.objects("contacts").len()), (1, 0));
    let still = Some(RemainingSuspension::Merchant("Merchant/acme".parse().unwrap()));
    let key = "Contact/jane".parse().unwrap();
    let paused = say(&world, &resume("Contact/jane")).await;
    assert_eq!(paused, SuspensionResult::NotSuspended { key, still });
    let key = "Merchant/acme".parse().unwrap();
    let paused = say(&world, &resume("Merchant/acme")).await;
    assert_eq!(paused, SuspensionResult::Resumed { key, still: None });
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!((world.objects("cards").len(), world.objects("contacts").len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn what_a_document_suspends_no_command_resumes() {
    let suspended = contact()
        .replace("{name: jane}", "{name: jane, annotations: {reckon.dev/suspend: \"true\"}}");
    let world = world(&format!("{MERCHANT}{suspended}"));
    let SuspensionResult::NotSuspended { still, .. } = say(&world, &resume("Contact/jane")).await
    else {
        panic!("no command suspended the contact");
    };
    let Some(RemainingSuspension::Document(file, _)) = still else {
        panic!("the document suspends it: {still:?}")
    };
    assert_eq!(file, "specs/tree.yaml");
    let unknown = say(&world, &suspend("Contact/jame", None)).await;
    let nearest = Some("Contact/jane".to_owned());
    assert_eq!(
        unknown,
        SuspensionResult::Unknown { key: "Contact/jame".parse().unwrap(), nearest }
    );
}

#[tokio::test]
async fn a_daemon_stops_and_goes_on_at_a_word_over_its_socket() {
    let world = world(MERCHANT);
    world.settle().await;
    world.write(&format!("{MERCHANT}{}", contact()));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("control.sock");
    let door = ControlSocket::bind(&path).await.unwrap();
    let mut engine = world.engine();
    let (sender, events) = mpsc::channel(8);
    let serving = tokio::spawn(door.serve(Control::new(sender.clone()), std::future::pending()));
    let acting = async {
        let client = SocketClient::connect(&path).await.unwrap().expect("a daemon listens");
        let contacts = || world.objects("contacts").len();
        let pause = ControlRequest::Suspend(Box::new(suspend("Merchant/acme", None)));
        let Ok(Reply::Suspension(paused)) = client.send(pause).await else {
            panic!("unexpected response")
        };
        let SuspensionResult::Suspended(suspension) = *paused else {
            panic!("not suspended: {paused:?}")
        };
        client.send(EngineQuery::Settle).await.unwrap();
        let before = contacts();
        world.write(&format!("{MERCHANT}{}", contact().replace("name: jane}", "name: june}")));
        client.send(EngineQuery::Settle).await.unwrap();
        let during = contacts();
        client.send(ControlRequest::Suspend(Box::new(resume("Merchant/acme")))).await.unwrap();
        client.send(EngineQuery::Settle).await.unwrap();
        sender.send(EngineInput::Stop).await.unwrap();
        (suspension, during - before)
    };
    let (ran, (suspension, during)) = tokio::join!(engine.run(events, RunUntil::Stopped), acting);
    serving.abort();
    ran.unwrap();
    assert!(suspension.actor.starts_with("uid "), "{suspension:?}");
    assert_eq!(during, 0, "nothing is created during the suspension");
    assert_eq!(world.plan().iter().filter(|step| step.contains("june")).count(), 0);
}

#[test]
fn the_command_wants_a_reason_and_its_word_stands_everywhere() {
    let shell = Shell::start();
    shell.write("specs/tree.yaml", &format!("{MERCHANT}{}", contact()));
    for wrong in [
        &["suspend", "Contact/jane"][..],
        &["suspend", "Contact/jane", "--reason", " "],
        &["suspend", "Contact/jane", "--reason", "x", "--until", "2001-01-01"],
        &["suspend", "Contact/jame", "--reason", "x"],
        &["resume", "Contact/jane"],
    ] {
        assert_eq!(code(&shell.reckon(wrong)), 1, "{wrong:?}");
    }
    let told = shell.reckon(&["suspend", "contact/jane", "--reason", "audit", "--until", "3d"]);
    assert_eq!(code(&told), 0, "{}", stderr(&told));
    assert!(stdout(&told).contains("Contact/jane was suspended by uid"), "{}", stdout(&told));
    let applied = shell.reckon(&["apply", "--yes"]);
    assert_eq!(code(&applied), 0, "{}", stderr(&applied));
    assert_eq!(shell.count("contacts"), 0);
    for view in [&["plan"][..], &["describe", "Contact/jane"], &["get", "-o", "json"]] {
        let text = stdout(&shell.reckon(view));
        assert!(text.contains("audit") && text.contains("uid"), "{view:?}: {text}");
    }
    let table = stdout(&shell.reckon(&["get"]));
    assert!(table.contains("Suspended"), "{table}");
    let resumed = shell.reckon(&["resume", "Contact/jane", "-o", "json"]);
    let view: Value = serde_json::from_str(&stdout(&resumed)).unwrap();
    assert!(view.get("resumed").is_some(), "{view}");
    assert_eq!(code(&shell.reckon(&["apply", "--yes"])), 0);
    assert_eq!(shell.count("contacts"), 1);
}
