//! Scope of a command: the resources that paths and names choose.

use std::path::{Path, PathBuf};

use super::machine;
use super::open::Context;
use crate::base::wording::nearest;
use crate::cli::args::plans::ChoiceArgs;
use crate::cli::exit::CommandFailure;
use crate::engine::protocol::queries::scoped::UnknownName;
use crate::model::operator::suspension::StepSelection;

/// Returns the scope of path arguments, `--target` and `--exclude`.
///
/// # Errors
/// A path does not exist, or is outside of the specs folder.
pub(crate) fn scope(
    setup: &Context,
    paths: &[PathBuf],
    choice: &ChoiceArgs,
) -> Result<StepSelection, CommandFailure> {
    check_paths(setup, paths)?;
    let below = |path: &PathBuf| machine::below(&setup.root, path).to_string_lossy().into_owned();
    Ok(StepSelection {
        paths: paths.iter().map(below).collect(),
        target: choice.target.clone(),
        exclude: choice.exclude.clone(),
    })
}

/// Refuses path arguments that name nothing: a mistyped path would choose nothing and succeed.
pub(crate) fn check_paths(setup: &Context, paths: &[PathBuf]) -> Result<(), CommandFailure> {
    let specs = machine::below(&setup.root, &setup.specs);
    for path in paths {
        if !path.exists() {
            let what = format!("no such file or folder: {}", path.display());
            return Err(
                CommandFailure::input("reckon::choice::path", what).help(nearest_path(path))
            );
        }
        let inside = machine::below(&setup.root, path);
        if !inside.starts_with(&specs) && !specs.starts_with(&inside) {
            let what = format!("{} is not in the specs folder", path.display());
            let help = format!("name a file or folder in {}", setup.specs.display());
            return Err(CommandFailure::input("reckon::choice::path", what).help(help));
        }
    }
    Ok(())
}

/// Returns the help for a path that does not exist: the nearest name in its folder.
fn nearest_path(path: &Path) -> String {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let listing =
        std::fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten().flatten();
    let names: Vec<String> =
        listing.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let wanted = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match nearest(wanted, names.iter().map(String::as_str)) {
        Some(name) => format!("did you mean {}?", path.with_file_name(name).display()),
        None => "write the path relative to the working directory".to_owned(),
    }
}

/// Returns the failure of chosen names that no resource has.
pub(crate) fn unknown_names(unknown: &[UnknownName]) -> CommandFailure {
    let names: Vec<String> = unknown.iter().map(|one| one.key.short()).collect();
    let what = format!("no such resource: {}", names.join(" or "));
    let meant: Vec<&str> = unknown.iter().filter_map(|one| one.nearest.as_deref()).collect();
    let help = match meant.as_slice() {
        [] => "list all resources with `reckon get`".to_owned(),
        meant => format!("did you mean {}?", meant.join(" or ")),
    };
    CommandFailure::input("reckon::choice::unknown", what).help(help)
}
