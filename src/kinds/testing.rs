//! Helpers that the tests of the kinds share: they decode a document and render its issues, one per
//! line.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::base::hash::{canonical, sha256};
use crate::base::id::{Key, Kind, Name};
use crate::base::money::Currency;
use crate::kinds::register;
use crate::kinds::schema::kind::{
    AttachmentFiles, CheckCx, DecodeError, DecodedSpec, FileProblem, Stamp,
};
use crate::model::issue::{Issue, UnderlinedPart};
use crate::model::manifest::{Annotations, AttachedFile, Desired, DocumentPlace, Manifest};

pub(crate) fn cx() -> CheckCx {
    CheckCx {
        decimal_amounts_only: false,
        web_urls: vec!["https://web.example".to_owned()],
        currency: Currency::USD,
        plans: BTreeMap::from([("basic".to_owned(), false), ("trust".to_owned(), true)]),
        programs: None,
        variables: None,
        files: Some(Arc::new(Letters)),
    }
}

/// A folder with a few letters in it.
#[derive(Debug)]
struct Letters;

impl AttachmentFiles for Letters {
    fn inspect(&self, path: &str) -> Result<AttachedFile, FileProblem> {
        let name = path.strip_prefix("letters/").ok_or_else(|| FileProblem {
            code: "reckon::file::unreadable",
            message: format!("`{path}` is not there"),
            help: "put it there".to_owned(),
        })?;
        let (path, sha256) = (path.to_owned(), sha256(name.as_bytes()));
        Ok(AttachedFile { path, name: name.to_owned(), size: 9, sha256 })
    }

    fn stamp(&self, _: &str) -> Option<Stamp> {
        None
    }
}

pub(crate) fn document(kind: &str, spec: &str) -> String {
    let spec = spec.replace('\n', "\n  ");
    format!("apiVersion: reckon.dev/v1\nkind: {kind}\nmetadata:\n  name: it\nspec:\n  {spec}\n")
}

pub(crate) fn read_in(
    kind: &str,
    spec: &str,
    cx: &CheckCx,
) -> Result<DecodedSpec, Vec<DecodeError>> {
    let row = register::find(kind).unwrap();
    (row.read)(&document(kind, spec), &Name::default_namespace(), cx)
}

/// Returns every issue of a document: `code @ path: message | help`, with `(key)` where the name is
/// underlined.
pub(crate) fn problems(kind: &str, spec: &str) -> String {
    match read_in(kind, spec, &cx()) {
        Ok(read) => lines(&read.issues),
        Err(misfits) => misfit_lines(&misfits),
    }
}

fn misfit_lines(misfits: &[DecodeError]) -> String {
    lines(&misfits.iter().map(DecodeError::issue).collect::<Vec<_>>())
}

pub(crate) fn lines(issues: &[Issue]) -> String {
    let lines: Vec<String> = issues.iter().map(line).collect();
    lines.join("\n")
}

fn line(issue: &Issue) -> String {
    let Issue { code, severity: _, path, underlined: at, message, help, related } = issue;
    let at = match at {
        UnderlinedPart::Key => " (key)",
        UnderlinedPart::Value => "",
    };
    let related = related.iter().map(|related| {
        let key = related.key.as_ref().map(|key| format!("{key} ")).unwrap_or_default();
        format!("\n  {key}{}: {}", related.path, related.message)
    });
    format!("{code} @ {path}{at}: {message} | {help}{}", related.collect::<Vec<_>>().concat())
}

/// Returns the canonical form of a document without issues, compact.
pub(crate) fn good(kind: &str, spec: &str) -> Value {
    let read = read_in(kind, spec, &cx()).map_err(|misfits| misfit_lines(&misfits)).unwrap();
    assert_eq!(lines(&read.issues), "");
    read.spec
}

/// Returns the same as a manifest `name` in the namespace `default`.
pub(crate) fn manifest(kind: &str, name: &str, spec: &str) -> Arc<Manifest> {
    let read = read_in(kind, spec, &cx()).map_err(|misfits| misfit_lines(&misfits)).unwrap();
    assert_eq!(lines(&read.issues), "");
    let key = Key::new(Kind::new(kind), &Name::default_namespace(), &name.parse().unwrap());
    Arc::new(Manifest {
        key,
        labels: BTreeMap::new(),
        annotations: Annotations::default(),
        digest: sha256(&canonical(&read.spec)),
        spec: read.spec,
        references: read.references,
        files: read.files.into_iter().filter_map(|one| one.file).collect(),
        place: DocumentPlace { file: Arc::from("it.yaml"), line: 1, offset: 0, length: 0 },
    })
}

/// Returns the issues between the first document and the others.
pub(crate) fn link_problems(documents: &[Arc<Manifest>]) -> String {
    let first = &documents[0];
    let pack = |one: &Arc<Manifest>| Arc::new(Manifest::clone(one).pack());
    let manifests = documents.iter().map(|one| (one.key.clone(), pack(one))).collect();
    let desired = Desired { manifests, ..Desired::default() };
    lines(&(register::find(first.key.kind.as_str()).unwrap().check_links)(&pack(first), &desired))
}
