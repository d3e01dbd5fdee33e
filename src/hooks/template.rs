//! Texts with places to fill in: `templates/NAME.txt`, and beside it, for mails, `templates/NAME.html`.
//!
//! A place is `{{name}}`, or `{{record.field}}`; there is nothing else, no condition and no loop: what decides is the
//! script. In HTML what is filled in is text, whatever it holds. A first line `Subject: …` of the text is a mail's subject.

mod parse;

use std::collections::BTreeSet;

use serde_json::Value;

pub(super) use parse::{gather, is_template};

/// One piece.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// As it stands.
    Text(String),
    /// To be filled in: the name, and the fields below it.
    Place(Vec<String>),
}

/// A template that is free of errors.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Template {
    subject: Option<Vec<Part>>,
    text: Vec<Part>,
    html: Option<Vec<Part>>,
}

/// A template with everything filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Filled {
    /// The subject of a mail.
    pub(super) subject: Option<String>,
    /// The text.
    pub(super) text: String,
    /// The same for those who read HTML.
    pub(super) html: Option<String>,
}

impl Template {
    /// The names that have to be given.
    pub(super) fn names(&self) -> BTreeSet<&str> {
        let all = self.subject.iter().chain([&self.text]).chain(&self.html).flatten();
        all.filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Place(path) => path.first().map(String::as_str),
        })
        .collect()
    }

    /// Fills it in. Errors: what is missing, or is no text.
    pub(super) fn fill(&self, values: &Value) -> Result<Filled, String> {
        let plain = |text: &str| text.to_owned();
        let subject =
            self.subject.as_ref().map(|parts| filled(parts, values, plain)).transpose()?;
        let html = self.html.as_ref().map(|parts| filled(parts, values, escaped)).transpose()?;
        Ok(Filled { subject, text: filled(&self.text, values, plain)?, html })
    }
}

fn filled(
    parts: &[Part],
    values: &Value,
    escape: impl Fn(&str) -> String,
) -> Result<String, String> {
    let mut out = String::new();
    for part in parts {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Place(path) => out.push_str(&escape(&value(path, values)?)),
        }
    }
    Ok(out)
}

/// What stands at a place. Errors: nothing, or more than a text.
fn value(path: &[String], values: &Value) -> Result<String, String> {
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

/// Text as HTML shows it, also between the quotes of an attribute.
pub fn escaped(text: &str) -> String {
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
