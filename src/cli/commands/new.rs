//! `new`: makes a document of a kind to start from, with the names that the tree has. An existing
//! file is never written to.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use chrono::{Datelike, Months, NaiveDate};
use schemars::JsonSchema;
use serde::Serialize;

use crate::base::clock::{Clock, SystemClock};
use crate::base::id::Key;
use crate::cli::args::documents::NewArgs;
use crate::cli::commands::documents::kind_row;
use crate::cli::commands::get::parse_resource;
use crate::cli::commands::new_names::{
    ReferredName, merchant, name_in, named_or_only, referred, require_new,
};
use crate::cli::context::open::Context;
use crate::cli::exit::{CommandFailure, CommandResult};
use crate::cli::print;
use crate::kinds::row::KindRow;
use crate::render::document_template::{TemplateValues, document};
use crate::spec::default_fields::DEFAULTS;
use crate::spec::defaults;

/// The plan of an application where the configuration declares none.
const ANY_PLAN: &str = "basic";

/// Output of `new -o json`.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct NewOutput {
    /// The new documents: the one that was asked for last, and before it one that it needs.
    documents: Vec<String>,
    /// The written file; null if the text was only printed.
    file: Option<PathBuf>,
    text: String,
}

pub(crate) fn run(setup: &Context, args: &NewArgs) -> CommandResult {
    if args.kind.eq_ignore_ascii_case(DEFAULTS) {
        return new_defaults(setup, args);
    }
    let row = kind_row(&args.kind)?;
    let Some(name) = &args.name else {
        let what = format!("a new {} needs a name", row.name);
        let help = format!("write `reckon new {} NAME`", row.name);
        return Err(CommandFailure::input("reckon::new::name", what).help(help));
    };
    let key = parse_resource(&format!("{}/{name}", row.name))?;
    let loader = setup.loaded_tree();
    let desired = loader.desired();
    require_new(desired, &key)?;
    let merchant = merchant(desired, row, args.merchant.as_deref())?;
    let other = merchant.as_ref().map(|merchant| referred(desired, row, &key, merchant));
    let made = documents(setup, row, &key, (merchant.as_ref(), other.transpose()?.flatten()))?;
    finish(setup, args, made)
}

/// Makes a document of the kind `Defaults`, which has no name.
fn new_defaults(setup: &Context, args: &NewArgs) -> CommandResult {
    if let Some(name) = &args.name {
        let what = format!("`{DEFAULTS}` documents have no name, but {name:?} is given");
        let help = "write `reckon new Defaults`; it is for the folder that its file is in";
        return Err(CommandFailure::input("reckon::new::name", what).help(help));
    }
    let loader = setup.loaded_tree();
    let merchant = named_or_only(loader.desired(), args.merchant.as_deref())?;
    let text = defaults::template(&name_in(&merchant, None));
    finish(setup, args, NewOutput { documents: vec![DEFAULTS.to_owned()], text, file: None })
}

/// Writes the new documents to their file, or prints them.
fn finish(setup: &Context, args: &NewArgs, made: NewOutput) -> CommandResult {
    let made = NewOutput { file: args.file.clone(), ..made };
    if let Some(file) = &args.file {
        create(file, &made.text)?;
    }
    setup.out.verbatim().finish(&made, || match &made.file {
        None => made.text.clone(),
        Some(file) => format!("made {}: {}", file.display(), made.documents.join(", ")),
    })
}

/// Returns the document, and before it one that it refers to and that is missing.
fn documents(
    setup: &Context,
    row: &KindRow,
    key: &Key,
    (merchant, other): (Option<&Key>, Option<ReferredName>),
) -> CommandResult<NewOutput> {
    let name = |of: &Key| name_in(of, Some(key));
    let values = TemplateValues {
        key: key.clone(),
        merchant: merchant.map(name).unwrap_or_default(),
        resource: other.as_ref().map(|other| name(other.key())).unwrap_or_default(),
        plan: setup.check.plans.keys().next().map_or(ANY_PLAN, String::as_str).to_owned(),
        day: next_month(SystemClock.now().date_naive()),
    };
    let mut made = NewOutput::default();
    if let Some(ReferredName::Missing(missing)) = other {
        let needed = TemplateValues { key: missing.clone(), ..values.clone() };
        made.text = document(kind_row(missing.kind.as_str())?, &needed) + "---\n";
        made.documents.push(missing.short());
    }
    made.text.push_str(&document(row, &values));
    made.documents.push(key.short());
    Ok(made)
}

/// Returns the first day of the next month.
fn next_month(day: NaiveDate) -> NaiveDate {
    day.with_day(1).and_then(|first| first.checked_add_months(Months::new(1))).unwrap_or(day)
}

fn create(file: &Path, text: &str) -> CommandResult<()> {
    print::create(file, text).map_err(|error| {
        if error.kind() == ErrorKind::AlreadyExists {
            let what = format!("{} exists; nothing was written", file.display());
            return CommandFailure::input("reckon::new::file_exists", what)
                .help("name a new file, or append to this one: `reckon new … >> FILE`");
        }
        let what = format!("write {}: {error}", file.display());
        CommandFailure::environment("reckon::new::write", what)
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
}
