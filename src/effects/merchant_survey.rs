//! A merchant's readable objects are looked at before the first effect on it.
//!
//! An empty state is not an empty service: a mark of ours that the journal does not know means
//! that a journal was lost, and stops everything for the merchant (design.md part 2).

use serde_json::{Value, json};

use super::register::{Answer, Learned, Query, ReadCx, ReadingRow, Trouble};
use crate::api::Call;
use crate::api::bank::ListBanks;
use crate::api::card::ListCards;
use crate::api::recurring::ListRecurring;
use crate::base::hash::Mark;

/// The reading that looks for marks of ours.
pub const SURVEY: &str = "merchant.survey";

pub(super) const ROW: ReadingRow = ReadingRow { name: SURVEY, queries, learn };

fn queries(_: &Value) -> Vec<Query> {
    let lists =
        [Call::to::<ListCards>(&[]), Call::to::<ListBanks>(&[]), Call::to::<ListRecurring>(&[])];
    lists.into_iter().map(Query::list).collect()
}

fn learn(cx: &ReadCx<'_>, answers: &[Answer]) -> Result<Learned, Trouble> {
    let marks = answers.iter().flat_map(Answer::items).filter_map(mark_of);
    let unknown: Vec<Mark> = marks.filter(|mark| !(cx.knows_mark)(mark.as_str())).collect();
    if let Some(first) = unknown.first() {
        return Err(Trouble::Hold(format!(
            "the service holds {} objects with marks of ours that this state does not know \
             (the first is {first}): the state may have been lost",
            unknown.len()
        )));
    }
    Ok(Learned { exists: true, facts: json!({"surveyed": true}), ..Learned::default() })
}

/// The mark that an object carries, in its reference or its description.
pub(super) fn mark_of(item: &Value) -> Option<Mark> {
    let text = |field: &str| item.get(field).and_then(Value::as_str).unwrap_or_default();
    Mark::parse(text("reference")).or_else(|| Mark::find_in(text("description")))
}
