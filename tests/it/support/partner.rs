//! What comes from outside while an engine runs: notifications of the service, and applicants who click.

use reckon::base::secret::Secret;
use reckon::control::Control;
use reckon::engine::{EngineInput, EngineQuery, IncomingWebhook, RunUntil};
use reckon::sandbox;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::support::world::{World, request, told};

/// The way to a running engine, and the world around it.
pub(crate) struct Daemon<'a> {
    pub(crate) world: &'a World,
    pub(crate) control: Control,
}

impl World {
    /// Runs an engine while `act` goes on and until everything has settled; answers the plan then.
    pub(crate) async fn while_running(&self, act: impl AsyncFnOnce(&Daemon<'_>)) -> Vec<String> {
        let mut engine = self.engine();
        let (sender, events) = mpsc::channel(8);
        let daemon = Daemon { world: self, control: Control::new(sender.clone()) };
        let acting = async {
            act(&daemon).await;
            daemon.control.ask(EngineQuery::Settle).await.unwrap();
            sender.send(EngineInput::Stop).await.unwrap();
        };
        let (ran, ()) = tokio::join!(engine.run(events, RunUntil::Stopped), acting);
        ran.unwrap();
        told(&engine)
    }

    /// Lets underwriting decide, and an engine hear of it; answers the plan then.
    pub(crate) async fn decided(&self) -> Vec<String> {
        self.control("POST", "clock", &json!({"advance": "PT6S"}));
        self.while_running(async |daemon| assert_eq!(daemon.deliver().await.len(), 1)).await
    }

    /// Hands one notification to an engine; answers the plan then.
    pub(crate) async fn notified(&self, reference: &str, event: &Value) -> Vec<String> {
        self.while_running(async |daemon| daemon.notify(reference, &[event]).await).await
    }

    /// How many requests the service has served.
    pub(crate) fn requests(&self) -> u64 {
        self.control("GET", "requests", &Value::Null)["total"].as_u64().unwrap()
    }

    /// The number of the journal's last record.
    pub(crate) fn position(&self) -> u64 {
        self.engine().overview().position
    }

    /// The mark of the only application.
    pub(crate) fn reference(&self) -> String {
        let all = self.objects("applications");
        assert_eq!(all.len(), 1, "{all:?}");
        all[0]["reference"].as_str().unwrap().to_owned()
    }

    /// A fresh code that opens a merchant.
    pub(crate) fn code(&self, merchant: &str) -> String {
        let issued = self.control("POST", "credentials", &json!({ "merchant": merchant }));
        issued["authorization_code"].as_str().unwrap().to_owned()
    }

    /// Sends the applicant's form; answers what comes back.
    pub(crate) fn fill_in(&self, page: &Secret, form: &Value) -> Value {
        let path = page.expose().splitn(4, '/').nth(3).unwrap();
        request(&self.sandbox.router(), "POST", &format!("/{path}"), None, Some(form))
    }
}

impl Daemon<'_> {
    /// Sends what the sandbox has to tell now; answers the bodies.
    pub(crate) async fn deliver(&self) -> Vec<Value> {
        let seen = std::sync::Mutex::new(Vec::new());
        let post = async |notice: sandbox::OutgoingWebhook| {
            seen.lock().unwrap().push(serde_json::from_slice(&notice.body).unwrap());
            let reference = notice.url.rsplit('/').next().unwrap().to_owned();
            let taken = self
                .control
                .partner_webhook(IncomingWebhook { generation: 0, reference, body: notice.body })
                .await;
            taken.is_ok().then_some(200)
        };
        self.world.sandbox.deliver_due(post).await.unwrap();
        seen.into_inner().unwrap()
    }

    /// Hands over a notification of these events.
    pub(crate) async fn notify(&self, reference: &str, events: &[&Value]) {
        let body = json!({ "events": events }).to_string().into_bytes();
        let notice = IncomingWebhook { generation: 0, reference: reference.to_owned(), body };
        self.control.partner_webhook(notice).await.unwrap();
    }

    /// An applicant clicks.
    pub(crate) async fn visit(&self, application: &str) -> Option<Secret> {
        let key = format!("MerchantApplication/default/{application}").parse().unwrap();
        self.control.visit(key).await.unwrap()
    }
}

/// An approval.
pub(crate) fn provisioned(reference: &str, code: &str) -> Value {
    json!({"type": "merchant.provisioned", "data": {"auth_code": code, "reference": reference}})
}

/// A denial.
pub(crate) fn declined(reference: &str) -> Value {
    let data = json!({"id": 1, "reference": reference});
    json!({"type": "merchant_application.declined", "reason": "other", "data": data})
}
