//! Formats small pieces of text for every view: money, values, places, and numbers of bytes. Text
//! from files and from the service is made harmless here: it cannot control a terminal.

use chrono::{DateTime, TimeDelta, Utc};
use owo_colors::{OwoColorize, Style};
use serde_json::Value;

use crate::base::money::{Currency, Money};
use crate::engine::protocol::next_steps::NextStep;
use crate::engine::protocol::views::MoneyView;
use crate::model::issue::{PlacedIssue, Severity};

/// Characters after which a value is cut.
const VALUE_LENGTH_MAX: usize = 200;

/// Formats a line and appends it with its end to a string.
macro_rules! push_line {
    ($out:expr, $($text:tt)+) => {{
        use std::fmt::Write;
        // Writing to a string cannot fail.
        let _written = writeln!($out, $($text)+);
    }};
}
pub(super) use push_line;

/// The place where text for people is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// True if it shows colours.
    pub color: bool,
    /// Columns of a terminal; `None` for a file or a pipe, which take lines of any length.
    pub width: Option<usize>,
}

impl Screen {
    /// A file, or a reader through a pipe.
    pub const PLAIN: Self = Self { color: false, width: None };

    pub(super) fn paint(self, style: Style, text: &str) -> String {
        if self.color { text.style(style).to_string() } else { text.to_owned() }
    }

    pub(super) fn bold(self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.paint(Style::new().dimmed(), text)
    }
}

/// Escapes everything that moves a cursor, changes colours or reverses the direction of writing.
pub(super) fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || is_direction_or_line_mark(c) {
            clean.extend(c.escape_unicode());
        } else {
            clean.push(c);
        }
    }
    clean
}

/// Returns true for characters that reorder later text, or that break a line.
fn is_direction_or_line_mark(c: char) -> bool {
    matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

pub(super) fn or_not_known(text: Option<&str>) -> String {
    text.map_or_else(|| "not known".to_owned(), clean)
}

/// Renders `Kind/name`, with the namespace between them unless it is the default one.
pub(super) fn resource_key(kind: &str, namespace: &str, name: &str) -> String {
    clean(&match namespace {
        "default" => format!("{kind}/{name}"),
        _ => format!("{kind}/{namespace}/{name}"),
    })
}

/// Renders `FILE:LINE`, as far as known.
pub(super) fn file_place(file: Option<&str>, line: Option<usize>) -> Option<String> {
    let file = clean(file?);
    Some(line.map_or_else(|| file.clone(), |line| format!("{file}:{line}")))
}

/// Renders a timestamp as `2026-11-20 12:00Z`; other text stays as it is.
pub(super) fn to_minute(time: &str) -> String {
    match (time.get(..10), time.get(10..11), time.get(11..16)) {
        (Some(day), Some("T"), Some(minute)) if time.ends_with('Z') => {
            clean(&format!("{day} {minute}Z"))
        }
        _ => clean(time),
    }
}

/// Renders a timestamp with its age where the present time is known: `2030-01-31 11:59Z (3m ago)`.
pub(super) fn moment(time: &str, now: Option<DateTime<Utc>>) -> String {
    let ago = now.zip(time.parse().ok()).map(|(now, then)| format!(" ({} ago)", age(now, then)));
    format!("{}{}", to_minute(time), ago.unwrap_or_default())
}

/// Renders the time of day of a timestamp to the second, as `11:59:01Z`; other text stays as it is.
pub(super) fn to_second(time: &str) -> String {
    match (time.get(10..11), time.get(11..19)) {
        (Some("T"), Some(second)) if time.ends_with('Z') => clean(&format!("{second}Z")),
        _ => clean(time),
    }
}

/// Renders the time of day of a timestamp, as `11:59Z`; other text stays as it is.
pub(super) fn to_clock(time: &str) -> String {
    let minute = to_minute(time);
    minute.split_once(' ').map_or_else(|| minute.clone(), |(_, clock)| clock.to_owned())
}

/// Seconds of each unit of an age, largest first.
const AGE_UNITS: [(i64, &str); 3] = [(86_400, "d"), (3_600, "h"), (60, "m")];

/// Renders the time since a moment in its largest unit: `45s`, `12m`, `3h`, `20d`.
pub(super) fn age(now: DateTime<Utc>, then: DateTime<Utc>) -> String {
    duration(now.signed_duration_since(then))
}

/// Renders a duration in its largest unit; a negative one as `0s`.
pub(super) fn duration(time: TimeDelta) -> String {
    let seconds = time.num_seconds().max(0);
    let unit = AGE_UNITS.into_iter().find_map(|(unit, word)| {
        let count = seconds.checked_div(unit).filter(|count| *count > 0)?;
        Some(format!("{count}{word}"))
    });
    unit.unwrap_or_else(|| format!("{seconds}s"))
}

/// Renders how this machine's clock differs from the service's, for words about that clock; `None` if
/// it does not.
pub(super) fn clock_difference(ahead_seconds: i64) -> Option<String> {
    let way = if ahead_seconds > 0 { "ahead of" } else { "behind" };
    let span =
        duration(TimeDelta::seconds(ahead_seconds.saturating_abs().min(i64::from(u32::MAX))));
    (ahead_seconds != 0).then(|| {
        format!("{span} {way} the service's: correct it, since dates and limits follow it")
    })
}

/// Renders `125.00 USD`.
pub(super) fn money_amount(money: &MoneyView) -> String {
    format_amount(money.amount, &money.currency)
}

/// Renders `125.00 USD` from minor units and a currency.
pub(super) fn format_amount(amount: i64, currency: &str) -> String {
    match currency.parse::<Currency>() {
        Ok(currency) => Money::new(amount, currency).to_string(),
        Err(_) => format!("{amount} minor units of {}", clean(currency)),
    }
}

/// Renders `125.00 USD invoiced (test)`.
pub(super) fn money_text(money: &MoneyView) -> String {
    format!("{} {} ({})", money_amount(money), meaning(&money.meaning), money.mode)
}

/// Renders `specs/acme.yaml:14:9 what is wrong`.
pub(super) fn problem_line(problem: &PlacedIssue) -> String {
    let PlacedIssue { file, line, column, message, severity, .. } = problem;
    let warning = if *severity == Severity::Warning { "warning: " } else { "" };
    format!("{file}:{line}:{column} {warning}{message}")
}

/// Renders `collected per occurrence`.
pub(super) fn meaning(meaning: &str) -> String {
    clean(meaning).replace('_', " ")
}

/// Returns the first digits of a hash, enough to identify it.
pub(super) fn short_hash(hash: &str) -> String {
    clean(&hash.chars().take(12).collect::<String>())
}

/// Renders a value on one line: plain text as it is, other values as JSON.
pub(super) fn value_text(value: &Value) -> String {
    let plain = value.as_str().filter(|text| is_plain(text));
    let mut text = clean(&plain.map_or_else(|| value.to_string(), str::to_owned));
    if let Some((cut, _)) = text.char_indices().nth(VALUE_LENGTH_MAX) {
        text.truncate(cut);
        text.push('…');
    }
    text
}

/// Returns true if an unquoted text is distinct from other values and the words around it.
fn is_plain(text: &str) -> bool {
    let word = serde_json::from_str::<Value>(text).is_ok_and(|read| !read.is_number());
    !text.is_empty() && text.trim() == text && !word && !text.contains(['"', '→'])
}

/// Wraps text between words, in lines of at most `width` columns.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in clean(text).split_whitespace() {
        let Some(line) = lines.last_mut() else { return lines };
        let length = line.chars().count().saturating_add(word.chars().count());
        if line.is_empty() {
            line.push_str(word);
        } else if length < width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Renders commands to copy, each after its purpose.
pub(super) fn commands(steps: &[&NextStep], screen: Screen) -> String {
    let mut out = String::new();
    if !steps.is_empty() {
        push_line!(out, "\n{}", screen.bold("Next"));
    }
    let width = steps.iter().map(|step| step.command.chars().count()).max().unwrap_or(0);
    for NextStep { command, purpose } in steps {
        push_line!(out, "  {:width$}  {}", clean(command), screen.dim(&format!("# {purpose}")));
    }
    out
}

/// Width of text without a terminal.
const WIDTH: usize = 100;

/// Returns the lines of a text that fit the screen behind `indent` columns.
pub(super) fn wrap_text(text: &str, indent: usize, screen: Screen) -> Vec<String> {
    wrap(text, screen.width.unwrap_or(WIDTH).min(WIDTH).saturating_sub(indent).max(20))
}

/// Renders text in lines that fit the screen, each after `indent` spaces.
pub(super) fn wrap_indented(text: &str, indent: usize, screen: Screen) -> String {
    let mut out = String::new();
    for line in wrap_text(text, indent, screen) {
        push_line!(out, "{:indent$}{line}", "");
    }
    out
}

/// Columns by which a line that goes on below is indented beyond its beginning.
const CONTINUED_BY: usize = 4;

/// Breaks the lines that are longer than `width` columns between two words; a line goes on below,
/// indented. Colours take no columns.
pub fn fit_lines(text: &str, width: usize) -> String {
    let fitted = text.split_inclusive('\n').map(|line| {
        let body = line.trim_end_matches('\n');
        let indent = body.len().saturating_sub(body.trim_start_matches(' ').len());
        let indent = " ".repeat(indent.saturating_add(CONTINUED_BY));
        let options = textwrap::Options::new(width)
            .subsequent_indent(&indent)
            .break_words(false)
            .word_separator(textwrap::WordSeparator::AsciiSpace)
            .word_splitter(textwrap::WordSplitter::NoHyphenation)
            .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit);
        let end = if line.ends_with('\n') { "\n" } else { "" };
        format!("{}{end}", textwrap::wrap(body, options).join("\n"))
    });
    fitted.collect()
}

/// Units, largest first; a number is shown in the first of which it has at least ten.
const BYTE_UNITS: [(u32, &str); 3] = [(30, "GiB"), (20, "MiB"), (10, "KiB")];

/// Formats a number of bytes, rounded down.
pub fn bytes(number: u64) -> String {
    let shown = BYTE_UNITS.into_iter().find_map(|(shift, unit)| {
        let count = number.checked_shr(shift).filter(|count| *count >= 10)?;
        Some(format!("{count} {unit}"))
    });
    shown.unwrap_or_else(|| format!("{number} bytes"))
}

/// Returns words about the little space that is left for the state.
pub(super) fn low_disk(free: u64) -> String {
    match free {
        0 => "no space is left for the state, and the daemon ends when it needs some".to_owned(),
        _ => format!("only {} are free for the state; a daemon without space ends", bytes(free)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::base::id::Mode;

    #[test]
    fn long_lines_break_between_words_and_short_ones_stay() {
        let text = "short\n\n  the first words, `reckon link SavedMethod/noor-card` and more\nlast";
        assert_eq!(
            fit_lines(text, 30),
            "short\n\n  the first words, `reckon\n      link\n      SavedMethod/noor-card`\n      and more\nlast"
        );
        assert_eq!(
            fit_lines("a-very-long-word-alone stays", 10),
            "a-very-long-word-alone\n    stays"
        );
        let painted = "\u{1b}[31mten letters\u{1b}[0m here";
        assert_eq!(fit_lines(painted, 16), painted, "colours take no columns");
        assert_eq!(fit_lines("NAME   READY\n", 40), "NAME   READY\n");
    }

    #[test]
    fn text_from_outside_cannot_steer_a_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\r\n\u{202e}c é"), "a\\u{1b}[31mb\\u{d}\\u{a}\\u{202e}c é");
        assert_eq!(file_place(Some("a\n.yaml"), Some(3)), Some("a\\u{a}.yaml:3".to_owned()));
        assert_eq!(file_place(None, Some(3)), None);
    }

    #[test]
    fn a_value_is_told_from_another_type_and_from_what_stands_around_it() {
        for (given, shown) in [
            (json!("Retainer fee"), "Retainer fee"),
            (json!("125.00 USD"), "125.00 USD"),
            (json!(""), "\"\""),
            (json!(" a"), "\" a\""),
            (json!("true"), "\"true\""),
            (json!("null"), "\"null\""),
            (json!("a → b"), "\"a → b\""),
            (json!(true), "true"),
            (json!({"a": [1]}), "{\"a\":[1]}"),
        ] {
            assert_eq!(value_text(&given), shown);
        }
        assert_eq!(value_text(&json!("x".repeat(500))).chars().count(), VALUE_LENGTH_MAX + 1);
    }

    #[test]
    fn money_has_the_decimals_of_its_currency() {
        let of = |currency: &str| MoneyView {
            currency: currency.to_owned(),
            mode: Mode::Live,
            meaning: "collected_per_occurrence".to_owned(),
            amount: 12_500,
        };
        assert_eq!(money_text(&of("USD")), "125.00 USD collected per occurrence (live)");
        assert_eq!(money_amount(&of("JPY")), "12500 JPY");
        assert_eq!(money_amount(&of("???")), "12500 minor units of ???");
    }

    #[test]
    fn an_age_has_one_unit_and_is_never_negative() {
        let now: DateTime<Utc> = "2030-01-31T12:00:00Z".parse().unwrap();
        for (then, shown) in [
            ("2030-01-31T12:00:01Z", "0s"),
            ("2030-01-31T11:59:01Z", "59s"),
            ("2030-01-31T11:59:00Z", "1m"),
            ("2030-01-31T11:00:00Z", "1h"),
            ("2030-01-30T12:00:01Z", "23h"),
            ("2028-01-31T12:00:00Z", "731d"),
        ] {
            assert_eq!(age(now, then.parse().unwrap()), shown);
        }
        assert_eq!(to_minute("2030-01-31T11:59:01.000Z"), "2030-01-31 11:59Z");
        assert_eq!(to_minute("soon"), "soon");
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("", 8), [""]);
        assert_eq!(wrap("averylongword x", 4), ["averylongword", "x"]);
    }

    #[test]
    fn a_number_has_two_digits_at_least_where_it_can() {
        let shown = [0, 9, 10_239, 10_240, 9 << 20, 10 << 20, 10 << 30].map(bytes);
        let wanted =
            ["0 bytes", "9 bytes", "10239 bytes", "10 KiB", "9216 KiB", "10 MiB", "10 GiB"];
        assert_eq!(shown, wanted);
    }
}
