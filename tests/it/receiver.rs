//! The partner's webhooks at the daemon: a webhook that the daemon answered with 200 is durable.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use axum::body::Body;
use http::Request;
use reckon::base::hash::Digest;
use reckon::base::id::Key;
use reckon::control::handle::Control;
use reckon::engine::core::coordinator::{Engine, RunUntil};
use reckon::engine::known::files::SpecSource;
use reckon::engine::protocol::input::EngineInput;
use reckon::engine::protocol::query::{EngineQuery, Reply};
use reckon::http::public::public_routes::PublicRoutes;
use reckon::http::public::webhooks::public_router;
use reckon::model::issue::{Issue, PlacedIssue, TreeProblems};
use reckon::model::manifest::Desired;
use serde_json::json;
use tokio::sync::mpsc;
use tower::ServiceExt;

use crate::support::applicants::{tree, world};
use crate::support::covers;
use crate::support::partner::provisioned;
use crate::support::world::World;

/// Builds the service's webhook of an approval.
fn approval(outside: &PublicRoutes, reference: &str, code: &str) -> Request<Body> {
    let path = format!("{}{reference}", outside.event_url("", 0));
    let body = json!({"events": [provisioned(reference, code)]}).to_string();
    Request::post(path).body(Body::from(body)).unwrap()
}

/// Posts an approval to a daemon. Returns the status. The daemon ends at that moment, as if killed.
async fn posted(world: &World, reference: &str, code: &str, runs: bool) -> u16 {
    let outside = PublicRoutes::new(&[3; 32]);
    let request = approval(&outside, reference, code);
    let mut engine = world.engine();
    let (sender, events) = mpsc::channel::<EngineInput>(8);
    let answer = public_router(Control::new(sender), &outside).oneshot(request);
    if !runs {
        return answer.await.unwrap().status().as_u16();
    }
    tokio::select! {
        ended = engine.run(events, RunUntil::Stopped) => panic!("the daemon ended: {ended:?}"),
        answer = answer => answer.unwrap().status().as_u16(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_notification_that_was_answered_with_200_is_known_to_the_next_process() {
    let world = world(&tree());
    let waiting = world.settle().await;
    let reference = world.reference();
    let code = world.code("Harbor Books");
    assert_eq!(posted(&world, &reference, &code, false).await, 503, "the webhook is not recorded");
    assert_eq!(world.settle().await, waiting);
    assert_eq!(posted(&world, &reference, &code, true).await, 200);
    assert_eq!(world.objects("contacts").len(), 0, "the daemon ended before it sent an effect");
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(world.objects("contacts").len(), 1);
    covers::covers(&["16.7"]);
}

/// A gate that stays shut until the test opens it.
type Gate = Arc<(Mutex<bool>, Condvar)>;

/// A tree whose every read blocks until the gate opens.
struct Slow {
    specs: Box<dyn SpecSource>,
    gate: Gate,
    begun: mpsc::UnboundedSender<()>,
}

impl SpecSource for Slow {
    fn desired(&self) -> Arc<Desired> {
        self.specs.desired()
    }

    fn reload(&mut self, paths: &[PathBuf]) -> BTreeSet<Key> {
        self.begun.send(()).unwrap();
        let (open, opened) = &*self.gate;
        drop(opened.wait_while(open.lock().unwrap(), |open| !*open).unwrap());
        self.specs.reload(paths)
    }

    fn verify(&mut self) -> BTreeSet<Key> {
        self.reload(&[])
    }

    fn problems(&self) -> TreeProblems {
        self.specs.problems()
    }

    fn digest(&self) -> Option<Digest> {
        self.specs.digest()
    }

    fn place(&self, key: &Key, issue: &Issue) -> Option<PlacedIssue> {
        self.specs.place(key, issue)
    }
}

/// Closes the rest of S6: a folder that takes long to read delays neither webhooks nor status. The plan and the effects
/// of documents wait for the files, since the revision of a document is not known earlier.
#[tokio::test(start_paused = true)]
async fn a_tree_that_takes_long_to_read_keeps_nothing_else_waiting() {
    let world = world(&tree());
    world.settle().await;
    let (reference, code) = (world.reference(), world.code("Harbor Books"));
    // Another thread has no virtual time.
    tokio::time::resume();
    let gate = Gate::default();
    let (begun, mut begins) = mpsc::unbounded_channel();
    let slow = Slow { specs: world.specs(), gate: gate.clone(), begun };
    let mut engine = Engine::new(world.shared(), Box::new(slow)).unwrap();
    engine.read_in_background();
    let (sender, events) = mpsc::channel::<EngineInput>(8);
    let control = Control::new(sender.clone());
    let people = async {
        sender.send(EngineInput::Files(Vec::new())).await.unwrap();
        begins.recv().await.unwrap();
        assert!(matches!(control.ask(EngineQuery::Overview).await, Ok(Reply::Overview(_))));
        let outside = PublicRoutes::new(&[3; 32]);
        let posted = approval(&outside, &reference, &code);
        let answer = public_router(control.clone(), &outside).oneshot(posted).await.unwrap();
        assert_eq!(answer.status().as_u16(), 200);
        assert!(matches!(
            control.ask(EngineQuery::Resources(Box::default())).await,
            Ok(Reply::Resources(_))
        ));
        world.write(&tree().replace("name: jane", "name: joan"));
        let mut plan = std::pin::pin!(control.ask(EngineQuery::Plan));
        let early = tokio::time::timeout(Duration::from_millis(20), &mut plan).await;
        assert!(early.is_err(), "the plan waits for the present files");
        *gate.0.lock().unwrap() = true;
        gate.1.notify_all();
        let Ok(Reply::Plan(plan)) = plan.await else { panic!("unexpected response") };
        assert!(plan.steps.iter().any(|step| step.name == "joan"), "{:?}", plan.steps);
        while world.objects("contacts").is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        ended = engine.run(events, RunUntil::Stopped) => panic!("the daemon ended: {ended:?}"),
        done = tokio::time::timeout(Duration::from_mins(1), people) => done.unwrap(),
    }
}
