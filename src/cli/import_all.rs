//! `import --all`: takes over every object of a sort that is not known yet. For an object without a
//! document, the command writes one first, which says that its object exists and is never created.
//! So a crash in between creates nothing, and running the command again goes on.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};

use super::args::adopt::{ImportArgs, Sort};
use super::exit::{Exit, Failure};
use super::out::Out;
use super::session::Session;
use super::setup::Setup;
use super::specs::below;
use crate::base::folder::{PathError, Place};
use crate::base::id::Key;
use crate::control::Request;
use crate::engine::Reply;
use crate::model::adoption::{Adopted, Adopting, Found, Inventory, Taken, What};
use crate::render;
use crate::spec::document::API_VERSION;

/// Folder of the documents beneath the folder of specs, unless `--into` names another.
const FOLDER: &str = "imported";

/// Objects in one request, at most: the length of a request is limited.
const AT_ONCE_MAX: usize = 100;

/// Outcome for all objects.
#[derive(Debug, Serialize)]
struct All {
    written: Vec<PathBuf>,
    /// Objects that were taken over, or the reason why not.
    items: Vec<Adopted>,
    /// Number of objects that were known before.
    known: usize,
    /// Objects without a written document: the id, and the reason.
    left: Vec<(String, String)>,
}

/// Runs the command.
pub(super) async fn run(
    setup: &Setup,
    args: &ImportArgs,
    (sort, merchant): (Sort, &str),
    out: Out,
) -> Result<Exit, Failure> {
    let folder = folder(setup, args.into.as_deref())?;
    let found = inventory(setup, sort, merchant).await?;
    if !agreed(&found, &folder, args.yes, out)? {
        out.note("nothing was written");
        return Ok(Exit::Done);
    }
    let mut all = All { written: Vec::new(), items: Vec::new(), known: 0, left: Vec::new() };
    let mut asked = Vec::new();
    for Found { id, what } in found {
        let key = match what {
            What::Known(_) => {
                all.known = all.known.saturating_add(1);
                continue;
            }
            What::Skipped(why) | What::Impossible(why) => {
                all.left.push((id.to_string(), why));
                continue;
            }
            What::Document(key) => key,
            What::New(key, spec) => {
                all.written.push(write(&folder, &key, id.as_str(), &spec)?);
                key
            }
        };
        asked.push(Adopting { key, id, unverified: false, write: true });
    }
    for part in asked.chunks(AT_ONCE_MAX) {
        let session = Session::open(setup).await?;
        let reply = session.done(setup, Request::ImportAll(part.to_vec())).await?;
        let Reply::AllAdopted(items) = reply else {
            return Err(Failure::bug("an import was not answered by one"));
        };
        all.items.extend(items);
    }
    out.result(&all, || text(&all))?;
    Ok(exit(&all.items))
}

/// Returns the merchant's objects, and the possible action for each.
async fn inventory(setup: &Setup, sort: Sort, merchant: &str) -> Result<Vec<Found>, Failure> {
    let key = format!("Merchant/{merchant}").parse().map_err(|error| {
        let failure = Failure::input("reckon::import::merchant", format!("--merchant: {error}"));
        failure.help("write the name of the merchant's document, such as --merchant acme")
    })?;
    let asked = Inventory { merchant: key, list: sort.list().to_owned() };
    let session = Session::open(setup).await?;
    let Reply::Inventory(found) = session.done(setup, Request::Inventory(asked)).await? else {
        return Err(Failure::bug("an inventory was not answered by one"));
    };
    found.map_err(|why| Failure::environment("reckon::import::unreadable", why))
}

/// Returns the folder for the documents. A folder outside the tree is refused, since reckon does
/// not read it.
fn folder(setup: &Setup, into: Option<&Path>) -> Result<PathBuf, Failure> {
    let specs = below(&setup.root, &setup.specs);
    let default = setup.specs.join(FOLDER);
    let into = into.unwrap_or(&default);
    let beneath = below(&setup.root, into);
    if beneath.starts_with(&specs) {
        return unlinked(setup, &beneath).map(|()| into.to_owned());
    }
    let what = format!("{} is not beneath the folder of specs", into.display());
    let help = format!("name a folder beneath {}: reckon reads no other", specs.display());
    Err(Failure::input("reckon::import::into", what).help(help))
}

/// Checks that no link leads to a folder, existing or not: reckon does not read files behind a
/// link.
fn unlinked(setup: &Setup, folder: &Path) -> Result<(), Failure> {
    match Place::configured(&setup.root, &setup.root.join(folder)).open() {
        Err(error @ PathError::Link { .. }) => {
            let what = format!("{} cannot take documents: {error}", folder.display());
            let failure = Failure::input("reckon::import::into", what);
            Err(failure.help("name a folder of the specs that is reached without links"))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Shows the objects and asks for agreement, unless `--yes` is set. Without a terminal `--yes` is
/// required.
fn agreed(found: &[Found], folder: &Path, yes: bool, out: Out) -> Result<bool, Failure> {
    let acts = |one: &Found| matches!(one.what, What::Document(_) | What::New(..));
    if yes || !found.iter().any(acts) {
        return Ok(true);
    }
    out.note(&render::adoption::found(found, &folder.display().to_string()));
    if !out.interactive {
        let failure = Failure::input("reckon::import::unconfirmed", "no terminal to ask at");
        return Err(failure.help("look at what would be taken over, then say it with --yes"));
    }
    out.confirm("Take these over?")
}

/// Writes a document to a new file; never overwrites one.
fn write(folder: &Path, key: &Key, id: &str, spec: &Value) -> Result<PathBuf, Failure> {
    let failed = |path: &Path, error: std::io::Error| {
        let what = format!("write {}: {error}", path.display());
        Failure::environment("reckon::import::write", what)
            .help("what was written stays: say the command once more and it goes on")
    };
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let text = document(key, id, spec);
    let word = key.kind.as_str().to_lowercase();
    let numbers = (2..u32::MAX).map(|number| format!("-{number}"));
    for number in [String::new()].into_iter().chain(numbers) {
        let path = folder.join(format!("{word}-{}{number}.yaml", key.name));
        match File::create_new(&path) {
            Ok(mut file) => {
                let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
                written.map_err(|error| failed(&path, error))?;
                return Ok(path);
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(&path, error)),
        }
    }
    Err(Failure::bug("every number is taken"))
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

fn text(all: &All) -> String {
    let mut lines: Vec<String> =
        all.written.iter().map(|path| format!("wrote {}", path.display())).collect();
    let items = all.items.iter().map(render::adoption::text);
    lines.extend(items.map(|text| text.trim_end().to_owned()));
    lines.extend(all.left.iter().map(|(id, why)| format!("left {id}: {why}")));
    let taken = all.items.iter().filter(|one| one.stands == Taken::Adopted).count();
    lines.push(format!("{taken} taken over, {} known before, {} left", all.known, all.left.len()));
    lines.join("\n")
}

/// Returns the exit code of the outcome.
fn exit(items: &[Adopted]) -> Exit {
    items.iter().fold(Exit::Done, |exit, one| {
        exit.or(match one.stands {
            Taken::Adopted | Taken::Already | Taken::Fits => Exit::Done,
            Taken::Unreachable => Exit::Environment,
            Taken::Refused | Taken::Busy | Taken::Unknown | Taken::Unverified => Exit::Stuck,
        })
    })
}
