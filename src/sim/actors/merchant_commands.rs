//! A merchant whose document only declares it, and which charges at its own till. In some worlds
//! people change its details and accounts, clear its test data, and delete undeclared recurring
//! charges. They also save, in the vault of its one contact, a token from another party's page.

use serde_json::{Value, json};

use super::command::{CommandAction, PersonCommand};
use super::requests::PersonRequest;
use super::sandbox_control::{SandboxControl, text};
use crate::sim::world::dice::Dice;
use crate::sim::world::documents::{Doc, DocBody};
use crate::sim::world::removal::add_trouble;
use crate::sim::world::script::SimScript;
use crate::sim::world::unmarked_charges::authorization_header;

/// Name of the merchant.
const MERCHANT: &str = "till";
/// Worlds with this merchant, in percent.
const WORLDS: u64 = 25;
/// Recurring charges that it has when the run begins; none collects anything during the run.
const CHARGES: usize = 3;

/// Its contact.
const CONTACT: &str = "c-till";

/// Effects that change the merchant's own data; no document has them.
pub(crate) const EFFECTS: [&str; 6] = [
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
    /// Changes the merchant's details.
    Details { version: u64 },
    /// Renames an account.
    Account {
        /// Set for the account for electronic checks.
        bank: bool,
        version: u64,
    },
    /// Clears its transactions and recurring charges.
    Purge,
    /// Deletes one of its recurring charges.
    Delete { nth: usize },
    /// Saves a fresh token for its contact.
    Vault {
        /// Set if the token holds a bank account.
        bank: bool,
    },
}

impl MerchantCommand {
    /// Name of the action in requests.
    pub(crate) fn verb(&self) -> &'static str {
        match self {
            Self::Details { .. } => "merchant",
            Self::Account { .. } => "account",
            Self::Purge => "purge",
            Self::Delete { .. } => "delete",
            Self::Vault { .. } => "vault",
        }
    }

    /// Effect of the command.
    pub(crate) fn effect(&self) -> &'static str {
        match self {
            Self::Details { .. } => "merchant.change",
            Self::Account { bank: false, .. } => "account.change",
            Self::Account { bank: true, .. } => "ach_account.change",
            Self::Purge => "merchant.purge",
            Self::Delete { .. } => "recurring.delete",
            Self::Vault { .. } => "vault.save",
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

    /// Returns the fields of a command, or `None` while its target does not exist.
    pub(crate) async fn fields(&self, desk: &SandboxControl) -> Option<Value> {
        Some(match self {
            Self::Details { .. } => json!({"set": self.changed_values()}),
            Self::Account { bank, .. } => {
                let kind = if *bank { "bank" } else { "card" };
                let id = account_id(&desk.get_control("credentials").await, *bank)?;
                json!({"account": id, "type": kind, "set": self.changed_values()})
            }
            Self::Purge => json!({"transactions": true}),
            Self::Delete { nth } => json!({"type": "recurring", "id": desk.till.get(*nth)?}),
            Self::Vault { bank } => {
                let contacts = desk.objects().await.contacts;
                let email = Doc::new(CONTACT, contact_body()).email();
                let mut mine = contacts.iter().filter(|one| text(one, "preferred_email") == email);
                let id = mine.next()?.get("id")?;
                let token = make_token(desk, *bank).await;
                json!({"contact": id, "type": if *bank { "bank" } else { "card" }, "token": token})
            }
        })
    }
}

/// Returns the id of the merchant's account of a type.
fn account_id(credentials: &Value, bank: bool) -> Option<Value> {
    let kind = if bank { "AchAccount" } else { "MerchantAccount" };
    let mut all = credentials.get("merchants")?.as_array()?.iter();
    let own = all.find(|one| text(one, "name") == MERCHANT)?;
    let mut accounts = own.pointer("/test/accounts")?.as_array()?.iter();
    accounts.find(|one| text(one, "type") == kind)?.get("id").cloned()
}

/// Returns the document body of its contact.
fn contact_body() -> DocBody {
    DocBody::Contact { merchant: MERCHANT.to_owned(), hold: false }
}

/// Makes a token, as another party's page does.
async fn make_token(desk: &SandboxControl, bank: bool) -> String {
    let key = authorization_header(&desk.get_control("credentials").await, MERCHANT);
    let details = if bank {
        json!({"type": "bank", "routing_number": "000000013", "account_number": "87654321",
            "account_type": "CHECKING", "given_name": "Joe", "surname": "Doe"})
    } else {
        json!({"type": "card", "number": "4242424242424242", "exp_month": 1, "exp_year": 2032})
    };
    text(&desk.post_service("/v1/tokens", &key, &details).await, "id").to_owned()
}

/// Adds this merchant, and commands about it, to some worlds.
pub(crate) fn add_to_script(script: &mut SimScript, dice: &mut Dice) {
    if !dice.percent(WORLDS) {
        return;
    }
    script.files.insert(MERCHANT.to_owned(), Doc::new(MERCHANT, DocBody::Merchant));
    script.files.insert(CONTACT.to_owned(), Doc::new(CONTACT, contact_body()));
    for version in 0..dice.between(3, 8) {
        let own = match dice.below(8) {
            0 | 1 => MerchantCommand::Details { version },
            2 => MerchantCommand::Account { bank: false, version },
            3 => MerchantCommand::Account { bank: true, version },
            4 => MerchantCommand::Purge,
            5 | 6 => MerchantCommand::Vault { bank: dice.percent(40) },
            _ => MerchantCommand::Delete { nth: usize::from(dice.percent(50)) },
        };
        let (name, merchant) = (format!("t{version}"), MERCHANT.to_owned());
        let command = PersonCommand { name, merchant, action: CommandAction::Own(own) };
        let steps = u64::try_from(script.steps.len()).unwrap_or(1);
        let at = usize::try_from(dice.below(steps)).unwrap_or(0);
        if let Some(step) = script.steps.get_mut(at) {
            step.requests.push(PersonRequest::Command(command));
        }
    }
    add_trouble(script, &EFFECTS, dice);
}

/// Makes its recurring charges, over the service's own path and with its own key. Returns their
/// ids.
pub(crate) async fn make_charges(desk: &SandboxControl, script: &SimScript) -> Vec<String> {
    let mut made = Vec::new();
    if !script.files.contains_key(MERCHANT) {
        return made;
    }
    desk.post_control("credentials", &json!({ "merchant": MERCHANT })).await;
    let key = authorization_header(&desk.get_control("credentials").await, MERCHANT);
    let card =
        json!({"type": "card", "number": "4242424242424242", "exp_month": 1, "exp_year": 2032});
    let schedule = json!({"start": "2031-01-01", "interval_unit": "MONTH", "interval_delay": 1});
    let body = json!({"amount": 700, "method": card, "schedule": schedule});
    for _ in 0..CHARGES {
        let charge = desk.post_service("/v1/recurring/charges", &key, &body).await;
        made.push(text(&charge, "id").to_owned());
    }
    made
}
