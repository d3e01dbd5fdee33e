//! Guards of removals, tested from outside: the built program, a sandbox of its own, and a person's approval.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

const TREE: &str = r#"
apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec: {mode: test, timezone: America/Chicago, credentials: {authorization_code: {env: CODE_ACME}}}
---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: card}
spec: {merchant: acme, type: card, source: {card: {number: "4242424242424242", exp_month: 12, exp_year: 2031}}}
"#;

const CLUB: &str = "---
apiVersion: reckon.dev/v1
kind: RecurringCharge
metadata: {name: club, annotations: {reckon.dev/deletion: delete}}
spec:
  merchant: acme
  method: card
  amount: 20.00 USD
  schedule: {start: 2035-02-01, interval_unit: MONTH, interval_delay: 1}
";

/// A sandbox as a process, and a repository beside it.
struct Stand {
    folder: tempfile::TempDir,
    sandbox: Child,
    environment: Vec<(String, String)>,
}

impl Drop for Stand {
    fn drop(&mut self) {
        self.sandbox.kill().unwrap();
        self.sandbox.wait().unwrap();
    }
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
    command.stdin(Stdio::null()).env_remove("RECKON_KEY");
    command
}

/// Returns the variables of the sandbox's environment lines: `export NAME='value'`.
fn exported(text: &str) -> Vec<(String, String)> {
    let pair = |line: &str| {
        let (name, value) = line.strip_prefix("export ")?.split_once('=')?;
        Some((name.to_owned(), value.trim_matches(['\'', '"', ';']).to_owned()))
    };
    text.lines().filter_map(pair).collect()
}

impl Stand {
    fn start(surface: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("specs")).unwrap();
        let state = folder.path().join("sandbox");
        let mut sandbox = program()
            .args(["sandbox", "--listen", "127.0.0.1:0", "--plain-http", "--surface", surface])
            .arg("--state")
            .arg(&state)
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(sandbox.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().rsplit(' ').next().unwrap().to_owned();
        let config = format!(
            "apiVersion: reckon.dev/v1\nkind: Config\npartner: {{name: acme, client_id: {{env: RECKON_CLIENT_ID}}, client_secret: {{env: RECKON_CLIENT_SECRET}}, redirect_uri: https://partner.example/callback}}\nservice: {{base_url: '{url}', web_url: '{url}'}}\nsecrets: {{env: [CODE_*]}}\npolicy:\n  prune:\n    empty: refuse\nspecs: specs\nstate: .reckon\n"
        );
        std::fs::write(folder.path().join("reckon.yaml"), config).unwrap();
        let mut stand = Self { folder, sandbox, environment: Vec::new() };
        stand.write(TREE);
        let known = stand.reckon(&["sandbox", "env"]);
        assert!(known.status.success(), "{}", said(&known));
        stand.environment = exported(&String::from_utf8(known.stdout).unwrap());
        stand
    }

    fn specs(&self) -> PathBuf {
        self.folder.path().join("specs/tree.yaml")
    }

    fn write(&self, text: &str) {
        std::fs::write(self.specs(), text).unwrap();
    }

    fn reckon(&self, arguments: &[&str]) -> Output {
        let folder: &Path = self.folder.path();
        let variables = self.environment.iter().map(|(name, value)| (name, value));
        program().args(arguments).current_dir(folder).envs(variables).output().unwrap()
    }

    /// Returns the exit code and the output.
    fn check(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.reckon(arguments);
        (output.status.code(), said(&output))
    }
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + text(&output.stderr).as_str()
}

fn guarded_until_a_person_says_otherwise(surface: &str) {
    let stand = Stand::start(surface);
    stand.write(&format!("{TREE}{CLUB}"));
    let (code, text) = stand.check(&["apply", "--yes"]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = stand.check(&["apply", "--yes", "--allow-prune", "RecurringCharge/club"]);
    assert_eq!(code, Some(1), "the document still exists: {text}");
    assert!(text.contains("no guarded removal of RecurringCharge/club"), "{text}");
    stand.write(TREE);
    for arguments in [&["plan"][..], &["plan", "--detailed-exitcode"], &["apply", "--yes"]] {
        let (code, text) = stand.check(arguments);
        assert_eq!(code, Some(3), "{text}");
        for part in [
            "policy.prune.empty blocks the removal",
            "no document of kind RecurringCharge is left",
            "set at reckon.yaml:8",
            "reckon apply --allow-prune RecurringCharge/club",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    let (code, text) = stand.check(&["apply", "--yes", "--allow-prune", "RecurringCharge/club"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("Removed: 1 neutralised"), "{text}");
    let (code, text) = stand.check(&["plan", "--detailed-exitcode"]);
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn a_guarded_removal_names_its_limit_and_the_way_past() {
    guarded_until_a_person_says_otherwise("public");
}

#[test]
fn the_two_documents_alone_are_enough_to_end_a_charge() {
    guarded_until_a_person_says_otherwise("documented");
}

#[test]
fn a_move_is_pending_and_then_done_without_a_word_to_the_service() {
    let stand = Stand::start("documented");
    stand.write(&format!("{TREE}{CLUB}"));
    let (code, text) = stand.check(&["apply", "--yes"]);
    assert_eq!(code, Some(0), "{text}");
    let moved = CLUB.replace(
        "{name: club, annotations: {",
        "{name: society, annotations: {reckon.dev/moved-from: club, ",
    );
    stand.write(&format!("{TREE}{moved}"));
    let (code, text) = stand.check(&["plan", "--detailed-exitcode"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(
        text.contains("1 to move")
            && text.contains("takes over the object of RecurringCharge/club"),
        "{text}"
    );
    let (code, text) = stand.check(&["plan", "-o", "json"]);
    assert_eq!(code, Some(0));
    let plan: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(plan["steps"][0]["reason"], "Moved");
    let (code, text) = stand.check(&["apply", "--yes"]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = stand.check(&["plan", "--detailed-exitcode"]);
    assert_eq!(code, Some(0), "{text}");
}
