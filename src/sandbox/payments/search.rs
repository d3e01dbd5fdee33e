//! Reading and search of transactions, and their look-up by reference (service-facts, 44).

use std::cmp::Ordering;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::api::call::Page;
use crate::api::transaction::Transaction;
use crate::api::wire::Timestamp;
use crate::sandbox::answer::{Result, SandboxAnswer, SandboxRefusal};
use crate::sandbox::payments::transactions;
use crate::sandbox::request::{PageQuery, ParsedRequest, moment};
use crate::sandbox::state::objects::ObjectKind;
use crate::sandbox::state::store::ChangeUnit;

/// GET /v1/transactions/{id}: a charge includes its refunds, if any.
pub(crate) fn get(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<SandboxAnswer> {
    let (owner, id) = (asked.owner()?, asked.parameter(0));
    let stored: Box<RawValue> = cx.find_object(ObjectKind::TRANSACTION, &owner, id)?;
    let refunds = transactions::refunds_of(cx, id)?.into_iter().map(|refund| refund.object);
    let refunds: Vec<Transaction> = refunds.collect();
    if refunds.is_empty() {
        return SandboxAnswer::json(&stored);
    }
    let object: Transaction = serde_json::from_str(stored.get())?;
    SandboxAnswer::json(&Transaction { refunds: Some(refunds), ..object })
}

/// GET /v1/transactions: newest first unless `order_by` says otherwise.
pub(crate) fn search(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<Page<Transaction>> {
    let owner = asked.owner()?;
    let paging = PageQuery::of(asked)?;
    let under = ObjectKind::TRANSACTION.list(&owner.key());
    let show = |id: &str| cx.find_object(ObjectKind::TRANSACTION, &owner, id);
    let filter = Filter::of(asked)?;
    if filter == Filter::default() && asked.query("order_by").is_none() {
        return paging.of_list(cx, &under, show);
    }
    let ids = match filter.fields.iter().find(|(name, _)| name == "reference") {
        // Every reference that begins like this one.
        Some((_, reference)) => {
            let kind = ObjectKind::TRANSACTION;
            cx.values(&ChangeUnit::reference_prefix(kind, &owner, reference))?
        }
        None => cx.ids(&under, 0, u64::MAX)?,
    };
    let order = format!("{},-created", asked.query("order_by").unwrap_or_default());
    let all = ids.iter().map(|id| show(id)).collect::<Result<Vec<_>>>()?;
    sorted_page(paging, all, &order, |transaction, value| filter.fits(transaction, value))
}

/// Returns a page of the objects that fit, sorted by the keys of `order`.
pub(crate) fn sorted_page<T: Serialize>(
    paging: PageQuery,
    all: Vec<T>,
    order: &str,
    fits: impl Fn(&T, &Value) -> bool,
) -> Result<Page<T>> {
    let mut found = Vec::new();
    for object in all {
        let value = serde_json::to_value(&object)?;
        if fits(&object, &value) {
            found.push((value, object));
        }
    }
    for key in order.rsplit(',') {
        found.sort_by(|one, other| compare(key, &one.0, &other.0));
    }
    Ok(paging.of_vec(found.into_iter().map(|(_, object)| object).collect()))
}

/// The filter of a search (service-facts, 44).
#[derive(Default, PartialEq)]
struct Filter {
    text: Option<String>,
    fields: Vec<(String, String)>,
    account: Option<String>,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
}

impl Filter {
    fn of(asked: &ParsedRequest) -> Result<Self> {
        let mut fields = Vec::new();
        for field in asked.query.get("qf").into_iter().flatten() {
            let wrong = || SandboxRefusal::field("qf", "invalid", "Search field is invalid");
            let (name, text) = field.split_once(':').ok_or_else(wrong)?;
            fields.push((name.to_owned(), text.to_owned()));
        }
        Ok(Self {
            text: asked.query("q").map(str::to_lowercase),
            fields,
            account: asked.query("account_id").map(str::to_owned),
            from: moment(asked, "start_date")?.map(Timestamp),
            until: moment(asked, "end_date")?.map(Timestamp),
        })
    }

    fn fits(&self, transaction: &Transaction, value: &Value) -> bool {
        let Self { text, fields, account, from, until } = self;
        let created = transaction.created;
        // A name with dots is of a nested property.
        let begins = |(name, text): &(String, String)| match name
            .split('.')
            .try_fold(value, |value, part| value.get(part))
        {
            Some(Value::String(own)) => own.to_lowercase().starts_with(&text.to_lowercase()),
            Some(other) => other.to_string().starts_with(text),
            None => false,
        };
        fields.iter().all(begins)
            && account.as_ref().is_none_or(|id| *id == transaction.account_id)
            && from.is_none_or(|from| created >= Some(from))
            && until.is_none_or(|until| created <= Some(until))
            && text.as_ref().is_none_or(|text| contains_text(value, text))
    }
}

fn contains_text(value: &Value, text: &str) -> bool {
    match value {
        Value::String(own) => own.to_lowercase().contains(text),
        Value::Number(number) => number.to_string().contains(text),
        Value::Array(items) => items.iter().any(|item| contains_text(item, text)),
        Value::Object(map) => map.values().any(|item| contains_text(item, text)),
        Value::Null | Value::Bool(_) => false,
    }
}

/// Compares by one key of `order_by`: descending with `-`, else ascending.
fn compare(key: &str, one: &Value, other: &Value) -> Ordering {
    let name = key.trim().trim_start_matches(['-', '+']);
    let (left, right) = (one.get(name), other.get(name));
    let numbers = left.and_then(Value::as_i64).zip(right.and_then(Value::as_i64));
    let order = match numbers {
        Some((left, right)) => left.cmp(&right),
        None => left.and_then(Value::as_str).cmp(&right.and_then(Value::as_str)),
    };
    if key.trim().starts_with('-') { order.reverse() } else { order }
}
