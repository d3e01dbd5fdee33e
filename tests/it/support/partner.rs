//! Input from outside while an engine runs: webhooks of the service, and clicks of applicants.

use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::support::world::{World, request, told};
use reckon::base::secret::Secret;
use reckon::control::handle::Control;
use reckon::engine::core::coordinator::RunUntil;
use reckon::engine::protocol::input::{EngineInput, IncomingWebhook};
use reckon::engine::protocol::query::EngineQuery;
use reckon::sandbox::webhooks;

/// Handle of a running engine, and the world around it.
pub(crate) struct Daemon<'a> {
    pub(crate) world: &'a World,
    pub(crate) control: Control,
}

impl World {
    /// Runs an engine while `act` runs and until everything has settled. Returns the plan.
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

    /// Lets underwriting decide, and delivers the decision to an engine. Returns the plan.
    pub(crate) async fn decided(&self) -> Vec<String> {
        self.control("POST", "clock", &json!({"advance": "PT6S"}));
        self.while_running(async |daemon| assert_eq!(daemon.deliver().await.len(), 1)).await
    }

    /// Delivers one webhook to an engine. Returns the plan.
    pub(crate) async fn notified(&self, reference: &str, event: &Value) -> Vec<String> {
        self.while_running(async |daemon| daemon.notify(reference, &[event]).await).await
    }

    /// Returns the number of requests that the service has served.
    pub(crate) fn requests(&self) -> u64 {
        self.control("GET", "requests", &Value::Null)["total"].as_u64().unwrap()
    }

    /// Returns the number of the journal's last record.
    pub(crate) fn position(&self) -> u64 {
        self.engine().view().overview().position
    }

    /// Returns the mark of the only application.
    pub(crate) fn reference(&self) -> String {
        let all = self.objects("applications");
        assert_eq!(all.len(), 1, "{all:?}");
        all[0]["reference"].as_str().unwrap().to_owned()
    }

    /// Issues a new code that opens a merchant.
    pub(crate) fn code(&self, merchant: &str) -> String {
        let issued = self.control("POST", "credentials", &json!({ "merchant": merchant }));
        issued["authorization_code"].as_str().unwrap().to_owned()
    }

    /// Sends the applicant's form. Returns the response.
    pub(crate) fn fill_in(&self, page: &Secret, form: &Value) -> Value {
        let path = page.expose().splitn(4, '/').nth(3).unwrap();
        request(&self.sandbox.router(), "POST", &format!("/{path}"), None, Some(form))
    }
}

impl Daemon<'_> {
    /// Delivers the sandbox's due webhooks. Returns their bodies.
    pub(crate) async fn deliver(&self) -> Vec<Value> {
        let seen = std::sync::Mutex::new(Vec::new());
        let post = async |notice: webhooks::OutgoingWebhook| {
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

    /// Delivers a webhook with these events.
    pub(crate) async fn notify(&self, reference: &str, events: &[&Value]) {
        let body = json!({ "events": events }).to_string().into_bytes();
        let notice = IncomingWebhook { generation: 0, reference: reference.to_owned(), body };
        self.control.partner_webhook(notice).await.unwrap();
    }

    /// Requests the sign-up page, as an applicant's click does.
    pub(crate) async fn visit(&self, application: &str) -> Option<Secret> {
        let key = format!("MerchantApplication/default/{application}").parse().unwrap();
        self.control.visit(key).await.unwrap()
    }
}

/// Returns the event of an approval.
pub(crate) fn provisioned(reference: &str, code: &str) -> Value {
    json!({"type": "merchant.provisioned", "data": {"auth_code": code, "reference": reference}})
}

/// Returns the event of a denial.
pub(crate) fn declined(reference: &str) -> Value {
    let data = json!({"id": 1, "reference": reference});
    json!({"type": "merchant_application.declined", "reason": "other", "data": data})
}
