//! A merchant with its methods, and an engine that does one request and nothing else.

use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::support::payments::{MERCHANT, START, bank, card, recurring};
use crate::support::world::World;
use reckon::control::handle::Control;
use reckon::control::protocol::ControlRequest;
use reckon::engine::core::coordinator::RunUntil;
use reckon::engine::protocol::actions::ActionReport;
use reckon::engine::protocol::input::EngineInput;
use reckon::engine::protocol::query::Reply;
use reckon::model::effect::Action;
use reckon::sandbox::options::ServiceSurface;
use reckon::store::disk::traits::Disk;

pub(crate) const SURFACES: [ServiceSurface; 2] =
    [ServiceSurface::Public, ServiceSurface::Documented];
/// Faults of an answer: none, lost after the effect, and an error without the effect.
pub(crate) const LOST: [&str; 3] = ["", "drop_after", "error_before"];

/// Builds a world with a merchant, a card, a bank account and a recurring charge.
pub(crate) async fn connected(surface: ServiceSurface) -> World {
    let world = World::new(surface, START);
    let tree = [
        MERCHANT.to_owned(),
        card("jane", "4242424242424242"),
        card("poor", "4000000000000044"),
        bank("joe"),
        recurring("rent", "jane", ""),
    ];
    world.write(&tree.concat());
    assert_eq!(world.settle().await, Vec::<String>::new());
    world
}

/// Executes one request in an engine of its own that does nothing else.
pub(crate) async fn done(world: &World, request: ControlRequest) -> Reply {
    let mut engine = world.engine();
    engine.select_targets([].into());
    let (sender, events) = mpsc::channel(2);
    let asked = async {
        let reply = Control::new(sender.clone()).send(request, "ann".to_owned()).await;
        sender.send(EngineInput::Stop).await.unwrap();
        reply.unwrap()
    };
    let (ended, reply) = tokio::join!(engine.run(events, RunUntil::Stopped), asked);
    ended.unwrap();
    reply
}

pub(crate) async fn act(
    world: &World,
    verb: &str,
    name: Option<&str>,
    fields: Value,
) -> ActionReport {
    let action = Action {
        verb: verb.to_owned(),
        merchant: "Merchant/acme".parse().unwrap(),
        name: name.map(|name| name.parse().unwrap()),
        fields,
    };
    let Reply::Action(acted) = done(world, ControlRequest::Act(Box::new(action))).await else {
        panic!("unexpected response");
    };
    *acted
}

/// Plants this fault at the next POST to the path.
pub(crate) fn fault(world: &World, path: &str, fault: &str) {
    fault_of(world, "POST", path, fault);
}

/// Plants this fault at the next request of a method to the path.
pub(crate) fn fault_of(world: &World, method: &str, path: &str, fault: &str) {
    let wanted = json!({"method": method, "path": path, "fault": fault, "status": 503, "times": 1});
    world.control("POST", "faults", &wanted);
}

/// Returns true if the journal holds these bytes.
pub(crate) fn holds(world: &World, bytes: &[u8]) -> bool {
    let files = world.journal.list().unwrap();
    files.iter().any(|name| {
        let length = usize::try_from(world.journal.len(name).unwrap()).unwrap();
        let content = world.journal.read_at(name, 0, length).unwrap();
        content.windows(bytes.len()).any(|window| window == bytes)
    })
}

pub(crate) fn usd(minor: i64) -> Value {
    json!({"minor": minor, "currency": "USD"})
}
