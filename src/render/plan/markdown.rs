//! Renders a plan for a comment on a pull request.
//!
//! Names, messages and values come from the pull request itself or from the service. They appear in
//! code spans, or with all markup escaped, so that they cannot end a block, draw a link, or mention
//! a person.

use crate::base::wording::count_noun;
use crate::engine::protocol::views::{PlanView, StepView};
use crate::render::plan::common::{self, before_after, notes, origin, symbol, unchangeable_fields};
use crate::render::words::{self, clean, file_place, push_line, resource_key, value_text};

/// Size in bytes after which steps are only counted; a comment may have 65,536 characters.
const BYTES_MAX: usize = 60_000;
/// Steps above which the list is folded.
const OPEN_STEPS_MAX: usize = 10;

pub fn markdown(plan: &PlanView) -> String {
    let mut out = format!("### {}\n\n", common::plan_summary(plan));
    for line in common::hold_lines(plan.hold.as_deref(), &plan.rules) {
        push_line!(out, "> **{}**\n", escape_markdown(&line));
    }
    totals(&mut out, plan);
    due_table(&mut out, plan);
    let folded = plan.steps.len() > OPEN_STEPS_MAX;
    if folded {
        let steps = count_noun(plan.steps.len(), "step");
        push_line!(out, "<details><summary>{steps}</summary>\n");
    }
    step_list(&mut out, &plan.steps);
    if folded {
        push_line!(out, "</details>\n");
    }
    for note in notes(plan) {
        push_line!(out, "**{note}**\n");
    }
    push_line!(out, "<sub>{}</sub>", escape_markdown(&origin(plan)));
    out
}

fn totals(out: &mut String, plan: &PlanView) {
    if plan.totals.is_empty() {
        return;
    }
    push_line!(out, "| Amount | What happens | Mode |\n|---:|---|---|");
    for money in &plan.totals {
        let amount = escape_markdown(&words::money_amount(money));
        let meaning = escape_markdown(&words::meaning(&money.meaning));
        push_line!(out, "| {amount} | {meaning} | {} |", money.mode);
    }
    out.push('\n');
}

fn due_table(out: &mut String, plan: &PlanView) {
    let rows = common::due_by_month(plan);
    if rows.is_empty() {
        return;
    }
    push_line!(out, "| Due | Before | After | Difference | Mode |\n|---|---:|---:|---:|---|");
    for row in &rows {
        let cells = row.each_ref().map(|cell| escape_markdown(cell));
        push_line!(out, "| {} |", cells.join(" | "));
    }
    out.push('\n');
}

fn step_list(out: &mut String, steps: &[StepView]) {
    for (done, step) in steps.iter().enumerate() {
        let text = step_item(step);
        if out.len().saturating_add(text.len()) > BYTES_MAX {
            let more = count_noun(steps.len().saturating_sub(done), "more step");
            push_line!(out, "- … and {more}: `reckon plan` shows all of them");
            break;
        }
        out.push_str(&text);
    }
    if !steps.is_empty() {
        out.push('\n');
    }
}

fn step_item(step: &StepView) -> String {
    let (symbol, _) = symbol(step);
    let name = code_span(&resource_key(&step.kind, &step.namespace, &step.name));
    let mut out = String::new();
    let place = file_place(step.file.as_deref(), step.line);
    let place = place.map_or_else(String::new, |place| format!(" ({})", code_span(&place)));
    push_line!(out, "- `{symbol}` **{name}** {}{place}", escape_markdown(&step.message));
    for money in &step.money {
        push_line!(out, "  - {}", escape_markdown(&words::money_text(money)));
    }
    if let Some(replaced) = &step.replaces {
        push_line!(out, "  - {}", escape_markdown(&replaced.to_string()));
    }
    for problem in &step.problems {
        push_line!(out, "  - {}", escape_markdown(&words::problem_line(problem)));
    }
    let fixed = unchangeable_fields(step);
    for change in &step.changes {
        let sides = before_after(step, change, |side| code_span(&value_text(side)));
        let mark = " **the service cannot change this**";
        let mark = if fixed.contains(change.path.as_str()) { mark } else { "" };
        push_line!(out, "  - {}: {sides}{mark}", code_span(&change.path));
    }
    out
}

/// Renders text as a code span, in which no markup takes effect.
fn code_span(text: &str) -> String {
    let text = clean(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.saturating_add(1));
    let pad = if longest > 0 || text.starts_with(' ') || text.is_empty() { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Escapes all markup in a text. A zero-width space cuts off a name after `@` or a number after
/// `#`: the sites that show comments search for these after the markup.
pub(in crate::render) fn escape_markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in clean(text).chars() {
        if c.is_ascii_punctuation() && !matches!(c, ',' | ';' | '\'' | '"' | '/' | '-' | '%') {
            escaped.push('\\');
        }
        escaped.push(c);
        if matches!(c, '@' | '#') {
            escaped.push('\u{200b}');
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_span_holds_whatever_it_is_given() {
        assert_eq!(code_span("Invoice/jane"), "`Invoice/jane`");
        assert_eq!(code_span("a`b``c"), "``` a`b``c ```");
        assert_eq!(code_span("`"), "`` ` ``");
        assert_eq!(code_span("a\n# b"), "`a\\u{a}# b`");
        assert_eq!(code_span(""), "`  `");
    }

    #[test]
    fn prose_has_no_markup_links_or_mentions() {
        assert_eq!(escape_markdown("<b>*x*</b> [a](b)"), r"\<b\>\*x\*\</b\> \[a\]\(b\)");
        assert_eq!(escape_markdown("www.evil.example"), r"www\.evil\.example");
        assert_eq!(escape_markdown("@team #1"), "\\@\u{200b}team \\#\u{200b}1");
        assert_eq!(escape_markdown("a | b"), r"a \| b");
    }
}
