//! Kinds of manifest, and what a check gets beside the document: attached files, and the
//! environment variables that a spec may read (`secrets.env` of `reckon.yaml`; design.md part 5).
//!
//! A kind has a file, a folder and one line in the register. The file defines its YAML, `step.rs` in
//! the folder the steps by which the service matches that YAML. Outside its folder a spec is canonical JSON;
//! inside it is a typed struct. There is no second `match` on kinds anywhere in the crate.
//!
//! A kind lists the files that a spec names. They are inspected through [`AttachmentFiles`] when
//! the document is read, and never loaded: only name, size and digest are kept. A file that changes
//! under an unchanged document resembles a secret behind an unchanged reference: objects already on
//! the service stay as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::base::decode::problem::DecodeProblem;
pub use crate::base::folder::Stat as Stamp;
use crate::base::id::Name;
use crate::base::money::Currency;
use crate::model::issue::Issue;
use crate::model::manifest::{AttachedFile, Desired, Manifest, PackedManifest, Reference};

/// Privacy of a field (design.md part 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privacy {
    Plain,
    /// Names, addresses, e-mail, phone: masked in all output for people.
    Personal,
    /// Card numbers, codes and keys: never shown, never stored in clear.
    Secret,
}

impl Privacy {
    pub const fn words(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Personal => "personal",
            Self::Secret => "secret",
        }
    }
}

/// Ability of the service to change a field after creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutability {
    /// The service changes the object in place.
    InPlace,
    /// The service changes the object in place, by a fresh one-time token of all its details.
    ReplaceByToken,
    /// The service cannot change it; the plan reports that at the field's line.
    Immutable,
    /// The field only steers `reckon`.
    LocalOnly,
}

impl Mutability {
    pub const ALL: [Self; 4] =
        [Self::InPlace, Self::ReplaceByToken, Self::Immutable, Self::LocalOnly];

    /// Returns what happens when the field of an existing object changes, in a sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::InPlace => "reckon changes the object at the service.",
            Self::ReplaceByToken => {
                "reckon changes the object by a fresh one-time token of all its details."
            }
            Self::Immutable => {
                "the service cannot change it. The plan reports that at the line of the field."
            }
            Self::LocalOnly => "the field only steers reckon. The service does not see it.",
        }
    }

    pub const fn words(self) -> &'static str {
        match self {
            Self::InPlace => "in place",
            Self::ReplaceByToken => "by a new one-time token",
            Self::Immutable => "never",
            Self::LocalOnly => "only in reckon",
        }
    }
}

/// Field of a kind, by its path below `spec` (`schedule.days`, `line_items[].description`). A field
/// covers everything beneath it that has no entry of its own.
#[derive(Debug, Clone, Copy)]
pub struct SpecField {
    /// The path below `spec`; `[]` matches any place in a sequence.
    pub path: &'static str,
    pub privacy: Privacy,
    pub mutability: Mutability,
    /// Meaning, unit and source, for `explain` and for help texts.
    pub doc: &'static str,
}

/// Table of [`SpecField`]s, one row each: `PRIVACY MUTABILITY "path": "doc";`.
macro_rules! spec_fields {
    ($($privacy:ident $mutability:ident $path:literal: $doc:literal;)*) => {
        &[$($crate::kinds::schema::kind::SpecField {
            path: $path,
            privacy: $crate::kinds::schema::kind::Privacy::$privacy,
            mutability: $crate::kinds::schema::kind::Mutability::$mutability,
            doc: $doc,
        }),*]
    };
}
pub(crate) use spec_fields;

/// The value of a field in a new document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Example {
    /// YAML, as it is written.
    Yaml(&'static str),
    /// The name of the merchant.
    Merchant,
    /// The name of a resource of this kind, of the same merchant.
    Resource(&'static str),
    /// A plan of `partner.plans`.
    Plan,
    /// A secret in an environment variable: this prefix and the name of the document.
    Variable(&'static str),
    /// A day in the near future.
    Day,
}

/// Fields of a new document with their values, by their paths below `spec`. All other fields are
/// written as comments.
pub type Examples = &'static [(&'static str, Example)];

#[derive(Debug, Clone)]
pub struct CheckCx {
    /// `policy.amounts: decimal` forbids integers of minor units.
    pub decimal_amounts_only: bool,
    /// The web hosts a merchant may name (`service.web_url` and `service.brands`).
    pub web_urls: Vec<String>,
    /// The currency assumed for an integer amount.
    pub currency: Currency,
    /// `partner.plans`: maps each plan to true if it is a trust plan. Empty: none was declared.
    pub plans: BTreeMap<String, bool>,
    /// The programs that may supply a secret (`secrets.exec`); `None` where unknown.
    pub programs: Option<Vec<String>>,
    /// The variables that may supply a secret (`secrets.env`); `None` where unknown.
    pub variables: Option<Variables>,
    /// The files that specs may name (`secrets.attachments`); `None` where none was opened.
    pub files: Option<Arc<dyn AttachmentFiles>>,
}

/// Kind of manifest: its YAML shape and the checks that need no service.
pub trait SpecSchema: 'static {
    /// Name in YAML.
    const NAME: &'static str;
    /// Every field, for masks, plans and help.
    const FIELDS: &'static [SpecField];
    /// The values of a new document, with each required field.
    const EXAMPLES: Examples;
    /// The typed spec. `Serialize` gives the canonical form: defaults filled in, empty left out.
    type Spec: DeserializeOwned + Serialize + JsonSchema;
    /// Returns the problems of one document by itself; paths begin with `spec`.
    fn check(spec: &Self::Spec, cx: &CheckCx) -> Vec<Issue>;
    /// Returns the resources that a spec refers to.
    fn references(_: &Self::Spec, _namespace: &Name) -> Vec<Reference> {
        Vec::new()
    }
    /// Returns the files that a spec names and does not contain.
    fn files(_: &Self::Spec) -> Vec<FileRef> {
        Vec::new()
    }
    /// Returns the problems between this document and the valid ones that it refers to.
    ///
    /// # Errors
    /// The spec is not in its canonical form.
    fn check_links(_: &PackedManifest, _: &Desired) -> Result<Vec<Issue>, serde_json::Error> {
        Ok(Vec::new())
    }
    /// Returns the property of the document that only one document of a tree may have.
    fn unique_field(_: &Manifest) -> Option<&'static UniqueField> {
        None
    }
}

/// Property that only one document of a tree may have. Every document but the first gets an issue.
#[derive(Debug, Clone, Copy)]
pub struct UniqueField {
    /// Stable code of the problem, which also identifies the property.
    pub code: &'static str,
    pub path: &'static str,
    pub message: &'static str,
    pub help: &'static str,
    pub first: &'static str,
}

/// Spec as its kind decoded it. `Debug` leaves the spec out: it may hold personal values.
#[derive(derive_more::Debug)]
#[debug("Read({references:?}, {issues:?})")]
pub struct DecodedSpec {
    pub spec: Value,
    pub references: Vec<Reference>,
    pub issues: Vec<Issue>,
    pub files: Vec<InspectedFile>,
}

/// One reason why a document does not fit its kind's shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeError {
    /// The path of the offending value or field, or of the mapping that lacks one.
    pub path: String,
    /// Byte offset of the fault in the document, where the YAML itself is broken.
    pub offset: Option<usize>,
    pub problem: DecodeProblem,
    pub doc: &'static str,
}

/// Inspects files beneath the one folder that the operator opened.
pub trait AttachmentFiles: fmt::Debug + Send + Sync {
    /// Returns the file at a path below the folder, unless it is missing or may not be used.
    fn inspect(&self, path: &str) -> Result<AttachedFile, FileProblem>;
    /// Returns the stamp of a file, without reading it; `None` if the file is missing.
    fn stamp(&self, path: &str) -> Option<Stamp>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProblem {
    pub code: &'static str,
    pub message: String,
    pub help: String,
}

/// File that a spec names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRef {
    /// The field, such as `spec.attachments[0].file`.
    pub field: String,
    /// The path below the opened folder.
    pub path: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InspectedFile {
    /// The path below the opened folder.
    pub path: String,
    pub stamp: Option<Stamp>,
    /// The file, if it may be used.
    pub file: Option<AttachedFile>,
}

fn no_folder() -> FileProblem {
    let message = "reckon.yaml opens no folder of attachments to specs".to_owned();
    let help =
        "write `secrets: {attachments: DIR}` in reckon.yaml, or the `fref_` id of an uploaded file";
    FileProblem { code: "reckon::file::closed", message, help: help.to_owned() }
}

/// Inspects the files that a spec names, and returns the problems. Without `files` none is allowed.
pub(crate) fn inspect_all(
    named: &[FileRef],
    files: Option<&dyn AttachmentFiles>,
) -> (Vec<InspectedFile>, Vec<Issue>) {
    let (mut looked, mut issues) = (Vec::new(), Vec::new());
    for FileRef { field, path } in named {
        let stamp = files.and_then(|files| files.stamp(path));
        let found = files.ok_or_else(no_folder).and_then(|files| files.inspect(path));
        let found = found.map_err(|FileProblem { code, message, help }| {
            issues.push(Issue::error(code, field, message, &help));
        });
        looked.push(InspectedFile { path: path.clone(), stamp, file: found.ok() });
    }
    (looked, issues)
}

/// Line of `secrets.env`: a name, or a prefix and `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvPattern {
    Exact(String),
    /// All variables with this prefix, which is never empty.
    Prefix(String),
}

impl EnvPattern {
    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Exact(exact) => name == exact,
            Self::Prefix(prefix) => name.starts_with(prefix),
        }
    }
}

/// Variables that specs may read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables {
    open: Vec<EnvPattern>,
    own: BTreeSet<String>,
}

impl Variables {
    /// Creates the set; `own`, the variables of the operator's file, stay closed in any case.
    pub fn new(open: Vec<EnvPattern>, own: BTreeSet<String>) -> Self {
        Self { open, own }
    }

    /// Returns whether a spec may name this variable.
    pub fn is_open(&self, name: &str) -> bool {
        !self.own.contains(name) && self.open.iter().any(|pattern| pattern.matches(name))
    }
}
