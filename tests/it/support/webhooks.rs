//! A daemon that receives events of the gateway, and posts to it.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::Request;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tower::ServiceExt;

use crate::support::world::World;
use reckon::base::id::{Key, Mode};
use reckon::config::value::SyncMode;
use reckon::control::handle::Control;
use reckon::engine::core::coordinator::RunUntil;
use reckon::engine::core::retention::Retention;
use reckon::engine::hooks::notify::NotificationSender;
use reckon::engine::protocol::events::{EventsView, EventsWanted};
use reckon::engine::protocol::input::{EngineInput, ScriptSet};
use reckon::engine::protocol::query::{EngineQuery, Reply};
use reckon::http::public::public_routes::PublicRoutes;
use reckon::http::public::webhooks::public_router;
use reckon::sandbox::webhooks;

/// Base address at which the service finds the daemon.
pub(crate) const BASE: &str = "https://daemon.example";

/// Handle of a running daemon.
pub(crate) struct Ears<'a> {
    pub(crate) world: &'a World,
    pub(crate) control: Control,
    pub(crate) public: Router,
}

pub(crate) fn merchant() -> Key {
    "Merchant/acme".parse().unwrap()
}

/// Returns the address of the merchant's events.
pub(crate) fn address(mode: Mode) -> String {
    PublicRoutes::new(&[3; 32]).gateway_url(BASE, &merchant(), mode, 0)
}

/// Returns the Event URL of the partner.
pub(crate) fn partner_address() -> String {
    PublicRoutes::new(&[3; 32]).event_url(BASE, 0)
}

impl World {
    /// Runs a daemon while `act` runs, then ends it at once, as if killed.
    pub(crate) async fn hearing(&self, act: impl AsyncFnOnce(&Ears<'_>)) {
        self.hearing_with(None, None, act).await;
    }

    /// Does the same with these scripts, and with a courier for their notifications.
    pub(crate) async fn hearing_with(
        &self,
        scripts: Option<ScriptSet>,
        courier: Option<Arc<dyn NotificationSender>>,
        act: impl AsyncFnOnce(&Ears<'_>),
    ) {
        let mut engine = self.engine();
        engine.start_sweeps().unwrap();
        if self.sync == SyncMode::Manual {
            engine.require_sync().unwrap();
        }
        if let Some(keep) = self.keep {
            engine.retain(Retention {
                keep,
                every: Duration::from_hours(1),
                late: Retention::LATE,
                ahead: Retention::AHEAD,
            });
        }
        if let Some(courier) = courier {
            engine.set_notifier(courier);
        }
        if let Some(scripts) = scripts {
            engine.use_scripts(scripts).unwrap();
        }
        let (sender, events) = mpsc::channel::<EngineInput>(256);
        let control = Control::new(sender.clone());
        control.receive(engine.event_receiver(sender));
        let public = public_router(control.clone(), &PublicRoutes::new(&[3; 32]));
        let ears = Ears { world: self, control, public };
        tokio::select! {
            ended = engine.run(events, RunUntil::Stopped) => panic!("the daemon ended: {ended:?}"),
            () = act(&ears) => {}
        }
    }

    /// Makes the service send the merchant's events of the test mode to the daemon from now on.
    pub(crate) fn sends_events(&self) {
        let urls = json!({"test_events_urls": address(Mode::Test)});
        self.ask("acme", "PATCH", "/v1/merchant", &urls);
    }
}

impl Ears<'_> {
    /// Posts a body to an address. Returns the status.
    pub(crate) async fn post_to(&self, url: &str, body: impl Into<Body>) -> u16 {
        let path = url.strip_prefix(BASE).unwrap();
        let request = Request::post(path).body(body.into()).unwrap();
        self.public.clone().oneshot(request).await.unwrap().status().as_u16()
    }

    /// Posts an event to the address of the test mode. Returns the status.
    pub(crate) async fn post(&self, event: &Value) -> u16 {
        self.post_to(&address(Mode::Test), event.to_string()).await
    }

    /// Delivers the sandbox's due webhooks.
    pub(crate) async fn deliver(&self) {
        let post = async |notice: webhooks::OutgoingWebhook| {
            Some(self.post_to(&notice.url, notice.body).await)
        };
        self.world.sandbox.deliver_due(post).await.unwrap();
    }

    pub(crate) async fn wait(&self, seconds: u64) {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }

    /// Returns the newest events, and the state of the receivers.
    pub(crate) async fn events(&self) -> EventsView {
        let wanted = EventsWanted { most: 1000, ..EventsWanted::default() };
        let reply = self.control.ask(EngineQuery::Events(wanted)).await.unwrap();
        let Reply::Events(view) = reply else { panic!("unexpected response") };
        *view
    }
}
