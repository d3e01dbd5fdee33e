//! Requests of people while the machine lives. If the engine did not answer, they ask again in its
//! next life. A command is asked for under its name until it has ended, and its answers are noted.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::base::hash::SourceId;
use crate::base::id::Key;
use crate::engine::protocol::actions::{ActionCommand, ActionReport, ActionStatus};
use crate::engine::protocol::input::EngineInput;
use crate::engine::protocol::query::Reply;
use crate::model::effect::Action;
use crate::sim::plan::documents::{Doc, PARTNER};
use crate::sim::plan::requests::{
    CommandAction, MerchantCommand, PersonCommand, PersonRequest, ScriptStep,
};
use crate::sim::plan::world_parts::{TILL, TILL_CONTACT, till_contact_body};
use crate::sim::run::memory::{Memory, ask};
use crate::sim::service::control::{card, find, mark_of, text};
use crate::sim::service::post_office::EngineSender;
use crate::sim::service::sandbox::SandboxControl;

#[derive(Clone)]
pub(crate) struct PersonHandles {
    pub(crate) engine: EngineSender,
    pub(crate) desk: SandboxControl,
    pub(crate) memory: Memory,
}

impl PersonRequest {
    /// Makes the request. Returns `None` if the engine did not answer.
    async fn perform(&self, hands: &PersonHandles) -> Option<()> {
        match self {
            Self::Refresh => ask(&hands.engine, EngineInput::Refresh).await.map(drop),
            Self::Command(command) => command.run_to_end(hands).await,
            Self::Pay(payment) => {
                hands.desk.payers.pay(&hands.desk.control, payment).await;
                Some(())
            }
        }
    }
}

/// Starts every unanswered request of a step, each in a task of its own.
pub(crate) fn start_requests(
    nth: usize,
    step: &ScriptStep,
    hands: &PersonHandles,
    under_way: &mut JoinSet<()>,
) {
    for (place, deed) in step.requests.iter().cloned().enumerate() {
        if hands.memory.notes().answered.contains(&(nth, place)) {
            continue;
        }
        let hands = hands.clone();
        under_way.spawn(async move {
            if deed.perform(&hands).await.is_some() {
                hands.memory.notes().answered.insert((nth, place));
            }
        });
    }
}

/// Requests that a person makes while an answer is to be expected.
const ASKS_MAX: u32 = 200;
/// Requests for a blocked command, or lookups of its missing target.
const PATIENCE_MAX: u32 = 12;
const RETRY_PAUSE: Duration = Duration::from_mins(2);
const STROKES: &str = r#"[{"lx":1,"ly":2,"mx":3,"my":4}]"#;

impl PersonCommand {
    /// Requests the command until it has ended. Returns `None` if the engine did not answer.
    pub(crate) async fn run_to_end(&self, hands: &PersonHandles) -> Option<()> {
        let mut patience = PATIENCE_MAX;
        for _ in 0..ASKS_MAX {
            let mut doubt = false;
            if let Some(fields) = self.fields(hands).await {
                let answer = self.ask(hands, fields).await?;
                doubt = answer.status == ActionStatus::InDoubt;
                let waits = matches!(answer.status, ActionStatus::NotSent | ActionStatus::Blocked);
                hands.memory.notes().answers.insert(self.name.clone(), answer);
                if !doubt && !waits {
                    return Some(());
                }
            }
            patience = if doubt { PATIENCE_MAX } else { patience.saturating_sub(1) };
            if patience == 0 {
                return Some(());
            }
            if hands.engine.is_closed() {
                return None;
            }
            sleep(RETRY_PAUSE).await;
        }
        Some(())
    }

    async fn ask(&self, hands: &PersonHandles, fields: Value) -> Option<ActionReport> {
        let action = Action {
            verb: self.action.verb().to_owned(),
            merchant: format!("Merchant/default/{}", self.merchant).parse().ok()?,
            name: Some(self.name.parse().ok()?),
            fields,
        };
        let asked = ActionCommand { action, actor: "a person of the simulator".to_owned() };
        let answer = ask(&hands.engine, |reply| EngineInput::Act(asked, reply)).await?;
        if let Reply::Action(acted) = answer { Some(*acted) } else { None }
    }

    /// Returns the fields of the command, or `None` while its target does not exist.
    async fn fields(&self, hands: &PersonHandles) -> Option<Value> {
        let of = |name: &str| hands.memory.notes().answers.get(name)?.remote_id.clone();
        let fields = match &self.action {
            CommandAction::Charge { method, amount, hold } => {
                json!({"method": method, "amount": money(*amount), "hold": hold})
            }
            CommandAction::Credit { method, amount } => {
                json!({"method": method, "amount": money(*amount)})
            }
            CommandAction::Refund { of: one, amount }
            | CommandAction::Capture { of: one, amount } => {
                json!({"charge": of(one)?, "amount": money(*amount)})
            }
            CommandAction::Void { of: one } => json!({"transaction": of(one)?}),
            CommandAction::Sign { of: one } => json!({"transaction": of(one)?,
                "mime_type": "service/jsignature", "data": STROKES}),
            CommandAction::Pay { recurring } => self.occurrence(hands, recurring, true).await?,
            CommandAction::Ignore { recurring } => self.occurrence(hands, recurring, false).await?,
            CommandAction::Own(own) => own.fields(&hands.desk).await?,
        };
        let mut notes = hands.memory.notes();
        Some(notes.fields.entry(self.name.clone()).or_insert(fields).clone())
    }

    async fn occurrence(&self, hands: &PersonHandles, name: &str, amount: bool) -> Option<Value> {
        let objects = hands.desk.objects().await;
        let key: Key = format!("RecurringCharge/default/{name}").parse().ok()?;
        let mark = SourceId::new(PARTNER, &key, 0).mark();
        let charge = objects.recurring.iter().find(|one| mark_of(one) == mark.as_str())?;
        let id = text(charge, "id");
        let mut own =
            objects.occurrences.iter().filter(|one| text(one, "recurring_charge_id") == id);
        let pending = own.find(|one| text(one, "status") == "PENDING")?;
        let mut fields = json!({"recurring": id, "occurrence": text(pending, "id")});
        if let (true, Some(fields)) = (amount, fields.as_object_mut()) {
            fields.insert("amount".to_owned(), money(pending.get("amount")?.as_i64()?));
        }
        Some(fields)
    }
}

fn money(minor: i64) -> Value {
    json!({"minor": minor, "currency": "USD"})
}

impl MerchantCommand {
    /// Returns the fields of a command, or `None` while its target does not exist.
    pub(crate) async fn fields(&self, desk: &SandboxControl) -> Option<Value> {
        Some(match self {
            Self::Details { .. } => json!({"set": self.changed_values()}),
            Self::Account { bank, .. } => {
                let kind = if *bank { "bank" } else { "card" };
                let id = account_id(&desk.control.get_control("credentials").await, *bank)?;
                json!({"account": id, "type": kind, "set": self.changed_values()})
            }
            Self::Purge => json!({"transactions": true}),
            Self::Delete { nth } => json!({"type": "recurring", "id": desk.till.get(*nth)?}),
            Self::Vault { bank } => {
                let contacts = desk.objects().await.contacts;
                let email = Doc::new(TILL_CONTACT, till_contact_body()).email();
                let id = find(&contacts, "preferred_email", &email)?.get("id")?;
                let token = make_token(desk, *bank).await;
                json!({"contact": id, "type": if *bank { "bank" } else { "card" }, "token": token})
            }
        })
    }
}

fn account_id(credentials: &Value, bank: bool) -> Option<Value> {
    let kind = if bank { "AchAccount" } else { "MerchantAccount" };
    let own = find(credentials.get("merchants")?.as_array()?, "name", TILL)?;
    find(own.pointer("/test/accounts")?.as_array()?, "type", kind)?.get("id").cloned()
}

/// Makes a token, as another party's page does.
async fn make_token(desk: &SandboxControl, bank: bool) -> String {
    let key = desk.control.authorization(TILL).await;
    let details = if bank {
        json!({"type": "bank", "routing_number": "000000013", "account_number": "87654321",
            "account_type": "CHECKING", "given_name": "Joe", "surname": "Doe"})
    } else {
        card()
    };
    text(&desk.control.post_service("/v1/tokens", &key, &details).await, "id").to_owned()
}
