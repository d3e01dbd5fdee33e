//! Steps of a script: changes of files, and the requests that people make beside them, decided by a
//! seed. A request reads everything, gives a command, or makes a payment.
//!
//! A command is an action at a merchant that a person orders and no document declares. The person
//! names each command, and asks under its name until the command has ended.

use derive_more::Display;
use serde_json::{Value, json};

use crate::base::hash::{Mark, SourceId};
use crate::base::id::Key;
use crate::sim::plan::dice::Dice;
use crate::sim::plan::documents::{Doc, DocBody, DocTree, FileChange, PARTNER};

/// One push of changes to the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptStep {
    /// Time after the previous step, in milliseconds.
    pub wait_ms: u64,
    /// Set if the process is first stopped and started again.
    pub restart: bool,
    pub changes: Vec<FileChange>,
    /// Requests of people after the changes.
    pub requests: Vec<PersonRequest>,
}

impl ScriptStep {
    /// Returns a step without a restart and without requests.
    pub(crate) fn quiet(wait_ms: u64, changes: Vec<FileChange>) -> Self {
        Self { wait_ms, restart: false, changes, requests: Vec::new() }
    }
}

#[derive(Debug, Display, Clone, PartialEq, Eq)]
pub enum PersonRequest {
    #[display("read everything at the service")]
    Refresh,
    Command(PersonCommand),
    /// Makes a payment that the engine learns from events alone.
    Pay(PayerPayment),
}

#[derive(Debug, Display, Clone, PartialEq, Eq)]
#[display("{name} at {merchant}: {action:?}")]
pub struct PersonCommand {
    /// Name of the command, which never names a second one.
    pub name: String,
    pub merchant: String,
    pub action: CommandAction,
}

/// Action of a command. Amounts are in minor units of the dollar, `of` names an earlier command, and
/// `hold` authorises an amount without capturing it. `Pay` and `Ignore` concern the first pending
/// occurrence of a recurring charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandAction {
    Charge { method: String, amount: i64, hold: bool },
    Credit { method: String, amount: i64 },
    Refund { of: String, amount: i64 },
    Void { of: String },
    Capture { of: String, amount: i64 },
    Sign { of: String },
    Pay { recurring: String },
    Ignore { recurring: String },
    Own(MerchantCommand),
}

impl PersonCommand {
    pub fn mark(&self) -> Option<Mark> {
        let key: Key = format!("Action/default/{}", self.name).parse().ok()?;
        Some(SourceId::new(PARTNER, &key, 0).mark())
    }
}

impl CommandAction {
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
            Self::Own(own) => own.verb_and_effect().0,
        }
    }
}

/// Effects that change the merchant's own data; no document has them.
pub(crate) const MERCHANT_EFFECTS: [&str; 6] = [
    "merchant.change",
    "account.change",
    "ach_account.change",
    "merchant.purge",
    "recurring.delete",
    "vault.save",
];

/// Commands on the merchant's own data. No two commands name the same version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MerchantCommand {
    /// Changes the name of its contact person.
    Details { version: u64 },
    /// Renames the account for cards, or for electronic checks.
    Account { bank: bool, version: u64 },
    /// Clears its transactions and recurring charges.
    Purge,
    /// Deletes one of its recurring charges.
    Delete { nth: usize },
    /// Saves a fresh token of a card or a bank account for its contact.
    Vault { bank: bool },
}

impl MerchantCommand {
    pub(crate) fn verb_and_effect(&self) -> (&'static str, &'static str) {
        match self {
            Self::Details { .. } => ("merchant", "merchant.change"),
            Self::Account { bank: false, .. } => ("account", "account.change"),
            Self::Account { bank: true, .. } => ("account", "ach_account.change"),
            Self::Purge => ("purge", "merchant.purge"),
            Self::Delete { .. } => ("delete", "recurring.delete"),
            Self::Vault { .. } => ("vault", "vault.save"),
        }
    }

    /// Returns the values that the command sets, or null if it sets none.
    pub(crate) fn changed_values(&self) -> Value {
        match self {
            Self::Details { version } => json!({"contact_name": format!("version {version}")}),
            Self::Account { bank: _, version } => json!({"name": format!("version {version}")}),
            Self::Purge | Self::Delete { .. } | Self::Vault { .. } => Value::Null,
        }
    }
}

/// A payment, or a recurring charge that begins much later.
#[derive(Debug, Display, Clone, PartialEq, Eq)]
#[display("payment {number} of {amount} at {merchant}")]
pub struct PayerPayment {
    pub number: u32,
    pub merchant: String,
    /// Amount in minor units of the dollar; it selects the action of a script.
    pub amount: i64,
}

/// Worlds in which people give commands, in percent.
const WORLDS: u64 = 80;

pub(crate) fn add_commands(files: &DocTree, steps: &mut [ScriptStep], dice: &mut Dice) {
    if !dice.percent(WORLDS) {
        return;
    }
    let mut given = Vec::new();
    for step in steps {
        for _ in 0..dice.between(1, 4) {
            let name = format!("x{}", given.len());
            if let Some(command) = draw_command(files, &given, name, dice) {
                step.requests.push(PersonRequest::Command(command.clone()));
                given.push(command);
            }
        }
    }
}

fn draw_command(
    files: &DocTree,
    given: &[PersonCommand],
    name: String,
    dice: &mut Dice,
) -> Option<PersonCommand> {
    let of =
        |kind: &str| -> Vec<&Doc> { files.values().filter(|doc| doc.kind() == kind).collect() };
    let (merchant, action) = if dice.percent(50)
        && let Some(earlier) = dice.pick(given)
    {
        (&*earlier.merchant, follow_up_action(earlier, dice)?)
    } else if dice.percent(30) {
        let doc = *dice.pick(&of("RecurringCharge"))?;
        let recurring = doc.name.clone();
        let action = if dice.percent(70) {
            CommandAction::Pay { recurring }
        } else {
            CommandAction::Ignore { recurring }
        };
        (doc.merchant(), action)
    } else {
        let doc = *dice.pick(&of("SavedMethod"))?;
        let (method, amount) = (doc.name.clone(), amount(dice));
        let action = if dice.percent(30) {
            CommandAction::Credit { method, amount }
        } else {
            let hold = dice.percent(50) && matches!(doc.body, DocBody::Card { bank: false, .. });
            CommandAction::Charge { method, amount, hold }
        };
        (doc.merchant(), action)
    };
    Some(PersonCommand { name, merchant: merchant.to_owned(), action })
}

fn follow_up_action(earlier: &PersonCommand, dice: &mut Dice) -> Option<CommandAction> {
    let of = earlier.name.clone();
    if let CommandAction::Charge { amount, hold, .. } = earlier.action {
        if hold && dice.percent(70) {
            return Some(CommandAction::Capture { of, amount });
        }
        return Some(match dice.below(4) {
            0 => CommandAction::Void { of },
            1 => CommandAction::Sign { of },
            _ => CommandAction::Refund { of, amount: amount.checked_div(2)?.max(1) },
        });
    }
    let voids = matches!(earlier.action, CommandAction::Credit { .. })
        || matches!(earlier.action, CommandAction::Refund { .. }) && dice.percent(50);
    voids.then_some(CommandAction::Void { of })
}

/// Draws one of a few amounts, so that some commands are equal.
fn amount(dice: &mut Dice) -> i64 {
    dice.number::<i64>(1, 20).saturating_mul(500)
}
