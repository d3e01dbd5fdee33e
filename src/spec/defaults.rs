//! Documents of the kind `Defaults`: values that documents of a folder, and of the folders below,
//! leave out. A `Defaults` document is no resource: it has no name, no annotation and no amount.
//!
//! Guarantees: a value of a document itself always wins. The form of the document after the
//! addition is that of one which has the values itself, so every later part sees the same.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::json;
use serde_yaml::Value as YamlValue;

use crate::base::id::Name;
use crate::base::wording;
use crate::kinds::merchant::zone;
use crate::kinds::row::KindRow;
use crate::model::issue::{Issue, Path};
use crate::spec::default_fields::{DEFAULTS, FIELDS, LABELS, MEANING, MERCHANT, TIMEZONE};
use crate::spec::explain::Explanation;
use crate::spec::header::{API_VERSION, UNKNOWN_FIELD};
use crate::spec::text::node::{Node, NodeEntry, NodeValue};

/// The values of one `Defaults` document, or of all that apply to a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FolderDefaults {
    merchant: Option<String>,
    timezone: Option<String>,
    labels: BTreeMap<String, String>,
}

/// The values that apply to the documents of a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EffectiveDefaults {
    pub values: FolderDefaults,
    /// True if a document with more or other values may exist and cannot be read. Documents that
    /// leave a value out are then not used.
    pub uncertain: bool,
}

impl FolderDefaults {
    /// Adds the values of a folder further inside, which win.
    pub(crate) fn add(&mut self, inner: &Self) {
        self.merchant = inner.merchant.clone().or_else(|| self.merchant.take());
        self.timezone = inner.timezone.clone().or_else(|| self.timezone.take());
        self.labels.extend(inner.labels.clone());
    }

    fn fields(&self, row: &KindRow) -> impl Iterator<Item = (&'static str, Option<&str>)> {
        let all = [(MERCHANT, self.merchant.as_deref()), (TIMEZONE, self.timezone.as_deref())];
        let has = |name: &str| row.fields.iter().any(|field| field.path == name);
        let fitting: Vec<_> = all.into_iter().filter(|(name, _)| has(name)).collect();
        fitting.into_iter()
    }
}

impl EffectiveDefaults {
    /// Adds the missing values to a spec; returns true if a missing value is uncertain.
    pub(crate) fn add_to_values(&self, row: &KindRow, spec: &mut YamlValue) -> bool {
        let YamlValue::Mapping(spec) = spec else { return false };
        let mut missing = false;
        for (name, value) in self.values.fields(row) {
            if spec.contains_key(name) {
                continue;
            }
            missing = true;
            if let Some(value) = value {
                spec.insert(name.into(), value.into());
            }
        }
        missing && self.uncertain
    }

    /// Adds the missing values to a document's text; returns the new text where there is one, and
    /// true if a missing value is uncertain. `start` is the place of the text in the file of `root`.
    pub(crate) fn add_to_text(
        &self,
        row: &KindRow,
        (root, text, start): (&Node, &str, usize),
    ) -> (Option<String>, bool) {
        let Some(spec) = root.get("spec") else { return (None, self.uncertain) };
        let missing = self.values.fields(row).filter(|(name, _)| spec.entry(name).is_none());
        let missing: Vec<_> = missing.collect();
        let lines: Vec<String> = missing
            .iter()
            .filter_map(|(name, value)| Some(format!("{name}: {}", json!((*value)?))))
            .collect();
        let uncertain = self.uncertain && !missing.is_empty();
        let first = spec.entries().first().filter(|_| !lines.is_empty());
        let text = first.and_then(|first| insert(text, start, (&spec.span, first), &lines));
        (text, uncertain)
    }

    /// Returns the labels of a document with these labels of its own.
    pub(crate) fn labels(&self, own: BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut labels = self.values.labels.clone();
        labels.extend(own);
        labels
    }
}

/// Inserts fields before the first field of a mapping, in its own style.
fn insert(
    text: &str,
    start: usize,
    (mapping, first): (&Range<usize>, &NodeEntry),
    fields: &[String],
) -> Option<String> {
    let at = first.key_span.start.checked_sub(start)?;
    let (before, after) = text.split_at_checked(at)?;
    let opened = text.get(mapping.start.checked_sub(start)?..)?.starts_with('{');
    if opened {
        return Some(format!("{before}{}, {after}", fields.join(", ")));
    }
    let indent = before.rsplit('\n').next().filter(|line| line.trim().is_empty())?;
    Some(format!("{before}{}\n{indent}{after}", fields.join(&format!("\n{indent}"))))
}

/// Returns true if a document calls itself `Defaults`.
pub(crate) fn is_defaults(root: &Node) -> bool {
    root.get("kind").and_then(Node::text) == Some(DEFAULTS)
}

/// Reads the values of a document, and its issues.
pub(crate) fn read_defaults(root: &Node) -> (FolderDefaults, Vec<Issue>) {
    let mut reader = DefaultsReader { issues: Vec::new() };
    reader.report_unknown(root, "", &["apiVersion", "kind", "spec"]);
    if root.get("apiVersion").and_then(Node::text) != Some(API_VERSION) {
        let help = format!("write `apiVersion: {API_VERSION}`");
        let what = "`apiVersion` is missing or unknown";
        reader.report("reckon::header::api_version", "apiVersion", what, &help);
    }
    let Some(spec) = root.get("spec").filter(|spec| matches!(spec.value, NodeValue::Map(_))) else {
        let what = "`spec` is missing, or no mapping";
        reader.report("reckon::defaults::value", "spec", what, "write `spec: {merchant: NAME}`");
        return (FolderDefaults::default(), reader.issues);
    };
    reader.report_unknown(spec, "spec", &FIELDS.map(|(name, ..)| name));
    let values = FolderDefaults {
        merchant: reader.merchant(spec),
        timezone: reader.timezone(spec),
        labels: reader.labels(spec),
    };
    (values, reader.issues)
}

struct DefaultsReader {
    issues: Vec<Issue>,
}

impl DefaultsReader {
    fn report(&mut self, code: &'static str, path: &str, message: &str, help: &str) {
        self.issues.push(Issue::error(code, path, message, help));
    }

    fn report_unknown(&mut self, node: &Node, path: &str, known: &[&'static str]) {
        for entry in node.entries().iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let message = format!("`Defaults` has no field `{}`", entry.key);
            let help = wording::suggestion_help(&entry.key, known.iter().copied());
            let issue = Issue::error(UNKNOWN_FIELD, "", message, help).underline_key();
            self.issues.push(Issue { path: Path::parse(path).key(&entry.key), ..issue });
        }
    }

    /// Returns the text of a field; reports one of another type.
    fn text(&mut self, spec: &Node, name: &str) -> Option<String> {
        let entry = spec.entry(name)?;
        let text = entry.value.text().filter(|text| !text.is_empty());
        if text.is_none() {
            let what = format!("`{name}` must be text");
            let path = format!("spec.{name}");
            self.report("reckon::defaults::value", &path, &what, "write one text, or no field");
        }
        text.map(str::to_owned)
    }

    fn merchant(&mut self, spec: &Node) -> Option<String> {
        let text = self.text(spec, MERCHANT)?;
        let parts: Vec<_> = text.split('/').map(str::parse::<Name>).collect();
        if parts.len() > 2 || parts.iter().any(Result::is_err) {
            let what = format!("`{text}` cannot name a merchant");
            let help = "write the name of a Merchant document, or NAMESPACE/NAME";
            self.report("reckon::defaults::value", "spec.merchant", &what, help);
            return None;
        }
        Some(text)
    }

    fn timezone(&mut self, spec: &Node) -> Option<String> {
        let text = self.text(spec, TIMEZONE)?;
        let issue = zone::issue("spec.timezone", &text);
        let good = issue.is_none();
        self.issues.extend(issue);
        good.then_some(text)
    }

    fn labels(&mut self, spec: &Node) -> BTreeMap<String, String> {
        let Some(node) = spec.get(LABELS) else { return BTreeMap::new() };
        let mut labels = BTreeMap::new();
        let mut good = matches!(node.value, NodeValue::Map(_));
        for entry in node.entries() {
            match entry.value.text() {
                Some(text) => drop(labels.insert(entry.key.clone(), text.to_owned())),
                None => good = false,
            }
        }
        if !good {
            let what = "`labels` must be a mapping of texts";
            self.report("reckon::defaults::value", "spec.labels", what, "write `{team: books}`");
        }
        labels
    }
}

/// Explains these documents, or one of their fields.
///
/// # Errors
/// There is no such field; the text names the nearest one.
pub fn explain(path: &str) -> Result<Explanation, String> {
    let of = |(name, kind, meaning): (&str, &str, &str)| Explanation {
        kind: DEFAULTS,
        path: name.to_owned(),
        meaning: meaning.to_owned(),
        value_type: kind.to_owned(),
        ..Explanation::default()
    };
    if path.is_empty() || path == "spec" {
        let fields = FIELDS.map(of).to_vec();
        return Ok(Explanation { fields, ..of(("", "mapping", MEANING)) });
    }
    let name = path.strip_prefix("spec.").unwrap_or(path);
    let found = FIELDS.into_iter().find(|(field, ..)| *field == name);
    found.map(of).ok_or_else(|| wording::suggestion_help(name, FIELDS.map(|(name, ..)| name)))
}

/// Returns a new document, with the name of the merchant.
pub fn template(merchant: &str) -> String {
    format!(
        "# Values for the documents of this folder and of the folders below that leave them out.\n\
        apiVersion: {API_VERSION}\nkind: {DEFAULTS}\nspec:\n  merchant: {merchant}\n  \
        # timezone: Europe/Berlin\n  # labels: {{team: books}}\n"
    )
}

#[cfg(test)]
mod tests;
