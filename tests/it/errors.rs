//! Checks that `docs/reference/errors.md` lists every code that the program can print, and no other.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// Prefix of every code, except those of the HTTP interface.
const PREFIX: &str = "reckon::";
/// Paths with this prefix that are no codes: the program itself, and the name of a log.
const OTHERS: [&str; 7] = [
    "reckon::cli::main",
    "reckon::effects",
    "reckon::resources",
    "reckon::documents",
    "reckon::freeze",
    "reckon::times",
    "reckon::alerts",
];
/// Calls whose first text is the end of a code: the folder, the call, and the beginning of the code.
const CALLS: [(&str, &str, &str); 6] = [
    ("src/scripting/", ".problem(", "reckon::hooks::"),
    ("src/scripting/", ".report(", "reckon::hooks::"),
    ("src/scripting/", ".warn(", "reckon::hooks::"),
    ("src/scripting/check/declarations.rs", "(CONCURRENCY, \"", "reckon::hooks::"),
    ("src/scripting/check/declarations.rs", "(SINCE, \"", "reckon::hooks::"),
    ("src/cli/commands/signed/", ".untrusted(", "reckon::approval::"),
];
/// Folders that raise the codes of the HTTP interface.
const INTERFACE: [&str; 4] = ["src/control/", "src/http/", "src/cli/remote.rs", "src/cli/exit.rs"];
/// Calls that make an error of the HTTP interface.
const MADE: [&str; 2] = ["ControlError::new(\"", "refuse("];
/// File in which the end of a code precedes its severity, with the text between them.
const REACH: (&str, &str) = ("src/scripting/check/declarations.rs", "\", Severity::");

/// Returns the path and the text of every source file, without tests.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(ROOT).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let shown = path.strip_prefix(ROOT).unwrap().to_string_lossy().replace('\\', "/");
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") && !is_test(&shown) {
                found.push((shown, program(&fs::read_to_string(&path).unwrap())));
            }
        }
    }
    found
}

fn is_test(path: &str) -> bool {
    ["/tests", "/testing", "_tests.rs"].into_iter().any(|part| path.contains(part))
}

/// Strips the comments of a file, and the tests at its end.
fn program(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let lines = text[..end].lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

fn is_word(letter: char) -> bool {
    letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_'
}

fn word(text: &str) -> &str {
    let end = text.find(|letter| !is_word(letter)).unwrap_or(text.len());
    &text[..end]
}

/// Finds whole codes: as a text, or as `code(…)` of an error type.
fn whole(text: &str) -> impl Iterator<Item = String> {
    let parts = text.match_indices(PREFIX).filter(|(at, _)| {
        let before = &text[..*at];
        before.ends_with('"') || before.ends_with("code(")
    });
    parts.map(|(at, _)| {
        let rest = &text[at..];
        let end = rest.find(|letter| !is_word(letter) && letter != ':').unwrap_or(rest.len());
        rest[..end].to_owned()
    })
}

/// Returns the first text behind each call, if it is one word.
fn ends<'a>(text: &'a str, call: &'a str) -> impl Iterator<Item = &'a str> {
    text.match_indices(call).filter_map(move |(at, _)| {
        let rest = &text[at..][call.len()..];
        let rest = if call.ends_with('"') { rest } else { rest.split_once('"')?.1 };
        let word = word(rest);
        (!word.is_empty() && rest[word.len()..].starts_with('"')).then_some(word)
    })
}

/// Finds the codes of the HTTP interface: constants, and texts of which errors are made.
fn interface(text: &str) -> Vec<String> {
    let made = MADE.into_iter().flat_map(|call| ends(text, call));
    let mut found: Vec<String> =
        made.filter(|word| word.contains('_')).map(str::to_owned).collect();
    let constants = text.lines().filter(|line| {
        let line = line.trim_start();
        let is_code = line.starts_with("pub const ") || line.starts_with("pub(crate) const ");
        is_code && line.contains(": &str = \"") && line.ends_with("\";")
    });
    let values = constants.filter_map(|line| line.split('"').nth(1));
    found.extend(
        values.filter(|value| value.contains('_') && word(value) == *value).map(str::to_owned),
    );
    found
}

/// Returns every code of the source.
fn raised() -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    for (path, text) in sources() {
        codes.extend(whole(&text).filter(|code| !code.ends_with(':')));
        for (folder, call, begin) in CALLS {
            if path.starts_with(folder) {
                codes.extend(ends(&text, call).map(|end| format!("{begin}{end}")));
            }
        }
        if path == REACH.0 {
            let before = text.match_indices(REACH.1).map(|(at, _)| &text[..at]);
            let words = before.filter_map(|before| before.rsplit('"').next());
            codes.extend(words.map(|word| format!("reckon::hooks::{word}")));
        }
        if INTERFACE.iter().any(|folder| path.starts_with(folder)) {
            codes.extend(interface(&text));
        }
    }
    codes.retain(|code| !OTHERS.contains(&code.as_str()));
    codes
}

/// Returns every code of the tables, in their order.
fn listed() -> Vec<String> {
    let text = fs::read_to_string(Path::new(ROOT).join("docs/reference/errors.md")).unwrap();
    let (_, tables) = text.split_once("# Every code\n").unwrap();
    let rows = tables.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split_once('`')).map(|(code, _)| code.to_owned()).collect()
}

#[test]
fn every_code_of_the_program_is_explained_and_no_other() {
    let (raised, listed) = (raised(), listed());
    let known: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(known.len(), listed.len(), "a code is listed twice");
    let missing: Vec<&String> = raised.difference(&known).collect();
    let gone: Vec<&String> = known.difference(&raised).collect();
    assert!(missing.is_empty(), "docs/reference/errors.md does not explain {missing:#?}");
    assert!(gone.is_empty(), "docs/reference/errors.md explains unused codes: {gone:#?}");
    assert!(raised.len() > 300, "the search found {} codes", raised.len());
}

/// Each row has a cause and a remedy.
#[test]
fn every_row_says_the_cause_and_what_to_do() {
    let text = fs::read_to_string(Path::new(ROOT).join("docs/reference/errors.md")).unwrap();
    let (_, tables) = text.split_once("# Every code\n").unwrap();
    for row in tables.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        assert_eq!(cells.len(), 3, "{row}");
        assert!(cells.iter().skip(1).all(|cell| cell.trim().ends_with(['.', ')'])), "{row}");
    }
}

#[test]
fn a_planted_code_is_found_in_each_of_its_forms() {
    let text = "Failure::input(\n    \"reckon::a::b_c\", x)\n#[diagnostic(code(reckon::d::e))]\n\
        // \"reckon::not::this\"\n#[cfg(test)]\nmod tests {\n\"reckon::nor::this\" }";
    let text = program(text);
    assert_eq!(whole(&text).collect::<Vec<_>>(), ["reckon::a::b_c", "reckon::d::e"]);
    let call =
        "self.tell(value.start(), \"option\", &message);\nself.tell(at, code, \"Two words\")";
    assert_eq!(ends(call, ".tell(").collect::<Vec<_>>(), ["option"]);
    let constant =
        "    pub const LOST: &str = \"connection_lost\";\n    pub const PATH: &str = \"/a_b\";";
    assert_eq!(interface(constant), ["connection_lost"]);
}
