//! What was measured: a table for people, or one JSON object for each figure.

use std::io::{IsTerminal, stderr};

use comfy_table::{Table, presets};
use serde_json::json;

use crate::figures::hundredths;

/// One figure.
#[derive(Debug)]
pub(crate) struct Row {
    /// The goal's name and what of it is measured.
    pub(crate) goal: String,
    /// How many documents there are.
    pub(crate) documents: usize,
    /// What was measured, with its unit.
    pub(crate) figure: String,
    /// What the limit program needed; empty where the goal names a figure.
    pub(crate) limit: String,
    /// The ratio, or the figure itself, in hundredths.
    pub(crate) ratio: u128,
    /// What the goal asks for.
    pub(crate) wanted: &'static str,
    /// Whether it is met.
    pub(crate) met: bool,
}

/// Every figure, in the order of measuring.
#[derive(Debug, Default)]
pub(crate) struct Report(Vec<Row>);

impl Report {
    /// Takes a figure in.
    pub(crate) fn add(&mut self, row: Row) {
        self.0.push(row);
    }

    /// Leaves out every figure but those of these goals: some are measured together.
    pub(crate) fn only(&mut self, goals: &[String]) {
        self.0.retain(|row| goals.iter().any(|goal| row.goal.starts_with(goal)));
    }

    /// One line for each figure, by goal and size.
    pub(crate) fn table(mut self) -> String {
        self.0
            .sort_by(|one, other| (&one.goal, one.documents).cmp(&(&other.goal, other.documents)));
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        table.set_header(["goal", "documents", "measured", "limit", "ratio", "wanted", "met"]);
        for Row { goal, documents, figure, limit, ratio, wanted, met } in self.0 {
            let met = if met { "yes" } else { "MISSED" };
            let (documents, ratio) = (documents.to_string(), hundredths(ratio));
            table.add_row([&goal, &documents, &figure, &limit, &ratio, wanted, met]);
        }
        table.to_string()
    }

    /// One JSON object a line.
    pub(crate) fn json(self) -> String {
        let rows = self.0.into_iter().map(|row| {
            let Row { goal, documents, figure, limit, ratio, wanted, met } = row;
            json!({
                "goal": goal, "documents": documents, "measured": figure, "limit": limit,
                "ratio": hundredths(ratio), "wanted": wanted, "met": met,
            })
            .to_string()
        });
        rows.collect::<Vec<_>>().join("\n")
    }
}

/// Says what is being done, on a terminal alone.
#[derive(Debug)]
pub(crate) struct Progress(bool);

impl Progress {
    /// Silent where standard error is no terminal.
    pub(crate) fn new() -> Self {
        Self(stderr().is_terminal())
    }

    /// Says it.
    pub(crate) fn say(&self, what: &str) {
        if self.0 {
            eprintln!("{what}");
        }
    }
}
