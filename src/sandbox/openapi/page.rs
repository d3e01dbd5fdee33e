//! The page that shows the `OpenAPI` document to people, with an example of each body, generated
//! from its schema.

use std::collections::BTreeMap;

use http::StatusCode;
use maud::{Markup, html};
use serde_json::Value;

use crate::base::json_schema::example::{example, resolve_ref, value_at};
use crate::sandbox::answer::SandboxAnswer;
use crate::sandbox::pages::SandboxPage;

pub(crate) const DOCUMENT: &str = "/openapi.json";
/// Maximum depth of the fields shown; deeper fields are in the document.
const DEPTH_MAX: usize = 3;

struct ListedOperation<'a> {
    method: String,
    path: &'a str,
    operation: &'a Value,
}

pub(super) fn show(brand: &str, document: &Value) -> SandboxAnswer {
    let mut groups: BTreeMap<&str, Vec<ListedOperation<'_>>> = BTreeMap::new();
    for (path, methods) in value_at(document, "/paths").as_object().into_iter().flatten() {
        for (method, said) in methods.as_object().into_iter().flatten() {
            let listed =
                ListedOperation { method: method.to_ascii_uppercase(), path, operation: said };
            groups.entry(text_at(said, "/tags/0")).or_default().push(listed);
        }
    }
    let components = value_at(document, "/components");
    let inner = html! {
        p { (text_at(document, "/info/description")) }
        p.quiet { "For programs: " a href=(DOCUMENT) { "OpenAPI 3.1" } }
        div.search hidden {
            label for="search" { "Search" }
            input #search type="search" placeholder="refund, token, /v1/cards" autocomplete="off";
            span.hint #found role="status" {}
        }
        nav aria-label="Operations" {
            ul.index {
                @for (tag, all) in &groups {
                    li { a href={ "#" (tag) } { (tag.replace('_', " ")) } " " span.hint { (all.len()) } }
                }
            }
        }
        @for (tag, all) in &groups {
            section.group {
                h2 id=(tag) { (tag.replace('_', " ")) }
                @for one in all { (section(one, components)) }
            }
        }
    };
    let page = SandboxPage::new(brand, "API reference", inner);
    page.scripts(&["/assets/search.js"]).answer(StatusCode::OK)
}

fn section(one: &ListedOperation<'_>, components: &Value) -> Markup {
    let ListedOperation { method, path, operation: said } = one;
    let credential = value_at(said, "/security/0").as_object().and_then(|all| all.keys().next());
    let taken = value_at(said, "/requestBody/content/application~1json/schema");
    let given = ["200", "204"].into_iter().find_map(|status| {
        let answer = value_at(said, "/responses").get(status)?;
        Some(value_at(answer, "/content/application~1json/schema"))
    });
    let all = value_at(said, "/responses").as_object().into_iter().flatten();
    let statuses: Vec<&str> = all.map(|(status, _)| status.as_str()).collect();
    html! {
        details.operation id=(text_at(said, "/operationId")) {
            summary {
                code.method { (method) } " " code { (path) }
                span.hint { (render_text(text_at(said, "/summary"))) }
            }
            p.quiet { "Credential: " code { (credential.map_or("none", String::as_str)) } }
            (parameters(value_at(said, "/parameters")))
            (body("Request", taken, components))
            @if !taken.is_null() { (sample("Example of a request", taken, components)) }
            (body("Answer", given.unwrap_or(&Value::Null), components))
            @if let Some(given) = given.filter(|given| !given.is_null()) {
                (sample("Example of an answer", given, components))
            }
            p.quiet { "Statuses: " (statuses.join(", ")) }
        }
    }
}

fn sample(title: &str, schema: &Value, components: &Value) -> Markup {
    let shown = serde_json::to_string_pretty(&example(schema, components)).unwrap_or_default();
    html! { p { b { (title) } } pre { (shown) } }
}

fn parameters(all: &Value) -> Markup {
    let rows = all.as_array().into_iter().flatten().map(|one| {
        let is_path = text_at(one, "/in") == "path";
        let meaning = if is_path { "in the path" } else { text_at(one, "/description") };
        let is_required = *value_at(one, "/required") == true;
        row(0, text_at(one, "/name"), value_at(one, "/schema"), is_required, meaning)
    });
    let rows: Vec<Markup> = rows.collect();
    table("Parameters", &rows)
}

fn body(title: &str, schema: &Value, components: &Value) -> Markup {
    let mut rows = Vec::new();
    fields(&mut rows, schema, components, 0);
    match (rows.as_slice(), schema) {
        (_, Value::Null) => html! {},
        ([], schema) => html! { p { b { (title) } ": " (kind(schema)) } },
        (rows, _) => table(title, rows),
    }
}

fn fields(rows: &mut Vec<Markup>, schema: &Value, components: &Value, depth: usize) {
    if depth >= DEPTH_MAX {
        return;
    }
    let schema = resolve_ref(schema, components);
    if let Some(items) = schema.get("items") {
        return fields(rows, items, components, depth);
    }
    for choice in schema.get("anyOf").and_then(Value::as_array).into_iter().flatten() {
        fields(rows, choice, components, depth);
    }
    let required = value_at(schema, "/required").as_array();
    for (name, field) in value_at(schema, "/properties").as_object().into_iter().flatten() {
        let needed = required.is_some_and(|all| all.iter().any(|one| one == name));
        let meaning = text_at(field, "/description");
        rows.push(row(depth, name, resolve_ref(field, components), needed, meaning));
        fields(rows, field, components, depth.saturating_add(1));
    }
}

fn row(depth: usize, name: &str, schema: &Value, required: bool, meaning: &str) -> Markup {
    html! {
        tr {
            td class={ "named deep-" (depth) } { code { (name) } }
            td { (kind(schema)) }
            td { @if required { "required" } }
            td { (render_text(meaning)) }
        }
    }
}

fn table(title: &str, rows: &[Markup]) -> Markup {
    html! {
        @if !rows.is_empty() {
            div.scroll tabindex="0" {
                table {
                    caption { (title) }
                    thead { tr { th { "Name" } th { "Holds" } th { "Needed" } th { "Meaning" } } }
                    tbody { @for row in rows { (row) } }
                }
            }
        }
    }
}

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

/// Renders a text; words between backticks become code.
fn render_text(text: &str) -> Markup {
    html! {
        @for (number, part) in text.split('`').enumerate() {
            @if number.is_multiple_of(2) { (part) } @else { code { (part) } }
        }
    }
}

/// Returns the text at a JSON pointer; empty if there is none.
fn text_at<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value_at(value, pointer).as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::render_text;

    #[test]
    fn words_between_backticks_are_code_and_nothing_is_markup() {
        let shown = render_text("Is `<card>`, or `bank`.").into_string();
        assert_eq!(shown, "Is <code>&lt;card&gt;</code>, or <code>bank</code>.");
    }
}
