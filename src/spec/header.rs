//! The form of every document: `apiVersion`, `kind` and `metadata`, and the JSON Schemas, one for
//! each kind, and one of all.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::base::decode::problem::DecodeProblem;
use crate::base::id::{Key, Kind, NAME_LENGTH_MAX, Name};
use crate::base::wording;
use crate::kinds::json_schema::DRAFT;
use crate::kinds::row::KindRow;
use crate::kinds::schema::kind::DecodeError;
use crate::model::issue::{Issue, Path, PathSegment};
use crate::model::manifest::Annotations;
use crate::spec;
use crate::spec::annotations::ANNOTATION_NAMES as ANNOTATIONS;
use crate::spec::default_fields::{self, DEFAULTS};
use crate::spec::text::node::{Node, NodeEntry, NodeValue};

pub const API_VERSION: &str = "reckon.dev/v1";

/// The fields of every document, all of them required.
const TOP_FIELDS: [&str; 4] = ["apiVersion", "kind", "metadata", "spec"];
pub(crate) const UNKNOWN_FIELD: &str = "reckon::header::unknown_field";
const SPEC: &str = "spec";
const METADATA_FIELDS: [&str; 4] = ["name", "namespace", "labels", "annotations"];

#[derive(Debug, Default)]
pub(crate) struct DocumentHead {
    pub(crate) row: Option<&'static KindRow>,
    pub(crate) key: Option<Key>,
    pub(crate) namespace: Option<Name>,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) annotations: Annotations,
    pub(crate) issues: Vec<Issue>,
}

/// Reads the head; reports issues even for a text that is no document.
pub(crate) fn read_head(kinds: &'static [KindRow], root: Option<&Node>) -> DocumentHead {
    let mut header = DocumentHead::default();
    let Some(root) = root.filter(|root| matches!(root.value, NodeValue::Map(_))) else {
        header.issues.push(Issue::error(
            "reckon::header::not_a_mapping",
            "",
            "a document is a mapping with `apiVersion`, `kind`, `metadata` and `spec`",
            "start it with `apiVersion: reckon.dev/v1`",
        ));
        return header;
    };
    header.report_unknown(root.entries(), &Path::default(), &TOP_FIELDS);
    header.api_version(root);
    header.kind(kinds, root);
    header.metadata(root);
    header
}

impl DocumentHead {
    fn report_unknown(&mut self, entries: &[NodeEntry], parent: &Path, known: &[&'static str]) {
        for entry in entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let message = format!("unknown field `{}`", entry.key);
            let help = wording::suggestion_help(&entry.key, known.iter().copied());
            let issue = Issue::error(UNKNOWN_FIELD, "", message, help);
            self.issues.push(Issue { path: parent.key(&entry.key), ..issue }.underline_key());
        }
    }

    fn api_version(&mut self, root: &Node) {
        match root.get("apiVersion").and_then(Node::text) {
            Some(API_VERSION) => {}
            Some(other) => self.issues.push(Issue::error(
                "reckon::header::api_version",
                "apiVersion",
                format!("unknown version `{other}`"),
                format!("write `{API_VERSION}`"),
            )),
            None => self.report_missing("apiVersion", "`apiVersion: reckon.dev/v1`"),
        }
    }

    fn kind(&mut self, kinds: &'static [KindRow], root: &Node) {
        let Some(word) = root.get("kind").and_then(Node::text) else {
            let names: Vec<_> = kinds.iter().map(|row| row.name).collect();
            self.report_missing("kind", &format!("`kind: {}`", names.join(" | ")));
            return;
        };
        self.row = kinds.iter().find(|row| row.name == word);
        if self.row.is_none() {
            self.issues.push(Issue::error(
                "reckon::header::unknown_kind",
                "kind",
                format!("unknown kind `{word}`"),
                wording::suggestion_help(word, kinds.iter().map(|row| row.name).chain([DEFAULTS])),
            ));
        }
    }

    fn metadata(&mut self, root: &Node) {
        let Some(metadata) = root.get("metadata").filter(|node| !node.is_null()) else {
            self.report_missing("metadata", "`metadata: {name: …}`");
            return;
        };
        if !matches!(metadata.value, NodeValue::Map(_)) {
            let help = "write `metadata: {name: …}`";
            return self.report_wrong_type("metadata", "`metadata` must be a mapping", help);
        }
        self.report_unknown(metadata.entries(), &Path::parse("metadata"), &METADATA_FIELDS);
        let name = self.name(metadata, "name");
        if name.is_none() && metadata.present("name").is_none() {
            self.report_missing("metadata.name", "`name: …` beneath `metadata`");
        }
        let given = metadata.present("namespace").is_some();
        self.namespace = self.name(metadata, "namespace");
        if !given {
            self.namespace = Some(Name::default_namespace());
        }
        self.key = self
            .row
            .zip(self.namespace.as_ref())
            .zip(name.as_ref())
            .map(|((row, namespace), name)| Key::new(Kind::new(row.name), namespace, name));
        self.labels = self.texts(metadata, "labels");
        self.annotations(metadata);
    }

    fn name(&mut self, metadata: &Node, field: &str) -> Option<Name> {
        let node = metadata.get(field).filter(|node| !node.is_null())?;
        let path = format!("metadata.{field}");
        let Some(text) = node.text() else {
            self.report_wrong_type(&path, &format!("`{field}` must be text"), "write one word");
            return None;
        };
        match text.parse() {
            Ok(name) => Some(name),
            Err(error) => {
                let message = error.to_string();
                let (message, help) =
                    message.rsplit_once("; ").unwrap_or((&message, "write another name"));
                self.issues.push(Issue::error("reckon::header::name", &path, message, help));
                None
            }
        }
    }

    fn texts(&mut self, metadata: &Node, field: &str) -> BTreeMap<String, String> {
        let path = format!("metadata.{field}");
        let Some(node) = metadata.get(field).filter(|node| !node.is_null()) else {
            return BTreeMap::new();
        };
        if !matches!(node.value, NodeValue::Map(_)) {
            let message = format!("`{field}` must be a mapping of texts");
            self.report_wrong_type(&path, &message, "write `{key: value}`");
        }
        let mut texts = BTreeMap::new();
        for entry in node.entries() {
            match entry.value.text() {
                Some(text) => {
                    texts.insert(entry.key.clone(), text.to_owned());
                }
                None => self.issues.push(Issue {
                    path: Path::parse(&path).key(&entry.key),
                    ..Issue::error(
                        "reckon::header::not_text",
                        "",
                        format!("the value of `{}` is not text", entry.key),
                        "write a text, in quotes where it looks like something else",
                    )
                }),
            }
        }
        texts
    }

    fn annotations(&mut self, metadata: &Node) {
        let texts = self.texts(metadata, "annotations");
        let kind = self.row.map(|row| row.name);
        let namespace = self.namespace.clone().unwrap_or_else(Name::default_namespace);
        let (annotations, issues) = spec::annotations::read(&texts, kind, &namespace);
        self.annotations = annotations;
        self.issues.extend(issues);
    }

    fn report_missing(&mut self, path: &str, write: &str) {
        let field = path.rsplit('.').next().unwrap_or(path);
        let (message, help) = (format!("`{field}` is missing"), format!("write {write}"));
        let issue = Issue::error("reckon::header::missing", path, message, help);
        self.issues.push(issue.underline_key());
    }

    fn report_wrong_type(&mut self, path: &str, message: &str, help: &str) {
        self.issues.push(Issue::error("reckon::header::not_text", path, message, help));
    }
}

/// Drops a missing `spec` where an unknown field of the header was probably meant to be it.
pub(crate) fn without_mistyped_spec(
    mut misfits: Vec<DecodeError>,
    issues: &[Issue],
) -> Vec<DecodeError> {
    let is_spec = |issue: &Issue| match issue.path.0.as_slice() {
        [PathSegment::Key(name)] => wording::nearest(name, [SPEC]).is_some(),
        _ => false,
    };
    if issues.iter().any(|issue| issue.code == UNKNOWN_FIELD && is_spec(issue)) {
        let spec = DecodeProblem::MissingField { name: SPEC.to_owned() };
        misfits.retain(|misfit| misfit.path != "." || misfit.problem != spec);
    }
    misfits
}

/// The name of the schema that distinguishes by `kind`, and of its file.
pub const DOCUMENT: &str = "document";

/// Returns the schema below `spec`. It requires no value that `Defaults` may give.
fn spec_schema(row: &KindRow) -> Value {
    let mut schema = (row.schema)();
    let required = schema.get_mut("required").and_then(Value::as_array_mut);
    if let Some(names) = required {
        names.retain(|name| !default_fields::is_given(name));
    }
    schema
}

pub fn of_kind(row: &KindRow) -> Value {
    let spec = spec_schema(row);
    json!({
        "$schema": DRAFT,
        "title": row.name,
        "description": spec.get("description"),
        "type": "object",
        "properties": {
            "apiVersion": { "const": API_VERSION },
            "kind": { "const": row.name },
            "metadata": metadata(),
            "spec": spec,
        },
        "required": TOP_FIELDS,
        "additionalProperties": false,
    })
}

/// Returns the schema of `Defaults` documents.
pub fn of_defaults() -> Value {
    json!({
        "$schema": DRAFT,
        "title": DEFAULTS,
        "description": default_fields::MEANING,
        "type": "object",
        "properties": {
            "apiVersion": { "const": API_VERSION },
            "kind": { "const": DEFAULTS },
            "spec": default_fields::spec_schema(),
        },
        "required": ["apiVersion", "kind", "spec"],
        "additionalProperties": false,
    })
}

pub fn document(kinds: &[KindRow]) -> Value {
    let names = || kinds.iter().map(|row| row.name).chain([DEFAULTS]);
    let specs = kinds.iter().map(|row| (row.name.to_owned(), spec_schema(row)));
    let specs = specs.chain([(DEFAULTS.to_owned(), default_fields::spec_schema())]);
    let kind = json!({ "kind": { "const": DEFAULTS } });
    let defaults = json!({ "properties": kind, "required": ["kind"] });
    let other = json!({ "required": ["metadata"] });
    let bare = json!({ "properties": { "metadata": false } });
    let choices = [json!({ "if": defaults, "then": bare, "else": other })];
    let choices: Vec<Value> = choices.into_iter().chain(names().map(choice)).collect();
    let names: Vec<&str> = names().collect();
    json!({
        "$schema": DRAFT,
        "title": "A document of reckon",
        "type": "object",
        "properties": {
            "apiVersion": { "const": API_VERSION },
            "kind": { "enum": names },
            "metadata": metadata(),
            "spec": { "type": "object" },
        },
        "required": ["apiVersion", "kind", "spec"],
        "additionalProperties": false,
        "allOf": choices,
        "$defs": specs.collect::<Map<_, _>>(),
    })
}

fn choice(name: &str) -> Value {
    json!({
        "if": { "properties": { "kind": { "const": name } }, "required": ["kind"] },
        "then": { "properties": { "spec": { "$ref": format!("#/$defs/{name}") } } },
    })
}

fn metadata() -> Value {
    let name = |what: &str| {
        json!({
            "description": what,
            "type": "string",
            "pattern": "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$",
            "maxLength": NAME_LENGTH_MAX,
        })
    };
    let text = json!({ "type": ["string", "number", "boolean"] });
    json!({
        "type": "object",
        "properties": {
            "name": name("The name of the document; together with kind and namespace it identifies the resource for \
                          ever."),
            "namespace": name("The namespace; `default` if it is left out."),
            "labels": {
                "description": "Texts of your own.",
                "type": ["object", "null"],
                "additionalProperties": text,
            },
            "annotations": annotations(&text),
        },
        "required": ["name"],
        "additionalProperties": false,
    })
}

/// Returns the schema of annotations: any other name is allowed, but no unknown one of ours.
fn annotations(text: &Value) -> Value {
    let ours: Vec<String> = ANNOTATIONS.iter().map(|name| format!("reckon.dev/{name}")).collect();
    let known = ours.iter().map(|name| (name.clone(), text.clone()));
    json!({
        "description": "Texts of your own, and those under `reckon.dev/`.",
        "type": ["object", "null"],
        "properties": known.collect::<Map<_, _>>(),
        "additionalProperties": text,
        "propertyNames": {
            "anyOf": [{ "enum": ours }, { "not": { "pattern": "^reckon\\.dev/" } }],
        },
    })
}
