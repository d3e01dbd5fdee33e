//! `apiVersion`, `kind` and `metadata`: the head of every document, whatever its kind.

use std::collections::BTreeMap;

use super::annotations;
use crate::base::id::{Key, Kind, Name};
use crate::base::wording;
use crate::kinds::register::KindRow;
use crate::model::issue::{Issue, Path};
use crate::model::manifest::Annotations;
use crate::spec::text::node::{Node, NodeEntry, NodeValue};

/// The only version.
pub const API_VERSION: &str = "reckon.dev/v1";

const TOP_FIELDS: [&str; 4] = ["apiVersion", "kind", "metadata", "spec"];
/// The code of an unknown field of the head.
pub(crate) const UNKNOWN_FIELD: &str = "reckon::header::unknown_field";
const METADATA_FIELDS: [&str; 4] = ["name", "namespace", "labels", "annotations"];

/// The content of a document's head.
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
pub(crate) fn read(kinds: &'static [KindRow], root: Option<&Node>) -> DocumentHead {
    let mut header = DocumentHead::default();
    let Some(root) = root.filter(|root| matches!(root.value, NodeValue::Map(_))) else {
        header.issues.push(not_a_mapping());
        return header;
    };
    header.report_unknown(root.entries(), &Path::default(), &TOP_FIELDS);
    header.api_version(root);
    header.kind(kinds, root);
    header.metadata(root);
    header
}

fn not_a_mapping() -> Issue {
    Issue::error(
        "reckon::header::not_a_mapping",
        "",
        "a document is a mapping with `apiVersion`, `kind`, `metadata` and `spec`",
        "start it with `apiVersion: reckon.dev/v1`",
    )
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
                wording::suggestion_help(word, kinds.iter().map(|row| row.name)),
            ));
        }
    }

    fn metadata(&mut self, root: &Node) {
        let Some(metadata) = root.get("metadata").filter(|node| !node.is_null()) else {
            self.report_missing("metadata", "`metadata: {name: …}`");
            return;
        };
        if !matches!(metadata.value, NodeValue::Map(_)) {
            self.report_wrong_type(
                "metadata",
                "`metadata` must be a mapping",
                "write `metadata: {name: …}`",
            );
            return;
        }
        self.report_unknown(metadata.entries(), &Path::parse("metadata"), &METADATA_FIELDS);
        let name = self.name(metadata, "name");
        if name.is_none() && metadata.get("name").is_none_or(Node::is_null) {
            self.report_missing("metadata.name", "`name: …` beneath `metadata`");
        }
        let given = metadata.get("namespace").is_some_and(|node| !node.is_null());
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
            self.report_wrong_type(
                &path,
                &format!("`{field}` must be a mapping of texts"),
                "write `{key: value}`",
            );
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
        let (annotations, issues) = annotations::read(&texts, kind, &namespace);
        self.annotations = annotations;
        self.issues.extend(issues);
    }

    fn report_missing(&mut self, path: &str, write: &str) {
        let field = path.rsplit('.').next().unwrap_or(path);
        self.issues.push(
            Issue::error(
                "reckon::header::missing",
                path,
                format!("`{field}` is missing"),
                format!("write {write}"),
            )
            .underline_key(),
        );
    }

    fn report_wrong_type(&mut self, path: &str, message: &str, help: &str) {
        self.issues.push(Issue::error("reckon::header::not_text", path, message, help));
    }
}
