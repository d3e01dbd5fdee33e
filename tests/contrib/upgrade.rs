//! Upgrade and rollback: which version of the program opens which state. The older version is the program that
//! `RECKON_OLDER` names; `.ci/run` builds it. The page on upgrades has the table that is made here.

use std::fs;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use http::Method;
use libtest_mimic::Trial;
use serde_json::Value;

use crate::control;
use crate::repository;
use crate::support::running::{self, Running};
use crate::tool::{completion, named, variable};

/// The table's place in the book.
const PAGE: &str = "docs/operations/upgrade.md";
const HEAD: &str = "| written by | with | opened by the older version | opened by the newer version |\n|---|---|---|---|\n";
/// Exit code of a state that the program cannot open.
const REFUSED: i32 = 4;

const TREE: &str = "apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec: {mode: test, timezone: America/Chicago, credentials: {authorization_code: {env: CODE_ACME}}}
---
apiVersion: reckon.dev/v1
kind: Contact
metadata: {name: jane}
spec: {merchant: acme, first_name: Jane, last_name: Doe, email_addresses: [{address: jane@example.com}]}
---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: card}
spec: {merchant: acme, type: card, source: {card: {number: \"4242424242424242\", exp_month: 9, exp_year: 2034}}}
---
apiVersion: reckon.dev/v1
kind: RecurringCharge
metadata: {name: club}
spec: {merchant: acme, method: card, amount: \"45.00 USD\", schedule: {start: 2040-01-07, interval_unit: MONTH, interval_delay: 1}}
";

/// Commands after `apply` that write to a state, and the version that writes.
const ROWS: [(&str, &[&str]); 7] = [
    ("older", &[]),
    ("older", &["suspend RecurringCharge/club --reason r", "resume RecurringCharge/club"]),
    ("older", &["store compact"]),
    ("newer", &[]),
    ("newer", &["suspend RecurringCharge/club --reason r", "resume RecurringCharge/club"]),
    ("newer", &["freeze --reason r", "thaw"]),
    ("newer", &["store compact"]),
];

/// A sandbox, and a folder with a tree and the state that the versions write in turn.
struct Site {
    root: tempfile::TempDir,
    sandbox: Running,
    environment: Vec<(String, String)>,
}

impl Site {
    async fn set() -> Self {
        let root = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
        command.env_clear().args(["sandbox", "--plain-http", "--listen", "127.0.0.1:0", "--state"]);
        command.arg(root.path().join("sandbox")).stderr(Stdio::null());
        let sandbox = Running::start(command);
        let known = running::credentials(sandbox.address).await;
        let partner = |field: &str| known["partner"][field].as_str().unwrap().to_owned();
        let environment = vec![
            ("CLIENT_ID".to_owned(), partner("client_id")),
            ("CLIENT_SECRET".to_owned(), partner("client_secret")),
            ("CODE_ACME".to_owned(), running::code(sandbox.address, "acme").await),
        ];
        let config = format!(
            "apiVersion: reckon.dev/v1\nkind: Config\n\
             partner: {{name: acme, client_id: {{env: CLIENT_ID}}, client_secret: {{env: CLIENT_SECRET}}, redirect_uri: '{}'}}\n\
             service: {{base_url: 'http://{}', timeout: 5s}}\nsecrets: {{env: [CODE_*]}}\nspecs: specs\nstate: state\n\
             doubt: {{grace: 1s}}\nlisten: 127.0.0.1:0\n",
            partner("redirect_uri"),
            sandbox.address
        );
        fs::create_dir(root.path().join("specs")).unwrap();
        fs::write(root.path().join("specs/tree.yaml"), TREE).unwrap();
        fs::write(root.path().join("reckon.yaml"), config).unwrap();
        Self { root, sandbox, environment }
    }

    fn run(&self, program: &Path, line: &str) -> Output {
        let mut command = Command::new(program);
        command.current_dir(self.root.path()).env_clear().stdin(Stdio::null());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.args(line.split(' ')).output().unwrap()
    }

    fn succeeds(&self, program: &Path, line: &str) {
        let output = self.run(program, line);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Opens the state with a version, and lets it make the service match. Returns the table's cell: a version that
    /// opens a state finds nothing to do, and one that refuses it changes nothing.
    async fn open(&self, program: &Path) -> String {
        let before = (objects(self.sandbox.address).await, self.records());
        let output = self.run(program, "apply --yes");
        assert_eq!(objects(self.sandbox.address).await, before.0, "an object was made twice");
        if output.status.success() {
            self.succeeds(program, "store check");
            return "yes".to_owned();
        }
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(REFUSED), "{message}");
        assert_eq!(self.records(), before.1, "a refused state was changed");
        let causes = ["decode record", "made by a newer program version"];
        let cause = causes.iter().find(|cause| message.contains(**cause));
        format!("no: `{}`", cause.unwrap_or_else(|| panic!("{message}")))
    }

    /// Returns the bytes of the journal.
    fn records(&self) -> Vec<(String, Vec<u8>)> {
        let files = fs::read_dir(self.root.path().join("state/journal")).unwrap();
        let files = files.map(|file| file.unwrap().path());
        let mut files: Vec<_> = files
            .filter(|path| path.is_file())
            .map(|path| (path.display().to_string(), fs::read(&path).unwrap()))
            .collect();
        files.sort();
        files
    }
}

/// Returns the service's objects.
async fn objects(sandbox: SocketAddr) -> Vec<Value> {
    let mut all = Vec::new();
    for kind in ["contacts", "cards", "recurring_charges"] {
        let path = format!("/_sandbox/objects/{kind}");
        let text = control::ask(sandbox, Method::GET, &path, None).await.unwrap();
        all.extend(
            text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone()),
        );
    }
    all
}

/// Makes the test. It is ignored in CI, too, where the older version is missing: a clone without history has none to build.
pub(crate) fn trial() -> Trial {
    let run = || completion(catch_unwind(AssertUnwindSafe(table_is_made)));
    Trial::ignorable_test("the_table_of_upgrades_is_what_both_versions_do", run)
}

fn table_is_made() -> Result<(), String> {
    let older = named("RECKON_OLDER", "the program of an older version")?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
    let table = runtime.block_on(table(Path::new(&older)));
    let page = fs::read_to_string(repository(PAGE)).unwrap();
    if variable("RECKON_BLESS").is_some() {
        let (before, rest) = page.split_once(HEAD).expect("the page has the table");
        let (_, after) = rest.split_once("\n\n").expect("a paragraph follows");
        fs::write(repository(PAGE), format!("{before}{table}\n{after}")).unwrap();
    }
    assert!(page.contains(&table), "{PAGE} has another table than\n{table}");
    Ok(())
}

async fn table(older: &Path) -> String {
    let newer = Path::new(env!("CARGO_BIN_EXE_reckon"));
    let mut lines = vec![HEAD.to_owned()];
    for (writer, commands) in ROWS {
        let program = if writer == "older" { older } else { newer };
        let mut cells = Vec::new();
        for reader in [older, newer] {
            let site = Site::set().await;
            for line in ["apply --yes"].iter().chain(commands) {
                site.succeeds(program, line);
            }
            cells.push(site.open(reader).await);
        }
        let with: Vec<String> = ["apply"].iter().chain(commands).map(|line| words(line)).collect();
        lines.push(format!("| {writer} | {} | {} |\n", with.join(", "), cells.join(" | ")));
    }
    lines.concat()
}

/// Returns the words of a command, without names and options.
fn words(line: &str) -> String {
    let words = line.split(' ').take_while(|word| !word.contains(['/', '-']));
    format!("`{}`", words.collect::<Vec<_>>().join(" "))
}
