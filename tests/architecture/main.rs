//! Checks of the source tree: permitted imports, libraries with one user, printing, and the length of a file.
//!
//! A forbidden import fails with file and line. Comments and text literals are not code and may mention anything.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a failure here is a failed test; the helpers have no test attribute"
)]

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

mod backticks;
mod folders;
mod links;
mod map;
mod tokens;

use tokens::{imports, tokens};

/// Top-level modules with their floors. A module imports from lower floors only; [`may_import`] has the exceptions.
const FLOORS: [(&str, u8); 19] = [
    ("base", 0),
    ("api", 10),
    ("model", 20),
    ("effects", 30),
    ("policy", 31),
    ("kinds", 32),
    ("spec", 40),
    ("plan", 40),
    ("store", 40),
    ("client", 40),
    ("scripting", 40),
    ("notify", 40),
    ("engine", 50),
    ("control", 60),
    ("render", 65),
    ("config", 65),
    ("watch", 70),
    ("http", 70),
    ("cli", 70),
];

/// Modules beside the floors. Only the roots, `cli` and `sim` may import them.
const BESIDE: [&str; 2] = ["sandbox", "sim"];

/// Libraries that only one module may mention, each with that module.
const LIBRARIES: [(&str, &str); 4] =
    [("reqwest", "client"), ("sled", "store"), ("rhai", "scripting"), ("lettre", "notify")];

/// Files that may mention another module's library, with the reason.
const EXCEPTIONS: [(&str, &str, &str); 4] = [
    (
        "src/cli/commands/sandbox/env.rs",
        "reqwest",
        "requests the sandbox's control paths, which the client must never do",
    ),
    ("src/cli/remote.rs", "reqwest", "requests a reckon daemon, and never the service"),
    (
        "src/notify/deliver.rs",
        "reqwest",
        "sends notifications to the operator's targets, and never to the service",
    ),
    (
        "src/sandbox/webhooks.rs",
        "reqwest",
        "is the emulated service that calls the partner, which the client never does",
    ),
];

/// Types of text from outside. They are made only where a service's answer or a receiver's response is classified.
const OUTSIDE: [&str; 4] = ["ServiceText", "ServiceCode", "ServicePlace", "ServiceProblem"];

/// Functions that make these types of foreign text.
const CLEANING: [&str; 2] = ["cleaned", "checked"];

/// Files that may call these functions, each with the text that it converts.
const CLEANERS: [(&str, &str); 7] = [
    ("src/base/outside_text", "the types themselves"),
    ("src/client/classify.rs", "answers of the service, and failures of the connection"),
    ("src/client/service_client.rs", "a cleaned reason within a sentence"),
    ("src/model/outcome.rs", "the body of a refusal"),
    ("src/effects/core/expect.rs", "fields of answers within sentences"),
    ("src/engine/executor/partner_webhook.rs", "the reason of a declined application"),
    ("src/notify/deliver.rs", "what a receiver of a notification answers"),
];

const PRINTING_MACROS: [&str; 5] = ["print", "println", "eprint", "eprintln", "dbg"];

/// Functions of std that return an output stream.
const STREAMS: [&str; 2] = ["stdout", "stderr"];

const MAY_PRINT: [&str; 2] = ["cli", "main"];

const FILE_LINES_MAX: usize = 400;

#[test]
fn no_file_imports_from_its_own_floor_or_above() {
    assert_none(&violations(forbidden_edges));
}

#[test]
fn a_library_with_one_user_is_mentioned_nowhere_else() {
    assert_none(&violations(borrowed_libraries));
}

#[test]
fn only_the_command_line_prints() {
    assert_none(&violations(prints));
}

/// Closes S2: few files make types of text from outside. Only they, `api` and `sandbox` use the wire form of a refusal.
#[test]
fn words_from_outside_are_made_where_answers_are_classified() {
    assert_none(&violations(foreign_words));
    let planted = |path: &str, text: &str| {
        foreign_words(&Source { path: path.into(), text: text.into() }).len()
    };
    assert_eq!(planted("src/engine/a.rs", "ServiceText::cleaned(&text, &known)"), 1);
    assert_eq!(planted("src/plan/a.rs", "use crate::api::{Call, Problem};"), 1);
    assert_eq!(planted("src/plan/a.rs", "let said = crate::api::Problem::default();"), 1);
    assert_eq!(planted("src/client/classify.rs", "ServiceText::cleaned(&text, &known)"), 0);
}

#[test]
fn no_file_is_longer_than_the_limit() {
    let long: Vec<String> = sources()
        .iter()
        .map(|source| (source, source.text.lines().count()))
        .filter(|(_, lines)| *lines > FILE_LINES_MAX)
        .map(|(source, lines)| {
            format!("{}: {lines} lines, more than {FILE_LINES_MAX}", source.path)
        })
        .collect();
    assert_none(&long);
}

#[test]
fn every_module_has_its_floor() {
    let unknown: Vec<String> = sources()
        .into_iter()
        .filter(|source| !["lib", "main"].contains(&source.module()))
        .filter(|source| !is_module(source.module()))
        .map(|source| format!("{}: `{}` has no floor in this test", source.path, source.module()))
        .collect();
    assert_none(&unknown);
}

#[test]
fn a_planted_edge_is_caught_with_file_line_and_edge() {
    let check = |path: &str, text: &str| {
        let found = forbidden_edges(&Source { path: path.into(), text: text.into() });
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let caught = "src/base/id.rs:2: base must not import engine";
    assert_eq!(check("src/base/id.rs", "use std::fmt;\nuse crate::engine::Engine;\n"), [caught]);
    for (path, planted) in [
        ("src/base/id.rs", "use crate::{\n    base::hash,\n    api::{call},\n};"),
        ("src/base/id.rs", "fn f() { let x = $crate :: model :: f(); }"),
        ("src/base/mod.rs", "use super::api::x;"),
        ("src/base/id/number.rs", "use super::super::super::api;"),
        ("src/spec/parse.rs", "use crate::plan::step;"),
        ("src/effects/payments/charge.rs", "use crate::kinds::register;"),
        ("src/client/send.rs", "use crate::sandbox::router;"),
        ("src/sandbox/server.rs", "use crate::store::projection;"),
        ("src/sandbox/server.rs", "use crate::store::{self};"),
        ("src/sandbox/server.rs", "use crate::model::intent;"),
        ("src/sim/mod.rs", "use crate::http::serve;"),
        ("src/http/private/router.rs", "use crate::cli;"),
        ("src/engine/core/coordinator.rs", "use crate::render::table;"),
        ("src/engine/core/coordinator.rs", "use crate::*;"),
        ("src/engine/core/coordinator.rs", "let quote = '\"'; use crate::cli; let other = '\"';"),
    ] {
        assert_eq!(check(path, planted).len(), 1, "{path}: {planted}");
    }
    for (path, allowed) in [
        ("src/api/call.rs", "use crate::{api::charge, base::{id, money}};"),
        (
            "src/base/id.rs",
            "//! Unlike [`crate::engine`].\n/* crate::cli */ let s = \"crate::cli\";",
        ),
        ("src/base/id.rs", "let s = r#\"a \" crate::cli\"#; pub(crate) fn f<'a>(x: &'a str) {}"),
        ("src/base/id.rs", "use super::hash; mod tests { use super::super::money; }"),
        ("src/sandbox/server.rs", "use crate::store::{index, index::Index};"),
        ("src/control/protocol.rs", "use crate::render::table;"),
        ("src/sim/mod.rs", "use crate::{engine, sandbox, control};"),
        ("src/cli/entry.rs", "use crate::{http, sim, watch};"),
    ] {
        assert_eq!(check(path, allowed), [""; 0], "{path}: {allowed}");
    }
}

#[test]
fn a_planted_library_and_a_planted_print_are_caught() {
    let source = |path: &str, text: &str| Source { path: path.into(), text: text.into() };
    assert_eq!(borrowed_libraries(&source("src/engine/a.rs", "use reqwest::Client;")).len(), 1);
    assert_eq!(
        borrowed_libraries(&source("src/client/a.rs", "sled::open(); reqwest::get();")).len(),
        1
    );
    assert_eq!(borrowed_libraries(&source("src/store/a.rs", "// reqwest\nsled::open();")).len(), 0);
    assert_eq!(prints(&source("src/http/a.rs", "println!(); std::io::stdout();")).len(), 2);
    assert_eq!(prints(&source("src/http/a.rs", "fn reprint() {} // println!()")).len(), 0);
    assert_eq!(prints(&source("src/cli/a.rs", "println!();")).len(), 0);
}

/// Returns true if `from` may import this path, given without the leading `crate`.
fn may_import(from: &str, path: &[String]) -> bool {
    let to = path.first().map_or("", String::as_str);
    match from {
        _ if !is_module(to) => false,
        _ if from == to => true,
        "lib" | "main" | "cli" => true,
        "sim" => to != "cli" && to != "http",
        "sandbox" if to == "store" => path.get(1).is_some_and(|part| part == "index"),
        "sandbox" => to == "base" || to == "api",
        "control" if to == "render" || to == "config" => true,
        _ => floor(to).zip(floor(from)).is_some_and(|(to, from)| to < from),
    }
}

fn is_module(name: &str) -> bool {
    floor(name).is_some() || BESIDE.contains(&name)
}

fn floor(module: &str) -> Option<u8> {
    FLOORS.iter().find(|(name, _)| *name == module).map(|(_, floor)| *floor)
}

/// A broken rule, with its place.
struct Violation {
    path: String,
    line: usize,
    what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, what } = self;
        write!(f, "{path}:{line}: {what}")
    }
}

/// A file under `src`, by its path from the package's folder.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// Returns the top-level module of the file; `lib` and `main` for the roots.
    fn module(&self) -> &str {
        let inside = self.path.strip_prefix("src/").unwrap_or(&self.path);
        let first = inside.split('/').next().unwrap_or(inside);
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// Returns the number of `super` from the file's module to the root of the crate.
    fn depth(&self) -> usize {
        let folders = self.path.matches('/').count();
        if self.path.ends_with("/mod.rs") { folders - 1 } else { folders }
    }

    fn violation(&self, line: usize, what: String) -> Violation {
        Violation { path: self.path.clone(), line, what }
    }
}

fn forbidden_edges(source: &Source) -> Vec<Violation> {
    let from = source.module();
    let edges = imports(&tokens(&source.text), source.depth(), is_module);
    let forbidden = edges.into_iter().filter(|(_, path)| !may_import(from, path));
    forbidden
        .map(|(line, path)| {
            let shown = if path.first().is_some_and(|to| to == "store") { 2 } else { 1 };
            let to: Vec<String> = path.into_iter().take(shown).collect();
            source.violation(line, format!("{from} must not import {}", to.join("::")))
        })
        .collect()
}

fn borrowed_libraries(source: &Source) -> Vec<Violation> {
    let owner = |word: &str| LIBRARIES.iter().find(|(library, _)| *library == word);
    let mentions = tokens(&source.text).into_iter().filter_map(|token| {
        let (library, owner) = owner(&token.text)?;
        let excepted =
            |(file, name, _): &(&str, &str, &str)| source.path.ends_with(file) && name == library;
        (*owner != source.module() && !EXCEPTIONS.iter().any(excepted))
            .then(|| source.violation(token.line, format!("only {owner} may mention {library}")))
    });
    mentions.collect()
}

/// Returns the places outside the permitted files that make a type of foreign text, or use the wire form of a refusal.
fn foreign_words(source: &Source) -> Vec<Violation> {
    let takes_in = CLEANERS.iter().any(|(path, _)| source.path.starts_with(path));
    if takes_in || ["api", "sandbox"].contains(&source.module()) {
        return Vec::new();
    }
    let tokens = tokens(&source.text);
    let makes = tokens.windows(5).filter(|words| {
        OUTSIDE.contains(&words[0].text.as_str())
            && words[1..].iter().any(|word| CLEANING.contains(&word.text.as_str()))
    });
    let made = makes.map(|words| {
        source.violation(words[0].line, format!("{} is made of foreign text", words[0].text))
    });
    let wire = imports(&tokens, source.depth(), is_module).into_iter().filter(|(_, path)| {
        path.first().is_some_and(|module| module == "api")
            && path.iter().any(|one| one == "Problem")
    });
    let held = wire.map(|(line, _)| {
        source.violation(line, "api::Problem is the wire form: use ServiceProblem".to_owned())
    });
    made.chain(held).collect()
}

fn prints(source: &Source) -> Vec<Violation> {
    if MAY_PRINT.contains(&source.module()) {
        return Vec::new();
    }
    let tokens = tokens(&source.text);
    let calls = tokens.windows(2).filter(|pair| match pair[1].text.as_str() {
        "!" => PRINTING_MACROS.contains(&pair[0].text.as_str()),
        "(" => STREAMS.contains(&pair[0].text.as_str()),
        _ => false,
    });
    calls.map(|pair| source.violation(pair[0].line, format!("{} prints", pair[0].text))).collect()
}

fn violations(rule: fn(&Source) -> Vec<Violation>) -> Vec<String> {
    sources().iter().flat_map(rule).map(|violation| violation.to_string()).collect()
}

fn assert_none(broken: &[String]) {
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

/// Returns every Rust file under `src`, sorted by path.
fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    collect(&root.join("src"), &mut paths);
    paths.sort();
    assert!(!paths.is_empty(), "no sources found");
    let read = |path: &PathBuf| Source {
        path: path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/"),
        text: fs::read_to_string(path).unwrap(),
    };
    paths.iter().map(read).collect()
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
}
