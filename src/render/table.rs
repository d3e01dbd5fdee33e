//! Tables without borders.

use comfy_table::{Table, presets};
use owo_colors::Style;

use crate::render::words::{Screen, push_line};

/// Spaces between two columns.
const GAP: u16 = 2;

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    title: &'static str,
}

impl Column {
    pub(super) const fn new(title: &'static str) -> Self {
        Self { title }
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
pub(super) fn push_table(out: &mut String, screen: Screen, columns: &[Column], lines: &[Line]) {
    let table = table(columns, lines);
    let styles = lines.iter().map(|line| line.style);
    for (row, style) in table.lines().zip([Style::new().bold()].into_iter().chain(styles)) {
        push_line!(out, "{}", screen.paint(style, row.trim_end()));
    }
}

fn table(columns: &[Column], lines: &[Line]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(columns.iter().map(|column| column.title));
    for line in lines {
        table.add_row(line.cells.iter());
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, GAP));
    }
    table
}
