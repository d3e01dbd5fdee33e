//! Money that was collected lately and money that is due, as bars and as tables.

use maud::{Markup, html};

use crate::engine::protocol::pages::{MoneyOutlook, MonthSum, OutlookRow};
use crate::render::words::{clean, format_amount};

/// Height of the highest bar, and the width of one bar with its gap, in units of the drawing.
const HEIGHT: i64 = 80;
const STEP: i64 = 24;
const BAR: i64 = 16;

pub(super) fn outlook(view: &MoneyOutlook) -> Markup {
    html! {
        @if view.counted < view.resources {
            p role="status" { "Counted so far: " (view.counted) " of " (view.resources) " resources. Load the page again for more." }
        }
        @if view.rows.is_empty() { p { "No object at the service collects money." } }
        @for row in &view.rows { (currency(row)) }
    }
}

fn currency(row: &OutlookRow) -> Markup {
    let name = format!("{} ({})", clean(&row.currency), row.mode);
    let money = |amount| format_amount(amount, &row.currency);
    let sums = [
        ("Collected in the last 30 days, newest payment of each resource", row.collected_30_days),
        ("Due in 30 days", row.due_30_days),
        ("Due in 12 months", row.due_12_months),
    ];
    html! {
        h3 { (name) }
        table.counts { tbody { @for (what, amount) in sums {
            tr { th scope="row" { (what) } td.sum { (money(amount)) } }
        } } }
        (bars(&row.months))
        details {
            summary { "Due by month in " (name) }
            table.counts { tbody { @for one in &row.months {
                tr { th scope="row" { (clean(&one.month)) } td.sum { (money(one.amount)) } }
            } } }
        }
    }
}

/// Returns the months as a drawing. The table beside it has the same numbers for screen readers.
fn bars(months: &[MonthSum]) -> Markup {
    let most = months.iter().map(|one| one.amount).max().unwrap_or_default();
    let steps = i64::try_from(months.len()).unwrap_or_default();
    let view = format!("0 0 {} {}", steps.saturating_mul(STEP), HEIGHT.saturating_add(16));
    html! {
        svg.bars viewBox=(view) aria-hidden="true" {
            @for (place, one) in months.iter().enumerate() {
                @let (x, height) = (left_edge(place), bar_height(one.amount, most));
                rect x=(x) y=(HEIGHT.saturating_sub(height)) width=(BAR) height=(height) {}
                text x=(x) y=(HEIGHT.saturating_add(12)) { (one.month.rsplit('-').next().unwrap_or_default()) }
            }
        }
    }
}

fn left_edge(place: usize) -> i64 {
    i64::try_from(place).unwrap_or_default().saturating_mul(STEP).saturating_add(4)
}

/// Returns the height of a bar; at least 1 for any amount.
fn bar_height(amount: i64, most: i64) -> i64 {
    let scaled = i128::from(amount.max(0)).saturating_mul(i128::from(HEIGHT));
    let height = scaled.checked_div(i128::from(most)).unwrap_or_default();
    let height = i64::try_from(height).unwrap_or(HEIGHT);
    if amount > 0 { height.max(1) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_high_as_their_part_of_the_greatest_amount() {
        assert_eq!((bar_height(50, 100), bar_height(100, 100)), (40, 80));
        assert_eq!((bar_height(1, i64::MAX), bar_height(0, 0), bar_height(-5, 9)), (1, 0, 0));
        assert_eq!(bar_height(i64::MAX, i64::MAX), 80);
    }
}
