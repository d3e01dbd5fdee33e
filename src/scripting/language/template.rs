//! Text templates with placeholders: `templates/NAME.txt`, for mails also `templates/NAME.html`.
//!
//! A placeholder is `{{name}}` or `{{record.field}}`. There are no conditions and no loops, since
//! the script decides. HTML templates escape every filled-in value. A first line `Subject: …` of
//! the text is the subject of a mail.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::scripting::language::source::{
    HTML, Issues, Place, ScriptSource, TEMPLATES, TEXT, is_template,
};

#[derive(Debug, Clone, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    /// Placeholder: the name, and the fields below it.
    Placeholder(Vec<String>),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Template {
    subject: Option<Vec<TemplatePart>>,
    text: Vec<TemplatePart>,
    html: Option<Vec<TemplatePart>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilledTemplate {
    pub(crate) subject: Option<String>,
    pub(crate) text: String,
    /// The same content as HTML.
    pub(crate) html: Option<String>,
}

impl Template {
    /// Returns the names of the required values.
    pub(crate) fn names(&self) -> BTreeSet<&str> {
        let all = self.subject.iter().chain([&self.text]).chain(&self.html).flatten();
        all.filter_map(|part| match part {
            TemplatePart::Text(_) => None,
            TemplatePart::Placeholder(path) => path.first().map(String::as_str),
        })
        .collect()
    }

    /// Fills in the template; an error if a value is missing, or is not a text.
    pub(crate) fn fill(&self, values: &Value) -> Result<FilledTemplate, String> {
        let plain = |text: &str| text.to_owned();
        let subject =
            self.subject.as_ref().map(|parts| fill_parts(parts, values, plain)).transpose()?;
        let html =
            self.html.as_ref().map(|parts| fill_parts(parts, values, escape_html)).transpose()?;
        Ok(FilledTemplate { subject, text: fill_parts(&self.text, values, plain)?, html })
    }
}

fn fill_parts(
    parts: &[TemplatePart],
    values: &Value,
    escape: impl Fn(&str) -> String,
) -> Result<String, String> {
    let mut out = String::new();
    for part in parts {
        match part {
            TemplatePart::Text(text) => out.push_str(text),
            TemplatePart::Placeholder(path) => out.push_str(&escape(&value_text(path, values)?)),
        }
    }
    Ok(out)
}

fn value_text(path: &[String], values: &Value) -> Result<String, String> {
    let found = path.iter().try_fold(values, |value, name| value.get(name));
    let name = path.join(".");
    match found {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(value @ (Value::Number(_) | Value::Bool(_))) => Ok(value.to_string()),
        Some(Value::Null) | None => Err(format!("nothing is given for `{{{{{name}}}}}`")),
        Some(Value::Array(_) | Value::Object(_)) => {
            Err(format!("what is given for `{{{{{name}}}}}` is a list or a map, and no text"))
        }
    }
}

/// Escapes text for HTML, also between the quotes of an attribute.
pub fn escape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for found in text.chars() {
        match found {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

// Parser of the files in `templates`: returns the templates and every problem with them.

const SUBJECT: &str = "Subject:";
const OPEN: &str = "{{";
const CLOSE: &str = "}}";

fn template_name(path: &str) -> &str {
    let name = path.strip_prefix(TEMPLATES).unwrap_or(path);
    name.strip_suffix(TEXT).or_else(|| name.strip_suffix(HTML)).unwrap_or(name)
}

pub(crate) fn parse_templates(
    sources: &[ScriptSource],
    issues: &mut Issues,
) -> BTreeMap<String, Template> {
    let mut all: BTreeMap<String, Template> = BTreeMap::new();
    let files = sources.iter().filter(|source| is_template(&source.path));
    for source in files.clone().filter(|source| source.path.ends_with(TEXT)) {
        let (subject, skipped) = parse_subject(source, issues);
        let rest: String = source.text.split_inclusive('\n').skip(skipped).collect();
        let text = parse_parts(source, (skipped, 0), rest.trim_end(), issues);
        all.insert(template_name(&source.path).to_owned(), Template { subject, text, html: None });
    }
    for source in files.filter(|source| source.path.ends_with(HTML)) {
        let html = parse_parts(source, (0, 0), &source.text, issues);
        if let Some(template) = all.get_mut(template_name(&source.path)) {
            template.html = Some(html);
        } else {
            let message = "this template has no text part";
            let help =
                format!("write `{TEMPLATES}{}{TEXT}` beside it", template_name(&source.path));
            issues.push(source.problem((1, 1), "template", message, &help));
        }
    }
    all
}

/// Returns the subject, and the number of lines that it takes, with the empty line after it.
fn parse_subject(source: &ScriptSource, issues: &mut Issues) -> (Option<Vec<TemplatePart>>, usize) {
    let mut lines = source.text.lines();
    let first = lines.next().unwrap_or_default();
    let Some(rest) = first.strip_prefix(SUBJECT) else { return (None, 0) };
    let trimmed = rest.trim_start();
    let column = first.chars().count().saturating_sub(trimmed.chars().count());
    let subject = parse_parts(source, (0, column), trimmed.trim_end(), issues);
    let empty = lines.next().is_some_and(|line| line.trim().is_empty());
    (Some(subject), if empty { 2 } else { 1 })
}

/// Parses a text that begins after this number of lines and characters of its file.
fn parse_parts(
    source: &ScriptSource,
    (lines, columns): (usize, usize),
    text: &str,
    issues: &mut Issues,
) -> Vec<TemplatePart> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(OPEN) {
        let start = text.len().saturating_sub(behind.len()).saturating_sub(OPEN.len());
        let place = position(text.split_at(start).0, (lines, columns));
        parts.push(TemplatePart::Text(before.to_owned()));
        let inner = behind.split_once(CLOSE).filter(|(inner, _)| !inner.contains('\n'));
        let Some((inner, after)) = inner else {
            let help = "write `}}` behind the name, on the same line";
            let message = "this placeholder is not closed";
            issues.push(source.problem(place, "template", message, help));
            return parts;
        };
        if let Some(path) = parse_path(inner.trim()) {
            parts.push(TemplatePart::Placeholder(path));
        } else {
            let message =
                format!("`{{{{{}}}}}` is not a placeholder: only names are possible", inner.trim());
            issues.push(source.problem(place, "template", &message, HELP));
        }
        rest = after;
    }
    parts.push(TemplatePart::Text(rest.to_owned()));
    parts
}

const HELP: &str = "write a name such as `{{amount}}` or `{{charge.amount}}`, and leave the rest to the script: it gives a link \
                    as `#{link: new_card_link(…)}`";

/// Parses a name and the fields below it.
fn parse_path(text: &str) -> Option<Vec<String>> {
    let is_name = |part: &&str| {
        part.chars().all(|found| found.is_ascii_alphanumeric() || found == '_')
            && part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
    };
    let parts: Vec<&str> = text.split('.').collect();
    parts.iter().all(is_name).then(|| parts.into_iter().map(str::to_owned).collect())
}

/// Returns the line and column after a text, from 1.
fn position(before: &str, (lines, columns): (usize, usize)) -> Place {
    let line = before.matches('\n').count();
    let last = before.rsplit('\n').next().unwrap_or_default().chars().count();
    let skipped = if line == 0 { columns } else { 0 };
    (line.saturating_add(lines).saturating_add(1), last.saturating_add(skipped).saturating_add(1))
}
