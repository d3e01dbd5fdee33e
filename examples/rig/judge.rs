//! What the sandbox holds against what the documents say: nothing twice, nothing missing that is not told.
//!
//! It asks the sandbox itself, and finds things again by the names that the documents of the project fix (source ids and
//! marks), worked out here a second time.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use data_encoding::BASE32_NOPAD;
use http::Method;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::connection::Failed;
use crate::control;
use crate::settings::PARTNER;
use crate::stand::Stand;
use crate::tree::{Document, address};

/// The kinds that leave something at the service, and where the sandbox shows it.
const KINDS: [(&str, &str); 4] = [
    ("Contact", "contacts"),
    ("Invoice", "invoices"),
    ("SavedMethod", "cards"),
    ("RecurringCharge", "recurring_charges"),
];

/// What `reckon intents` says.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// By effect, how many intents wait for a person.
    held: BTreeMap<String, usize>,
    /// Resources with an intent that is not done.
    open: BTreeSet<String>,
    /// How often a resource was made again without proof.
    remade: BTreeMap<String, usize>,
}

impl Told {
    /// Reads the answer of `reckon intents -o json`.
    pub(crate) fn read(answer: &Value) -> Result<Self, Failed> {
        let list = |field: &str| -> Result<Vec<Value>, Failed> {
            let list = answer.get(field).and_then(Value::as_array).cloned();
            list.ok_or_else(|| format!("`intents` has no `{field}`").into())
        };
        let mut told = Self::default();
        for item in list("items")? {
            let word = |field: &str| item.get(field).map(plain).unwrap_or_default();
            let state = word("state").to_lowercase();
            if state.contains("held") {
                add(&mut told.held, word("effect"));
            }
            if !state.contains("done") {
                told.open.insert(word("key"));
            }
        }
        for item in list("remade")? {
            add(&mut told.remade, item.get("key").map(plain).unwrap_or_default());
        }
        Ok(told)
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn add(counts: &mut BTreeMap<String, usize>, key: String) {
    let count = counts.entry(key).or_default();
    *count = count.saturating_add(1);
}

/// How the documents of one kind fared.
#[derive(Debug, Default)]
struct Row {
    documents: usize,
    once: usize,
    remade: usize,
    doubled: Vec<String>,
    held: usize,
    blocked: usize,
    missing: Vec<String>,
    strangers: usize,
}

/// The comparison.
#[derive(Debug)]
pub(crate) struct Verdict {
    rows: Vec<(&'static str, Row)>,
    held: BTreeMap<String, usize>,
}

impl Verdict {
    /// Is nothing doubled, missing or foreign without having been told?
    pub(crate) fn is_good(&self) -> bool {
        self.rows
            .iter()
            .all(|(_, row)| row.doubled.is_empty() && row.missing.is_empty() && row.strangers == 0)
    }
}

/// Compares the sandbox with the documents.
pub(crate) async fn judge(stand: &Stand, tree: &[Document], told: Told) -> Result<Verdict, Failed> {
    let mut rows = Vec::new();
    // Places of documents that others cannot build upon.
    let mut stuck = BTreeSet::new();
    for (kind, path) in KINDS {
        let path = format!("/_sandbox/objects/{path}");
        let lines = control::ask(stand.sandbox.address, Method::GET, &path, None).await?;
        let mut found = BTreeMap::new();
        for line in lines.lines().filter(|line| !line.is_empty()) {
            add(&mut found, name_of(kind, &serde_json::from_str(line)?));
        }
        let mut row = Row::default();
        let of_kind = tree.iter().enumerate().filter(|(_, document)| document.kind == kind);
        for (place, document) in of_kind {
            let count = found.remove(&expected(document)).unwrap_or(0);
            if count == 0 || told.open.contains(&key_of(document)) {
                stuck.insert(place);
            }
            let is_blocked = document.needs.is_some_and(|needs| stuck.contains(&needs));
            row.count(document, count, is_blocked, &told);
        }
        row.strangers = found.values().sum();
        rows.push((kind, row));
    }
    Ok(Verdict { rows, held: told.held })
}

impl Row {
    fn count(&mut self, document: &Document, count: usize, is_blocked: bool, told: &Told) {
        let key = key_of(document);
        let one_more = |number: &mut usize| *number = number.saturating_add(1);
        one_more(&mut self.documents);
        let remade = told.remade.get(&key).copied().unwrap_or(0);
        match count {
            0 if told.open.contains(&key) => one_more(&mut self.held),
            0 if is_blocked => one_more(&mut self.blocked),
            0 => self.missing.push(key),
            1 => one_more(&mut self.once),
            _ if document.kind == "Contact" && count <= remade.saturating_add(1) => {
                one_more(&mut self.remade);
            }
            _ => self.doubled.push(format!("{key} ({count} times)")),
        }
    }
}

fn key_of(document: &Document) -> String {
    format!("{}/default/{}", document.kind, document.name)
}

/// The name that a document's object carries at the service.
fn expected(document: &Document) -> String {
    let source_id = format!("{PARTNER}:{}", key_of(document));
    match document.kind {
        "Contact" => address(&document.name),
        "Invoice" => source_id,
        _ => mark(&source_id),
    }
}

/// `rk` and base32 of the first 128 bits of SHA-256.
fn mark(source_id: &str) -> String {
    let digest = Sha256::digest(source_id.as_bytes());
    let (head, _) = digest.split_at(16);
    format!("rk{}", BASE32_NOPAD.encode(head).to_lowercase())
}

/// The name that an object carries.
fn name_of(kind: &str, object: &Value) -> String {
    let word = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    match kind {
        "Contact" => word("/email_addresses/0/address").to_owned(),
        "Invoice" => word("/source_id").to_owned(),
        "SavedMethod" => word("/reference").to_owned(),
        _ => {
            let inside = word("/description").trim_end().strip_suffix(']');
            inside.and_then(|text| text.rsplit_once('[')).map_or("", |(_, mark)| mark).to_owned()
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, held } = self;
        writeln!(
            f,
            "{:16} {:>9} {:>7} {:>7} {:>8} {:>7} {:>8} {:>8} {:>9}",
            "kind",
            "documents",
            "once",
            "remade",
            "DOUBLED",
            "held",
            "blocked",
            "MISSING",
            "STRANGERS"
        )?;
        for (kind, row) in rows {
            let Row { documents, once, remade, doubled, held, blocked, missing, strangers } = row;
            let (doubled, missing) = (doubled.len(), missing.len());
            writeln!(
                f,
                "{kind:16} {documents:>9} {once:>7} {remade:>7} {doubled:>8} {held:>7} {blocked:>8} {missing:>8} {strangers:>9}"
            )?;
        }
        for (effect, count) in held {
            writeln!(f, "held for a person: {count} of {effect}")?;
        }
        for (_, row) in rows {
            for key in &row.doubled {
                writeln!(f, "doubled and not told: {key}")?;
            }
            for key in &row.missing {
                writeln!(f, "missing and not told: {key}")?;
            }
        }
        Ok(())
    }
}
