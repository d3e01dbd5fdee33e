//! Notifications at the daemon's own door: what is answered with 200 is there for good.
#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

#[path = "rig/applicant.rs"]
#[expect(dead_code, reason = "not everything of an applicant is used here")]
mod applicant;
#[path = "rig/covers.rs"]
mod covers;
#[path = "rig/partner.rs"]
#[expect(dead_code, reason = "not everything that comes from outside is used here")]
mod partner;
#[path = "rig/world.rs"]
#[expect(dead_code, reason = "not everything of a world is used here")]
mod world;

use applicant::{tree, world};
use axum::body::Body;
use http::Request;
use partner::provisioned;
use reckon::control::Control;
use reckon::engine::{Event, Until};
use reckon::http::{Outside, public};
use serde_json::json;
use tokio::sync::mpsc;
use tower::ServiceExt;
use world::World;

/// Posts an approval to the door of a daemon; answers the status. The daemon ends at that moment, as one that is killed.
async fn posted(world: &World, reference: &str, code: &str, runs: bool) -> u16 {
    let outside = Outside::new(&[3; 32]);
    let path = format!("{}{reference}", outside.event_url("", 0));
    let body = json!({"events": [provisioned(reference, code)]}).to_string();
    let request = Request::post(path).body(Body::from(body)).unwrap();
    let mut engine = world.engine();
    let (sender, events) = mpsc::channel::<Event>(8);
    let answer = public(Control::new(sender), &outside).oneshot(request);
    if !runs {
        return answer.await.unwrap().status().as_u16();
    }
    tokio::select! {
        ended = engine.run(events, Until::Stopped) => panic!("the daemon ended: {ended:?}"),
        answer = answer => answer.unwrap().status().as_u16(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_notification_that_was_answered_with_200_is_known_to_the_next_process() {
    let world = world(&tree());
    let waiting = world.settle().await;
    let reference = world.reference();
    let code = world.code("Harbor Books");
    assert_eq!(posted(&world, &reference, &code, false).await, 503, "nobody wrote it down");
    assert_eq!(world.settle().await, waiting);
    assert_eq!(posted(&world, &reference, &code, true).await, 200);
    assert_eq!(world.objects("contacts").len(), 0, "the daemon ended before it went on");
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(world.objects("contacts").len(), 1);
    covers::covers(&["16.7"]);
}
