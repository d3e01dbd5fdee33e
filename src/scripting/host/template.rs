//! Text templates with placeholders: `templates/NAME.txt`, and for mails `templates/NAME.html` as
//! well.
//!
//! A placeholder is `{{name}}` or `{{record.field}}`. There are no conditions and no loops, since
//! the script decides. HTML templates escape every filled-in value. A first line `Subject: …` of
//! the text is the subject of a mail.

mod parse;

use std::collections::BTreeSet;

use serde_json::Value;

pub(crate) use parse::{is_template, parse_templates};

/// One piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
enum TemplatePart {
    /// Literal text.
    Text(String),
    /// Placeholder: the name, and the fields below it.
    Placeholder(Vec<String>),
}

/// A valid template.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Template {
    subject: Option<Vec<TemplatePart>>,
    text: Vec<TemplatePart>,
    html: Option<Vec<TemplatePart>>,
}

/// A template with all placeholders filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilledTemplate {
    /// Subject of a mail.
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

    /// Fills in the template.
    ///
    /// # Errors
    ///
    /// A value is missing, or is not a text.
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
            TemplatePart::Placeholder(path) => {
                out.push_str(&escape(&placeholder_text(path, values)?));
            }
        }
    }
    Ok(out)
}

/// Returns the text for a placeholder.
///
/// # Errors
///
/// The value is missing, or is a list or a map.
fn placeholder_text(path: &[String], values: &Value) -> Result<String, String> {
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

#[cfg(test)]
mod tests;
