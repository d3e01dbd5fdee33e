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
    /// How many there are of what the report counts.
    pub(crate) count: usize,
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

/// What could not be measured here.
#[derive(Debug)]
struct Skipped {
    goal: String,
    why: &'static str,
}

/// Every figure, in the order of measuring.
#[derive(Debug)]
pub(crate) struct Report {
    /// What the rows count.
    counted: &'static str,
    rows: Vec<Row>,
    skipped: Vec<Skipped>,
}

impl Report {
    /// A report without a figure, whose rows count these.
    pub(crate) fn of(counted: &'static str) -> Self {
        Self { counted, rows: Vec::new(), skipped: Vec::new() }
    }

    /// Takes a figure in.
    pub(crate) fn add(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Says that something was not measured, and why.
    pub(crate) fn skip(&mut self, goal: &str, why: &'static str) {
        self.skipped.push(Skipped { goal: goal.to_owned(), why });
    }

    /// Leaves out every figure but those of these goals: some are measured together.
    pub(crate) fn only(&mut self, goals: &[String]) {
        let is_wanted = |name: &str| goals.iter().any(|goal| name.starts_with(goal));
        self.rows.retain(|row| is_wanted(&row.goal));
        self.skipped.retain(|skipped| is_wanted(&skipped.goal));
    }

    /// One line for each figure, by goal and size; at the end what was not measured.
    pub(crate) fn table(mut self) -> String {
        self.rows.sort_by(|one, other| (&one.goal, one.count).cmp(&(&other.goal, other.count)));
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        table.set_header(["goal", self.counted, "measured", "limit", "ratio", "wanted", "met"]);
        for Row { goal, count, figure, limit, ratio, wanted, met } in self.rows {
            let met = if met { "yes" } else { "MISSED" };
            let (count, ratio) = (count.to_string(), hundredths(ratio));
            table.add_row([&goal, &count, &figure, &limit, &ratio, wanted, met]);
        }
        for Skipped { goal, why } in self.skipped {
            table.add_row([goal.as_str(), "", "not measured", why, "", "", ""]);
        }
        table.to_string()
    }

    /// One JSON object a line.
    pub(crate) fn json(self) -> String {
        let counted = self.counted;
        let rows = self.rows.into_iter().map(|row| {
            let Row { goal, count, figure, limit, ratio, wanted, met } = row;
            json!({
                "goal": goal, counted: count, "measured": figure, "limit": limit,
                "ratio": hundredths(ratio), "wanted": wanted, "met": met,
            })
            .to_string()
        });
        let skipped = self.skipped.into_iter().map(|skipped| {
            let Skipped { goal, why } = skipped;
            json!({"goal": goal, "not_measured": why}).to_string()
        });
        rows.chain(skipped).collect::<Vec<_>>().join("\n")
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
