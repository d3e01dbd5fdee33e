//! The report: a table for people, or one JSON object for each figure.

use std::io::{IsTerminal, stderr};

use comfy_table::{Table, presets};
use serde_json::json;

use crate::figures::{Shown, hundredths};

/// One figure.
#[derive(Debug)]
pub(crate) struct Row {
    /// The goal's name, with the measured part.
    pub(crate) goal: String,
    /// Number of the things that the report counts.
    pub(crate) count: usize,
    /// The measured figure, with its unit.
    pub(crate) figure: Shown,
    /// The limit program's figure; empty where the goal names a number.
    pub(crate) limit: String,
    /// The ratio, or the figure itself, in hundredths.
    pub(crate) ratio: u128,
    /// The goal, for people; empty where the figure is only shown.
    pub(crate) wanted: &'static str,
    /// The median meets the goal; `None` where the figure is only shown.
    pub(crate) met: Option<bool>,
}

/// A goal that could not be measured here.
#[derive(Debug)]
struct Skipped {
    goal: String,
    why: &'static str,
}

/// Every figure, in the order of measuring.
#[derive(Debug)]
pub(crate) struct Report {
    /// The name of the things that the rows count.
    counted: &'static str,
    rows: Vec<Row>,
    skipped: Vec<Skipped>,
}

impl Report {
    /// Makes an empty report whose rows count these things.
    pub(crate) fn of(counted: &'static str) -> Self {
        Self { counted, rows: Vec::new(), skipped: Vec::new() }
    }

    /// Adds a figure.
    pub(crate) fn add(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Adds a goal that was not measured, with the reason.
    pub(crate) fn skip(&mut self, goal: &str, why: &'static str) {
        self.skipped.push(Skipped { goal: goal.to_owned(), why });
    }

    /// Keeps only the figures of these goals, since some goals are measured together.
    pub(crate) fn only(&mut self, goals: &[String]) {
        let is_wanted = |name: &str| goals.iter().any(|goal| name.starts_with(goal));
        self.rows.retain(|row| is_wanted(&row.goal));
        self.skipped.retain(|skipped| is_wanted(&skipped.goal));
    }

    /// Formats one line for each figure, by goal and size, then the goals that were not measured.
    pub(crate) fn table(mut self) -> String {
        self.rows.sort_by(|one, other| (&one.goal, one.count).cmp(&(&other.goal, other.count)));
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        let counted = self.counted;
        table.set_header(["goal", counted, "measured", "worst", "limit", "ratio", "wanted", "met"]);
        for Row { goal, count, figure, limit, ratio, wanted, met } in self.rows {
            let met = met.map_or("", |met| if met { "yes" } else { "MISSED" });
            let Shown { median, worst } = figure;
            let (count, ratio) = (count.to_string(), hundredths(ratio));
            table.add_row([&goal, &count, &median, &worst, &limit, &ratio, wanted, met]);
        }
        for Skipped { goal, why } in self.skipped {
            table.add_row([goal.as_str(), "", "not measured", "", why, "", "", ""]);
        }
        table.to_string()
    }

    /// Formats one JSON object a line.
    pub(crate) fn json(self) -> String {
        let counted = self.counted;
        let rows = self.rows.into_iter().map(|row| {
            let Row { goal, count, figure, limit, ratio, wanted, met } = row;
            json!({
                "goal": goal, counted: count, "measured": figure.median, "worst": figure.worst,
                "limit": limit, "ratio": hundredths(ratio), "wanted": wanted, "met": met,
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

/// Prints the progress, on a terminal alone.
#[derive(Debug)]
pub(crate) struct Progress(bool);

impl Progress {
    /// Prints nothing where standard error is no terminal.
    pub(crate) fn new() -> Self {
        Self(stderr().is_terminal())
    }

    pub(crate) fn say(&self, what: &str) {
        if self.0 {
            eprintln!("{what}");
        }
    }
}
