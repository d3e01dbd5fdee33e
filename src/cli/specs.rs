//! Which resources paths and names choose.

use std::path::{Path, PathBuf};

use super::args::Choice;
use super::exit::Failure;
use super::setup::Setup;
use crate::engine::Unknown;
use crate::model::scope::Scope;

/// What path arguments, `--target` and `--exclude` choose.
pub(super) fn scope(setup: &Setup, paths: &[PathBuf], choice: &Choice) -> Scope {
    let below = |path: &PathBuf| below(&setup.root, path).to_string_lossy().into_owned();
    Scope {
        paths: paths.iter().map(below).collect(),
        target: choice.target.clone(),
        exclude: choice.exclude.clone(),
    }
}

/// Names were chosen that nothing has.
pub(super) fn unknown(unknown: &[Unknown]) -> Failure {
    let names: Vec<String> = unknown.iter().map(|one| one.key.short()).collect();
    let what = format!("nothing is called {}", names.join(" or "));
    let meant: Vec<&str> = unknown.iter().filter_map(|one| one.nearest.as_deref()).collect();
    let help = match meant.as_slice() {
        [] => "`reckon get` lists every resource".to_owned(),
        meant => format!("did you mean {}?", meant.join(" or ")),
    };
    Failure::input("reckon::choice::unknown", what).help(help)
}

/// A path argument as manifests name their files: relative to the folder of the configuration.
pub(super) fn below(root: &Path, path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    let plain: PathBuf = absolute.components().collect();
    plain.strip_prefix(&root).map_or(plain.clone(), Path::to_owned)
}
