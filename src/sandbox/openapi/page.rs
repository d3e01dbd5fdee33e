//! The document as a page to read: an index, and one section for each operation.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::sandbox::mail::escape;
use crate::sandbox::openapi::DOCUMENT;
use crate::sandbox::pages::Page;

/// How deep the fields of a body are shown; what lies deeper is in the document.
const DEPTH_MAX: usize = 3;

/// An operation with its address.
struct Shown<'a> {
    method: String,
    path: &'a str,
    said: &'a Value,
}

/// The whole document.
pub(super) fn show<'a>(brand: &'a str, document: &Value) -> PageOf<'a> {
    let mut groups: BTreeMap<&str, Vec<Shown<'_>>> = BTreeMap::new();
    for (path, methods) in at(document, "/paths").as_object().into_iter().flatten() {
        for (method, said) in methods.as_object().into_iter().flatten() {
            let method = method.to_ascii_uppercase();
            groups.entry(text(at(said, "/tags/0"))).or_default().push(Shown { method, path, said });
        }
    }
    let about = escape(text(at(document, "/info/description")));
    let group = |(tag, operations): (&&str, &Vec<Shown<'_>>)| {
        let each = operations.iter().map(|one| section(one, at(document, "/components")));
        format!("<h2 id=\"{0}\">{0}</h2>{1}", escape(tag), each.collect::<String>())
    };
    let index = index(&groups);
    let groups: String = groups.iter().map(group).collect();
    let inner = format!(
        "<p>{about}</p><p class=\"quiet\">For programs: <a href=\"{DOCUMENT}\">OpenAPI 3.1</a></p>{index}{groups}"
    );
    PageOf { brand, inner }
}

/// The page, which its answer borrows from.
pub(super) struct PageOf<'a> {
    brand: &'a str,
    inner: String,
}

impl PageOf<'_> {
    pub(super) fn answer(&self, status: http::StatusCode) -> crate::sandbox::answer::Answer {
        let Self { brand, inner } = self;
        Page { brand, title: "What the service understands", inner, narrow: false, scripts: &[] }
            .answer(status)
    }
}

fn index(groups: &BTreeMap<&str, Vec<Shown<'_>>>) -> String {
    let link = |(tag, all): (&&str, &Vec<Shown<'_>>)| {
        let tag = escape(tag);
        format!("<li><a href=\"#{tag}\">{tag}</a> <span class=\"hint\">{}</span></li>", all.len())
    };
    let links: String = groups.iter().map(link).collect();
    format!("<nav aria-label=\"Operations\"><ul class=\"index\">{links}</ul></nav>")
}

fn section(one: &Shown<'_>, components: &Value) -> String {
    let Shown { method, path, said } = one;
    let (id, path) = (escape(text(at(said, "/operationId"))), escape(path));
    let summary = worded(text(at(said, "/summary")));
    let credential = at(said, "/security/0").as_object().and_then(|all| all.keys().next());
    let credential = credential.map_or("none", String::as_str);
    let parameters = parameters(at(said, "/parameters"));
    let taken = at(said, "/requestBody/content/application~1json/schema");
    let given = ["200", "204"].into_iter().find_map(|status| {
        let answer = at(said, "/responses").get(status)?;
        Some(at(answer, "/content/application~1json/schema"))
    });
    let taken = body("Request", taken, components);
    let given = body("Answer", given.unwrap_or(&Value::Null), components);
    let all = at(said, "/responses").as_object().into_iter().flatten();
    let statuses: Vec<&str> = all.map(|(status, _)| status.as_str()).collect();
    let statuses = statuses.join(", ");
    format!(
        "<details class=\"operation\" id=\"{id}\"><summary><code class=\"method\">{method}</code> \
         <code>{path}</code><span class=\"hint\">{summary}</span></summary>\
         <p class=\"quiet\">Credential: <code>{credential}</code></p>{parameters}{taken}{given}\
         <p class=\"quiet\">Statuses: {statuses}</p></details>"
    )
}

fn parameters(all: &Value) -> String {
    let Some(all) = all.as_array() else { return String::new() };
    let row = |one: &Value| {
        let kind = if text(at(one, "/in")) == "path" {
            "in the path"
        } else {
            text(at(one, "/description"))
        };
        row(0, text(at(one, "/name")), at(one, "/schema"), *at(one, "/required") == true, kind)
    };
    table("Parameters", &all.iter().map(row).collect::<String>())
}

/// The fields of a body.
fn body(title: &str, schema: &Value, components: &Value) -> String {
    let mut rows = String::new();
    fields(&mut rows, schema, components, 0);
    match (rows.as_str(), schema) {
        (_, Value::Null) => String::new(),
        ("", schema) => format!("<p><b>{title}</b>: {}</p>", escape(&kind(schema))),
        (rows, _) => table(title, rows),
    }
}

fn fields(rows: &mut String, schema: &Value, components: &Value, depth: usize) {
    if depth >= DEPTH_MAX {
        return;
    }
    let schema = resolved(schema, components);
    if let Some(items) = schema.get("items") {
        return fields(rows, items, components, depth);
    }
    for choice in schema.get("anyOf").and_then(Value::as_array).into_iter().flatten() {
        fields(rows, choice, components, depth);
    }
    let required: Vec<&str> = at(schema, "/required")
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (name, field) in at(schema, "/properties").as_object().into_iter().flatten() {
        let needed = required.contains(&name.as_str());
        let meaning = text(at(field, "/description"));
        rows.push_str(&row(depth, name, resolved(field, components), needed, meaning));
        fields(rows, field, components, depth.saturating_add(1));
    }
}

fn resolved<'a>(schema: &'a Value, components: &'a Value) -> &'a Value {
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
    name.map_or(schema, |name| at(components, "/schemas").get(name).unwrap_or(&Value::Null))
}

fn row(depth: usize, name: &str, schema: &Value, required: bool, meaning: &str) -> String {
    let need = if required { "required" } else { "" };
    format!(
        "<tr><td class=\"deep-{depth}\"><code>{}</code></td><td>{}</td><td>{need}</td><td>{}</td></tr>",
        escape(name),
        escape(&kind(schema)),
        worded(meaning)
    )
}

fn table(title: &str, rows: &str) -> String {
    format!(
        "<div class=\"scroll\"><table><caption>{title}</caption><thead><tr><th>Name</th><th>Holds</th><th></th>\
         <th>Meaning</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )
}

/// What a field holds, in a word or two.
fn kind(schema: &Value) -> String {
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        return words.join(" | ");
    }
    let name = match schema.get("type") {
        Some(Value::String(name)) => name.as_str(),
        Some(Value::Array(_)) => "array or null",
        _ if schema.get("anyOf").is_some() => "id or details",
        _ => "any",
    };
    match schema.get("format").and_then(Value::as_str) {
        Some(format @ ("date" | "date-time" | "email")) => format.to_owned(),
        Some(_) | None => name.to_owned(),
    }
}

/// A text as HTML: what stands between backticks is code.
fn worded(text: &str) -> String {
    let parts = text.split('`').map(escape).enumerate();
    let word = |(number, part): (usize, String)| {
        if number.is_multiple_of(2) { part } else { format!("<code>{part}</code>") }
    };
    parts.map(word).collect()
}

/// What stands at a JSON pointer; null where nothing does.
fn at<'a>(value: &'a Value, pointer: &str) -> &'a Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::worded;

    #[test]
    fn words_between_backticks_are_code_and_nothing_is_markup() {
        let shown = worded("Is `<card>`, or `bank`.");
        assert_eq!(shown, "Is <code>&lt;card&gt;</code>, or <code>bank</code>.");
    }
}
