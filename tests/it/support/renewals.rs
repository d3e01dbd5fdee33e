//! A payer's card that pays, and another card that replaces it.

use std::time::Duration;

use chrono::TimeDelta;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::support::partner::Daemon;
use crate::support::payers;
use crate::support::payments::{MERCHANT, START, document, only, recurring};
use crate::support::world::World;
use reckon::base::id::Key;
use reckon::base::secret::Secret;
use reckon::control::handle::Control;
use reckon::control::protocol::ControlRequest;
use reckon::engine::core::coordinator::RunUntil;
use reckon::engine::protocol::input::EngineInput;
use reckon::engine::protocol::payers::{AttachToken, IntakeLink};
use reckon::engine::protocol::query::{EngineQuery, Reply};
use reckon::http::public::public_routes::PublicRoutes;
use reckon::http::public::webhooks::webhook_router;
use reckon::sandbox::options::ServiceSurface;

pub(crate) const FIRST: &str = "4242424242424242";
pub(crate) const SECOND: &str = "5105105105105100";
pub(crate) const OLD: &str = "************4242";
pub(crate) const NEW: &str = "************5100";
/// Step of a charge that has not got the new card.
pub(crate) const LAGS: &str = "Wait RecurringCharge/club: AwaitsIntake (the charge still pays by the earlier details of its method";

pub(crate) fn jane() -> Key {
    "SavedMethod/default/jane".parse().unwrap()
}

pub(crate) fn outside() -> PublicRoutes {
    PublicRoutes::new(&[5; 32])
}

pub(crate) fn intake() -> String {
    document("SavedMethod", "jane", "type: card\n  source: intake")
}

pub(crate) fn tree() -> String {
    [MERCHANT.to_owned(), intake(), recurring("club", "jane", "")].concat()
}

/// Builds a world in which the first card is stored and pays.
pub(crate) async fn stored(surface: ServiceSurface) -> World {
    let world = World::new(surface, START);
    world.write(&tree());
    world.settle().await;
    assert_eq!(given(&world, &[FIRST], false).await, Vec::<String>::new());
    assert_eq!(shown(&world), (OLD.to_owned(), OLD.to_owned()));
    // The time of a later change differs from the present one.
    tokio::time::sleep(Duration::from_mins(1)).await;
    world
}

pub(crate) fn token(world: &World, number: &str) -> String {
    payers::token(world, &payers::card(number))
}

pub(crate) fn form(world: &World, numbers: &[&str]) -> String {
    let one = |number: &&str| format!("token_id={}", token(world, number));
    numbers.iter().map(one).collect::<Vec<_>>().join("&")
}

/// Returns the number of the only card, and the number that the only charge has.
pub(crate) fn shown(world: &World) -> (String, String) {
    let (card, charge) = (only(world, "cards"), only(world, "recurring_charges"));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&card["number"]), text(&charge["method"]["number"]))
}

/// Returns the path of a link that a running engine makes now.
pub(crate) async fn link(control: &Control) -> String {
    let reply = control.ask(EngineQuery::IntakeLink(jane())).await.unwrap();
    let Reply::IntakeLink(Ok(terms)) = reply else { panic!("unexpected response: {reply:?}") };
    let until = START.parse::<chrono::DateTime<chrono::Utc>>().unwrap();
    let until = until.checked_add_signed(TimeDelta::days(7)).unwrap();
    outside().intake_url("", &IntakeLink { key: jane(), terms, until })
}

pub(crate) async fn browse(
    daemon: &Daemon<'_>,
    method: &str,
    path: &str,
    body: &str,
) -> (u16, String) {
    payers::browse(webhook_router(daemon.control.clone(), &outside()), method, path, body).await
}

/// Attaches tokens, as a person does.
pub(crate) async fn bring(
    control: &Control,
    tokens: &[String],
    replace: bool,
) -> Result<Key, String> {
    let mut all = tokens.iter().map(|one| Secret::from(one.as_str()));
    let token = all.next().unwrap();
    let attaching = AttachToken { key: jane(), token, more: all.collect(), replace };
    let reply = control.send(ControlRequest::Attach(attaching), "ada".to_owned()).await.unwrap();
    let Reply::Attached(attached) = reply else { panic!("unexpected response") };
    attached
}

/// Attaches tokens of cards of these numbers in a running engine. Returns the plan once everything has settled.
pub(crate) async fn given(world: &World, numbers: &[&str], replace: bool) -> Vec<String> {
    let tokens: Vec<String> = numbers.iter().map(|number| token(world, number)).collect();
    let acting = async |daemon: &Daemon<'_>| {
        assert_eq!(bring(&daemon.control, &tokens, replace).await, Ok(jane()));
    };
    world.while_running(acting).await
}

/// Runs a process that records tokens of these cards, and that ends before it uses them.
pub(crate) async fn cut_off(world: &World, numbers: &[&str]) {
    let tokens: Vec<String> = numbers.iter().map(|number| token(world, number)).collect();
    let mut engine = world.engine();
    engine.select_targets([].into());
    let (sender, events) = mpsc::channel(8);
    let control = Control::new(sender.clone());
    let acting = async {
        assert_eq!(bring(&control, &tokens, true).await, Ok(jane()));
        sender.send(EngineInput::Stop).await.unwrap();
    };
    let (ran, ()) = tokio::join!(engine.run(events, RunUntil::Stopped), acting);
    ran.unwrap();
}

pub(crate) fn strike(world: &World, path: &str, fault: &str) {
    let strike =
        json!({"method": "PATCH", "path": path, "fault": fault, "times": 1, "status": 500});
    world.control("POST", "faults", &strike);
}
