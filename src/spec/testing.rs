//! A few small kinds and a folder of files, for the tests of this module.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::base::decode::document::decode;
use crate::base::id::{Key, Kind, Name};
use crate::base::money::Currency;
use crate::kinds::contact;
use crate::kinds::decode_error;
use crate::kinds::row::KindRow;
use crate::kinds::schema::kind::{
    CheckCx, DecodeError, DecodedSpec, Mutability, Privacy, SpecField, UniqueField,
};
use crate::model::issue::Issue;
use crate::model::manifest::{Desired, Manifest, PackedManifest, Reference};
use crate::model::state::observed::Observed;
use crate::spec::document::ReadContext;
use crate::spec::tree::loader::Loader;

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Spec {
    total: Option<i64>,
    merchant: Option<String>,
    contact: Option<String>,
    first_name: Option<String>,
    number: Option<String>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "the shape of a whole document, of which the spec is read")]
struct Whole {
    #[serde(default, rename = "apiVersion")]
    version: serde::de::IgnoredAny,
    #[serde(default)]
    kind: serde::de::IgnoredAny,
    #[serde(default)]
    metadata: serde::de::IgnoredAny,
    spec: Spec,
}

const fn field(path: &'static str, privacy: Privacy) -> SpecField {
    SpecField { path, privacy, mutability: Mutability::LocalOnly, doc: "" }
}

const FIELDS: &[SpecField] = &[
    field("total", Privacy::Plain),
    field("merchant", Privacy::Plain),
    field("contact", Privacy::Plain),
    field("first_name", Privacy::Personal),
    field("number", Privacy::Secret),
];

const fn row(name: &'static str) -> KindRow {
    KindRow {
        name,
        fields: FIELDS,
        is_deletable: true,
        is_adoptable: true,
        has_doubtful_creation: false,
        schema: || serde_json::Value::Bool(true),
        read,
        read_values: |_, _, _| None,
        check_links,
        unique_field: sole,
        assume_applied: |cx, manifest| Observed::unknown(manifest.key.clone(), cx.now),
        ..contact::ROW
    }
}

static KINDS: &[KindRow] = &[row("Merchant"), row("Contact"), row("Invoice"), row("SavedMethod")];

fn read(yaml: &str, namespace: &Name, _cx: &CheckCx) -> Result<DecodedSpec, Vec<DecodeError>> {
    let Whole { spec, .. } =
        decode(yaml).map_err(|invalid| decode_error::decode_errors(FIELDS, invalid))?;
    let reference = |kind: &str, path: &str, name: &Option<String>| {
        let key = Key::new(Kind::new(kind), namespace, &name.as_ref()?.parse().ok()?);
        Some(Reference { path: path.to_owned(), key })
    };
    let references = [
        reference("Merchant", "spec.merchant", &spec.merchant),
        reference("Contact", "spec.contact", &spec.contact),
    ];
    let zero = (spec.total == Some(0)).then(|| {
        let name = spec.first_name.clone().unwrap_or_default();
        let message = format!("the total of `{name}` is 0");
        Issue::error("reckon::invoice::total_zero", "spec.total", message, "write an amount")
    });
    Ok(DecodedSpec {
        spec: serde_json::to_value(&spec).unwrap(),
        references: references.into_iter().flatten().collect(),
        issues: zero.into_iter().collect(),
        files: Vec::new(),
    })
}

/// Checks that an invoice's contact has the invoice's merchant.
fn check_links(manifest: &PackedManifest, desired: &Desired) -> Vec<Issue> {
    let contact = manifest.references.iter().find(|found| found.path == "spec.contact");
    let contact = contact.and_then(|found| desired.manifest(&found.key));
    let own = manifest.unpack().spec;
    let other = contact.filter(|contact| contact.spec["merchant"] != own["merchant"]);
    let issue = other.map(|contact| {
        Issue::error("reckon::invoice::merchants", "spec.contact", "another merchant", "write one")
            .with_related(Some(contact.key.clone()), "spec.merchant", "here")
    });
    issue.into_iter().collect()
}

/// Only one document of a tree may have the first name `only`.
fn sole(manifest: &Manifest) -> Option<&'static UniqueField> {
    static ONLY: UniqueField = UniqueField {
        code: "reckon::contact::second_only",
        path: "spec.first_name",
        message: "another document has it",
        help: "write another name",
        first: "the first one is here",
    };
    (manifest.spec["first_name"] == "only").then_some(&ONLY)
}

/// Returns the context for documents of the test's kinds.
pub(crate) fn cx() -> ReadContext {
    let currency = Currency::USD;
    let plans = std::collections::BTreeMap::new();
    let web_urls = Vec::new();
    let (programs, variables, files) = (None, None, None);
    let check = CheckCx {
        decimal_amounts_only: false,
        web_urls,
        currency,
        plans,
        programs,
        variables,
        files,
    };
    ReadContext { kinds: KINDS, check }
}

/// Returns a document of one line, and its line break.
pub(crate) fn document(kind: &str, name: &str, spec: &str) -> String {
    format!(
        "{{apiVersion: reckon.dev/v1, kind: {kind}, metadata: {{name: {name}}}, spec: {{{spec}}}}}\n"
    )
}

/// A folder of files.
pub(crate) struct Tree(tempfile::TempDir);

impl Tree {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            tree.write(path, text);
        }
        tree
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        std::fs::remove_file(self.root().join(path)).unwrap();
    }

    /// Returns a loader that has loaded everything.
    pub(crate) fn load(&self) -> Loader {
        let mut loader = Loader::new(self.root(), "specs", cx());
        loader.load_all();
        loader
    }
}
