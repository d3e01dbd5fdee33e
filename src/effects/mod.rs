//! One file per effect on the service, and one line each in the register.
//!
//! An effect's file says what is sent, what the answer must say, and how a lost answer is settled
//! (design.md part 3). Nothing else in the crate builds a request that changes the service. Two
//! readings, which change nothing, stand in a register of their own.

mod application_submit;
mod card_change;
mod card_delete;
mod card_save;
mod code_exchange;
mod contact_create;
pub mod expect;
mod invoice_create;
mod merchant_read;
mod merchant_survey;
mod recurring_change;
mod recurring_create;
mod register;

pub use application_submit::submit_application;
pub use card_change::change_card;
pub use card_delete::delete_card;
pub use card_save::{CardSource, save_card};
pub use code_exchange::exchange_code;
pub use contact_create::create_contact;
pub use invoice_create::create_invoice;
pub use merchant_read::{CREDENTIALS, KEYS};
pub use merchant_survey::SURVEY;
pub use recurring_change::change_recurring;
pub use recurring_create::create_recurring;
pub use register::{
    Absent, Answer, Doubt, EFFECTS, EffectRow, Finding, Learned, Proved, Query, READINGS, ReadCx,
    ReadingRow, Search, Trouble, effect_row, reading_row,
};

use std::collections::BTreeMap;

use serde_json::Value;

use crate::api::{Call, Endpoint};
use crate::base::hash::SourceId;
use crate::base::id::{Key, Mode, RemoteId};
use crate::model::effect::{Effect, Request};
use crate::model::manifest::OnDoubt;
use crate::model::observed::Applied;

/// What every effect of a resource has in common.
#[derive(Debug, Clone)]
pub struct Obligation {
    /// The resource.
    pub key: Key,
    /// Its merchant.
    pub merchant: Key,
    /// Test or live.
    pub mode: Mode,
    /// Its name, for ever.
    pub source_id: SourceId,
    /// What will have been put on the service.
    pub applied: Applied,
    /// What to do when nothing proves a creation.
    pub on_doubt: OnDoubt,
}

impl Obligation {
    /// An effect of endpoint `E` with this body, private or not.
    fn effect<E: Endpoint>(self, name: &'static str, parameters: &[&str], body: Value) -> Effect {
        let call = Call::to::<E>(parameters);
        let request = Request {
            endpoint: call.endpoint,
            method: call.method,
            host: call.host,
            path: call.path,
            auth: call.auth,
            body,
        };
        Effect {
            name,
            key: self.key,
            merchant: self.merchant,
            mode: self.mode,
            target: None,
            source_id: self.source_id,
            request,
            sealed: false,
            expect: BTreeMap::new(),
            applied: self.applied,
            on_doubt: self.on_doubt,
        }
    }
}

/// Sets a field of a JSON object that is being built.
pub fn put(object: &mut Value, name: &str, value: impl Into<Value>) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(name.to_owned(), value.into());
    }
}

/// Small builders over an effect, so that each effect's file reads as a sentence.
trait Shaped: Sized {
    /// The remote object it changes.
    fn on(self, target: &RemoteId) -> Self;
    /// Its body holds private values.
    fn sealed(self) -> Self;
    /// The answer has to say this at that path; null asks nothing.
    fn expecting(self, path: &str, value: impl Into<Value>) -> Self;
}

impl Shaped for Effect {
    fn on(mut self, target: &RemoteId) -> Self {
        self.target = Some(target.clone());
        self
    }

    fn sealed(mut self) -> Self {
        self.sealed = true;
        self
    }

    fn expecting(mut self, path: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        if !value.is_null() {
            self.expect.insert(path.to_owned(), value);
        }
        self
    }
}
