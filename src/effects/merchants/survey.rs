//! Reads a merchant's objects before the first effect on it.
//!
//! An empty state does not prove an empty service: a mark of ours that the journal does not know
//! means that a journal was lost. It stops everything for the merchant (design.md part 2).

use serde_json::{Value, json};

use crate::api::call::Call;
use crate::api::methods::bank::ListBanks;
use crate::api::methods::card::ListCards;
use crate::api::recurring::charge::ListRecurring;
use crate::base::hash::Mark;
use crate::base::money::Money;
use crate::effects::core::row::{
    Learned, ReadingCx, ReadingError, ReadingRow, RemoteAnswer, RemoteQuery,
};
use crate::model::state::orphan::{Collection, UnknownObject};

/// Reading that searches for marks of ours.
pub const SURVEY: &str = "merchant.survey";

pub(crate) const ROW: ReadingRow = ReadingRow { name: SURVEY, queries, learn };

/// Names of the lists, in reading order.
const LISTS: [&str; 3] = ["cards", "banks", "recurring charges"];

fn queries(_: &Value) -> Vec<RemoteQuery> {
    let lists =
        [Call::to::<ListCards>(&[]), Call::to::<ListBanks>(&[]), Call::to::<ListRecurring>(&[])];
    lists.into_iter().map(RemoteQuery::list).collect()
}

fn learn(cx: &ReadingCx<'_>, answers: &[RemoteAnswer]) -> Result<Learned, ReadingError> {
    let lists = LISTS.iter().zip(answers);
    let items = lists.flat_map(|(list, answer)| answer.items().iter().map(move |one| (*list, one)));
    let marked = items.filter_map(|(list, item)| marked_object(list, item));
    let unknown: Vec<UnknownObject> =
        marked.filter(|one| !(cx.knows_mark)(one.mark.as_str())).collect();
    if !unknown.is_empty() {
        return Err(ReadingError::UnknownObjects(unknown));
    }
    Ok(Learned { exists: true, facts: json!({"surveyed": true}), ..Learned::default() })
}

/// Returns the object if it carries a mark.
fn marked_object(list: &str, item: &Value) -> Option<UnknownObject> {
    let id = item.get("id").and_then(Value::as_str)?.parse().ok()?;
    let collects = collection_of(item);
    Some(UnknownObject {
        id,
        mark: mark_of(item)?,
        list: list.to_owned(),
        is_duplicate: false,
        collection: collects,
    })
}

/// Returns what an object of a list collects from its payer: only a recurring charge shows an
/// amount and a status.
pub fn collection_of(item: &Value) -> Option<Collection> {
    let text = |field: &str| item.get(field).and_then(Value::as_str);
    let currency = text("currency")?.parse().ok()?;
    let amount = Money::new(item.get("amount")?.as_i64()?, currency);
    Some(Collection { amount, status: text("status")?.to_owned() })
}

/// Returns the mark that an object carries in its reference or its description.
pub fn mark_of(item: &Value) -> Option<Mark> {
    let text = |field: &str| item.get(field).and_then(Value::as_str).unwrap_or_default();
    Mark::parse(text("reference")).or_else(|| Mark::find_in(text("description")))
}
