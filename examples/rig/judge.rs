//! Compares the sandbox's objects with the documents: no object twice, and none missing without a report.
//!
//! It reads the sandbox itself, and identifies objects by the names that the project's documents define (source ids
//! and marks), computed here a second time.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use data_encoding::BASE32_NOPAD;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::connection::Failed;
use crate::settings::PARTNER;
use crate::stand::Stand;
use crate::tree::every::{cents_of_clone, merchant_in};
use crate::tree::{Document, address};

#[path = "money.rs"]
mod money;

pub(crate) use money::objects;

/// The kinds that leave an object at the service, and the sandbox's paths of these objects. A merchant leaves none.
const KINDS: [(&str, &[&str]); 6] = [
    ("MerchantApplication", &["applications"]),
    ("Merchant", &[]),
    ("Contact", &["contacts"]),
    ("Invoice", &["invoices"]),
    ("SavedMethod", &["cards", "banks"]),
    ("RecurringCharge", &["recurring_charges"]),
];

/// The output of `reckon intents`.
#[derive(Debug, Default)]
pub(crate) struct Reported {
    /// Number of intents that wait for a person, by effect.
    held: BTreeMap<String, usize>,
    /// Resources with an intent that is not done.
    open: BTreeSet<String>,
    /// Number of times that a resource was made again without proof.
    remade: BTreeMap<String, usize>,
    /// Resources that are ready.
    ready: BTreeSet<String>,
}

impl Reported {
    /// Reads the output of `reckon intents -o json` and of `reckon get -o json`.
    pub(crate) fn read(answer: &Value, resources: &Value) -> Result<Self, Failed> {
        let list = |field: &str| -> Result<Vec<Value>, Failed> {
            let list = answer.get(field).and_then(Value::as_array).cloned();
            list.ok_or_else(|| format!("`intents` has no `{field}`").into())
        };
        let mut reported = Self::default();
        for item in list("items")? {
            let word = |field: &str| item.get(field).map(plain).unwrap_or_default();
            let state = word("state").to_lowercase();
            if state.contains("held") {
                add(&mut reported.held, word("effect"));
            }
            if !state.contains("done") {
                reported.open.insert(word("key"));
            }
        }
        for item in list("remade")? {
            add(&mut reported.remade, item.get("key").map(plain).unwrap_or_default());
        }
        let items = resources.get("items").and_then(Value::as_array);
        let items = items.ok_or("`get` has no `items`")?.iter();
        let ready = items.filter(|item| item.get("ready") == Some(&Value::Bool(true)));
        reported.ready = ready
            .map(|item| {
                let word = |field: &str| item.get(field).map(plain).unwrap_or_default();
                format!("{}/{}/{}", word("kind"), word("namespace"), word("name"))
            })
            .collect();
        Ok(reported)
    }

    /// Returns whether the resource has an intent that is not done.
    fn is_open(&self, key: &str) -> bool {
        self.open.contains(key)
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn add(counts: &mut BTreeMap<String, usize>, key: String) {
    let count = counts.entry(key).or_default();
    *count = count.saturating_add(1);
}

/// The counts of one kind's documents.
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

/// The result of the comparison.
#[derive(Debug)]
pub(crate) struct Verdict {
    rows: Vec<(&'static str, Row)>,
    held: BTreeMap<String, usize>,
    remade: BTreeMap<String, usize>,
    payments: money::Payments,
}

impl Verdict {
    /// Returns whether no object is doubled, missing or foreign without a report.
    pub(crate) fn is_good(&self) -> bool {
        let is_good =
            |row: &Row| row.doubled.is_empty() && row.missing.is_empty() && row.strangers == 0;
        self.rows.iter().all(|(_, row)| is_good(row)) && self.payments.is_good()
    }
}

/// Compares the sandbox with the documents; `before` charges existed earlier.
pub(crate) async fn judge(
    stand: &Stand,
    tree: &[Document],
    before: usize,
    reported: Reported,
) -> Result<Verdict, Failed> {
    let mut rows = Vec::new();
    // Places of documents that others cannot build upon.
    let mut stuck = BTreeSet::new();
    for (kind, paths) in KINDS {
        let mut found = BTreeMap::new();
        for path in paths {
            objects(stand, path).await?.iter().for_each(|one| add(&mut found, name_of(kind, one)));
        }
        let mut row = Row::default();
        let of_kind = tree.iter().enumerate().filter(|(_, document)| document.kind == kind);
        for (place, document) in of_kind {
            let is_ready = kind == "Merchant" && reported.ready.contains(&key_of(document));
            let count = found.remove(&expected(document)).unwrap_or(usize::from(is_ready));
            if count == 0 || reported.open.contains(&key_of(document)) {
                stuck.insert(place);
            }
            let is_blocked = document.needs.is_some_and(|needs| stuck.contains(&needs))
                || waits_for_another(tree, document, &reported);
            row.count(document, count, is_blocked, &reported);
        }
        row.strangers = found.values().sum();
        rows.push((kind, row));
    }
    let payments = money::Payments::look(stand, tree, before, &reported).await?;
    Ok(Verdict { rows, held: reported.held, remade: reported.remade, payments })
}

/// Effects without a mark are done one after the other: while one of a merchant is open, the others wait.
fn waits_for_another(tree: &[Document], document: &Document, reported: &Reported) -> bool {
    let alike = |other: &&Document| {
        cents_of_clone(other).is_some() && merchant_in(other) == merchant_in(document)
    };
    cents_of_clone(document).is_some()
        && tree.iter().filter(alike).any(|other| reported.is_open(&key_of(other)))
}

impl Row {
    fn count(&mut self, document: &Document, count: usize, is_blocked: bool, reported: &Reported) {
        let key = key_of(document);
        let one_more = |number: &mut usize| *number = number.saturating_add(1);
        one_more(&mut self.documents);
        let remade = reported.remade.get(&key).copied().unwrap_or(0);
        match count {
            0 if reported.open.contains(&key) => one_more(&mut self.held),
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

/// Returns the name that a document's object has at the service.
fn expected(document: &Document) -> String {
    let source_id = format!("{PARTNER}:{}", key_of(document));
    match (document.kind, cents_of_clone(document)) {
        ("Contact", _) => address(&document.name),
        ("Invoice", _) => source_id,
        (_, Some(cents)) => format!("clone of {cents}"),
        _ => mark(&source_id),
    }
}

/// Returns `rk` and base32 of the first 128 bits of SHA-256.
fn mark(source_id: &str) -> String {
    let digest = Sha256::digest(source_id.as_bytes());
    let (head, _) = digest.split_at(16);
    format!("rk{}", BASE32_NOPAD.encode(head).to_lowercase())
}

/// Returns the name that an object has.
fn name_of(kind: &str, object: &Value) -> String {
    let word = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    match kind {
        "Contact" => word("/email_addresses/0/address").to_owned(),
        "Invoice" => word("/source_id").to_owned(),
        "SavedMethod" | "MerchantApplication" => word("/reference").to_owned(),
        _ => {
            let inside = word("/description").trim_end().strip_suffix(']');
            let mark = inside.and_then(|text| text.rsplit_once('[')).map(|(_, mark)| mark);
            let cents = object.get("amount").map(Value::to_string).unwrap_or_default();
            mark.map_or_else(|| format!("clone of {cents}"), str::to_owned)
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, held, remade, payments } = self;
        writeln!(
            f,
            "{:20} {:>9} {:>7} {:>7} {:>8} {:>7} {:>8} {:>8} {:>9}",
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
                "{kind:20} {documents:>9} {once:>7} {remade:>7} {doubled:>8} {held:>7} {blocked:>8} {missing:>8} {strangers:>9}"
            )?;
        }
        write!(f, "{payments}")?;
        for (effect, count) in held {
            writeln!(f, "held for a person: {count} of {effect}")?;
        }
        for (key, count) in remade {
            writeln!(f, "made again without proof, and reported: {key}, {count} times")?;
        }
        for (_, row) in rows {
            for key in &row.doubled {
                writeln!(f, "doubled and not reported: {key}")?;
            }
            for key in &row.missing {
                writeln!(f, "missing and not reported: {key}")?;
            }
        }
        Ok(())
    }
}
