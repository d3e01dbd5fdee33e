//! The pages of reference name what exists, and a secret is sealed as its guide shows.

use std::path::Path;
use std::process::Command;

use crate::support::pages::{Part, parts};

/// Runs a command in a folder.
fn run(folder: &Path, command: &str) -> String {
    let arguments = command.split_whitespace().skip(1);
    let output = Command::new(env!("CARGO_BIN_EXE_reckon"))
        .current_dir(folder)
        .env_clear()
        .args(arguments)
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn reckon_yaml_is_explained_and_has_a_schema() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        run(folder.path(), "reckon explain config.policy.prune.delay"),
        "Config.policy.prune.delay\n\n  The time that a live object stays after its mark.\n\n  type      duration\n  \
         required  no\n  default   24h\n"
    );
    let file = run(folder.path(), "reckon explain Config");
    for field in ["partner.plans[].id", "policy.limits.merchants.NAME.per_day", "notify.NAME.url"] {
        assert!(file.contains(&format!("  {field}  ")), "{field}: {file}");
    }
    let json = run(folder.path(), "reckon explain Config.notify.ops.url -o json");
    assert!(json.contains("\"privacy\": \"secret\""), "{json}");
    let schema = run(folder.path(), "reckon schema Config");
    assert!(schema.contains("\"title\": \"Config\""), "{schema}");
}

#[test]
fn a_secret_is_sealed_as_its_guide_shows() {
    use age::secrecy::ExposeSecret;
    use std::io::Write;
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/guides/secrets.md");
    let page = std::fs::read_to_string(file).unwrap();
    let shown = parts(&page).into_iter().find_map(|part| match part {
        Part::Command { line, shown } if line.contains("reckon seal") => Some((line, shown)),
        Part::File { .. } | Part::Command { .. } => None,
    });
    let (command, printed) = shown.expect("the guide shows it");
    let (value, command) = command.split_once(" | ").expect("the value is piped in");
    let value = value.split_whitespace().last().unwrap();
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), "reckon init");
    let config = folder.path().join("reckon.yaml");
    let text = std::fs::read_to_string(&config).unwrap();
    let text = text.replace("secrets:\n", "secrets:\n  age: {file: age.key}\n");
    std::fs::write(&config, text).unwrap();
    let identity = age::x25519::Identity::generate().to_string();
    std::fs::write(folder.path().join("age.key"), identity.expose_secret()).unwrap();
    let mut seal = Command::new(env!("CARGO_BIN_EXE_reckon"))
        .current_dir(folder.path())
        .args(command.split_whitespace().skip(1))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the program starts");
    seal.stdin.take().unwrap().write_all(value.as_bytes()).unwrap();
    let real = String::from_utf8(seal.wait_with_output().unwrap().stdout).unwrap();
    // Every sealed text begins alike; the rest is different each time.
    let (before, rest) = printed.split_once("YWdlLWVuY3J5cHRpb24u").expect("a sealed text");
    let (_, after) = rest.split_once("…\n").expect("the text is cut");
    assert!(real.starts_with(&format!("{before}YWdlLWVuY3J5cHRpb24u")), "{real}");
    assert!(real.ends_with(after), "{real}");
    assert!(!real.contains(value));
}

/// Returns the commands of a table's first cell, each with its options: a cell names the group of its commands once.
fn commands_of(cell: &str) -> Vec<(Vec<&str>, Vec<&str>)> {
    let mut found: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for span in cell.split('`').skip(1).step_by(2) {
        let mut words = span.split([' ', '[', ']']).filter(|word| !word.is_empty()).peekable();
        let mut path: Vec<&str> = Vec::new();
        while let Some(word) =
            words.next_if(|word| word.starts_with(|a: char| a.is_ascii_lowercase()))
        {
            path.push(word);
        }
        let options = words.filter(|word| word.starts_with("--")).collect();
        let group = found.last().map(|(before, _)| before.clone()).unwrap_or_default();
        match (path.len(), group.len()) {
            (0, _) => path = group,
            (1, 2) => path.insert(0, group[0]),
            _ => {}
        }
        found.push((path, options));
    }
    found
}

#[test]
fn every_command_and_option_of_the_reference_exists() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reference/commands.md");
    let page = std::fs::read_to_string(file).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" |"));
    let folder = tempfile::tempdir().unwrap();
    let mut tried = 0;
    for (path, options) in rows.flat_map(|(cell, _)| commands_of(cell)) {
        let help = run(folder.path(), &format!("reckon {} --help", path.join(" ")));
        for option in options {
            assert!(help.contains(option), "{path:?} has no {option}");
        }
        tried += 1;
    }
    assert!(tried > 60, "{tried}");
}
