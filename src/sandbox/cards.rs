//! Saved cards (gateway-api, Saved cards).

use crate::api::Page;
use crate::api::card::{self, Card, CardChange, NewCard};
use crate::api::method::MethodKind;
use crate::api::wire::Timestamp;
use crate::sandbox::asked::Asked;
use crate::sandbox::lists::{Kept, KindOf, Owner, Paging, number};
use crate::sandbox::methods::{KeptMethod, keep_card};
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::{Cx, ordered};
use crate::sandbox::tokens;

pub(crate) const KIND: KindOf = KindOf { word: "card", name: "Card" };

type KeptCard = Kept<Card, KeptMethod>;

/// POST /v1/cards: from fields, or from a token.
pub(crate) fn create(cx: &mut Cx<'_>, asked: &Asked, new: NewCard) -> Result<Card, Refusal> {
    let owner = asked.owner()?;
    let method = match new.token_id.clone() {
        Some(token) => from_token(cx, &owner, &token, &new)?,
        None => keep_card(cx, new),
    };
    method.check("", cx.now)?;
    let sequence = cx.next();
    let id = cx.id();
    let now = Some(Timestamp(cx.now));
    let card = Card { created: now, modified: now, ..show(id, &method) };
    let kept = Kept { owner: owner.clone(), sequence, object: card.clone(), inside: method };
    cx.create(KIND, &owner.key(), &card.id, &kept)?;
    index(cx, &kept)?;
    Ok(card)
}

/// The card inside a token, which is used up; the request's own texts win (service-facts, 41).
fn from_token(
    cx: &mut Cx<'_>,
    owner: &Owner,
    token: &str,
    new: &NewCard,
) -> Result<KeptMethod, Refusal> {
    let mut method = tokens::find(cx, owner, token)?.inside;
    if !method.is_card() {
        return Err(Refusal::rule("incorrect_payment_type", "Token is not of a card"));
    }
    let texts = CardChange {
        reference: new.reference.clone(),
        description: new.description.clone(),
        token_id: None,
    };
    Refusal::fields("", &card::change_rules(&texts))?;
    method.reference = texts.reference.or(method.reference);
    method.description = texts.description.or(method.description);
    method.check("", cx.now)?;
    forget_cvv(&mut method);
    tokens::end(cx, token)?;
    Ok(method)
}

fn forget_cvv(method: &mut KeptMethod) {
    method.has_cvv = false;
    method.class.cvv_result = None;
}

fn show(id: String, method: &KeptMethod) -> Card {
    let shown = method.shown.clone();
    Card {
        id,
        kind: MethodKind::Card,
        reference: method.reference.clone(),
        description: method.description.clone(),
        name: shown.name,
        number: shown.number.unwrap_or_default(),
        fingerprint: shown.fingerprint,
        card_type: shown.card_type,
        exp_month: shown.exp_month,
        exp_year: shown.exp_year,
        address1: shown.address1,
        address2: shown.address2,
        city: shown.city,
        state: shown.state,
        postal_code: shown.postal_code,
        country: shown.country,
        phone: shown.phone,
        email: shown.email,
        created: None,
        modified: None,
    }
}

/// GET /v1/cards/{id}.
pub(crate) fn get(cx: &mut Cx<'_>, asked: &Asked) -> Result<Card, Refusal> {
    Ok(find(cx, &asked.owner()?, asked.parameter(0))?.object)
}

fn find(cx: &Cx<'_>, owner: &Owner, id: &str) -> Result<KeptCard, Refusal> {
    cx.find(KIND, owner, id)
}

/// PATCH /v1/cards/{id}: texts, or the number by a token.
pub(crate) fn patch(cx: &mut Cx<'_>, asked: &Asked, change: CardChange) -> Result<Card, Refusal> {
    let owner = asked.owner()?;
    let mut kept = find(cx, &owner, asked.parameter(0))?;
    Refusal::fields("", &card::change_rules(&change))?;
    unindex(cx, &kept);
    if let Some(token) = &change.token_id {
        let texts = NewCard {
            reference: kept.object.reference.clone(),
            description: kept.object.description.clone(),
            ..NewCard::default()
        };
        kept.inside = from_token(cx, &owner, token, &texts)?;
    }
    let method = &mut kept.inside;
    method.reference = change.reference.or(method.reference.take());
    method.description = change.description.or(method.description.take());
    kept.object = Card {
        created: kept.object.created,
        modified: Some(Timestamp(cx.now)),
        ..show(kept.object.id.clone(), &kept.inside)
    };
    cx.update(KIND, &kept.object.id, &kept)?;
    index(cx, &kept)?;
    Ok(kept.object)
}

/// DELETE /v1/cards/{id}.
pub(crate) fn delete(cx: &mut Cx<'_>, asked: &Asked) -> Result<Card, Refusal> {
    let kept = find(cx, &asked.owner()?, asked.parameter(0))?;
    unindex(cx, &kept);
    cx.delete(KIND, &kept.owner.key(), &kept.object.id, kept.sequence)?;
    Ok(kept.object)
}

fn reference_prefix(owner: &Owner, reference: &str) -> String {
    format!("x/card-reference/{}/{reference}\u{0}", owner.key())
}

fn reference_key(kept: &KeptCard) -> Option<String> {
    let reference = kept.object.reference.as_deref()?;
    let newest_first = ordered(u64::MAX.saturating_sub(kept.sequence));
    Some(format!("{}{newest_first}", reference_prefix(&kept.owner, reference)))
}

fn index(cx: &mut Cx<'_>, kept: &KeptCard) -> Result<(), Refusal> {
    match reference_key(kept) {
        Some(key) => cx.put(&key, &kept.object.id),
        None => Ok(()),
    }
}

fn unindex(cx: &mut Cx<'_>, kept: &KeptCard) {
    if let Some(key) = reference_key(kept) {
        cx.remove(&key);
    }
}

/// GET /v1/cards: newest first; filters `reference`, `exp_month`, `exp_year`.
pub(crate) fn list(cx: &mut Cx<'_>, asked: &Asked) -> Result<Page<Card>, Refusal> {
    let owner = asked.owner()?;
    let paging = Paging::of(asked)?;
    let month = number(asked, "exp_month", 1, 12)?;
    let year = number(asked, "exp_year", 0, 9999)?;
    let reference = asked.query("reference");
    let under = format!("{}/{}", KIND.word, owner.key());
    let show = |id: &str| find(cx, &owner, id).map(|kept| kept.object);
    if month.is_none() && year.is_none() && reference.is_none() {
        return paging.of_list(cx, &under, show);
    }
    let ids = match reference {
        Some(reference) => {
            let found = cx.scan(&reference_prefix(&owner, reference), None, usize::MAX)?;
            found.into_iter().filter_map(|(_, id)| id.as_str().map(str::to_owned)).collect()
        }
        None => cx.ids(&under, 0, u64::MAX)?,
    };
    let same = |own: Option<i64>, asked: Option<u64>| {
        asked.is_none_or(|asked| own.and_then(|own| u64::try_from(own).ok()) == Some(asked))
    };
    let mut cards = ids.iter().map(|id| show(id)).collect::<Result<Vec<_>, _>>()?;
    cards.retain(|card| same(card.exp_month, month) && same(card.exp_year, year));
    Ok(paging.of_vec(cards))
}
