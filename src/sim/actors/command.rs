//! Commands: actions at a merchant that a person orders and no document declares. The person names
//! each command, asks under its name until the command has ended, and notes the answers.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::merchant_commands::MerchantCommand;
use super::requests::PersonHandles;
use super::sandbox_control::text;
use crate::base::hash::{Mark, SourceId};
use crate::base::id::Key;
use crate::engine::commands::action::ActionCommand;
use crate::engine::commands::action_view::{ActionReport, ActionStatus};
use crate::engine::core::input::EngineInput;
use crate::engine::queries::protocol::Reply;
use crate::model::operator::action::Action;
use crate::sim::check::uniqueness::mark_of;
use crate::sim::world::documents::PARTNER;

/// Requests that a person makes while an answer is to be expected.
const ASKS_MAX: u32 = 200;
/// Requests for a blocked command, or lookups of its missing target.
const PATIENCE_MAX: u32 = 12;
/// Pause before the next request.
const RETRY_PAUSE: Duration = Duration::from_mins(2);
/// Strokes of a drawn signature.
const STROKES: &str = r#"[{"lx":1,"ly":2,"mx":3,"my":4}]"#;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonCommand {
    /// Name of the command, which never names a second one.
    pub name: String,
    pub merchant: String,
    pub action: CommandAction,
}

/// Action of a command. Amounts are in minor units of the dollar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandAction {
    /// Charges a saved method.
    Charge {
        /// Document of the method.
        method: String,
        amount: i64,
        /// Authorises the amount without capturing it.
        hold: bool,
    },
    /// Pays money out to a saved method.
    Credit {
        /// Document of the method.
        method: String,
        amount: i64,
    },
    /// Refunds the charge of another command.
    Refund {
        /// Name of that command.
        of: String,
        amount: i64,
    },
    /// Voids the transaction of another command.
    Void {
        /// Name of that command.
        of: String,
    },
    /// Captures the authorisation of another command.
    Capture {
        /// Name of that command.
        of: String,
        /// The whole authorised amount.
        amount: i64,
    },
    /// Signs the transaction of another command.
    Sign {
        /// Name of that command.
        of: String,
    },
    /// Pays the first pending occurrence of a recurring charge.
    Pay {
        /// Document of the recurring charge.
        recurring: String,
    },
    /// Skips the first pending occurrence.
    Ignore {
        /// Document of the recurring charge.
        recurring: String,
    },
    /// Changes the merchant's own data.
    Own(MerchantCommand),
}

/// Notes of the people, by command. They survive the machine; clones share them.
#[derive(Debug, Clone, Default)]
pub struct Notebook(Arc<Mutex<CommandNotes>>);

#[derive(Debug, Default)]
struct CommandNotes {
    answers: BTreeMap<String, ActionReport>,
    fields: BTreeMap<String, Value>,
}

impl Notebook {
    /// Returns the last answer to each command.
    pub fn answers(&self) -> BTreeMap<String, ActionReport> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).answers.clone()
    }

    fn answer(&self, name: &str) -> Option<ActionReport> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).answers.get(name).cloned()
    }

    fn record_answer(&self, name: &str, answer: ActionReport) {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.answers.insert(name.to_owned(), answer);
    }

    /// Returns the fields of the first request under this name, else `now`.
    fn fields(&self, name: &str, now: Value) -> Value {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.fields.entry(name.to_owned()).or_insert(now).clone()
    }
}

impl PersonCommand {
    /// Requests the command until it has ended. Returns `None` if the engine did not answer.
    pub(crate) async fn run_to_end(&self, hands: &PersonHandles) -> Option<()> {
        let mut patience = PATIENCE_MAX;
        for _ in 0..ASKS_MAX {
            let mut doubt = false;
            if let Some(fields) = self.fields(hands).await {
                let answer = self.ask(hands, fields).await?;
                let ended = is_final(answer.status);
                doubt = answer.status == ActionStatus::InDoubt;
                hands.notebook.record_answer(&self.name, answer);
                if ended {
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
        let (reply, answer) = oneshot::channel();
        hands.engine.send(EngineInput::Act(asked, reply)).await.ok()?;
        let Reply::Action(acted) = answer.await.ok()? else { return None };
        Some(*acted)
    }

    /// Returns the fields of the command, or `None` while its target does not exist.
    async fn fields(&self, hands: &PersonHandles) -> Option<Value> {
        let of = |name: &str| hands.notebook.answer(name).and_then(|answer| answer.remote_id);
        let fields = match &self.action {
            CommandAction::Charge { method, amount, hold } => {
                json!({"method": method, "amount": money(*amount), "hold": hold})
            }
            CommandAction::Credit { method, amount } => {
                json!({"method": method, "amount": money(*amount)})
            }
            CommandAction::Refund { of: charge, amount } => {
                json!({"charge": of(charge)?, "amount": money(*amount)})
            }
            CommandAction::Void { of: one } => json!({"transaction": of(one)?}),
            CommandAction::Capture { of: one, amount } => {
                json!({"charge": of(one)?, "amount": money(*amount)})
            }
            CommandAction::Sign { of: one } => json!({"transaction": of(one)?,
                "mime_type": "service/jsignature", "data": STROKES}),
            CommandAction::Pay { recurring } => self.occurrence(hands, recurring, true).await?,
            CommandAction::Ignore { recurring } => self.occurrence(hands, recurring, false).await?,
            CommandAction::Own(own) => own.fields(&hands.desk).await?,
        };
        Some(hands.notebook.fields(&self.name, fields))
    }

    /// Returns the first pending occurrence of a document's recurring charge.
    async fn occurrence(
        &self,
        hands: &PersonHandles,
        document: &str,
        amount: bool,
    ) -> Option<Value> {
        let objects = hands.desk.objects().await;
        let key: Key = format!("RecurringCharge/default/{document}").parse().ok()?;
        let mark = SourceId::new(PARTNER, &key, 0).mark();
        let charge = objects.recurring.iter().find(|one| mark_of(one) == mark.as_str())?;
        let id = text(charge, "id");
        let mut occurrences = objects.occurrences.iter();
        let pending = occurrences.find(|one| {
            text(one, "recurring_charge_id") == id && text(one, "status") == "PENDING"
        })?;
        let mut fields = json!({"recurring": id, "occurrence": text(pending, "id")});
        if let (true, Some(fields)) = (amount, fields.as_object_mut()) {
            fields.insert("amount".to_owned(), money(pending.get("amount")?.as_i64()?));
        }
        Some(fields)
    }

    /// Returns the mark of the command's object.
    pub fn mark(&self) -> Option<Mark> {
        let key: Key = format!("Action/default/{}", self.name).parse().ok()?;
        Some(SourceId::new(PARTNER, &key, 0).mark())
    }
}

/// Returns true if the person need not ask again.
fn is_final(stands: ActionStatus) -> bool {
    match stands {
        ActionStatus::Done
        | ActionStatus::Refused
        | ActionStatus::OnHold
        | ActionStatus::Invalid => true,
        ActionStatus::InDoubt | ActionStatus::NotSent | ActionStatus::Blocked => false,
    }
}

fn money(minor: i64) -> Value {
    json!({"minor": minor, "currency": "USD"})
}

impl CommandAction {
    /// Name of the action in requests.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Charge { .. } => "charge",
            Self::Credit { .. } => "credit",
            Self::Refund { .. } => "refund",
            Self::Void { .. } => "void",
            Self::Capture { .. } => "capture",
            Self::Sign { .. } => "sign",
            Self::Pay { .. } => "pay",
            Self::Ignore { .. } => "ignore",
            Self::Own(own) => own.verb(),
        }
    }
}

impl fmt::Display for PersonCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}: {:?}", self.name, self.merchant, self.action)
    }
}
