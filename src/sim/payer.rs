//! Payers who pay at a merchant on their own, with a card that somebody else keeps for them: the engine hears of it by
//! events alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::clones::key_of;
use super::desk::{Desk, text};
use super::hooks::texts::{EARLY, SKIP, START};

/// One payment, or a recurring one that begins much later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// Its number: no two are the same.
    pub number: u32,
    /// At which merchant.
    pub merchant: String,
    /// How much, in minor units of the dollar; it says what a script does.
    pub amount: i64,
}

/// What payers have at the service; clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Payers(Arc<Mutex<Book>>);

#[derive(Debug, Default)]
struct Book {
    /// The ids of their cards, by merchant.
    cards: BTreeMap<String, String>,
    /// Payments that were made.
    made: BTreeSet<u32>,
    /// The ids of what they made.
    ids: BTreeSet<String>,
}

impl Payers {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether an object is theirs, or a movement of money is of something that is.
    pub(crate) fn own(&self, object: &Value) -> bool {
        let book = self.book();
        let fields = ["id", "transaction_id", "charge_id", "recurring_charge_id"];
        fields.iter().any(|field| book.ids.contains(text(object, field)))
    }

    /// Pays, unless that was done before.
    pub(super) async fn pay(&self, desk: &Desk, payment: &Payment) {
        if !self.book().made.insert(payment.number) {
            return;
        }
        let key = key_of(&desk.look("credentials").await, &payment.merchant);
        let card = self.card(desk, &payment.merchant, &key).await;
        let (path, body) = if [EARLY, SKIP].contains(&payment.amount) {
            let schedule = json!({"start": START, "interval_unit": "MONTH", "interval_delay": 1});
            let body = json!({"amount": payment.amount, "method": card, "schedule": schedule});
            ("/v1/recurring/charges", body)
        } else {
            ("/v1/charges", json!({"amount": payment.amount, "method": card}))
        };
        let made = desk.post(path, &key, &body).await;
        self.book().ids.insert(text(&made, "id").to_owned());
    }

    /// The id of the payers' card at a merchant, which is saved once.
    async fn card(&self, desk: &Desk, merchant: &str, key: &str) -> String {
        if let Some(card) = self.book().cards.get(merchant) {
            return card.clone();
        }
        let body = json!({"number": "4242424242424242", "exp_month": 1, "exp_year": 2032,
            "name": "Payer"});
        let card = text(&desk.post("/v1/cards", key, &body).await, "id").to_owned();
        let mut book = self.book();
        book.ids.insert(card.clone());
        book.cards.insert(merchant.to_owned(), card.clone());
        card
    }
}

impl fmt::Display for Payment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, merchant, amount } = self;
        write!(f, "payment {number} of {amount} at {merchant}")
    }
}
