//! Commands: what a person has done at a merchant that no document stands for, and how they go about it. They give
//! each command a name, ask under it until they hear how it ended, and keep a notebook.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::check::mark_of;
use super::deed::Hands;
use super::desk::text;
use super::till::Own;
use super::world::PARTNER;
use crate::base::hash::{Mark, SourceId};
use crate::base::id::Key;
use crate::engine::{Acted, Asked, Event, Reply, Stands};
use crate::model::action::Action;

/// How often a person asks again, as long as an answer is to be expected.
const ASKS_MAX: u32 = 200;
/// How often they ask for what is blocked, or look for what a command is about.
const PATIENCE: u32 = 12;
/// How long they wait before.
const WAITS: Duration = Duration::from_mins(2);
/// What a hand draws.
const STROKES: &str = r#"[{"lx":1,"ly":2,"mx":3,"my":4}]"#;

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Its name: the same one never does a second thing.
    pub name: String,
    /// The merchant.
    pub merchant: String,
    /// What is to be done.
    pub order: Order,
}

/// What is to be done. Amounts are in minor units of the dollar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Take money by a saved method.
    Charge {
        /// The document of the method.
        method: String,
        /// How much.
        amount: i64,
        /// Only hold it.
        hold: bool,
    },
    /// Give money.
    Credit {
        /// The document of the method.
        method: String,
        /// How much.
        amount: i64,
    },
    /// Give back of the charge that another command made.
    Refund {
        /// That command.
        of: String,
        /// How much.
        amount: i64,
    },
    /// Take back what another command did.
    Void {
        /// That command.
        of: String,
    },
    /// Capture the hold that another command made.
    Capture {
        /// That command.
        of: String,
        /// All of it.
        amount: i64,
    },
    /// Sign what another command did.
    Sign {
        /// That command.
        of: String,
    },
    /// Pay the first pending occurrence of a recurring charge.
    Pay {
        /// Its document.
        recurring: String,
    },
    /// Take the first pending occurrence out.
    Ignore {
        /// The document of its recurring charge.
        recurring: String,
    },
    /// Change what the merchant has of its own.
    Own(Own),
}

/// What people wrote down, by command; it survives the machine. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Notebook(Arc<Mutex<Notes>>);

#[derive(Debug, Default)]
struct Notes {
    answers: BTreeMap<String, Acted>,
    fields: BTreeMap<String, Value>,
}

impl Notebook {
    /// What people heard of each command in the end.
    pub fn answers(&self) -> BTreeMap<String, Acted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).answers.clone()
    }

    fn answer(&self, name: &str) -> Option<Acted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).answers.get(name).cloned()
    }

    fn hear(&self, name: &str, answer: Acted) {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.answers.insert(name.to_owned(), answer);
    }

    /// What was asked for under this name before, else what is asked for now.
    fn fields(&self, name: &str, now: Value) -> Value {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.fields.entry(name.to_owned()).or_insert(now).clone()
    }
}

impl Command {
    /// Asks for it until it has ended in some way; `None` if nobody answered.
    pub(super) async fn done(&self, hands: &Hands) -> Option<()> {
        let mut patience = PATIENCE;
        for _ in 0..ASKS_MAX {
            let mut doubt = false;
            if let Some(fields) = self.fields(hands).await {
                let answer = self.ask(hands, fields).await?;
                let ended = ended(answer.stands);
                doubt = answer.stands == Stands::InDoubt;
                hands.notebook.hear(&self.name, answer);
                if ended {
                    return Some(());
                }
            }
            patience = if doubt { PATIENCE } else { patience.saturating_sub(1) };
            if patience == 0 {
                return Some(());
            }
            if hands.engine.is_closed() {
                return None;
            }
            sleep(WAITS).await;
        }
        Some(())
    }

    async fn ask(&self, hands: &Hands, fields: Value) -> Option<Acted> {
        let action = Action {
            verb: self.order.verb().to_owned(),
            merchant: format!("Merchant/default/{}", self.merchant).parse().ok()?,
            name: Some(self.name.parse().ok()?),
            fields,
        };
        let asked = Asked { action, actor: "a person of the simulator".to_owned() };
        let (reply, answer) = oneshot::channel();
        hands.engine.send(Event::Act(asked, reply)).await.ok()?;
        let Reply::Acted(acted) = answer.await.ok()? else { return None };
        Some(*acted)
    }

    /// What the command says; `None` while what it is about is not there.
    async fn fields(&self, hands: &Hands) -> Option<Value> {
        let of = |name: &str| hands.notebook.answer(name).and_then(|answer| answer.remote_id);
        let fields = match &self.order {
            Order::Charge { method, amount, hold } => {
                json!({"method": method, "amount": money(*amount), "hold": hold})
            }
            Order::Credit { method, amount } => {
                json!({"method": method, "amount": money(*amount)})
            }
            Order::Refund { of: charge, amount } => {
                json!({"charge": of(charge)?, "amount": money(*amount)})
            }
            Order::Void { of: one } => json!({"transaction": of(one)?}),
            Order::Capture { of: one, amount } => {
                json!({"charge": of(one)?, "amount": money(*amount)})
            }
            Order::Sign { of: one } => json!({"transaction": of(one)?,
                "mime_type": "service/jsignature", "data": STROKES}),
            Order::Pay { recurring } => self.occurrence(hands, recurring, true).await?,
            Order::Ignore { recurring } => self.occurrence(hands, recurring, false).await?,
            Order::Own(own) => own.fields(&hands.desk).await?,
        };
        Some(hands.notebook.fields(&self.name, fields))
    }

    /// The first pending occurrence of a document's recurring charge.
    async fn occurrence(&self, hands: &Hands, document: &str, amount: bool) -> Option<Value> {
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

    /// The mark of what it does.
    pub fn mark(&self) -> Option<Mark> {
        let key: Key = format!("Action/default/{}", self.name).parse().ok()?;
        Some(SourceId::new(PARTNER, &key, 0).mark())
    }
}

/// Whether a person need not ask any more.
fn ended(stands: Stands) -> bool {
    match stands {
        Stands::Done | Stands::Refused | Stands::Held | Stands::Invalid => true,
        Stands::InDoubt | Stands::NotSent | Stands::Blocked => false,
    }
}

fn money(minor: i64) -> Value {
    json!({"minor": minor, "currency": "USD"})
}

impl Order {
    /// What it is called.
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

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}: {:?}", self.name, self.merchant, self.order)
    }
}
