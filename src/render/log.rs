//! Renders the daemon's log lines for people: effects, resources that need attention, problems of
//! documents, and everything else with its fields. The page `docs/operations/log.md` lists them.

use std::fmt;

use owo_colors::Style;
use tracing::Level;
use tracing::field::{Field, Visit};

use crate::render::words::{Screen, clean, file_place, meaning};

/// Target of the line for each effect: fields `key`, `verb`, `money`, `id`, `file`, `line` and more.
pub const EFFECTS: &str = "reckon::effects";
/// Target of the line for a resource that is not ready, and for one that is ready again.
pub const RESOURCES: &str = "reckon::resources";
/// Target of the line for each problem of a document.
pub const DOCUMENTS: &str = "reckon::documents";

/// The fields of one log line, in the order in which they were written.
#[derive(Debug, Default)]
pub struct LogFields(Vec<(&'static str, String)>);

impl LogFields {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(field, _)| *field == name).map(|(_, value)| value.as_str())
    }

    fn text(&self, name: &str) -> String {
        self.get(name).map(clean).unwrap_or_default()
    }

    /// Returns the file and the line, in brackets.
    fn place(&self) -> Option<String> {
        let line = self.get("line").and_then(|line| line.parse().ok());
        file_place(self.get("file"), line)
    }

    /// Returns the resource as commands take it: without the default namespace.
    fn name(&self) -> String {
        self.text("key").replacen("/default/", "/", 1)
    }
}

impl Visit for LogFields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.push((field.name(), value.to_owned()));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.push((field.name(), format!("{value:?}")));
    }
}

/// One part of a line, with its style.
pub(super) struct LinePart(String, Style);

impl LinePart {
    /// Returns the first part of a line: a word about what happened.
    pub(super) fn word(word: &str, style: Style) -> Self {
        Self(format!("{word:<WORD_WIDTH$}"), style)
    }

    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self(text.into(), Style::new())
    }

    pub(super) fn dim(text: impl Into<String>) -> Self {
        Self(text.into(), Style::new().dimmed())
    }
}

/// Columns of the first part.
const WORD_WIDTH: usize = 8;
/// Columns of the space between two parts.
const GAP: usize = 2;
/// Columns before the first part: the time of day, and a gap.
const TIME_WIDTH: usize = 11;
/// Columns before a continuation: it begins under the second part.
const CONTINUED_AT: usize = TIME_WIDTH + WORD_WIDTH + GAP;

/// Joins the parts of a line that begins behind its time. A line that does not fit the screen goes on
/// below: it breaks between two parts, and between two words of a part that fits no line.
pub(super) fn join_parts(parts: &[LinePart], screen: Screen) -> String {
    let width = screen.width.unwrap_or(usize::MAX);
    let (mut out, mut column) = (String::new(), TIME_WIDTH);
    for LinePart(text, style) in parts.iter().filter(|part| !part.0.is_empty()) {
        let is_long = CONTINUED_AT.saturating_add(text.chars().count()) > width;
        let words = if is_long { text.split(' ').collect() } else { vec![text.as_str()] };
        let mut gap = if out.is_empty() { 0 } else { GAP };
        for word in words {
            let length = word.chars().count();
            let end = column.saturating_add(gap).saturating_add(length);
            // Behind the first word, anything fits: the line below would have no more space.
            if end <= width || column <= CONTINUED_AT {
                out.push_str(&" ".repeat(gap));
                column = end;
            } else {
                out.push('\n');
                out.push_str(&" ".repeat(CONTINUED_AT));
                column = CONTINUED_AT.saturating_add(length);
            }
            out.push_str(&screen.paint(*style, word));
            gap = 1;
        }
    }
    out
}

/// Renders a line without its time.
pub fn line(target: &str, level: Level, fields: &LogFields, screen: Screen) -> String {
    let parts = match target {
        EFFECTS => effect(fields),
        RESOURCES | DOCUMENTS => problem(level, fields),
        _ => other(level, fields),
    };
    join_parts(&parts, screen)
}

fn effect(fields: &LogFields) -> Vec<LinePart> {
    let verb = fields.text("verb");
    let style = verb_style(&verb);
    let refusal = fields.get("refusal").map(|refusal| format!("({})", clean(refusal)));
    let actor = fields.get("actor").map(|actor| format!("by {}", clean(actor)));
    vec![
        LinePart::word(&verb, style),
        LinePart::plain(fields.name()),
        LinePart::plain(fields.get("money").map(meaning).unwrap_or_default()),
        LinePart::plain(refusal.unwrap_or_default()),
        LinePart::plain(fields.text("id")),
        LinePart::plain(actor.unwrap_or_default()),
        LinePart::dim(fields.place().unwrap_or_default()),
    ]
}

/// Returns the style of the word about an effect.
pub(super) fn verb_style(verb: &str) -> Style {
    match verb {
        "refused" | "in doubt" | "held" | "given up" => Style::new().red(),
        "not sent" => Style::new().yellow(),
        _ => Style::new().green(),
    }
}

fn problem(level: Level, fields: &LogFields) -> Vec<LinePart> {
    let (word, style) = match level {
        Level::ERROR => ("problem", Style::new().red()),
        Level::WARN => ("waiting", Style::new().yellow()),
        _ => ("ready", Style::new().green()),
    };
    let reason = fields.get("reason").map(|reason| format!("{}: ", clean(reason)));
    let message = format!("{}{}", reason.unwrap_or_default(), fields.text("message"));
    let next = fields.get("next").map(|next| format!("→ {}", clean(next)));
    vec![
        LinePart::word(word, style),
        LinePart::plain(fields.name()),
        LinePart::plain(message),
        LinePart::dim(fields.place().unwrap_or_default()),
        LinePart::dim(next.unwrap_or_default()),
    ]
}

fn other(level: Level, fields: &LogFields) -> Vec<LinePart> {
    let style = match level {
        Level::ERROR => Style::new().red(),
        Level::WARN => Style::new().yellow(),
        _ => Style::new().dimmed(),
    };
    let word = level.as_str().to_lowercase();
    let mut parts = vec![LinePart::word(&word, style), LinePart::plain(fields.text("message"))];
    let more = fields.0.iter().filter(|(name, _)| *name != "message");
    parts.extend(more.map(|(name, value)| LinePart::plain(format!("{name}={}", clean(value)))));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(target: &str, level: Level, fields: &[(&'static str, &str)]) -> String {
        let fields = fields.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        line(target, level, &LogFields(fields), Screen::PLAIN)
    }

    #[test]
    fn an_effect_is_one_line_with_its_money_and_the_line_that_asked_for_it() {
        let fields = [
            ("message", "effect"),
            ("key", "Invoice/default/jane"),
            ("verb", "created"),
            ("effect", "invoice.create"),
            ("money", "10.00 USD invoiced_into_trust (test)"),
            ("file", "specs/a.yaml"),
            ("line", "3"),
        ];
        assert_eq!(
            shown(EFFECTS, Level::INFO, &fields),
            "created   Invoice/jane  10.00 USD invoiced into trust (test)  specs/a.yaml:3"
        );
    }

    #[test]
    fn a_problem_has_its_reason_and_the_command_that_leads_on() {
        let fields = [
            ("message", "waits for the applicant"),
            ("key", "Merchant/team-b/acme"),
            ("reason", "AwaitsApplicant"),
            ("next", "reckon events urls"),
        ];
        assert_eq!(
            shown(RESOURCES, Level::WARN, &fields),
            "waiting   Merchant/team-b/acme  AwaitsApplicant: waits for the applicant  → reckon events urls"
        );
    }

    #[test]
    fn a_line_that_does_not_fit_a_terminal_breaks_between_parts_and_then_between_words() {
        let fields = [
            ("message", "waits for the payer's card: `reckon link` prints the link to send"),
            ("key", "SavedMethod/default/noor-card"),
            ("reason", "AwaitsIntake"),
            ("file", "specs/acme/intake.yaml"),
            ("line", "5"),
            ("next", "reckon link SavedMethod/noor-card"),
        ];
        let fields = fields.map(|(name, value)| (name, value.to_owned())).into();
        let screen = Screen { color: false, width: Some(70) };
        insta::assert_snapshot!(line(RESOURCES, Level::WARN, &LogFields(fields), screen), @"
        waiting   SavedMethod/noor-card  AwaitsIntake: waits for
                             the payer's card: `reckon link` prints the link
                             to send  specs/acme/intake.yaml:5
                             → reckon link SavedMethod/noor-card
        ");
    }

    #[test]
    fn other_lines_keep_their_fields_and_cannot_steer_a_terminal() {
        let fields = [("message", "lost\u{1b}[2J"), ("tries", "3")];
        assert_eq!(shown("reckon::x", Level::WARN, &fields), "warn      lost\\u{1b}[2J  tries=3");
    }
}
