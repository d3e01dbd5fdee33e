//! Rules for the HTML of every page, for tests of pages.
//!
//! Every referenced element exists, every input has a label, and no markup violates the pages'
//! policy.

use http::HeaderMap;

/// Returns the opening tags of a page, without their brackets.
fn tags(html: &str) -> impl Iterator<Item = &str> {
    html.split('<').skip(1).filter_map(|rest| rest.split_once('>')).map(|(tag, _)| tag)
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split('"').next()
}

fn is_input(tag: &str) -> bool {
    let name = tag.split(' ').next().unwrap_or_default();
    let is_shown = attribute(tag, "type") != Some("hidden");
    matches!(name, "input" | "select" | "textarea") && is_shown
}

/// Returns the addresses of this origin that a page links to.
pub(crate) fn links(html: &str) -> Vec<&str> {
    let all = tags(html).flat_map(|tag| {
        ["href", "src", "action"].into_iter().filter_map(|name| attribute(tag, name))
    });
    all.filter(|link| link.starts_with('/')).collect()
}

/// Returns the faults of a page.
pub(crate) fn faults(html: &str) -> Vec<String> {
    let ids: Vec<&str> = tags(html).filter_map(|tag| attribute(tag, "id")).collect();
    let labels: Vec<&str> = tags(html).filter_map(|tag| attribute(tag, "for")).collect();
    let mut faults = Vec::new();
    for (part, count) in
        [("<h1>", 1), ("<html lang=\"en\">", 1), ("name=\"viewport\"", 1), ("<main", 1)]
    {
        if html.matches(part).count() != count {
            faults.push(format!("{part} is not there once"));
        }
    }
    for tag in tags(html) {
        let described = attribute(tag, "aria-describedby").into_iter();
        let anchor = attribute(tag, "href").and_then(|link| link.strip_prefix('#'));
        for id in described.chain(anchor).chain(attribute(tag, "for")) {
            if ids.iter().filter(|known| **known == id).count() != 1 {
                faults.push(format!("{id} is not one element: {tag}"));
            }
        }
        let id = attribute(tag, "id").unwrap_or_default();
        if is_input(tag) && !labels.contains(&id) && attribute(tag, "aria-label").is_none() {
            faults.push(format!("no label: {tag}"));
        }
        if violates_policy(tag) {
            faults.push(format!("the policy stops it: {tag}"));
        }
    }
    faults
}

/// Returns whether a tag has styles or a script in an attribute.
fn violates_policy(tag: &str) -> bool {
    let names = ["style", "onclick", "onsubmit", "onload", "onchange"];
    names.into_iter().any(|name| attribute(tag, name).is_some())
}

/// Returns the rules that the headers of a page break.
pub(crate) fn broken_header_rules(headers: &HeaderMap) -> Vec<String> {
    let header =
        |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let policy = header("content-security-policy");
    let directives =
        ["default-src 'none'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"];
    let missing = directives.into_iter().filter(|one| !policy.contains(one)).map(str::to_owned);
    let others = [
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
        ("x-frame-options", "DENY"),
    ];
    let others = others.into_iter().filter(|(name, value)| header(name) != *value);
    // Both values name nothing to another origin.
    let is_quiet = ["no-referrer", "same-origin"].contains(&header("referrer-policy"));
    let referrer = (!is_quiet).then(|| "referrer-policy".to_owned());
    missing.chain(others.map(|(name, _)| name.to_owned())).chain(referrer).collect()
}
