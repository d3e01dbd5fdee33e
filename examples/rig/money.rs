//! Compares the collected payments with those that the documents collect at once: every payment once, and no other.

use std::collections::BTreeMap;
use std::fmt;

use http::Method;
use serde_json::Value;

use super::{Reported, expected, key_of, name_of};
use crate::connection::Failed;
use crate::control;
use crate::stand::Stand;
use crate::tree::Document;
use crate::tree::every::collects_now;

/// The payments of the documents that collect one at once.
#[derive(Debug, Default)]
pub(crate) struct Payments {
    documents: usize,
    once: usize,
    /// Documents with neither a payment nor a recurring charge; the table shows the cause.
    none: usize,
    wrong: Vec<String>,
    /// Payments that no document asked for.
    strangers: usize,
}

impl Payments {
    pub(super) fn is_good(&self) -> bool {
        self.wrong.is_empty() && self.strangers == 0
    }

    /// Compares the sandbox's transactions with the documents; `before` transactions existed before the trial.
    pub(super) async fn look(
        stand: &Stand,
        tree: &[Document],
        before: usize,
        reported: &Reported,
    ) -> Result<Self, Failed> {
        let recurring = objects(stand, "recurring_charges").await?;
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        for object in &recurring {
            names.insert(word(object, "id"), name_of("RecurringCharge", object));
        }
        let mut paid: BTreeMap<String, usize> = BTreeMap::new();
        let mut strangers = 0_usize;
        for transaction in objects(stand, "transactions").await? {
            if word(&transaction, "type") == "CHARGE" && word(&transaction, "status") != "FAILED" {
                match names.get(&word(&transaction, "recurring_charge_id")) {
                    Some(name) => super::add(&mut paid, name.clone()),
                    None => strangers = strangers.saturating_add(1),
                }
            }
        }
        let mut payments = Self::default();
        for document in tree.iter().filter(|document| collects_now(document)) {
            let is_there = names.values().any(|name| *name == expected(document));
            let count = paid.remove(&expected(document)).unwrap_or(0);
            payments.count(document, is_there, count, reported);
        }
        let others: usize = paid.values().sum();
        payments.strangers = strangers.saturating_sub(before).saturating_add(others);
        Ok(payments)
    }

    fn count(&mut self, document: &Document, is_there: bool, count: usize, reported: &Reported) {
        self.documents = self.documents.saturating_add(1);
        match (is_there, count) {
            (true, 1) => self.once = self.once.saturating_add(1),
            (false, 0) => self.none = self.none.saturating_add(1),
            _ => {
                let (key, open) = (key_of(document), reported.is_open(&key_of(document)));
                self.wrong.push(format!("{key}: {count} payments (reported: {open})"));
            }
        }
    }
}

impl fmt::Display for Payments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { documents, once, none, wrong, strangers } = self;
        writeln!(
            f,
            "payments at once: {documents} requested, {once} made once, {none} not made and reported above, {} WRONG, \
             {strangers} STRANGERS",
            wrong.len()
        )?;
        wrong.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

fn word(object: &Value, field: &str) -> String {
    object.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Returns the sandbox's objects of a kind.
pub(crate) async fn objects(stand: &Stand, kind: &str) -> Result<Vec<Value>, Failed> {
    let path = format!("/_sandbox/objects/{kind}");
    let lines = control::ask(stand.sandbox.address, Method::GET, &path, None).await?;
    let lines = lines.lines().filter(|line| !line.is_empty());
    lines.map(|line| Ok(serde_json::from_str(line)?)).collect()
}
