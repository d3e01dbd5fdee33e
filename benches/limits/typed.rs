//! The limit of a first load: read, hash and parse every file into a typed struct, check nothing and keep nothing.

use std::fs;
use std::hint::black_box;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use walkdir::WalkDir;

use crate::connection::Failed;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the parsed values are not read")]
struct Document<S> {
    #[serde(rename = "apiVersion")]
    api_version: String,
    kind: String,
    metadata: Metadata,
    spec: S,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "the parsed values are not read")]
struct Metadata {
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the parsed values are not read")]
struct Merchant {
    mode: String,
    timezone: String,
    credentials: Credentials,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "the parsed values are not read")]
struct Credentials {
    authorization_code: Variable,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "the parsed values are not read")]
struct Variable {
    env: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the parsed values are not read")]
struct Contact {
    merchant: String,
    first_name: String,
    last_name: String,
    email_addresses: Vec<Address>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "the parsed values are not read")]
struct Address {
    address: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the parsed values are not read")]
struct Invoice {
    merchant: String,
    contact: String,
    bank_account: String,
    #[serde(rename = "invoice_date")]
    date: String,
    line_items: Vec<Item>,
    #[serde(default, rename = "invoice_messages")]
    messages: Vec<Message>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "the parsed values are not read")]
struct Item {
    description: String,
    rate_per_quantity: String,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "the parsed values are not read")]
struct Message {
    email_addresses: Vec<String>,
    subject: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the parsed values are not read")]
struct SavedMethod {
    merchant: String,
    #[serde(rename = "type")]
    sort: String,
    description: String,
    source: Source,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "the parsed values are not read")]
struct Source {
    card: Card,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "the parsed values are not read")]
struct Card {
    number: String,
    exp_month: u32,
    exp_year: u32,
    name: String,
    address1: String,
    city: String,
    state: String,
    postal_code: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the parsed values are not read")]
struct RecurringCharge {
    merchant: String,
    method: String,
    amount: String,
    description: String,
    schedule: Schedule,
    max_occurrences: Option<u32>,
    max_amount: Option<String>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "the parsed values are not read")]
struct Schedule {
    start: String,
    interval_unit: String,
    interval_delay: u32,
    days: Option<Vec<String>>,
    end: Option<String>,
}

/// Reads, hashes and parses every file of a folder, each with one document; returns their number.
pub(crate) fn read_and_parse(folder: &Path) -> Result<usize, Failed> {
    let mut files = 0_usize;
    for entry in WalkDir::new(folder) {
        let entry = entry?;
        if entry.file_type().is_file() {
            let bytes = fs::read(entry.path())?;
            black_box(blake3::hash(&bytes));
            parse(std::str::from_utf8(&bytes)?)?;
            files = files.saturating_add(1);
        }
    }
    Ok(files)
}

fn parse(text: &str) -> Result<(), Failed> {
    let kind = text.lines().find_map(|line| line.strip_prefix("kind: ")).unwrap_or_default();
    match kind {
        "Merchant" => one::<Merchant>(text),
        "Contact" => one::<Contact>(text),
        "Invoice" => one::<Invoice>(text),
        "SavedMethod" => one::<SavedMethod>(text),
        "RecurringCharge" => one::<RecurringCharge>(text),
        other => Err(format!("no struct for {other:?}").into()),
    }
}

fn one<S: DeserializeOwned>(text: &str) -> Result<(), Failed> {
    black_box(serde_yaml::from_str::<Document<S>>(text)?);
    Ok(())
}
