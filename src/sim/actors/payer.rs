//! Payers who pay at a merchant on their own, with a card that another party keeps for them. The
//! engine learns of these payments from events alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::sandbox_control::{SandboxControl, text};
use crate::sim::hooks::script_texts::{EARLY, SKIP, START};
use crate::sim::world::unmarked_charges::authorization_header;

/// A payment, or a recurring charge that begins much later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayerPayment {
    /// Unique number.
    pub number: u32,
    pub merchant: String,
    /// Amount in minor units of the dollar; it selects the action of a script.
    pub amount: i64,
}

/// Objects of the payers at the service; clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Payers(Arc<Mutex<PayerBook>>);

#[derive(Debug, Default)]
struct PayerBook {
    /// Ids of their cards, by merchant.
    cards: BTreeMap<String, String>,
    /// Numbers of the payments made.
    paid: BTreeSet<u32>,
    /// Ids of the objects that the payers made.
    ids: BTreeSet<String>,
}

impl Payers {
    fn book(&self) -> MutexGuard<'_, PayerBook> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if an object, or the object of a movement of money, belongs to the payers.
    pub(crate) fn owns(&self, object: &Value) -> bool {
        let book = self.book();
        let fields = ["id", "transaction_id", "charge_id", "recurring_charge_id"];
        fields.iter().any(|field| book.ids.contains(text(object, field)))
    }

    /// Pays once; a repeated call does nothing.
    pub(crate) async fn pay(&self, desk: &SandboxControl, payment: &PayerPayment) {
        if !self.book().paid.insert(payment.number) {
            return;
        }
        let key = authorization_header(&desk.get_control("credentials").await, &payment.merchant);
        let card = self.card(desk, &payment.merchant, &key).await;
        let (path, body) = if [EARLY, SKIP].contains(&payment.amount) {
            let schedule = json!({"start": START, "interval_unit": "MONTH", "interval_delay": 1});
            let body = json!({"amount": payment.amount, "method": card, "schedule": schedule});
            ("/v1/recurring/charges", body)
        } else {
            ("/v1/charges", json!({"amount": payment.amount, "method": card}))
        };
        let made = desk.post_service(path, &key, &body).await;
        self.book().ids.insert(text(&made, "id").to_owned());
    }

    /// Returns the id of the payers' card at a merchant, and saves the card once.
    async fn card(&self, desk: &SandboxControl, merchant: &str, key: &str) -> String {
        if let Some(card) = self.book().cards.get(merchant) {
            return card.clone();
        }
        let body = json!({"number": "4242424242424242", "exp_month": 1, "exp_year": 2032,
            "name": "Payer"});
        let card = text(&desk.post_service("/v1/cards", key, &body).await, "id").to_owned();
        let mut book = self.book();
        book.ids.insert(card.clone());
        book.cards.insert(merchant.to_owned(), card.clone());
        card
    }
}

impl fmt::Display for PayerPayment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, merchant, amount } = self;
        write!(f, "payment {number} of {amount} at {merchant}")
    }
}
