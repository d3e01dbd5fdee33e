//! Renders a new document of a kind: fields with an example as YAML, all others as comments, and each
//! with its meaning.

use chrono::NaiveDate;
use serde_json::Value;

use crate::base::id::Key;
use crate::kinds::row::KindRow;
use crate::kinds::schema::kind::{Example, SpecField};
use crate::render::words::wrap;
use crate::spec::explain::{Explanation, is_beneath, of_field};
use crate::spec::header::API_VERSION;

/// Columns of a comment.
const COMMENT_WIDTH: usize = 96;

/// The names and values that examples take from a tree and its configuration.
#[derive(Debug, Clone)]
pub struct TemplateValues {
    pub key: Key,
    /// The merchant, as the document refers to it.
    pub merchant: String,
    /// The resource of another kind, as the document refers to it.
    pub resource: String,
    pub plan: String,
    pub day: NaiveDate,
}

/// Renders the document.
pub fn document(row: &KindRow, values: &TemplateValues) -> String {
    let schema = (row.schema)();
    let template = DocumentTemplate { row, schema: &schema, values };
    let (namespace, name) = (&values.key.namespace, &values.key.name);
    let mut lines = vec![
        format!("apiVersion: {API_VERSION}"),
        format!("kind: {}", row.name),
        "metadata:".to_owned(),
        format!("  name: {}", scalar(name.as_str())),
    ];
    let named = !namespace.is_default_namespace();
    lines.extend(named.then(|| format!("  namespace: {}", scalar(namespace.as_str()))));
    lines.push("spec:".to_owned());
    lines.extend(indent("  ", template.fields(template.children(""), false)));
    lines.join("\n") + "\n"
}

#[derive(Clone, Copy)]
struct DocumentTemplate<'a> {
    row: &'a KindRow,
    schema: &'a Value,
    values: &'a TemplateValues,
}

impl<'a> DocumentTemplate<'a> {
    /// Returns the fields directly beneath a path; beneath the empty path, those of the spec.
    fn children(self, path: &str) -> Vec<&'a SpecField> {
        let beneath = |field: &&SpecField| path.is_empty() || is_beneath(field.path, path);
        let all: Vec<&SpecField> = self.row.fields.iter().filter(beneath).collect();
        let direct = |field: &&&SpecField| !all.iter().any(|up| is_beneath(field.path, up.path));
        all.iter().filter(direct).copied().collect()
    }

    fn example(self, field: &SpecField) -> Option<String> {
        let examples = self.row.examples.iter();
        let (_, example) = examples.clone().find(|(path, _)| *path == field.path)?;
        let values = self.values;
        Some(match example {
            Example::Yaml(text) => (*text).to_owned(),
            Example::Merchant => scalar(&values.merchant),
            Example::Resource(_) => scalar(&values.resource),
            Example::Plan => scalar(&values.plan),
            Example::Variable(prefix) => format!("{{env: {}}}", variable(prefix, &values.key)),
            Example::Day => values.day.to_string(),
        })
    }

    /// Returns true if the field, or one beneath it, has an example.
    fn is_written(self, field: &SpecField) -> bool {
        let mut paths = self.row.examples.iter().map(|(path, _)| path);
        paths.any(|path| *path == field.path || is_beneath(path, field.path))
    }

    /// Returns the lines of fields with their meanings. In a comment, all of them are written.
    fn fields(self, mut fields: Vec<&SpecField>, in_comment: bool) -> Vec<String> {
        if !in_comment {
            // The first line of an item carries its dash.
            fields.sort_by_key(|field| field.path.contains("[]") && !self.is_written(field));
        }
        fields.into_iter().flat_map(|field| self.field(field, in_comment)).collect()
    }

    fn field(self, field: &SpecField, in_comment: bool) -> Vec<String> {
        let explained = of_field(self.row, self.schema, field);
        let meaning = wrap(&explained.meaning, COMMENT_WIDTH);
        let mut lines: Vec<String> = indent("# ", meaning);
        match (in_comment, self.example(field)) {
            (false, Some(value)) => {
                lines.push(format!("{}: {value}", last_name(field)));
                if !self.children(field.path).is_empty() {
                    lines.push("# Or:".to_owned());
                    lines.extend(indent("#", self.block(field, &explained, true)));
                }
            }
            (false, None) if !self.is_written(field) => {
                lines.extend(indent("#", self.block(field, &explained, true)));
            }
            (in_comment, _) => lines.extend(self.block(field, &explained, in_comment)),
        }
        lines
    }

    /// Returns a field without an example: with the fields beneath it, or with a placeholder.
    fn block(self, field: &SpecField, explained: &Explanation, in_comment: bool) -> Vec<String> {
        let (name, children) = (last_name(field), self.children(field.path));
        if children.is_empty() {
            return vec![format!("{name}: {}", placeholder(explained))];
        }
        let is_list = children.iter().any(|child| is_item(child, field));
        let inner = self.fields(children, in_comment);
        let inner = if is_list { item(inner) } else { indent("  ", inner) };
        [format!("{name}:")].into_iter().chain(inner).collect()
    }
}

/// Returns true if a field belongs to the items of a list.
fn is_item(child: &SpecField, list: &SpecField) -> bool {
    child.path.strip_prefix(list.path).is_some_and(|rest| rest.starts_with("[]"))
}

fn last_name(field: &SpecField) -> &str {
    let name = field.path.rsplit('.').next().unwrap_or(field.path);
    name.trim_end_matches("[]")
}

fn indent(prefix: &str, lines: Vec<String>) -> Vec<String> {
    lines.into_iter().map(|line| format!("{prefix}{line}")).collect()
}

/// Indents the lines of an item of a list, with a dash at the first that is no comment.
fn item(lines: Vec<String>) -> Vec<String> {
    let first = lines.iter().position(|line| !line.starts_with('#'));
    let prefix = |at: usize| if Some(at) == first { "  - " } else { "    " };
    lines.into_iter().enumerate().map(|(at, line)| format!("{}{line}", prefix(at))).collect()
}

/// Returns text as a YAML scalar, in quotes where it would have another type without them.
fn scalar(text: &str) -> String {
    serde_yaml::to_string(text).map_or_else(|_| text.to_owned(), |text| text.trim_end().to_owned())
}

fn variable(prefix: &str, key: &Key) -> String {
    let name = key.name.as_str().to_uppercase().replace(['-', '.'], "_");
    format!("{prefix}_{name}")
}

/// Returns a value that shows the form of a field.
fn placeholder(explained: &Explanation) -> String {
    let Explanation { default, allowed, value_type, .. } = explained;
    match (default, allowed.first(), value_type.as_str()) {
        (Some(value), _, _) | (None, Some(value), _) => value.clone(),
        (None, None, "amount") => "\"125.00 USD\"".to_owned(),
        (None, None, "true or false") => "false".to_owned(),
        (None, None, "whole number") => "1".to_owned(),
        (None, None, other) => format!("<{other}>"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::register::{KINDS, find};
    use crate::kinds::testing::cx;

    fn rendered(kind: &str) -> String {
        let values = TemplateValues {
            key: format!("{kind}/it").parse().unwrap(),
            merchant: "acme".to_owned(),
            resource: "jane".to_owned(),
            plan: "basic".to_owned(),
            day: NaiveDate::from_ymd_opt(2030, 1, 1).unwrap(),
        };
        document(find(kind).unwrap(), &values)
    }

    #[test]
    fn the_document_of_each_kind_is_valid_and_names_each_field() {
        for row in KINDS {
            let text = rendered(row.name);
            let read = (row.read)(&text, &"default".parse().unwrap(), &cx());
            let read = read.unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
            assert_eq!(read.issues, Vec::new(), "{text}");
            for field in row.fields {
                let name = format!("{}:", last_name(field));
                assert!(text.contains(&name), "{}: {name}\n{text}", row.name);
            }
        }
    }

    #[test]
    fn comments_become_the_fields_that_they_show() {
        let charge = rendered("RecurringCharge");
        assert!(charge.contains("\n  #first_charge: scheduled\n"), "{charge}");
        let invoice = rendered("Invoice");
        let start = invoice.find("  # E-mails with").unwrap();
        let end = invoice.find("  # Files for").unwrap();
        let lines: Vec<&str> = invoice[start..end].lines().collect();
        assert_eq!(
            lines,
            [
                "  # E-mails with the portal link, sent when the invoice is created.",
                "  #invoice_messages:",
                "  #    # A list of at least one e-mail address.",
                "  #  - email_addresses: <list of texts>",
                "  #    # Replaces the service's subject.",
                "  #    subject: <text>",
                "  #    # Replaces the service's text.",
                "  #    message: <text>",
            ]
        );
    }
}
