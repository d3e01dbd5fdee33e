//! `init`: scaffolds a new repository.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::forget;
use crate::cli::args::options::{Cli, InitArgs};
use crate::cli::context::machine;
use crate::cli::exit::{CommandFailure, Exit};
use crate::cli::print::Printer;
use crate::kinds::register::KINDS;
use crate::render;
use crate::spec::documents::schema;
use crate::store::vault::key::{KEY_FILE, MasterKey};

/// Returns the files of a new repository. Editors read the schema: the first line of the specs
/// names it.
fn files() -> [(&'static str, String); 4] {
    let schema = render::json(&schema::document(KINDS));
    [
        ("reckon.yaml", include_str!("init/reckon.yaml").to_owned()),
        ("specs/acme.yaml", include_str!("init/acme.yaml").to_owned()),
        ("specs/schema/document.json", format!("{schema}\n")),
        (".gitignore", "/.reckon\n/.reckon.mark\n.reckon.key*\n".to_owned()),
    ]
}

/// Files that were made, and files that existed before.
#[derive(Debug, Serialize)]
struct InitOutput {
    made: Vec<PathBuf>,
    kept: Vec<PathBuf>,
}

/// Runs the command.
pub(crate) async fn run(cli: &Cli, args: &InitArgs, out: Printer) -> Result<Exit, CommandFailure> {
    if args.empty_remote {
        return forget::disown(cli, args, out).await;
    }
    let dir = args.dir.clone().unwrap_or_else(|| PathBuf::from("."));
    let mut made = InitOutput { made: Vec::new(), kept: Vec::new() };
    for (name, text) in files() {
        let path = dir.join(name);
        let list = if write_new(&path, &text)? { &mut made.made } else { &mut made.kept };
        list.push(path);
    }
    let key = dir.join(KEY_FILE);
    let had = key.exists();
    MasterKey::read_or_create_file(&key, &mut machine::rng()?)
        .map_err(|error| CommandFailure::environment("reckon::init::key", error))?;
    let list = if had { &mut made.kept } else { &mut made.made };
    list.push(key);
    out.result(&made, || text(&made, &dir))?;
    Ok(Exit::Done)
}

/// Writes a file unless it exists; returns true if it was written.
fn write_new(path: &Path, text: &str) -> Result<bool, CommandFailure> {
    let failed = |error: std::io::Error| {
        CommandFailure::environment(
            "reckon::init::write",
            format!("write {}: {error}", path.display()),
        )
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    match std::fs::File::create_new(path) {
        Ok(mut file) => {
            std::io::Write::write_all(&mut file, text.as_bytes()).map_err(failed)?;
            Ok(true)
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(failed(error)),
    }
}

/// Lists the files, and the next command.
fn text(made: &InitOutput, dir: &Path) -> String {
    let line = |word: &str, path: &PathBuf| format!("{word}  {}", path.display());
    let mut lines: Vec<String> = made.made.iter().map(|path| line("made", path)).collect();
    lines.extend(made.kept.iter().map(|path| line("kept", path)));
    let config = dir.join("reckon.yaml");
    lines.push(format!("\nnext: reckon --config {} run --sandbox", config.display()));
    lines.join("\n")
}
