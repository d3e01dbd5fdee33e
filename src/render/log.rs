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

/// Renders a line without its time.
pub fn line(target: &str, level: Level, fields: &LogFields, screen: Screen) -> String {
    let parts = match target {
        EFFECTS => effect(fields, screen),
        RESOURCES | DOCUMENTS => problem(level, fields, screen),
        _ => other(level, fields, screen),
    };
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("  ")
}

fn effect(fields: &LogFields, screen: Screen) -> Vec<String> {
    let verb = fields.text("verb");
    let style = match verb.as_str() {
        "refused" | "in doubt" | "held" | "given up" => Style::new().red(),
        "not sent" => Style::new().yellow(),
        _ => Style::new().green(),
    };
    let refusal = fields.get("refusal").map(|refusal| format!("({})", clean(refusal)));
    let actor = fields.get("actor").map(|actor| format!("by {}", clean(actor)));
    let place = fields.place().map(|place| screen.dim(&place));
    let parts = [
        screen.paint(style, &format!("{verb:<8}")),
        fields.name(),
        fields.get("money").map(meaning).unwrap_or_default(),
        refusal.unwrap_or_default(),
        fields.text("id"),
        actor.unwrap_or_default(),
        place.unwrap_or_default(),
    ];
    parts.into()
}

fn problem(level: Level, fields: &LogFields, screen: Screen) -> Vec<String> {
    let (word, style) = match level {
        Level::ERROR => ("problem", Style::new().red()),
        Level::WARN => ("waiting", Style::new().yellow()),
        _ => ("ready", Style::new().green()),
    };
    let reason = fields.get("reason").map(|reason| format!("{}: ", clean(reason)));
    let message = format!("{}{}", reason.unwrap_or_default(), fields.text("message"));
    let next = fields.get("next").map(|next| screen.dim(&format!("→ {}", clean(next))));
    let place = fields.place().map(|place| screen.dim(&place));
    let parts = [
        screen.paint(style, &format!("{word:<8}")),
        fields.name(),
        message,
        place.unwrap_or_default(),
        next.unwrap_or_default(),
    ];
    parts.into()
}

fn other(level: Level, fields: &LogFields, screen: Screen) -> Vec<String> {
    let style = match level {
        Level::ERROR => Style::new().red(),
        Level::WARN => Style::new().yellow(),
        _ => Style::new().dimmed(),
    };
    let word = level.as_str().to_lowercase();
    let mut parts = vec![screen.paint(style, &format!("{word:<8}")), fields.text("message")];
    let more = fields.0.iter().filter(|(name, _)| *name != "message");
    parts.extend(more.map(|(name, value)| format!("{name}={}", clean(value))));
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
    fn other_lines_keep_their_fields_and_cannot_steer_a_terminal() {
        let fields = [("message", "lost\u{1b}[2J"), ("tries", "3")];
        assert_eq!(shown("reckon::x", Level::WARN, &fields), "warn      lost\\u{1b}[2J  tries=3");
    }
}
