//! `import`: takes over an existing object of the service for a document, or writes documents for
//! all objects of a merchant's list and takes those over.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::base::folder::PathError;
use crate::base::folder_location::FolderLocation;
use crate::base::id::Key;
use crate::cli::args::resources::{ImportArgs, ImportList};
use crate::cli::commands::get::parse_resource;
use crate::cli::context::machine::below;
use crate::cli::context::open::Context;
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::cli::print::{self, Printer};
use crate::control::requests::{Import, ImportAll, Inventory};
use crate::model::state::drift::{
    AdoptRequest, AdoptionReport, AdoptionStatus, ImportOption, InventoryItem, InventoryRequest,
};
use crate::render;
use crate::spec::header::API_VERSION;

const UNCONFIRMED: (&str, &str) =
    ("reckon::import::unconfirmed", "review the takeover, then repeat the command with --yes");

pub(crate) async fn run(setup: &Context, args: &ImportArgs) -> CommandResult {
    if let (Some(sort), Some(merchant)) = (args.all, &args.merchant) {
        return run_all(setup, args, (sort, merchant)).await;
    }
    let (Some(what), Some(id)) = (&args.what, &args.id) else {
        return Err(CommandFailure::input("reckon::import::usage", "missing document and id"));
    };
    let (key, id, unverified) = (parse_resource(what)?, id.clone(), args.unverified);
    let asked = AdoptRequest { key, id, unverified, write: args.yes };
    let looked = setup.send(Import(asked.clone())).await?;
    if looked.status != AdoptionStatus::Adoptable {
        return print_outcome(&looked, setup.out);
    }
    setup.out.note(&render::actions::adoption_result(&looked));
    if !setup.out.agree_to_shown(false, UNCONFIRMED, "Take it over?")? {
        setup.out.note("nothing was written");
        return Ok(Exit::Done);
    }
    let taken = setup.send(Import(AdoptRequest { write: true, ..asked })).await?;
    print_outcome(&taken, setup.out)
}

fn print_outcome(adopted: &AdoptionReport, out: Printer) -> CommandResult {
    let what = || format!("{}: {}", adopted.key.short(), adopted.message);
    let failure = match adopted.status {
        AdoptionStatus::Adopted | AdoptionStatus::AlreadyAdopted | AdoptionStatus::Adoptable => {
            out.result(adopted, || render::actions::adoption_result(adopted))?;
            return Ok(Exit::Done);
        }
        AdoptionStatus::Refused | AdoptionStatus::Busy => {
            out.result(adopted, || render::actions::adoption_result(adopted))?;
            return Ok(Exit::NeedsAttention);
        }
        AdoptionStatus::Unknown => CommandFailure::input("reckon::import::unknown", what()),
        AdoptionStatus::Unverified => CommandFailure::input("reckon::import::unverified", what()).help(
            "compare the object with the document in the portal of the service, then repeat the \
            command with --unverified; reckon records that you vouch for it",
        ),
        AdoptionStatus::Unreachable => CommandFailure::environment("reckon::import::unreachable", what()),
    };
    Err(failure)
}

// `import --all`: takes over every object of a sort that is not known yet. For an object without a
// document, the command writes one first, which says that its object exists and is never created.
// So a crash in between creates nothing, and running the command again goes on.

/// Folder of the documents beneath the folder of specs, unless `--into` names another.
const FOLDER: &str = "imported";
/// Objects in one request, at most: the length of a request is limited.
const AT_ONCE_MAX: usize = 100;

#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct ImportOutput {
    written: Vec<PathBuf>,
    /// Objects that were taken over, or the reason why not.
    items: Vec<AdoptionReport>,
    known: usize,
    /// Objects without a written document: the id, and the reason.
    left: Vec<(String, String)>,
}

pub(crate) async fn run_all(
    setup: &Context,
    args: &ImportArgs,
    (sort, merchant): (ImportList, &str),
) -> CommandResult {
    let folder = folder(setup, args.into.as_deref())?;
    let found = inventory(setup, sort, merchant).await?;
    if !confirm(&found, &folder, args.yes, setup.out)? {
        setup.out.note("nothing was written");
        return Ok(Exit::Done);
    }
    let mut all = ImportOutput::default();
    let mut asked = Vec::new();
    for InventoryItem { id, import_option: what } in found {
        let key = match what {
            ImportOption::Known(_) => {
                all.known = all.known.saturating_add(1);
                continue;
            }
            ImportOption::Skipped(why) | ImportOption::Impossible(why) => {
                all.left.push((id.to_string(), why));
                continue;
            }
            ImportOption::Document(key) => key,
            ImportOption::New(key, spec) => {
                all.written.push(write(&folder, &key, id.as_str(), &spec)?);
                key
            }
        };
        asked.push(AdoptRequest { key, id, unverified: false, write: true });
    }
    for part in asked.chunks(AT_ONCE_MAX) {
        all.items.extend(setup.send(ImportAll(part.to_vec())).await?);
    }
    setup.out.result(&all, || text(&all))?;
    Ok(exit(&all.items))
}

/// Returns the merchant's objects, and the possible action for each.
async fn inventory(
    setup: &Context,
    sort: ImportList,
    merchant: &str,
) -> CommandResult<Vec<InventoryItem>> {
    let key = format!("Merchant/{merchant}").parse().map_err(|error| {
        let failure =
            CommandFailure::input("reckon::import::merchant", format!("--merchant: {error}"));
        failure.help("write the name of the merchant's document, such as --merchant acme")
    })?;
    let asked = InventoryRequest { merchant: key, list: sort.list().to_owned() };
    let found = setup.send(Inventory(asked)).await?;
    found.map_err(|why| CommandFailure::environment("reckon::import::unreadable", why))
}

/// Returns the folder for the documents; refuses one outside the tree, which reckon does not read.
fn folder(setup: &Context, into: Option<&Path>) -> CommandResult<PathBuf> {
    let default = setup.specs.first().join(FOLDER);
    let into = into.unwrap_or(&default);
    let beneath = below(&setup.root, into);
    if setup.specs.contain(into) {
        return check_no_links(setup, &beneath).map(|()| into.to_owned());
    }
    let what = format!("{} is not beneath the folder of specs", into.display());
    let help = format!("name a folder beneath {}; reckon reads no other", setup.specs);
    Err(CommandFailure::input("reckon::import::into", what).help(help))
}

/// Refuses a folder behind a link, existing or not: reckon does not read files there.
fn check_no_links(setup: &Context, folder: &Path) -> CommandResult<()> {
    match FolderLocation::from_config(&setup.root, &setup.root.join(folder)).open() {
        Err(error @ PathError::Link { .. }) => {
            let what = format!("{} cannot hold documents: {error}", folder.display());
            let failure = CommandFailure::input("reckon::import::into", what);
            Err(failure.help("name a folder of the specs that is reached without links"))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

fn confirm(found: &[InventoryItem], folder: &Path, yes: bool, out: Printer) -> CommandResult<bool> {
    let acts = |one: &InventoryItem| {
        matches!(one.import_option, ImportOption::Document(_) | ImportOption::New(..))
    };
    if !found.iter().any(acts) {
        return Ok(true);
    }
    let shown = || render::actions::import_candidates(found, &folder.display().to_string());
    out.agree(yes, shown, UNCONFIRMED, "Take these over?")
}

/// Writes a document to a new file; never overwrites one.
fn write(folder: &Path, key: &Key, id: &str, spec: &Value) -> CommandResult<PathBuf> {
    let failed = |path: &Path, error: std::io::Error| {
        let what = format!("write {}: {error}", path.display());
        CommandFailure::environment("reckon::import::write", what)
            .help("repeat the command to continue; the documents already written stay")
    };
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let text = document(key, id, spec);
    let word = key.kind.as_str().to_lowercase();
    let numbers = (2..u32::MAX).map(|number| format!("-{number}"));
    for number in [String::new()].into_iter().chain(numbers) {
        let path = folder.join(format!("{word}-{}{number}.yaml", key.name));
        match print::create(&path, &text) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(&path, error)),
        }
    }
    Err(CommandFailure::bug("internal error: no free file name"))
}

fn document(key: &Key, id: &str, spec: &Value) -> String {
    let mut metadata = json!({"name": key.name, "annotations": {"reckon.dev/adopts": id}});
    if let Some(metadata) = metadata.as_object_mut()
        && !key.namespace.is_default_namespace()
    {
        metadata.insert("namespace".to_owned(), json!(key.namespace));
    }
    let part = |name: &str, value: &Value| render::yaml(&json!({ name: value }));
    format!(
        "apiVersion: {API_VERSION}\nkind: {}\n{}{}",
        key.kind,
        part("metadata", &metadata),
        part("spec", spec)
    )
}

fn text(all: &ImportOutput) -> String {
    let mut lines: Vec<String> =
        all.written.iter().map(|path| format!("wrote {}", path.display())).collect();
    let items = all.items.iter().map(render::actions::adoption_result);
    lines.extend(items.map(|text| text.trim_end().to_owned()));
    lines.extend(all.left.iter().map(|(id, why)| format!("left {id}: {why}")));
    let taken = all.items.iter().filter(|one| one.status == AdoptionStatus::Adopted).count();
    lines.push(format!("{taken} taken over, {} known before, {} left", all.known, all.left.len()));
    lines.join("\n")
}

fn exit(items: &[AdoptionReport]) -> Exit {
    items.iter().fold(Exit::Done, |exit, one| {
        exit.or(match one.status {
            AdoptionStatus::Adopted
            | AdoptionStatus::AlreadyAdopted
            | AdoptionStatus::Adoptable => Exit::Done,
            AdoptionStatus::Unreachable => Exit::Environment,
            AdoptionStatus::Refused
            | AdoptionStatus::Busy
            | AdoptionStatus::Unknown
            | AdoptionStatus::Unverified => Exit::NeedsAttention,
        })
    })
}
