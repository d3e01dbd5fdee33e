//! The imports between the modules of the crate, with re-exports followed to the module that defines the item.

use std::collections::{BTreeMap, BTreeSet};

use crate::Source;
use crate::tokens::{Token, expand, tokens};

/// The path of a module from the root of the crate.
pub(super) type Module = Vec<String>;

/// Longest chain of re-exports that is followed.
const CHAIN_MAX: usize = 8;

/// The modules of the crate without its tests, and the modules that each of them imports from.
pub(super) struct Graph {
    modules: BTreeSet<Module>,
    imports: BTreeMap<Module, BTreeSet<Module>>,
}

/// Names that a module imports, each with its path from the root of the crate.
type Imported = BTreeMap<(Module, String), Vec<String>>;

/// A path that a module mentions, from the root of the crate, and true if a `use` mentions it.
type Mention = (Vec<String>, bool);

pub(super) fn is_test(path: &str) -> bool {
    ["/tests.rs", "/tests/", "_tests.rs", "_tests/", "/testing"]
        .iter()
        .any(|part| path.contains(part))
}

impl Graph {
    /// Reads the imports of these files.
    pub(super) fn of(sources: &[Source]) -> Self {
        let program = || sources.iter().filter(|source| !is_test(&source.path));
        let modules: BTreeSet<Module> = program().map(|source| module(&source.path)).collect();
        let mentions: Vec<(Module, Vec<Mention>)> =
            program().map(|source| (module(&source.path), mentions(source, &modules))).collect();
        let imported = imported(&mentions);
        let mut imports: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
        for (from, paths) in mentions {
            let targets = paths.into_iter().map(|(path, _)| definer(path, &modules, &imported));
            imports.insert(from, targets.collect());
        }
        Self { modules, imports }
    }

    /// Returns every folder with children; the first one is the crate.
    pub(super) fn folders(&self) -> BTreeSet<Module> {
        let parents = self.modules.iter().filter_map(|module| module.split_last());
        parents.map(|(_, parent)| parent.to_vec()).collect()
    }

    /// Returns the imports between the children of a folder, by their names.
    pub(super) fn edges(&self, folder: &[String]) -> BTreeSet<(String, String)> {
        let child = |module: &Module| {
            let inside = module.strip_prefix(folder)?;
            Some(inside.first().map_or("its own file", String::as_str).to_owned())
        };
        let pairs = self.imports.iter().flat_map(|(from, targets)| {
            targets.iter().filter_map(|to| Some((child(from)?, child(to)?)))
        });
        pairs.filter(|(from, to)| from != to).collect()
    }

    /// Returns the groups of children of a folder that import each other in a circle.
    pub(super) fn circles(&self, folder: &[String]) -> Vec<Vec<String>> {
        let edges = self.edges(folder);
        let reach: BTreeMap<&String, BTreeSet<&String>> =
            edges.iter().map(|(from, _)| (from, reachable(from, &edges))).collect();
        let mut circles: BTreeSet<Vec<String>> = BTreeSet::new();
        for (one, reached) in reach.iter().filter(|(one, reached)| reached.contains(*one)) {
            let others = reached
                .iter()
                .filter(|other| reach.get(**other).is_some_and(|back| back.contains(one)));
            circles.insert(others.map(|other| (*other).clone()).collect());
        }
        circles.into_iter().collect()
    }
}

fn reachable<'a>(from: &'a String, edges: &'a BTreeSet<(String, String)>) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(next) = open.pop() {
        let targets = edges.iter().filter(|(source, _)| source == next).map(|(_, target)| target);
        open.extend(targets.filter(|target| reached.insert(*target)));
    }
    reached
}

/// Returns the module of a file.
fn module(path: &str) -> Module {
    let inside = path.strip_prefix("src/").unwrap_or(path);
    let inside = inside.strip_suffix(".rs").unwrap_or(inside);
    let inside = inside.strip_suffix("/mod").unwrap_or(inside);
    if ["lib", "main"].contains(&inside) {
        return Vec::new();
    }
    inside.split('/').map(str::to_owned).collect()
}

/// Returns the paths of the crate that a file mentions outside its tests.
fn mentions(source: &Source, modules: &BTreeSet<Module>) -> Vec<Mention> {
    let tokens = tokens(&source.text[..inline_tests(&source.text)]);
    let here = module(&source.path);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if !begins_path(&tokens, at) {
            at += 1;
            continue;
        }
        let in_use = at > 0 && tokens[at - 1].text == "use";
        let mut paths = Vec::new();
        at = expand(&tokens, at, &[], &mut paths).max(at + 1);
        let paths = paths.into_iter().filter_map(|(_, path)| from_root(&path, &here, modules));
        found.extend(paths.map(|path| (path, in_use)));
    }
    found
}

/// Returns the place of the first inline test module, or the end of the text.
fn inline_tests(text: &str) -> usize {
    let modules = text.match_indices("#[cfg(test)]\nmod ");
    let mut inline = modules.filter(|(at, _)| {
        text[*at..].lines().nth(1).is_some_and(|declaration| declaration.contains('{'))
    });
    inline.next().map_or(text.len(), |(at, _)| at)
}

/// Returns true at the first word of a path.
fn begins_path(tokens: &[Token], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map_or("", |at| tokens[at].text.as_str());
    let is_member = before(1) == "::" || before(1) == "." && before(2) != ".";
    let is_word = tokens[at].text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    is_word && !is_member && tokens.get(at + 1).is_some_and(|next| next.text == "::")
}

/// Returns the path from the root of the crate, or nothing for one of another crate or of a type.
fn from_root(path: &[String], here: &[String], modules: &BTreeSet<Module>) -> Option<Vec<String>> {
    let supers = path.iter().take_while(|part| *part == "super").count();
    let (base, rest) = match path[0].as_str() {
        "crate" => (&here[..0], &path[1..]),
        "self" => (here, &path[1..]),
        "super" => (here.get(..here.len().checked_sub(supers)?)?, &path[supers..]),
        child => {
            let child: Module = [here, &[child.to_owned()]].concat();
            (modules.contains(&child).then_some(here)?, path)
        }
    };
    Some([base, rest].concat())
}

fn imported(mentions: &[(Module, Vec<Mention>)]) -> Imported {
    let uses = mentions.iter().flat_map(|(module, paths)| {
        paths.iter().filter(|(_, in_use)| *in_use).map(move |(path, _)| (module, path))
    });
    let named = uses.filter_map(|(module, path)| {
        let name = path.iter().rev().find(|part| *part != "self")?;
        Some(((module.clone(), name.clone()), path.clone()))
    });
    named.collect()
}

/// Returns the module that defines the item of a path.
fn definer(mut path: Vec<String>, modules: &BTreeSet<Module>, imported: &Imported) -> Module {
    for _ in 0..CHAIN_MAX {
        let depth =
            (0..=path.len()).rev().find(|depth| modules.contains(&path[..*depth])).unwrap_or(0);
        let module = path[..depth].to_vec();
        let Some(item) = path.get(depth) else {
            return module;
        };
        match imported.get(&(module.clone(), item.clone())) {
            Some(target) if *target != path => path = [&target[..], &path[depth + 1..]].concat(),
            _ => return module,
        }
    }
    path
}
