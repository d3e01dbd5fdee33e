//! Renders lists of resources: a table for people, names for other commands, and CSV for a spreadsheet.
//!
//! Resources that need attention come first, then those that are not ready. Names have the order of
//! people: `jane-2` before `jane-10`.

use std::cmp::Ordering;

use owo_colors::Style;

use crate::base::wording::count_noun;
use crate::engine::protocol::payers::PaymentsView;
use crate::engine::protocol::resources::ResourceList;
use crate::engine::protocol::views::ResourceView;
use crate::model::plan::Standing;
use crate::render::plan::common::hold_lines;
use crate::render::resource::standing;
use crate::render::table::{Column, Line, push_table};
use crate::render::words::{
    Screen, age, clean, file_place, format_amount, push_line, resource_key, to_minute,
};
use chrono::{DateTime, Utc};

const COLUMNS: [Column; 10] = [
    Column::new("NAME").elastic(),
    Column::new("READY"),
    Column::new("STATUS"),
    Column::new("AMOUNT").right(),
    Column::new("PAYMENT").dispensable(),
    Column::new("AGE").right().dispensable(),
    Column::new("MERCHANT"),
    Column::new("REMOTE ID"),
    Column::new("LAST KNOWN"),
    Column::new("DOCUMENT"),
];
/// Number of the columns that are shown without `-o wide`.
const NARROW: usize = 6;

/// Returns the word for READY; without a document there is no state that the object could match.
fn ready_word(item: &ResourceView) -> &'static str {
    match item.ready {
        true => "yes",
        false if item.has_no_document() => "-",
        false => "no",
    }
}

/// Renders a table and its counts.
pub fn table(list: &ResourceList, screen: Screen, is_wide: bool) -> String {
    if list.items.is_empty() {
        return "There are no such resources.\n".to_owned();
    }
    let shown = if is_wide { COLUMNS.len() } else { NARROW };
    let lines = sorted(&list.items).into_iter().map(|(standing, item)| {
        let cells = cells(item, list.at).into_iter().take(shown).collect();
        Line { cells, style: standing::style(standing) }
    });
    let mut out = String::new();
    let columns = COLUMNS.get(..shown).unwrap_or(&COLUMNS);
    // `-o wide` shows all columns in a terminal of any width.
    let width = screen.width.filter(|_| !is_wide);
    push_table(&mut out, Screen { width, ..screen }, columns, lines.collect());
    push_line!(out, "\n{}", summary(&list.items));
    for line in hold_lines(list.hold.as_deref(), &list.rules) {
        push_line!(out, "{}", screen.paint(Style::new().red(), &clean(&line)));
    }
    out
}

/// Renders the lines of changed resources, in columns of a fixed width.
pub fn changed_lines(list: &ResourceList, screen: Screen) -> String {
    let mut out = String::new();
    for (standing, item) in sorted(&list.items) {
        let [name, ready, status, amount, payment, ..] = cells(item, list.at);
        let line = format!("{name:<32}  {ready:<5}  {status:<20}  {amount:>14}  {payment}");
        push_line!(out, "{}", screen.paint(standing::style(standing), line.trim_end()));
    }
    out
}

/// Renders one name a line, as other commands take it.
pub fn names(list: &ResourceList) -> String {
    sorted(&list.items).iter().map(|(_, item)| name(item) + "\n").collect()
}

const CSV_COLUMNS: [&str; 14] = [
    "kind",
    "namespace",
    "name",
    "ready",
    "reason",
    "amount",
    "currency",
    "next_payment",
    "last_payment",
    "last_payment_at",
    "merchant",
    "remote_id",
    "last_known",
    "document",
];

/// Renders a header and one line for each resource. Amounts are decimal, without their currency.
///
/// # Errors
/// The writer fails; it writes to memory.
pub fn csv(list: &ResourceList) -> Result<String, String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(CSV_COLUMNS).map_err(|error| error.to_string())?;
    for (_, item) in sorted(&list.items) {
        writer.write_record(csv_cells(item)).map_err(|error| error.to_string())?;
    }
    let bytes = writer.into_inner().map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

fn csv_cells(item: &ResourceView) -> [String; CSV_COLUMNS.len()] {
    let text = |text: &Option<String>| text.as_deref().map(clean).unwrap_or_default();
    let amount = amount(item).and_then(|shown| Some(shown.split_once(' ')?.0.to_owned()));
    let payments = item.payments.as_deref();
    let last = payments.and_then(|payments| payments.last.as_ref());
    [
        clean(&item.kind),
        clean(&item.namespace),
        clean(&item.name),
        item.ready.to_string(),
        clean(&item.reason),
        amount.unwrap_or_default(),
        text(&item.currency),
        payments.map(|payments| text(&payments.next)).unwrap_or_default(),
        last.map(|last| last.result.word().to_owned()).unwrap_or_default(),
        last.map(|last| clean(&last.at)).unwrap_or_default(),
        text(&item.merchant),
        text(&item.remote_id),
        text(&item.last_known),
        file_place(item.file.as_deref(), item.line).unwrap_or_default(),
    ]
}

fn sorted(items: &[ResourceView]) -> Vec<(Standing, &ResourceView)> {
    let mut items: Vec<_> = items.iter().map(|item| (item.standing, item)).collect();
    items.sort_by(|(standing, item), (other, with)| {
        standing.cmp(other).then_with(|| by_name(item, with))
    });
    items
}

/// Compares kinds and namespaces, then names in natural order.
pub(super) fn by_name(one: &ResourceView, other: &ResourceView) -> Ordering {
    let kinds = one.kind.cmp(&other.kind);
    let spaces = || one.namespace.cmp(&other.namespace);
    kinds.then_with(spaces).then_with(|| alphanumeric_sort::compare_str(&one.name, &other.name))
}

pub fn name(item: &ResourceView) -> String {
    resource_key(&item.kind, &item.namespace, &item.name)
}

fn cells(item: &ResourceView, now: DateTime<Utc>) -> [String; COLUMNS.len()] {
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let known = item.last_known.as_deref();
    [
        name(item),
        ready_word(item).to_owned(),
        clean(&item.reason),
        or_none(amount(item)),
        or_none(item.payments.as_deref().and_then(|payments| payment(payments, now))),
        or_none(known.and_then(|at| Some(age(now, at.parse().ok()?)))),
        or_none(item.merchant.as_deref().map(clean)),
        or_none(item.remote_id.as_deref().map(clean)),
        or_none(known.map(to_minute)),
        or_none(file_place(item.file.as_deref(), item.line)),
    ]
}

fn amount(item: &ResourceView) -> Option<String> {
    Some(format_amount(item.amount?, item.currency.as_deref()?))
}

/// Renders the last payment where it failed, else the day of the next one, else the last one.
fn payment(payments: &PaymentsView, now: DateTime<Utc>) -> Option<String> {
    let PaymentsView { last, failures, next } = payments;
    let next = next.as_deref().map(|day| format!("next {}", clean(day)));
    let last = last.as_ref().map(|last| {
        let ago = last.at.parse().map_or_else(|_| clean(&last.at), |at| age(now, at) + " ago");
        format!("{} {ago}", last.result.word())
    });
    if *failures > 0 { last.or(next) } else { next.or(last) }
}

/// Renders the counts of a list: `3 resources: 1 ready, 2 waiting`.
fn summary(items: &[ResourceView]) -> String {
    let counts = standing::count(items.iter().map(|item| item.standing));
    format!("{}: {}", count_noun(items.len(), "resource"), standing::counts(&counts))
}

#[cfg(test)]
mod tests;
