//! Every JSON output of the program satisfies its schema, with a small sandbox as the service.

pub(crate) mod schemas;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use age::secrecy::ExposeSecret;
use reckon::cli::outputs::register::{ERROR, OUTPUTS, OutputContent};
use serde_json::{Value, json};

use crate::support::shell::{Shell, code, stderr, stdout};
use schemas::{row, satisfies};

/// Outputs that need more than this sandbox, each with the test that validates it.
const ELSEWHERE: [(&str, &str); 7] = [
    (
        "approve Merchant/NAME",
        "an example: the state of a live application takes a decision of the service",
    ),
    ("approve MerchantApplication/NAME", "an example: a state that lost an application"),
    ("approve --signed", "signed.rs"),
    ("events failed --ack", "older_folds.rs, by --ack-script"),
    ("events failed --ack-script", "older_folds.rs"),
    ("events replay", "older_folds.rs"),
    ("get --watch, for a resource that is gone", "an example: the list of a daemon that changes"),
];

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
kind: Invoice
metadata: {name: jane-first, labels: {team: a}}
spec:
  merchant: acme
  contact: jane
  bank_account: Operating
  invoice_date: 2040-01-15
  line_items: [{description: Retainer, rate_per_quantity: \"125.00 USD\"}]
---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: jane}
spec: {merchant: acme, type: card, source: intake}
";

const SCRIPT: &str =
    "fn on_transaction_authorized(event) { kv_set(\"last\", event.id); log(\"seen\"); }\n";
const CASES: &str = "cases:
- name: remembers
  event: {id: evt_1, type: transaction.authorized, merchant: acme, data: {id: t1}}
  expect: {kv: {last: evt_1}, log: [seen]}
";

fn contact(name: &str, annotations: &str) -> String {
    format!(
        "apiVersion: reckon.dev/v1\nkind: Contact\nmetadata: {{name: {name}, annotations: {{{annotations}}}}}\n\
         spec: {{merchant: acme, first_name: Jane, last_name: Doe, email_addresses: [{{address: j@example.com}}]}}\n"
    )
}

/// A folder and a sandbox, and the outputs that were validated.
struct Outputs {
    shell: Shell,
    seen: BTreeSet<&'static str>,
}

impl Outputs {
    fn new() -> Self {
        let shell = Shell::start();
        let config = std::fs::read_to_string(shell.path("reckon.yaml")).unwrap();
        let config = config.replace("secrets:\n", "secrets:\n  age: {file: age.key}\n");
        let config =
            config.replace("decimal\n", "decimal\n  limits: {per_object: [\"100.00 USD\"]}\n");
        shell.write("reckon.yaml", &config);
        shell.write("age.key", age::x25519::Identity::generate().to_string().expose_secret());
        std::fs::create_dir(shell.path("scripts")).unwrap();
        shell.write("scripts/notes.rhai", SCRIPT);
        shell.write("scripts/notes.test.yaml", CASES);
        Self { shell, seen: BTreeSet::new() }
    }

    fn note(&mut self, source: &str, value: &Value) {
        satisfies(source, value);
        self.seen.insert(row(source).source);
    }

    /// Runs a command, which ends with this code and prints the output of this name.
    fn says(&mut self, source: &str, arguments: &[&str], ends: i32) -> Value {
        let output = self.shell.reckon(&[arguments, &["-o", "json"]].concat());
        assert_eq!(code(&output), ends, "{arguments:?}: {}{}", stdout(&output), stderr(&output));
        let value = serde_json::from_str(&stdout(&output));
        let value = value
            .unwrap_or_else(|_| panic!("{arguments:?}: {}{}", stdout(&output), stderr(&output)));
        self.note(source, &value);
        value
    }

    /// Runs a command that fails; returns the code of the error.
    fn fails(&mut self, arguments: &[&str], ends: i32) -> String {
        let output = self.shell.reckon(&[arguments, &["-o", "json"]].concat());
        assert_eq!(code(&output), ends, "{arguments:?}: {}{}", stdout(&output), stderr(&output));
        let told = stderr(&output);
        let value: Value =
            serde_json::from_str(told.lines().last().unwrap_or_default()).expect(&told);
        self.note(ERROR, &value);
        value["error"]["code"].as_str().unwrap().to_owned()
    }

    /// Starts a command that prints lines, and validates the first ones.
    fn lines(&mut self, source: &str, arguments: &[&str], input: &str, count: usize) {
        let mut command = self.shell.command(&[arguments, &["-o", "json"]].concat(), &[]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let lines: Vec<String> = output.lines().take(count).map(Result::unwrap).collect();
        drop(child.kill());
        drop(child.wait());
        assert_eq!(lines.len(), count, "{arguments:?}");
        for line in lines {
            self.note(source, &serde_json::from_str(&line).unwrap());
        }
    }

    /// Loses the answer to the next contact that is made.
    fn strike(&self) {
        let order =
            json!({"method": "POST", "path": "/contacts", "fault": "drop_after", "times": 1});
        self.shell.ask("POST", "faults", &order.to_string());
    }

    /// Posts to the service with a key of the merchant, and returns the answer.
    fn post(&self, path: &str, key: &str, body: &Value) -> Value {
        let all: Value = serde_json::from_str(&self.shell.ask("GET", "credentials", "")).unwrap();
        let merchants = all["merchants"].as_array().unwrap();
        let acme = merchants.iter().find(|one| one["name"] == "acme").unwrap();
        let key = acme["test"][key].as_str().unwrap();
        let basic = data_encoding::BASE64.encode(format!("{key}:").as_bytes());
        let config = std::fs::read_to_string(self.shell.path("reckon.yaml")).unwrap();
        let address = config.split("base_url: http://").nth(1).unwrap().lines().next().unwrap();
        let head = format!("authorization: Basic {basic}\r\ncontent-type: application/json\r\n");
        request(address, &format!("POST {path} HTTP/1.0\r\n{head}"), &body.to_string())
    }

    /// Makes a one-time token of a card, as the service's hosted fields do.
    fn token(&self) -> String {
        let card = json!({"type": "card", "number": "4242424242424242", "exp_month": 8,
            "exp_year": 2041});
        self.post("/v1/tokens", "public_key", &card)["id"].as_str().unwrap().to_owned()
    }

    /// Charges a card at the service, which makes events.
    fn charge(&self) {
        let card = json!({"type": "card", "number": "4242424242424242", "exp_month": 12,
            "exp_year": 2041, "cvv": "123"});
        let charge = json!({"amount": 700, "method": card});
        assert!(self.post("/v1/charges", "secret_key", &charge)["id"].is_string());
    }
}

/// Sends a request and returns the JSON of its answer.
fn request(address: &str, head: &str, body: &str) -> Value {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(
        stream,
        "{head}host: {address}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).expect(&answer)
}

#[test]
fn every_output_satisfies_its_schema() {
    let mut all = Outputs::new();
    documents(&mut all);
    effects(&mut all);
    intents(&mut all);
    hooks(&mut all);
    served(&mut all);
    store(&mut all);
    let missing: Vec<&str> = OUTPUTS
        .iter()
        .filter(|row| matches!(row.content, OutputContent::Value(_) | OutputContent::Lines(_)))
        .map(|row| row.source)
        .filter(|source| !all.seen.contains(source))
        .filter(|source| !ELSEWHERE.iter().any(|(name, _)| name == source))
        .collect();
    assert!(missing.is_empty(), "no test runs {missing:?}");
}

/// Commands that need no service, and a failure of each exit code that a person can cause.
fn documents(all: &mut Outputs) {
    all.says("init", &["init", "fresh"], 0);
    all.shell.write("specs/tree.yaml", &TREE.replace("jane@example.com", "jane"));
    let problems = all.says("validate", &["validate"], 1);
    assert_eq!(problems["problems"].as_array().unwrap().len(), 1);
    all.shell.write("specs/tree.yaml", TREE);
    all.says("validate", &["validate"], 0);
    all.shell.write("specs/odd.yaml", "a: 1\n");
    all.says("status", &["status"], 3);
    std::fs::remove_file(all.shell.path("specs/odd.yaml")).unwrap();
    all.says("explain", &["explain", "Invoice"], 0);
    all.says("explain", &["explain", "Config.policy.limits"], 0);
    all.says("explain, for all kinds", &["explain"], 0);
    all.says("new", &["new", "Contact", "joe"], 0);
    all.says("completions", &["completions", "bash"], 0);
    all.says("man", &["man", "plan"], 0);
    all.says("hooks doc", &["hooks", "doc"], 0);
    all.says("chaos", &["chaos", "--runs", "1"], 0);
    let seal = ["seal", "SavedMethod/jane", "source.card.number", "-o", "json"];
    let mut seal = all.shell.command(&seal, &[]);
    let mut seal = seal.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    seal.stdin.take().unwrap().write_all(b"4242424242424242").unwrap();
    let sealed = seal.wait_with_output().unwrap().stdout;
    all.note("seal", &serde_json::from_slice(&sealed).unwrap());
    assert_eq!(all.fails(&["describe", "Contact/nobody"], 1), "reckon::usage::unknown_resource");
    let config = std::fs::read_to_string(all.shell.path("reckon.yaml")).unwrap();
    all.shell.write("unset.yaml", &format!("{config}scripts: {{env: NOPE}}\n"));
    let unset = all.fails(&["hooks", "check", "--config", "unset.yaml"], 4);
    assert_eq!(unset, "reckon::config::variable");
    all.shell.write("broken.yaml", "apiVersion: reckon.dev/v1\nkind: Config\nspec: specs\n");
    assert_eq!(all.fails(&["plan", "--config", "broken.yaml"], 1), "reckon::config::broken");
}

/// A limit blocks the invoice until the plan is approved.
fn effects(all: &mut Outputs) {
    all.says("init --empty-remote", &["init", "--empty-remote", "--yes"], 0);
    all.says("plan", &["plan", "--out", "one.plan"], 3);
    all.says("plan show", &["plan", "show", "one.plan"], 0);
    let plan = all.says("plan", &["plan"], 3)["checksum"].as_str().unwrap().to_owned();
    all.says("approve CHECKSUM", &["approve", &plan, "--yes"], 0);
    let done = all.says("apply", &["apply", "--yes"], 0);
    assert!(done["done"].as_array().unwrap().len() > 2, "{done}");
    all.says("get", &["get"], 0);
    all.says("describe", &["describe", "Invoice/jane-first"], 0);
    all.says("status", &["status"], 0);
    all.says("wait", &["wait", "--for", "ready", "Contact/jane", "--timeout", "1m"], 0);
    all.says("why", &["why", "Invoice/jane-first"], 0);
    all.says("link", &["link", "Invoice/jane-first"], 0);
    all.says("attach", &["attach", "SavedMethod/jane", "--token", &all.token()], 0);
    all.says("apply", &["apply", "--yes"], 0);
    all.says("suspend", &["suspend", "Contact/jane", "--reason", "holidays"], 0);
    all.says("resume", &["resume", "Contact/jane"], 0);
    all.says("freeze", &["freeze", "--reason", "audit"], 0);
    all.says("thaw", &["thaw"], 0);
    let card = all.says("get", &["get", "SavedMethod/jane"], 0);
    let card = card["items"][0]["remote_id"].as_str().unwrap();
    all.says("import", &["import", "SavedMethod/jane", card, "--yes"], 0);
    assert_eq!(all.fails(&["forget", "Invoice/jane-first", "--yes"], 3), "reckon::forget::refused");
    all.charge();
    all.says("import --all", &["import", "--all", "cards", "--merchant", "acme", "--yes"], 0);
    all.says("gateway ACTION", &["gateway", "void", "nothing", "--merchant", "acme", "--yes"], 3);
    all.says("events resync", &["events", "resync", "--since", "1d"], 0);
    let events = all.says("events list", &["events", "list"], 0);
    let event = events["items"][0]["id"].as_str().expect("an event").to_owned();
    all.says("events show", &["events", "show", &event], 0);
    all.says("events failed", &["events", "failed"], 0);
    all.says("events urls", &["events", "urls"], 0);
    all.lines("events tail", &["events", "tail"], "", 1);
    all.lines("get --watch", &["get", "--watch"], "", 2);
    all.shell.write("specs/bob.yaml", &contact("bob", ""));
    all.says("apply", &["apply", "--yes"], 0);
    std::fs::remove_file(all.shell.path("specs/bob.yaml")).unwrap();
    all.says("forget", &["forget", "Contact/bob", "--yes"], 0);
}

/// Two answers are lost: a person settles one effect, and the other one is done again.
fn intents(all: &mut Outputs) {
    all.strike();
    all.shell.write("specs/eve.yaml", &contact("eve", "reckon.dev/on-doubt: hold"));
    all.says("apply", &["apply", "--yes"], 3);
    let open = all.says("intents", &["intents"], 3);
    let id = open["items"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(
        all.fails(&["intents", "resolve", "i-999999", "--as", "retry"], 1),
        "reckon::intents::unknown"
    );
    all.says("intents resolve", &["intents", "resolve", &id, "--as", "not-done"], 0);
    all.says("apply", &["apply", "--yes"], 0);
    all.strike();
    all.shell.write("specs/fay.yaml", &contact("fay", "reckon.dev/on-doubt: recreate"));
    for _ in 0..20 {
        let applied = all.shell.reckon(&["apply", "--yes"]);
        if code(&applied) == 0 {
            break;
        }
    }
    let open = all.says("intents", &["intents"], 0);
    let id = open["remade"][0]["intent"].as_str().unwrap_or_else(|| panic!("{open}")).to_owned();
    all.says("intents dismiss", &["intents", "dismiss", &id, "--reason", "reviewed"], 0);
}

fn hooks(all: &mut Outputs) {
    all.says("hooks check", &["hooks", "check"], 0);
    all.says("hooks test", &["hooks", "test"], 0);
    all.says("hooks list", &["hooks", "list"], 0);
    all.says("hooks diff", &["hooks", "diff"], 2);
    let events = all.says("events list", &["events", "list"], 0);
    let event = events["items"][0]["id"].as_str().unwrap().to_owned();
    all.says("hooks try", &["hooks", "try", &event], 0);
    let replay = ["events", "replay", "--script", "notes", "--since", "1d"];
    all.says("events replay --since", &replay, 0);
    all.says("events replay --since --yes", &[&replay[..], &["--yes"]].concat(), 0);
    all.lines("hooks repl", &["hooks", "repl"], "1 + 1\n:actions\nfoo(\n:nothing\n", 3);
}

/// A running daemon; dropping the value kills it.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn is_manual(all: &Outputs) -> bool {
    let status = all.shell.reckon(&["status", "-o", "json"]);
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    !status["sync"].is_null()
}

/// Makes the daemon manual, syncs, and makes it automatic again.
fn sync(all: &mut Outputs) {
    let automatic = std::fs::read_to_string(all.shell.path("reckon.yaml")).unwrap();
    let manual = automatic.replacen("\npolicy:", "\npolicy:\n  sync: manual", 1);
    assert_ne!(manual, automatic);
    all.shell.write("reckon.yaml", &manual);
    while !is_manual(all) {
        std::thread::yield_now();
    }
    all.says("sync", &["sync", "--yes"], 0);
    all.shell.write("reckon.yaml", &automatic);
    while is_manual(all) {
        std::thread::yield_now();
    }
}

/// The HTTP API answers the same values. Its daemon takes the scripts into use, and one is removed.
fn served(all: &mut Outputs) {
    let start = |all: &Outputs| {
        let mut command = all.shell.command(&["run"], &[]);
        let mut daemon = Daemon(command.stdout(Stdio::piped()).spawn().unwrap());
        let mut output = BufReader::new(daemon.0.stdout.take().unwrap());
        let address = loop {
            let mut line = String::new();
            assert!(output.read_line(&mut line).unwrap() > 0, "the daemon ended");
            if let Some(address) = line.trim().strip_prefix("listening http://") {
                break address.to_owned();
            }
        };
        (daemon, address, output)
    };
    let (daemon, address, output) = start(all);
    let get = |path: &str| request(&address, &format!("GET {path} HTTP/1.0\r\n"), "");
    while get("/readyz")["ready"] != true {
        std::thread::yield_now();
    }
    for (source, path) in [
        ("GET /api/v1/status", "/api/v1/status"),
        ("GET /api/v1/resources", "/api/v1/resources"),
        (
            "GET /api/v1/resources/KIND/NAMESPACE/NAME",
            "/api/v1/resources/Invoice/default/jane-first",
        ),
        ("GET /api/v1/plan", "/api/v1/plan"),
        ("GET /api/v1/intents", "/api/v1/intents"),
        ("GET /api/v1/events", "/api/v1/events"),
        ("/api/v1/…, for a request that fails", "/api/v1/resources/Invoice/default/nobody"),
    ] {
        all.note(source, &get(path));
    }
    all.says("reconcile", &["reconcile", "Contact/jane"], 0);
    all.says("page", &["page"], 0);
    sync(all);
    while all.says("hooks list", &["hooks", "list"], 0)["scripts"] == json!([]) {
        std::thread::yield_now();
    }
    drop((daemon, output));
    all.lines("run", &["run"], "", 2);
    let sandbox = ["sandbox", "--plain-http", "--listen", "127.0.0.1:0", "--state", "other"];
    all.lines("sandbox", &sandbox, "", 1);
    std::fs::remove_file(all.shell.path("scripts/notes.rhai")).unwrap();
    std::fs::remove_file(all.shell.path("scripts/notes.test.yaml")).unwrap();
    let (daemon, _, output) = start(all);
    loop {
        let listed = all.shell.reckon(&["hooks", "list", "-o", "json"]);
        if code(&listed) == 3 {
            break;
        }
    }
    all.says("hooks list", &["hooks", "list"], 3);
    all.says("hooks forget", &["hooks", "forget", "notes", "--yes"], 0);
    drop((daemon, output));
}

/// Commands on the files of the state.
fn store(all: &mut Outputs) {
    all.says("store check", &["store", "check"], 0);
    all.says("store rebuild", &["store", "rebuild"], 0);
    all.says("store backup", &["store", "backup", "one.backup"], 0);
    all.says("store restore", &["store", "restore", "one.backup", "--replace"], 0);
    all.says("store release", &["store", "release", "Contact/jane"], 0);
    all.says("store compact", &["store", "compact"], 0);
    all.says("store rekey", &["store", "rekey", "--yes"], 0);
}
