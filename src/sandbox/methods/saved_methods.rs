//! Saved cards and saved banks: shared handlers, parametrised by a [`SavedMethodStore`]
//! (gateway-api, Saved cards, Saved banks); and the method that a request names, resolved: a
//! token, a saved method, a method of a contact, or details.

use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::api::call::Page;
use crate::api::method::{MethodKind, PaymentMethod};
use crate::api::method_token::MethodRef;
use crate::api::rules::{FieldProblem, FieldProblems, has_word};
use crate::api::saved_method::{NewBank, NewCard, SavedChange, bank_holder_rules, change_rules};
use crate::api::wire::Timestamp;
use crate::sandbox::answer::{Result, SandboxAnswer, SandboxRefusal};
use crate::sandbox::methods::expiry;
use crate::sandbox::methods::payment_methods::{
    StoredMethod, StoredPaymentMethod, bank_details, card_details,
};
use crate::sandbox::methods::tokens;
use crate::sandbox::request::{PageQuery, ParsedRequest, number};
use crate::sandbox::state::objects::{ObjectKind, ObjectOwner, Stored};
use crate::sandbox::state::store::ChangeUnit;

/// The parameters that distinguish saved cards from saved banks.
pub(crate) struct SavedMethodStore {
    pub(crate) kind: ObjectKind,
    /// Kind of method that a token must hold.
    pub(crate) method: MethodKind,
    /// Rules for saving, beyond those for a payment.
    pub(crate) rules: fn(&PaymentMethod) -> Vec<FieldProblem>,
}

/// Fields that a PATCH of a saved method may name: its texts, its known type, the public key.
const PATCH_FIELDS: &str = "type reference description public_key";

impl SavedMethodStore {
    /// Checks field errors together, then the rules that are reported alone.
    fn check(&self, method: &StoredMethod, cx: &ChangeUnit) -> Result<()> {
        let extra = (self.rules)(&method.shown);
        let problems: Vec<_> = method.problems.iter().cloned().chain(extra).collect();
        SandboxRefusal::fields("", &problems)?;
        method.check("", cx.now)
    }

    /// POST: from fields or a token; the request's texts replace the token's (service-facts, 41).
    pub(crate) fn create(
        &self,
        cx: &mut ChangeUnit,
        asked: &ParsedRequest,
        token_id: Option<&str>,
        details: StoredMethod,
    ) -> Result<PaymentMethod> {
        let owner = asked.owner()?;
        let mut method = details;
        if let Some(token) = token_id {
            let StoredMethod { reference, description, .. } = method;
            let texts = SavedChange { reference, description, token_id: None };
            method = self.take_token(cx, &owner, token, texts)?;
        }
        self.check(&method, cx)?;
        let sequence = cx.next();
        let id = cx.fresh_gateway_id();
        let now = Some(Timestamp(cx.now));
        let object = PaymentMethod { created: now, modified: now, ..method.saved_as(&id) };
        let kept = Stored { owner, sequence, object, internal: method.into() };
        cx.create(self.kind, &kept.owner.key(), &id, &kept)?;
        expiry::schedule_saved_expiry(cx, &kept, &id)?;
        cx.index_reference(self.kind, &kept, kept.object.reference.as_deref(), &id)?;
        Ok(kept.object)
    }

    /// Takes the details out of a token, which is used up; the CVV is not kept.
    fn take_token(
        &self,
        cx: &mut ChangeUnit,
        owner: &ObjectOwner,
        token: &str,
        texts: SavedChange,
    ) -> Result<StoredMethod> {
        let mut method = tokens::find(cx, owner, token)?.into_method();
        let text = format!("Token is not of a {}", self.kind.word);
        let fits = method.shown.kind == self.method;
        SandboxRefusal::unless(fits, "incorrect_payment_type", &text)?;
        SandboxRefusal::fields("", &change_rules(&texts))?;
        method.reference = texts.reference.or(method.reference);
        method.description = texts.description.or(method.description);
        self.check(&method, cx)?;
        tokens::end(cx, token)?;
        Ok(method.without_cvv())
    }

    pub(crate) fn get(&self, cx: &ChangeUnit, asked: &ParsedRequest) -> Result<SandboxAnswer> {
        let stored: Box<RawValue> =
            cx.find_object(self.kind, &asked.owner()?, asked.parameter(0))?;
        SandboxAnswer::json(&stored)
    }

    fn find(&self, cx: &ChangeUnit, owner: &ObjectOwner, id: &str) -> Result<StoredPaymentMethod> {
        cx.find(self.kind, owner, id)
    }

    /// PATCH: changes the texts, or the details by a token.
    pub(crate) fn patch(
        &self,
        cx: &mut ChangeUnit,
        asked: &ParsedRequest,
        mut change: SavedChange,
    ) -> Result<PaymentMethod> {
        let (owner, id) = (asked.owner()?, asked.parameter(0));
        let mut kept = self.find(cx, &owner, id)?;
        let details = by_token_only(&asked.json()?);
        let problems: Vec<_> = change_rules(&change).into_iter().chain(details).collect();
        SandboxRefusal::fields("", &problems)?;
        self.unindex(cx, &kept);
        change.reference = change.reference.or(kept.object.reference.take());
        change.description = change.description.or(kept.object.description.take());
        let (created, modified) = (kept.object.created, Some(Timestamp(cx.now)));
        let mut method = match change.token_id.take() {
            Some(token) => self.take_token(cx, &owner, &token, change.clone())?,
            None => kept.clone().into_method(),
        };
        (method.reference, method.description) = (change.reference, change.description);
        kept.object = PaymentMethod { created, modified, ..method.saved_as(id) };
        kept.internal = method.into();
        cx.update(self.kind, id, &kept)?;
        expiry::schedule_saved_expiry(cx, &kept, id)?;
        cx.index_reference(self.kind, &kept, kept.object.reference.as_deref(), id)?;
        Ok(kept.object)
    }

    /// DELETE: answers the deleted object.
    pub(crate) fn delete(
        &self,
        cx: &mut ChangeUnit,
        asked: &ParsedRequest,
    ) -> Result<PaymentMethod> {
        let id = asked.parameter(0);
        let kept = self.find(cx, &asked.owner()?, id)?;
        self.unindex(cx, &kept);
        cx.delete(self.kind, &kept.owner.key(), id, kept.sequence);
        Ok(kept.object)
    }

    /// GET of all, newest first; filters `reference`, and the caller's own.
    pub(crate) fn list(
        &self,
        cx: &ChangeUnit,
        asked: &ParsedRequest,
        fits: Option<&dyn Fn(&PaymentMethod) -> bool>,
    ) -> Result<Page<PaymentMethod>> {
        let owner = asked.owner()?;
        let paging = PageQuery::of(asked)?;
        let reference = asked.query("reference");
        let under = self.kind.list(&owner.key());
        let show = |id: &str| self.find(cx, &owner, id).map(|kept| kept.object);
        if fits.is_none() && reference.is_none() {
            return paging.of_list(cx, &under, show);
        }
        let ids = match reference {
            Some(reference) => {
                let prefix = ChangeUnit::reference_prefix(self.kind, &owner, reference);
                cx.values(&format!("{prefix}\u{0}"))?
            }
            None => cx.ids(&under, 0, u64::MAX)?,
        };
        let mut all = ids.iter().map(|id| show(id)).collect::<Result<Vec<_>, _>>()?;
        all.retain(|one| fits.is_none_or(|fits| fits(one)));
        Ok(paging.of_vec(all))
    }

    fn unindex(&self, cx: &mut ChangeUnit, kept: &StoredPaymentMethod) {
        if let Some(reference) = &kept.object.reference {
            cx.remove(&ChangeUnit::reference_key(self.kind, kept, reference));
        }
    }
}

/// Lists the details in a body that only a token may change (gateway-api, PATCH of cards, banks).
fn by_token_only(body: &Value) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    for (name, value) in body.as_object().into_iter().flatten() {
        let is_detail = has_word(tokens::METHOD_FIELDS, name) && !has_word(PATCH_FIELDS, name);
        let text = "Payment details are changed by a token only";
        problems.unless(!is_detail || value.is_null(), name, "invalid", text);
    }
    problems.into_list()
}

pub(crate) const SAVED_CARDS: SavedMethodStore =
    SavedMethodStore { kind: ObjectKind::CARD, method: MethodKind::Card, rules: |_| Vec::new() };

pub(crate) fn create_card(
    cx: &mut ChangeUnit,
    asked: &ParsedRequest,
    new: NewCard,
) -> Result<PaymentMethod> {
    let token = new.token_id.clone();
    let details = card_details(cx, new);
    SAVED_CARDS.create(cx, asked, token.as_deref(), details)
}

/// GET /v1/cards: newest first; filters `reference`, `exp_month`, `exp_year`.
pub(crate) fn list_cards(cx: &ChangeUnit, asked: &ParsedRequest) -> Result<Page<PaymentMethod>> {
    let month = number(asked, "exp_month", 1, 12)?;
    let year = number(asked, "exp_year", 0, 9999)?;
    let same = |own: Option<i64>, asked: Option<u64>| {
        asked.is_none_or(|asked| own.and_then(|own| u64::try_from(own).ok()) == Some(asked))
    };
    let fits = |card: &PaymentMethod| same(card.exp_month, month) && same(card.exp_year, year);
    let filtered = month.is_some() || year.is_some();
    SAVED_CARDS.list(cx, asked, filtered.then_some(&fits))
}

pub(crate) const SAVED_BANKS: SavedMethodStore =
    SavedMethodStore { kind: ObjectKind::BANK, method: MethodKind::Bank, rules: bank_holder_rules };

pub(crate) fn create_bank(
    cx: &mut ChangeUnit,
    asked: &ParsedRequest,
    new: NewBank,
) -> Result<PaymentMethod> {
    let token = new.token_id.clone();
    let details = bank_details(cx, new);
    SAVED_BANKS.create(cx, asked, token.as_deref(), details)
}

pub(crate) struct ResolvedMethod {
    pub(crate) method: StoredMethod,
    /// Its one-time token, which the operation uses up.
    pub(crate) token: Option<String>,
    /// The field that its problems belong to.
    pub(crate) parent: &'static str,
}

impl ResolvedMethod {
    /// Returns true for a saved card or bank, and for a method of the vault.
    pub(crate) fn is_saved(&self) -> bool {
        self.method.shown.id.is_some()
    }

    /// Returns the method, and uses its token up.
    pub(crate) fn take(self, cx: &mut ChangeUnit) -> Result<StoredMethod> {
        self.token.map_or(Ok(()), |token| tokens::end(cx, &token))?;
        Ok(self.method)
    }
}

/// Resolves the method of a request: a token, a saved card or bank, or inline details.
pub(crate) fn resolve_method(
    cx: &ChangeUnit,
    owner: &ObjectOwner,
    method: MethodRef,
) -> Result<ResolvedMethod> {
    let (method, token) = match method {
        MethodRef::Card(card) => (card_details(cx, *card), None),
        MethodRef::Bank(bank) => (bank_details(cx, *bank), None),
        MethodRef::Id(id) => match tokens::find(cx, owner, &id) {
            Ok(kept) => (kept.into_method(), Some(id)),
            Err(_) => (find_saved(cx, owner, &id)?, None),
        },
    };
    Ok(ResolvedMethod { method, token, parent: "method" })
}

/// Returns the details of a saved card, of a saved bank, or of a method of a contact.
fn find_saved(cx: &ChangeUnit, owner: &ObjectOwner, id: &str) -> Result<StoredMethod> {
    let saved = |kind| Some(cx.find::<PaymentMethod, _>(kind, owner, id).ok()?.into_method());
    let of_contact = || cx.find::<IgnoredAny, _>(ObjectKind::VAULT_METHOD, owner, id).ok();
    let found = saved(ObjectKind::CARD).or_else(|| saved(ObjectKind::BANK));
    let found = found.or_else(|| of_contact().map(|kept| kept.internal));
    let mut method = found.ok_or_else(|| SandboxRefusal::not_found("PaymentMethod", id))?;
    method.shown.id = Some(id.to_owned());
    Ok(method)
}

/// Resolves and checks the method of a request. Problems of its fields are reported together with
/// the request's own `problems`; a wrong number or date is reported alone (service-facts, 22, 23).
pub(crate) fn resolve_checked(
    cx: &ChangeUnit,
    owner: &ObjectOwner,
    method: Option<MethodRef>,
    mut problems: Vec<FieldProblem>,
) -> Result<Option<ResolvedMethod>> {
    if matches!(&method, None | Some(MethodRef::Id(_))) {
        SandboxRefusal::fields("", &problems)?;
    }
    let resolved = method.map(|method| resolve_method(cx, owner, method)).transpose()?;
    if let Some(resolved) = &resolved {
        problems.extend(resolved.method.problems.iter().cloned().map(|mut problem| {
            problem.context = format!("{}.{}", resolved.parent, problem.context);
            problem
        }));
        SandboxRefusal::fields("", &problems)?;
        resolved.method.check("method", cx.now)?;
    }
    Ok(resolved)
}
