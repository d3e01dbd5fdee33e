//! Checks of tests that documents name as `file: name`.

use std::path::Path;

/// Reads a file of this project.
pub(crate) fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).ok()
}

/// Returns true if a Rust source has a test of this name: a function right below the attribute of a test, or a trial.
pub(crate) fn has_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let is_it = |line: &str| {
        let line = line.strip_prefix("async ").unwrap_or(line);
        line.strip_prefix("fn ")
            .and_then(|rest| rest.strip_prefix(name))
            .is_some_and(|rest| rest.starts_with('('))
    };
    let marked = |at: usize| {
        let above = lines
            .iter()
            .take(at)
            .rev()
            .take_while(|line| line.starts_with('#') || line.starts_with("//"));
        above.clone().any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
            && !above.clone().any(|line| line.starts_with("#[ignore"))
    };
    let packed: String = source.split_whitespace().collect();
    let is_trial = packed.contains(&format!("trial(\"{name}\","));
    is_trial || lines.iter().enumerate().any(|(at, line)| is_it(line) && marked(at))
}

/// Returns the problem with a test that is named `file: name`, if any.
pub(crate) fn missing(named: &str) -> Option<String> {
    let Some((file, name)) = named.split_once(": ") else {
        return Some(format!("`{named}` is not `file: name`"));
    };
    match read(file) {
        None => Some(format!("{file} is not there")),
        Some(source) if !has_test(&source, name) => Some(format!("{file} has no test {name}")),
        Some(_) => None,
    }
}
