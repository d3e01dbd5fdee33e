//! An engine that another one replaces, as when a daemon takes a new configuration.

use reckon::control::handle::Control;
use reckon::control::protocol::{ControlError, ControlRequest};
use reckon::engine::core::coordinator::RunUntil;
use reckon::engine::protocol::actions::ActionStatus;
use reckon::engine::protocol::input::EngineInput;
use reckon::engine::protocol::query::{EngineQuery, OverviewQuery, Reply};
use reckon::model::effect::Action;
use reckon::sandbox::options::ServiceSurface;
use serde_json::json;
use tokio::sync::{mpsc, oneshot};

use crate::support::payments::{MERCHANT, START, card, only};
use crate::support::world::World;

const ACTOR: &str = "uid 7";

fn charge() -> Action {
    let fields = json!({"amount": {"currency": "USD", "minor": 2_000}, "method": "jane"});
    let (merchant, name) = ("Merchant/acme".parse().unwrap(), Some("tip".parse().unwrap()));
    Action { verb: "charge".to_owned(), merchant, name, fields }
}

#[tokio::test(start_paused = true)]
async fn what_an_engine_has_not_begun_is_done_once_by_the_next() {
    let world = World::new(ServiceSurface::Documented, START);
    world.write(&[MERCHANT, &card("jane", "4242424242424242")].concat());
    assert_eq!(world.settle().await, Vec::<String>::new());
    let mut first = world.engine();
    first.read_in_background();
    let (sender, events) = mpsc::channel(16);
    let control = Control::new(sender.clone());
    let (reply, verified) = oneshot::channel();
    sender.send(EngineInput::Verify(reply)).await.unwrap();
    let (reply, settled) = oneshot::channel();
    sender.send(EngineInput::Ask(EngineQuery::Settle, reply)).await.unwrap();
    sender.send(EngineInput::Stop).await.unwrap();
    let (reply, refreshed) = oneshot::channel();
    sender.send(EngineInput::Refresh(reply)).await.unwrap();
    let act = control.send(ControlRequest::Act(Box::new(charge())), ACTOR.to_owned());
    let answers = async { tokio::join!(control.ask(OverviewQuery), act) };
    let engines = async {
        let unhandled = first.run(events, RunUntil::Stopped).await.unwrap();
        assert_eq!(unhandled.len(), 5, "{unhandled:?}");
        assert!(matches!(unhandled.first(), Some(EngineInput::Refresh(_))), "{unhandled:?}");
        assert!(unhandled.iter().any(|input| matches!(input, EngineInput::Verify(_))));
        drop(first);
        let mut second = world.engine();
        let (next, events) = mpsc::channel(16);
        control.use_engine(next.clone());
        for input in unhandled {
            next.send(input).await.unwrap();
        }
        let late = async {
            control.clone().ask(OverviewQuery).await.unwrap();
            settled.await.unwrap();
            next.send(EngineInput::Stop).await.unwrap();
        };
        tokio::join!(second.run(events, RunUntil::Stopped), late).0.unwrap();
    };
    let ((overview, acted), ()) = tokio::join!(answers, engines);
    assert_eq!(overview.unwrap().ready, 2);
    let Reply::Action(acted) = acted.unwrap() else { panic!("unexpected response") };
    assert_eq!(acted.status, ActionStatus::Done, "{acted:?}");
    assert!(matches!(verified.await, Ok(Reply::Plan(_))));
    assert!(matches!(refreshed.await, Ok(Reply::Plan(_))));
    only(&world, "transactions");
    let stopped = control.ask(OverviewQuery).await.unwrap_err();
    assert_eq!(stopped.code, ControlError::STOPPED, "no engine follows the second");
}
