//! What the effects on saved cards and saved banks share: the two sorts, and what is kept of an answer
//! (gateway-api, Saved cards, Saved banks).

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Obligation, Shaped, expect, put};
use crate::api::bank::{CreateBank, DeleteBank, GetBank, ListBanks, PatchBank};
use crate::api::card::{CreateCard, DeleteCard, GetCard, ListCards, PatchCard};
use crate::api::{Call, Endpoint};
use crate::base::id::{Key, RemoteId};
use crate::effects::register::{Learned, Query};
use crate::model::attachment::ATTACHED;
use crate::model::effect::Effect;
use crate::model::intent::Intent;

/// A sort of saved method: its endpoints, and the names of its effects.
pub(super) trait Sort {
    /// What messages call one.
    const WORD: &'static str;
    /// The effect that saves one.
    const SAVE: &'static str;
    /// The effect that changes one.
    const CHANGE: &'static str;
    /// The effect that removes one.
    const DELETE: &'static str;
    /// Saves one.
    type Create: Endpoint;
    /// Changes one.
    type Patch: Endpoint;
    /// Reads one.
    type Get: Endpoint;
    /// Removes one.
    type Delete: Endpoint;
    /// Lists them, by reference.
    type List: Endpoint;
}

/// Saved cards.
pub(super) struct Cards;

impl Sort for Cards {
    const WORD: &'static str = "card";
    const SAVE: &'static str = "card.save";
    const CHANGE: &'static str = "card.change";
    const DELETE: &'static str = "card.delete";
    type Create = CreateCard;
    type Patch = PatchCard;
    type Get = GetCard;
    type Delete = DeleteCard;
    type List = ListCards;
}

/// Saved banks.
pub(super) struct Banks;

impl Sort for Banks {
    const WORD: &'static str = "bank";
    const SAVE: &'static str = "bank.save";
    const CHANGE: &'static str = "bank.change";
    const DELETE: &'static str = "bank.delete";
    type Create = CreateBank;
    type Patch = PatchBank;
    type Get = GetBank;
    type Delete = DeleteBank;
    type List = ListBanks;
}

/// Which sort a method is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MethodSort {
    /// A card.
    Card,
    /// A bank account.
    Bank,
}

impl MethodSort {
    /// The word on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Card => Cards::WORD,
            Self::Bank => Banks::WORD,
        }
    }

    /// The field that holds a secret.
    const fn secret(self) -> &'static str {
        match self {
            Self::Card => "number",
            Self::Bank => "account_number",
        }
    }

    /// The fields that an answer shows as they were asked, and that are not private.
    const fn shown(self) -> &'static [&'static str] {
        match self {
            Self::Card => &["exp_month", "exp_year"],
            Self::Bank => &["account_type", "account_holder_type"],
        }
    }
}

/// What a method is made of.
#[derive(Debug, Clone, Copy)]
pub struct MethodSource<'a> {
    /// A card or a bank account.
    pub sort: MethodSort,
    /// The canonical `source.card` or `source.bank` of a spec.
    pub details: &'a Value,
    /// The spec's description.
    pub description: Option<&'a Value>,
}

impl MethodSource<'_> {
    /// The complete body of a creation or of a token, with the mark in `reference`.
    pub(super) fn body(self, obligation: &Obligation) -> Value {
        let (mut body, secret) = (self.details.clone(), self.sort.secret());
        put(&mut body, secret, json!({"$secret": self.details.get(secret)}));
        put(&mut body, "type", json!(self.sort.word()));
        put(&mut body, "reference", json!(obligation.source_id.mark()));
        if let Some(description) = self.description {
            put(&mut body, "description", description.clone());
        }
        body
    }

    /// The same for another resource, which borrows the details: their secrets are found as those of
    /// `owner`.
    pub(super) fn borrowed(self, obligation: &Obligation, owner: &Key) -> Value {
        let mut body = Self { description: None, ..self }.body(obligation);
        let secret = self.sort.secret();
        let source = self.details.get(secret);
        put(&mut body, secret, json!({"$secret": source, "$of": owner.to_string()}));
        body
    }

    /// The effect with everything in this source that its answer has to show.
    pub(super) fn asked(self, effect: Effect) -> Effect {
        self.asked_in("", effect)
    }

    /// The same, where the answer holds the method in a field of its own, such as `method.`.
    pub(super) fn asked_in(self, place: &str, effect: Effect) -> Effect {
        let field = |name: &str| self.details.get(name).cloned().unwrap_or_default();
        let shown = self.sort.shown().iter();
        shown.fold(effect, |effect, name| effect.expecting(&format!("{place}{name}"), field(name)))
    }
}

/// The question for the object that an intent changes.
pub(super) fn read_target<S: Sort>(target: Option<&RemoteId>) -> Query {
    Query::one(Call::to::<S::Get>(&[target.map_or("", RemoteId::as_str)]))
}

/// What is kept of a saved method that the service shows: nothing private.
pub fn method_facts(reply: &Value) -> Value {
    let text = |field: &str| reply.get(field).and_then(Value::as_str);
    let number = text("number").or(text("account_number")).unwrap_or_default();
    let last4: String = number.chars().skip(number.chars().count().saturating_sub(4)).collect();
    let mut facts = super::token_create::spent();
    put(&mut facts, ATTACHED, Value::Null);
    put(&mut facts, "last4", json!(last4));
    for field in ["card_type", "exp_month", "exp_year", "bank_name", "account_type", "fingerprint"]
    {
        put(&mut facts, field, reply.get(field).cloned().unwrap_or_default());
    }
    facts
}

/// The last digits, brand or bank, and expiry are all that is kept. Whatever token there was is
/// of no use any more.
pub(super) fn learn(_: &Intent, reply: &Value) -> Result<Learned, String> {
    let facts = method_facts(reply);
    Ok(Learned { remote_id: Some(expect::id(reply)?), exists: true, facts, secrets: Vec::new() })
}
