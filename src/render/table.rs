//! Tables without borders: left or right aligned, and fitted to the width of a terminal.
//!
//! A table that is too wide first loses its dispensable columns, the last one first. Then the texts
//! of its elastic columns are shortened in the middle, so that both ends of a name can be read, or at
//! their beginnings.

use comfy_table::{CellAlignment, ColumnConstraint, Table, presets};
use owo_colors::Style;

use crate::render::words::{Screen, push_line};

/// Spaces between two columns.
const GAP: u16 = 2;
/// The texts of an elastic column are never shorter than this.
const ELASTIC_MIN: usize = 16;

/// A column: its title, its alignment, and its treatment in a narrow terminal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    title: &'static str,
    is_right: bool,
    fitting: Fitting,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fitting {
    Fixed,
    Elastic(Shortened),
    Dispensable,
}

/// The part of a text that gives way to `…`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shortened {
    Middle,
    Start,
}

impl Column {
    /// Makes a column of texts, which is always shown whole.
    pub(super) const fn new(title: &'static str) -> Self {
        Self { title, is_right: false, fitting: Fitting::Fixed }
    }

    /// Aligns its cells at their ends, as numbers are.
    pub(super) const fn right(self) -> Self {
        Self { is_right: true, ..self }
    }

    /// Lets a narrow terminal shorten its texts in the middle.
    pub(super) const fn elastic(self) -> Self {
        Self { fitting: Fitting::Elastic(Shortened::Middle), ..self }
    }

    /// Lets a narrow terminal shorten its texts at their beginnings, if they differ at their ends.
    pub(super) const fn elastic_start(self) -> Self {
        Self { fitting: Fitting::Elastic(Shortened::Start), ..self }
    }

    /// Lets a narrow terminal leave it out.
    pub(super) const fn dispensable(self) -> Self {
        Self { fitting: Fitting::Dispensable, ..self }
    }
}

/// A line of a table, and the style of the whole line.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) cells: Vec<String>,
    pub(super) style: Style,
}

impl From<Vec<String>> for Line {
    fn from(cells: Vec<String>) -> Self {
        Self { cells, style: Style::new() }
    }
}

/// Renders a table, its header in bold.
pub(super) fn push_table(
    out: &mut String,
    screen: Screen,
    columns: &[Column],
    mut lines: Vec<Line>,
) {
    let shown = fit(columns, &mut lines, screen.width);
    let table = table(columns, &lines, &shown);
    let styles = lines.iter().map(|line| line.style);
    for (row, style) in table.lines().zip([Style::new().bold()].into_iter().chain(styles)) {
        push_line!(out, "{}", screen.paint(style, row.trim_end()));
    }
}

fn table(columns: &[Column], lines: &[Line], shown: &[bool]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(columns.iter().map(|column| column.title));
    for line in lines {
        table.add_row(line.cells.iter());
    }
    for ((made, column), shown) in table.column_iter_mut().zip(columns).zip(shown) {
        made.set_padding((0, GAP));
        if column.is_right {
            made.set_cell_alignment(CellAlignment::Right);
        }
        if !shown {
            made.set_constraint(ColumnConstraint::Hidden);
        }
    }
    table
}

/// Returns which columns are shown, and shortens the texts of the elastic ones where that is not enough.
fn fit(columns: &[Column], lines: &mut [Line], width: Option<usize>) -> Vec<bool> {
    let mut shown = vec![true; columns.len()];
    let Some(width) = width else { return shown };
    let widths = table(columns, lines, &shown).column_max_content_widths();
    let widths: Vec<usize> = widths.into_iter().map(usize::from).collect();
    for (at, column) in columns.iter().enumerate().rev() {
        if column.fitting == Fitting::Dispensable
            && total(&widths, &shown) > width
            && let Some(one) = shown.get_mut(at)
        {
            *one = false;
        }
    }
    shorten_columns(columns, lines, &widths, total(&widths, &shown).saturating_sub(width));
    shown
}

/// Returns the width of the shown columns with the gaps between them.
fn total(widths: &[usize], shown: &[bool]) -> usize {
    let wide = widths.iter().zip(shown).filter(|(_, shown)| **shown);
    let wide = wide.map(|(wide, _)| wide.saturating_add(usize::from(GAP)));
    wide.sum::<usize>().saturating_sub(usize::from(GAP))
}

/// Shortens the texts of elastic columns by so many characters in all, the first column first.
fn shorten_columns(columns: &[Column], lines: &mut [Line], widths: &[usize], excess: usize) {
    let mut excess = excess;
    for (at, (column, present)) in columns.iter().zip(widths).enumerate() {
        let Fitting::Elastic(part) = column.fitting else { continue };
        let most = present.saturating_sub(excess).max(ELASTIC_MIN.min(*present));
        excess = excess.saturating_sub(present.saturating_sub(most));
        for cell in lines.iter_mut().filter_map(|line| line.cells.get_mut(at)) {
            *cell = shorten(cell, part, most);
        }
    }
}

/// Returns a text of at most this many characters, with `…` in place of this part.
fn shorten(text: &str, part: Shortened, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(1);
    let after = match part {
        Shortened::Middle => kept.div_ceil(2),
        Shortened::Start => kept,
    };
    let head: String = text.chars().take(kept.saturating_sub(after)).collect();
    let end = length.saturating_sub(after);
    let tail: String = text.chars().skip(end).collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 4] = [
        Column::new("NAME").elastic(),
        Column::new("STATUS"),
        Column::new("AMOUNT").right(),
        Column::new("AGE").dispensable(),
    ];

    fn shown(width: Option<usize>) -> String {
        let line = |cells: [&str; 4]| Line::from(cells.map(str::to_owned).to_vec());
        let lines = vec![
            line(["RecurringCharge/jane-retainer", "Active", "1250.00 USD", "3d"]),
            line(["Invoice/jane", "WaitsFor", "5.00 USD", "12m"]),
        ];
        let mut out = String::new();
        push_table(&mut out, Screen { width, ..Screen::PLAIN }, &COLUMNS, lines);
        out
    }

    #[test]
    fn a_table_is_as_wide_as_its_texts_where_nothing_limits_it() {
        insta::assert_snapshot!(shown(None), @r"
        NAME                           STATUS         AMOUNT  AGE
        RecurringCharge/jane-retainer  Active    1250.00 USD  3d
        Invoice/jane                   WaitsFor     5.00 USD  12m
        ");
    }

    #[test]
    fn a_narrow_terminal_loses_columns_first_and_then_the_middle_of_names() {
        insta::assert_snapshot!(shown(Some(54)), @r"
        NAME                           STATUS         AMOUNT
        RecurringCharge/jane-retainer  Active    1250.00 USD
        Invoice/jane                   WaitsFor     5.00 USD
        ");
        insta::assert_snapshot!(shown(Some(45)), @r"
        NAME                    STATUS         AMOUNT
        RecurringC…ne-retainer  Active    1250.00 USD
        Invoice/jane            WaitsFor     5.00 USD
        ");
        assert!(shown(Some(45)).lines().all(|line| line.chars().count() <= 45));
    }

    #[test]
    fn a_text_is_shortened_in_the_middle_or_at_its_beginning() {
        let middle = |text, most| shorten(text, Shortened::Middle, most);
        assert_eq!(middle("abcdef", 6), "abcdef");
        assert_eq!(middle("abcdef", 5), "ab…ef");
        assert_eq!(middle("äöüßéà", 4), "ä…éà");
        assert_eq!(middle("abcdef", 0), "…");
        assert_eq!(shorten("charge.created", Shortened::Start, 10), "…e.created");
    }
}
