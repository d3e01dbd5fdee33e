//! The rules inside the folders: imports run in one direction, a `mod.rs` only declares, and a folder has few files.

use std::collections::BTreeMap;

use super::tokens::tokens;
use super::{Source, assert_none, sources};

mod graph;

use graph::Graph;

/// Largest number of files of a folder, beside its sub-folders and its `mod.rs`.
const FILES_MAX: usize = 20;

/// Largest number of names that a `mod.rs` re-exports.
const RE_EXPORTS_MAX: usize = 10;

/// The floors of the engine, lowest first: a folder imports only from lower ones.
const ENGINE: [&str; 14] = [
    "protocol",
    "limits",
    "handles",
    "known",
    "scheduler",
    "readers",
    "executor",
    "events",
    "hooks",
    "alerts",
    "view",
    "queries",
    "commands",
    "core",
];

#[test]
fn the_children_of_a_folder_import_each_other_in_one_direction() {
    assert_none(&circles(&sources()));
}

#[test]
fn the_folders_of_the_engine_import_only_from_lower_floors() {
    assert_none(&upward(&sources()));
    let planted = [
        planted("src/engine/known/a.rs", "use crate::engine::core::b::C;"),
        planted("src/engine/core/b.rs", "pub struct C;"),
    ];
    assert_eq!(upward(&planted), ["engine: known must not import core"]);
}

#[test]
fn a_mod_file_declares_and_holds_no_code() {
    let code: Vec<String> =
        sources().iter().filter(|source| is_mod(source)).flat_map(code_of_mod).collect();
    assert_none(&code);
}

#[test]
fn a_folder_has_few_files() {
    let mut files: BTreeMap<String, usize> = BTreeMap::new();
    for source in sources().iter().filter(|source| !is_mod(source) && !graph::is_test(&source.path))
    {
        let folder = source.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        *files.entry(folder.to_owned()).or_default() += 1;
    }
    let many = files.into_iter().filter(|(_, files)| *files > FILES_MAX);
    let many: Vec<String> = many
        .map(|(folder, files)| format!("{folder}: {files} files, more than {FILES_MAX}"))
        .collect();
    assert_none(&many);
}

#[test]
fn a_planted_circle_is_caught_with_its_children() {
    let tree = |b: &str, c: &str| {
        [
            planted("src/lib.rs", "pub mod a;"),
            planted("src/a/mod.rs", "pub mod b;\npub mod c;\npub use c::d::Shown;"),
            planted("src/a/b.rs", b),
            planted("src/a/c.rs", c),
            planted("src/a/c/d.rs", "pub struct Shown;"),
        ]
    };
    let circle = ["a: b, c import each other in a circle"];
    assert_eq!(circles(&tree("use crate::a::Shown;", "mod d;\nfn g() { super::b::f() }")), circle);
    assert_eq!(circles(&tree("use super::{c, c::d};", "use crate::a::b::f;")), circle);
    let test = "//! [`super::b`]\npub mod d;\n#[cfg(test)]\nmod tests { use crate::a::b; }";
    assert_eq!(circles(&tree("use super::c;", test)), [""; 0]);
    let parent = circles(&tree("", "pub mod d;\nuse d::Shown;\nstruct Held;"));
    assert_eq!(parent, [""; 0]);
}

#[test]
fn planted_code_of_a_mod_file_is_caught() {
    assert_eq!(code_of_mod(&planted("src/a/mod.rs", "pub mod b;\nfn f() {}")).len(), 1);
    assert_eq!(
        code_of_mod(&planted("src/a/mod.rs", "//! Doc.\n\n#[cfg(test)]\nmod tests;")).len(),
        0
    );
    let many = "pub use b::{A, B, C, D, E, F, G, H, I, J, K};";
    assert_eq!(code_of_mod(&planted("src/a/mod.rs", many)).len(), 1);
}

fn planted(path: &str, text: &str) -> Source {
    Source { path: path.into(), text: text.into() }
}

fn is_mod(source: &Source) -> bool {
    source.path.ends_with("/mod.rs") && !graph::is_test(&source.path)
}

/// Returns the circles of all folders.
fn circles(sources: &[Source]) -> Vec<String> {
    let graph = Graph::of(sources);
    let mut found = Vec::new();
    for folder in graph.folders() {
        let name = folder.join("::");
        let shown = graph.circles(&folder).into_iter().map(|circle| circle.join(", "));
        found.extend(shown.map(|circle| format!("{name}: {circle} import each other in a circle")));
    }
    found
}

/// Returns the imports of the engine's folders that do not lead to a lower floor.
fn upward(sources: &[Source]) -> Vec<String> {
    let floor = |name: &str| ENGINE.iter().position(|one| *one == name);
    let edges = Graph::of(sources).edges(&["engine".to_owned()]);
    let up = edges.iter().filter(|(from, to)| floor(from).is_none() || floor(from) <= floor(to));
    up.map(|(from, to)| format!("engine: {from} must not import {to}")).collect()
}

/// Returns the code of a `mod.rs` that is no declaration, and its surplus re-exports.
fn code_of_mod(source: &Source) -> Vec<String> {
    const DECLARING: [&str; 4] = ["mod", "use", "pub", "#"];
    let tokens = tokens(&source.text);
    let mut found = Vec::new();
    let (mut depth, mut names, mut in_use, mut start) = (0_usize, 0, false, true);
    for token in &tokens {
        let text = token.text.as_str();
        if start && depth == 0 && !DECLARING.contains(&text) && text != "!" && text != "(" {
            found.push(format!("{}:{}: `{text}`: a mod.rs only declares", source.path, token.line));
            break;
        }
        in_use = text == "use" || in_use && text != ";";
        names += usize::from(in_use && [",", ";"].contains(&text));
        match text {
            "{" | "[" | "(" => depth += 1,
            "}" | "]" | ")" => depth -= 1,
            _ => {}
        }
        start = depth == 0 && [";", "]"].contains(&text);
    }
    names += source.text.matches("use ").count();
    if names > RE_EXPORTS_MAX {
        found.push(format!("{}: {names} re-exports, more than {RE_EXPORTS_MAX}", source.path));
    }
    found
}
