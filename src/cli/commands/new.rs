//! `new`: makes a document of a kind to start from, with the names that the tree has. An existing
//! file is never written to.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use chrono::{Datelike, Months, NaiveDate};
use serde::Serialize;

use crate::base::clock::{Clock, SystemClock};
use crate::base::id::{Key, Kind};
use crate::base::wording;
use crate::cli::args::documents::NewArgs;
use crate::cli::commands::documents::kind_row;
use crate::cli::commands::get::parse_resource;
use crate::cli::context::open::Context;
use crate::cli::exit::{CommandFailure, CommandResult};
use crate::cli::print;
use crate::kinds::planning::step::MERCHANT;
use crate::kinds::row::KindRow;
use crate::kinds::schema::example::Example;
use crate::model::manifest::Desired;
use crate::render::document_template::{self, TemplateValues};

/// The plan of an application where the configuration declares none.
const ANY_PLAN: &str = "basic";

#[derive(Debug, Serialize)]
struct NewOutput {
    /// The new documents: the one that was asked for last, and before it those that it needs.
    documents: Vec<String>,
    /// The written file; null if the text was only printed.
    file: Option<PathBuf>,
    text: String,
}

pub(crate) fn run(setup: &Context, args: &NewArgs) -> CommandResult {
    let row = kind_row(&args.kind)?;
    let key = parse_resource(&format!("{}/{}", row.name, args.name))?;
    let loader = setup.loaded_tree();
    let desired = loader.desired();
    require_new(desired, &key)?;
    let merchant = merchant(desired, row, args.merchant.as_deref())?;
    let (keys, text) = documents(setup, desired, row, &key, merchant.as_ref())?;
    if let Some(file) = &args.file {
        create(file, &text)?;
    }
    let documents = keys.iter().map(Key::short).collect();
    let made = NewOutput { documents, file: args.file.clone(), text };
    setup.out.finish(&made, || match &made.file {
        None => made.text.clone(),
        Some(file) => format!("made {}: {}", file.display(), made.documents.join(", ")),
    })
}

fn require_new(desired: &Desired, key: &Key) -> CommandResult<()> {
    let there = desired.manifests.get(key).map(|kept| (kept.place.file.clone(), kept.place.line));
    if there.is_none() && !desired.broken.contains(key) {
        return Ok(());
    }
    let at = there.map_or_else(String::new, |(file, line)| format!(": {file}:{line}"));
    let what = format!("{} has a document{at}", key.short());
    Err(CommandFailure::input("reckon::new::exists", what).help("choose another name"))
}

/// Returns the named merchant, or the only one of the tree; `None` for a kind without merchant.
fn merchant(desired: &Desired, row: &KindRow, named: Option<&str>) -> CommandResult<Option<Key>> {
    let needed = row.examples.iter().any(|(_, example)| *example == Example::Merchant);
    let wrong = |what: String| CommandFailure::input("reckon::new::merchant", what);
    let all: Vec<&Key> = keys_of(desired, MERCHANT).collect();
    let named = named.map(|name| parse_resource(&format!("{MERCHANT}/{name}"))).transpose()?;
    match (needed, named, all.as_slice()) {
        (false, None, _) => Ok(None),
        (false, Some(_), _) => {
            Err(wrong(format!("{} belongs to no merchant", row.name)).help("leave --merchant out"))
        }
        (true, Some(key), all) if all.contains(&&key) => Ok(Some(key)),
        (true, Some(key), all) => {
            let failure = wrong(format!("no document: {}", key.short()));
            Err(failure.help(merchant_help(all, Some(&key))))
        }
        (true, None, [only]) => Ok(Some((*only).clone())),
        (true, None, []) => Err(wrong("the documents contain no merchant".to_owned())
            .help("make one first: `reckon new Merchant NAME --file specs/NAME.yaml`")),
        (true, None, all) => {
            let failure = wrong("the documents contain several merchants".to_owned());
            Err(failure.help(merchant_help(all, None)))
        }
    }
}

fn merchant_help(all: &[&Key], named: Option<&Key>) -> String {
    let names: Vec<String> = all.iter().map(|key| name_in(key, None)).collect();
    let named = named.map(|key| name_in(key, None)).unwrap_or_default();
    match wording::nearest(&named, names.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean --merchant {meant}?"),
        None => format!("name one of them: --merchant {}", names.join(", --merchant ")),
    }
}

fn keys_of<'a>(desired: &'a Desired, kind: &'a str) -> impl Iterator<Item = &'a Key> {
    desired.manifests.keys().filter(move |key| key.kind.as_str() == kind)
}

/// Returns a name as a document refers to it; with the namespace unless it is that of `from`.
fn name_in(key: &Key, from: Option<&Key>) -> String {
    let near =
        from.map_or(key.namespace.is_default_namespace(), |from| from.namespace == key.namespace);
    if near { key.name.to_string() } else { format!("{}/{}", key.namespace, key.name) }
}

/// Returns the text of the document, and before it that of a document that it needs.
fn documents(
    setup: &Context,
    desired: &Desired,
    row: &KindRow,
    key: &Key,
    merchant: Option<&Key>,
) -> CommandResult<(Vec<Key>, String)> {
    let mut values = TemplateValues {
        key: key.clone(),
        merchant: merchant.map(|merchant| name_in(merchant, Some(key))).unwrap_or_default(),
        resource: String::new(),
        plan: setup.check.plans.keys().next().map_or(ANY_PLAN, String::as_str).to_owned(),
        day: next_month(SystemClock.now().date_naive()),
    };
    let mut made = (Vec::new(), String::new());
    if let (Some(kind), Some(merchant)) = (referenced_kind(row), merchant) {
        let of_merchant = resources_of(desired, kind, merchant);
        if let [only] = of_merchant.as_slice() {
            values.resource = name_in(only, Some(key));
        } else {
            let needed = Key::new(Kind::new(kind), &key.namespace, &key.name);
            values.resource = name_in(&needed, Some(key));
            if !of_merchant.contains(&&needed) {
                require_new(desired, &needed)?;
                let values = TemplateValues { key: needed.clone(), ..values.clone() };
                made.1 = document_template::document(kind_row(kind)?, &values) + "---\n";
                made.0.push(needed);
            }
        }
    }
    made.1.push_str(&document_template::document(row, &values));
    made.0.push(key.clone());
    Ok(made)
}

fn referenced_kind(row: &KindRow) -> Option<&'static str> {
    row.examples.iter().find_map(|(_, example)| match example {
        Example::Resource(kind) => Some(*kind),
        Example::Yaml(_)
        | Example::Merchant
        | Example::Plan
        | Example::Variable(_)
        | Example::Day => None,
    })
}

/// Returns the documents of a kind that refer to a merchant.
fn resources_of<'a>(desired: &'a Desired, kind: &str, merchant: &Key) -> Vec<&'a Key> {
    let of_kind = desired.manifests.iter().filter(|(key, _)| key.kind.as_str() == kind);
    let belongs = of_kind.filter(|(_, kept)| kept.references.iter().any(|to| to.key == *merchant));
    belongs.map(|(key, _)| key).collect()
}

/// Returns the first day of the next month.
fn next_month(day: NaiveDate) -> NaiveDate {
    day.with_day(1).and_then(|first| first.checked_add_months(Months::new(1))).unwrap_or(day)
}

fn create(file: &Path, text: &str) -> CommandResult<()> {
    print::create(file, text).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            let what = format!("{} exists; nothing was written", file.display());
            CommandFailure::input("reckon::new::file_exists", what)
                .help("name a new file, or append to this one: `reckon new … >> FILE`")
        }
        _ => {
            let what = format!("write {}: {error}", file.display());
            CommandFailure::environment("reckon::new::write", what)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_day_of_a_new_document_is_in_the_future() {
        let day = |text: &str| text.parse::<NaiveDate>().unwrap();
        assert_eq!(next_month(day("2030-01-31")), day("2030-02-01"));
        assert_eq!(next_month(day("2029-12-01")), day("2030-01-01"));
    }

    #[test]
    fn a_name_carries_its_namespace_only_where_it_differs() {
        let key = |text: &str| text.parse::<Key>().unwrap();
        assert_eq!(name_in(&key("Merchant/acme"), Some(&key("Invoice/a"))), "acme");
        assert_eq!(name_in(&key("Merchant/acme"), Some(&key("Invoice/b/a"))), "default/acme");
        assert_eq!(name_in(&key("Merchant/b/acme"), None), "b/acme");
    }
}
