//! Saved cards (gateway-api, Saved cards).

use super::payment_methods::card_details;
use super::saved_methods::SavedMethodStore;
use crate::api::Page;
use crate::api::methods::card::NewCard;
use crate::api::methods::method::{MethodKind, PaymentMethod};
use crate::api::methods::saved::SavedChange;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::state::lists::{ObjectKind, number};
use crate::sandbox::state::store::ChangeUnit;

pub(crate) const SAVED_CARDS: SavedMethodStore = SavedMethodStore {
    kind: ObjectKind { word: "card", name: "Card" },
    method: MethodKind::Card,
    rules: |_| Vec::new(),
};

/// POST /v1/cards: from fields, or from a token.
pub(crate) fn create(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
    new: NewCard,
) -> Result<PaymentMethod, SandboxRefusal> {
    let given = SavedChange {
        reference: new.reference.clone(),
        description: new.description.clone(),
        token_id: new.token_id.clone(),
    };
    SAVED_CARDS.create(cx, asked, &given, |cx| card_details(cx, new))
}

/// GET /v1/cards: newest first; filters `reference`, `exp_month`, `exp_year`.
pub(crate) fn list(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
) -> Result<Page<PaymentMethod>, SandboxRefusal> {
    let month = number(asked, "exp_month", 1, 12)?;
    let year = number(asked, "exp_year", 0, 9999)?;
    let same = |own: Option<i64>, asked: Option<u64>| {
        asked.is_none_or(|asked| own.and_then(|own| u64::try_from(own).ok()) == Some(asked))
    };
    let fits = |card: &PaymentMethod| same(card.exp_month, month) && same(card.exp_year, year);
    let filtered = month.is_some() || year.is_some();
    SAVED_CARDS.list(cx, asked, filtered.then_some(&fits))
}
