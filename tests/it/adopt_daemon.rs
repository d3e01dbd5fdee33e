//! Adoption and release beside a running daemon, over its socket. Before the adoption the daemon leaves the object
//! alone.

use serde_json::json;
use tokio::sync::mpsc;

use crate::support::payments::{MERCHANT, START, document};
use crate::support::world::World;
use reckon::control::handle::Control;
use reckon::control::protocol::ControlRequest;
use reckon::control::socket::ControlSocket;
use reckon::control::socket::SocketClient;
use reckon::engine::core::coordinator::RunUntil;
use reckon::engine::protocol::input::EngineInput;
use reckon::engine::protocol::query::{EngineQuery, Reply};
use reckon::model::state::drift::{
    AdoptRequest, AdoptionReport, AdoptionStatus, ForgetRequest, ForgetResult, ImportOption,
    InventoryRequest,
};
use reckon::sandbox::options::ServiceSurface;

/// Saves a card outside reckon. Returns its id.
fn saved(world: &World) -> String {
    let body = json!({"type": "card", "number": "4242424242424242", "exp_month": 12, "exp_year": 2031, "cvv": "999"});
    let card = world.ask("acme", "POST", "/v1/cards", &body);
    card.get("id").and_then(|id| id.as_str()).unwrap().to_owned()
}

/// Adopts an object over the socket. Returns the report.
async fn imported(client: &SocketClient, asked: AdoptRequest) -> AdoptionReport {
    let reply = client.send(ControlRequest::Import(Box::new(asked))).await.unwrap();
    let Reply::Imported(adopted) = reply else { panic!("unexpected response") };
    *adopted
}

#[tokio::test]
async fn a_daemon_takes_over_what_is_there_and_lets_it_go() {
    let world = World::new(ServiceSurface::Public, START);
    world.write(MERCHANT);
    world.settle().await;
    let id = saved(&world);
    let card = document("SavedMethod", "jane", "type: card\n  source: {}\n  description: Mine");
    let adopts = format!("{{name: jane, annotations: {{reckon.dev/adopts: {id}}}}}");
    world.write_beside("card.yaml", &card.replace("{name: jane}", &adopts));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("control.sock");
    let door = ControlSocket::bind(&path).await.unwrap();
    let mut engine = world.engine();
    let (sender, events) = mpsc::channel(8);
    let serving = tokio::spawn(door.serve(Control::new(sender.clone()), std::future::pending()));
    let acting = async {
        let client = SocketClient::connect(&path).await.unwrap().expect("a daemon listens");
        client.send(EngineQuery::Settle).await.unwrap();
        let before = world.objects("cards").len();
        let merchant = "Merchant/acme".parse().unwrap();
        let asked =
            ControlRequest::Inventory(InventoryRequest { merchant, list: "cards".to_owned() });
        let Ok(Reply::Inventory(Ok(found))) = client.send(asked).await else {
            panic!("unexpected response")
        };
        let key: reckon::base::id::Key = "SavedMethod/jane".parse().unwrap();
        assert!(
            found.iter().all(|one| one.import_option == ImportOption::Document(key.clone())),
            "{found:?}"
        );
        let asked = |write| AdoptRequest {
            key: key.clone(),
            id: id.parse().unwrap(),
            unverified: false,
            write,
        };
        let looked = imported(&client, asked(false)).await;
        let all = ControlRequest::ImportAll(vec![asked(true)]);
        let Ok(Reply::AllImported(taken)) = client.send(all).await else {
            panic!("unexpected response")
        };
        client.send(EngineQuery::Settle).await.unwrap();
        let after = world.objects("cards");
        world.remove("card.yaml");
        client.send(EngineQuery::Settle).await.unwrap();
        let forget = ControlRequest::Forget(ForgetRequest::Resource(key.clone()));
        let Ok(Reply::Forgot(gone)) = client.send(forget).await else {
            panic!("unexpected response")
        };
        sender.send(EngineInput::Stop).await.unwrap();
        (before, looked, taken, after, gone)
    };
    let (ran, (before, looked, taken, after, gone)) =
        tokio::join!(engine.run(events, RunUntil::Stopped), acting);
    serving.abort();
    ran.unwrap();
    assert_eq!(before, 1, "its document creates no second card");
    assert_eq!(looked.status, AdoptionStatus::Adoptable);
    assert_eq!(looked.changes.len(), 1, "only the description changes: {:?}", looked.changes);
    assert_eq!(taken.first().map(|one| one.status), Some(AdoptionStatus::Adopted));
    let described = after.iter().map(|card| card.get("description").and_then(|one| one.as_str()));
    assert_eq!(described.collect::<Vec<_>>(), [Some("Mine")], "the daemon applies the document");
    let key = "SavedMethod/jane".parse().unwrap();
    assert_eq!(*gone, ForgetResult::Resource(key, Some(id.parse().unwrap())));
    assert_eq!(world.objects("cards").len(), 1);
}
