//! Effects on saved payment methods and their tokens: the two types of method, and the stored fields
//! of an answer (gateway-api, Saved cards, Saved banks).

pub mod change;
pub mod save;

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::api::call::{Call, Endpoint};
use crate::api::saved_method::{
    CreateBank, CreateCard, DeleteBank, DeleteCard, GetBank, GetCard, ListBanks, ListCards,
    PatchBank, PatchCard,
};
use crate::base::id::{Key, RemoteId};
use crate::effects::core::context::{EffectContext, copy_fields, set_field, set_optional};
use crate::effects::core::row::{Learned, RemoteQuery};
use crate::model::effect::Effect;
use crate::model::intent::Intent;
use crate::model::state::token_attachment::ATTACHED;

/// Type of saved method: its endpoints, and the names of its effects.
pub(crate) trait MethodEndpoints {
    /// Name of one in messages.
    const WORD: &'static str;
    const SAVE: &'static str;
    const CHANGE: &'static str;
    const DELETE: &'static str;
    type Get: Endpoint;
    /// Lists them, by reference.
    type List: Endpoint;
    type Create: Endpoint;
    type Patch: Endpoint;
    type Delete: Endpoint;
}

pub(crate) struct CardEndpoints;

impl MethodEndpoints for CardEndpoints {
    const WORD: &'static str = "card";
    const SAVE: &'static str = "card.save";
    const CHANGE: &'static str = "card.change";
    const DELETE: &'static str = "card.delete";
    type Get = GetCard;
    type List = ListCards;
    type Create = CreateCard;
    type Patch = PatchCard;
    type Delete = DeleteCard;
}

pub(crate) struct BankEndpoints;

impl MethodEndpoints for BankEndpoints {
    const WORD: &'static str = "bank";
    const SAVE: &'static str = "bank.save";
    const CHANGE: &'static str = "bank.change";
    const DELETE: &'static str = "bank.delete";
    type Get = GetBank;
    type List = ListBanks;
    type Create = CreateBank;
    type Patch = PatchBank;
    type Delete = DeleteBank;
}

/// Type of a saved method (gateway-api, Payment method in a request).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "MethodType")]
pub enum PaymentMethodType {
    /// A payment card.
    Card,
    /// A bank account.
    Bank,
}

impl PaymentMethodType {
    /// Returns the type as sent to the service.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Card => CardEndpoints::WORD,
            Self::Bank => BankEndpoints::WORD,
        }
    }

    pub(crate) fn save(self, cx: EffectContext, body: Value) -> Effect {
        match self {
            Self::Card => cx.effect::<CreateCard>(CardEndpoints::SAVE, &[], body),
            Self::Bank => cx.effect::<CreateBank>(BankEndpoints::SAVE, &[], body),
        }
        .with_sealed_body()
    }

    pub(crate) fn change(self, cx: EffectContext, target: &RemoteId, body: Value) -> Effect {
        let id = target.as_str();
        match self {
            Self::Card => cx.effect::<PatchCard>(CardEndpoints::CHANGE, &[id], body),
            Self::Bank => cx.effect::<PatchBank>(BankEndpoints::CHANGE, &[id], body),
        }
        .targeting(target)
        .expecting("id", id)
    }

    const fn secret(self) -> &'static str {
        match self {
            Self::Card => "number",
            Self::Bank => "account_number",
        }
    }

    /// Returns the fields that an answer repeats as requested, and that are not private.
    const fn visible_fields(self) -> &'static [&'static str] {
        match self {
            Self::Card => &["exp_month", "exp_year"],
            Self::Bank => &["account_type", "account_holder_type"],
        }
    }
}

/// Data from which a method is created.
#[derive(Debug, Clone, Copy)]
pub struct MethodSource<'a> {
    pub method_type: PaymentMethodType,
    /// The canonical `source.card` or `source.bank` of a spec.
    pub details: &'a Value,
    pub description: Option<&'a Value>,
}

impl MethodSource<'_> {
    /// Returns the complete body of a creation or of a token, with the mark in `reference`.
    pub(crate) fn body(self, cx: &EffectContext) -> Value {
        let (mut body, secret) = (self.details.clone(), self.method_type.secret());
        set_field(&mut body, secret, json!({"$secret": self.details.get(secret)}));
        set_field(&mut body, "type", json!(self.method_type.word()));
        set_field(&mut body, "reference", json!(cx.source_id.mark()));
        set_optional(&mut body, "description", self.description.cloned());
        body
    }

    /// Returns the same body for another resource, which borrows the details: their secrets are
    /// resolved as those of `owner`.
    pub(crate) fn body_for_borrower(self, cx: &EffectContext, owner: &Key) -> Value {
        let mut body = Self { description: None, ..self }.body(cx);
        let secret = self.method_type.secret();
        let source = self.details.get(secret);
        set_field(&mut body, secret, json!({"$secret": source, "$of": owner.to_string()}));
        body
    }

    /// Adds to an effect each field of this source that its answer must repeat.
    pub(crate) fn expect_visible(self, effect: Effect) -> Effect {
        self.expect_visible_at("", effect)
    }

    /// Adds the same fields where the answer nests the method under `place`, such as `method.`.
    pub(crate) fn expect_visible_at(self, place: &str, effect: Effect) -> Effect {
        let field = |name: &str| self.details.get(name).cloned().unwrap_or_default();
        let shown = self.method_type.visible_fields().iter();
        shown.fold(effect, |effect, name| effect.expecting(&format!("{place}{name}"), field(name)))
    }
}

const SHOWN_FIELDS: [&str; 6] =
    ["card_type", "exp_month", "exp_year", "bank_name", "account_type", "fingerprint"];

pub(crate) fn read_target<S: MethodEndpoints>(target: Option<&RemoteId>) -> RemoteQuery {
    RemoteQuery::one(Call::to::<S::Get>(&[target.map_or("", RemoteId::as_str)]))
}

/// Returns the stored fields of a saved method that the service shows: nothing private.
pub fn method_facts(reply: &Value) -> Value {
    let text = |field: &str| reply.get(field).and_then(Value::as_str);
    let number = text("number").or(text("account_number")).unwrap_or_default();
    let last4: String = number.chars().skip(number.chars().count().saturating_sub(4)).collect();
    let mut facts = json!({TOKEN: null, ABOUT: null, ATTACHED: null, "last4": last4});
    copy_fields(&mut facts, reply, &SHOWN_FIELDS);
    facts
}

/// Stores the last digits, brand or bank, and expiry only. An existing token is of no further use.
pub(crate) fn learn(_: &Intent, reply: &Value) -> Result<Learned, String> {
    Learned::object(reply, method_facts(reply))
}

/// Fact that names the sealed token.
pub(super) const TOKEN: &str = "token";

/// Fact about the purpose and time of the token.
pub(super) const ABOUT: &str = "token_made";

pub(crate) fn cleared_token() -> Value {
    json!({TOKEN: null, ABOUT: null})
}
