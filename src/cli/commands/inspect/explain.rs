//! `explain` and `schema`: the fields of documents, for people and for editors. Neither needs a
//! configuration.

use crate::base::suggestion;
use crate::cli::args::options::{ExplainArgs, SchemaArgs};
use crate::cli::output::exit::{CommandFailure, Exit};
use crate::cli::output::print::Printer;
use crate::kinds::schema::register::{KINDS, KindRow};
use crate::render;
use crate::spec::documents::{explain, schema};

/// Runs `explain`.
pub(crate) fn run(args: &ExplainArgs, out: Printer) -> Result<Exit, CommandFailure> {
    let (kind, path) = args.what.split_once('.').unwrap_or((&args.what, ""));
    let row = row(kind)?;
    let explained = explain::explain(row, path).map_err(|help| {
        let what = format!("{} has no field {path:?}", row.name);
        CommandFailure::input("reckon::usage::field", what).help(help)
    })?;
    out.result(&explained, || render::explanation(&explained, out.color))?;
    Ok(Exit::Done)
}

/// Runs `schema`. Prints JSON in every form but YAML.
pub(crate) fn schema(args: &SchemaArgs, out: Printer) -> Result<Exit, CommandFailure> {
    let schema = match &args.kind {
        Some(kind) => schema::of_kind(row(kind)?),
        None => schema::document(KINDS),
    };
    out.result(&schema, || render::json(&schema))?;
    Ok(Exit::Done)
}

/// Returns the kind of this name, in any case.
fn row(name: &str) -> Result<&'static KindRow, CommandFailure> {
    let found = KINDS.iter().find(|row| row.name.eq_ignore_ascii_case(name));
    found.ok_or_else(|| {
        CommandFailure::input("reckon::usage::kind", format!("there is no kind {name:?}"))
            .help(suggestion::suggestion_help(name, KINDS.iter().map(|row| row.name)))
    })
}
