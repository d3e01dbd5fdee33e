//! States that a program of an older fold version wrote (`tests/fixtures`). This version opens them, shows the same
//! views, and does nothing twice.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use http::{Method, Request, header};
use http_body_util::Full;
use serde_json::{Value, json};

use crate::connection::Connection;
use crate::control;
use crate::outputs::schemas::satisfies;

const CONFIG: &str = "apiVersion: reckon.dev/v1\nkind: Config\npartner: {name: acme}\n\
    service: {base_url: 'http://127.0.0.1:0', timeout: 2s}\ndoubt: {grace: 1s}\n\
    secrets: {key: {env: RECKON_KEY}, env: [CODE_*]}\nnotify: {ops: {url: {env: OPS_URL}, type: chat}}\n\
    policy: {scripts: {allow: [refund, charge, credit]}}\n\
    specs: specs\nscripts: scripts\nstate: state\nlisten: 127.0.0.1:0\n";
/// The key of the fixtures; it opens nothing else.
const KEY: &str = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=";
/// Fields that depend on the moment, or whose wording has changed since.
const SKIPPED: [&str; 9] = [
    "message",
    "reason",
    "help",
    "ready",
    "age_seconds",
    "lag_seconds",
    "tries",
    "again",
    "verdict",
];
const PATIENCE: Duration = Duration::from_mins(1);

/// A process; dropping the value kills it.
struct Running {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        drop(self.child.wait());
    }
}

impl Running {
    /// Returns the address in the first line with this beginning.
    fn address(&mut self, begins: &str) -> SocketAddr {
        let mut lines = self.output.by_ref().lines().map(Result::unwrap);
        let line = lines.find(|line| line.starts_with(begins)).expect("the process ended first");
        let address = line.strip_prefix(begins).unwrap().trim();
        address.rsplit('/').next().unwrap().parse().unwrap()
    }
}

/// A copy of a state, with the files that it was made from.
struct Place(tempfile::TempDir);

impl Place {
    fn of(state: &str) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        let fixture = fixture();
        for folder in ["specs", "scripts"] {
            copy(&fixture.join(folder), &place.0.path().join(folder));
        }
        for folder in ["journal", "vault"] {
            copy(&fixture.join(state).join(folder), &place.0.path().join("state").join(folder));
        }
        fs::write(place.0.path().join("reckon.yaml"), CONFIG).unwrap();
        place
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
        command.current_dir(self.0.path()).args(arguments).env_clear().stdin(Stdio::null());
        // No process listens there: a notification fails, and no test depends on one.
        command.env("RECKON_KEY", KEY).env("OPS_URL", "http://127.0.0.1:9/");
        command
    }

    fn run(&self, arguments: &[&str]) -> Running {
        let mut command = self.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Running { child, output }
    }

    fn view(&self, arguments: &[&str]) -> Value {
        let output = self.command(&[&["-o", "json"], arguments].concat()).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stderr);
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{arguments:?}: {printed}"))
    }
}

fn fixture() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/fold-9")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

/// Asserts that the present view contains everything of the earlier view; more is allowed.
fn holds(then: &Value, now: &Value, place: &str) {
    match (then, now) {
        (Value::Object(then), Value::Object(now)) => {
            for (name, then) in then.iter().filter(|(name, _)| !SKIPPED.contains(&name.as_str())) {
                let place = format!("{place}.{name}");
                holds(then, now.get(name).unwrap_or(&Value::Null), &place);
            }
        }
        (Value::Array(then), Value::Array(now)) => {
            assert_eq!(then.len(), now.len(), "{place}");
            for (number, (then, now)) in then.iter().zip(now).enumerate() {
                holds(then, now, &format!("{place}[{number}]"));
            }
        }
        _ => assert_eq!(then, now, "{place}"),
    }
}

fn views(state: &str) {
    let place = Place::of(state);
    let checks: [(&str, &[&str]); 4] = [
        ("get", &["get"]),
        ("intents", &["intents"]),
        ("events", &["events", "list", "--limit", "1000"]),
        ("dead", &["events", "failed"]),
    ];
    for (name, arguments) in checks {
        let then = fs::read(fixture().join(state).join(format!("views/{name}.json"))).unwrap();
        holds(&serde_json::from_slice(&then).unwrap(), &place.view(arguments), name);
    }
    let check = place.command(&["store", "check"]).output().unwrap();
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
}

/// Closes K11: a snapshot of fold 9, with the records after it, gives the same views.
#[test]
fn a_compacted_state_of_fold_9_says_what_it_said() {
    views("compacted");
}

/// Closes K11: the records alone give the same views as well.
#[test]
fn records_of_fold_9_say_what_they_said() {
    views("records");
}

async fn objects(sandbox: SocketAddr, kind: &str) -> Vec<Value> {
    let path = format!("/_sandbox/objects/{kind}");
    let text = control::ask(sandbox, Method::GET, &path, None).await.unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Counts the objects that were made at the service, without charges.
async fn made(sandbox: SocketAddr) -> Vec<(&'static str, usize)> {
    let mut made = Vec::new();
    for kind in ["contacts", "invoices", "cards", "recurring_charges"] {
        made.push((kind, objects(sandbox, kind).await.len()));
    }
    let all = objects(sandbox, "transactions").await;
    made.push(("refunds", all.iter().filter(|one| one["type"] == "REFUND").count()));
    made
}

/// Charges a card without `reckon`.
async fn charge(sandbox: SocketAddr) -> String {
    let known = control::json(sandbox, Method::GET, "/_sandbox/credentials", None).await.unwrap();
    let mut merchants = known["merchants"].as_array().unwrap().iter();
    let acme = merchants.find(|one| one["name"] == "acme").unwrap();
    let key = acme["test"]["secret_key"].as_str().unwrap();
    let basic = data_encoding::BASE64.encode(format!("{key}:").as_bytes());
    let method = json!({"type": "card", "number": "4242424242424242", "exp_month": 12, "exp_year": 2039, "cvv": "123"});
    let request = Request::post("/v1/charges")
        .header(header::HOST, sandbox.to_string())
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::AUTHORIZATION, format!("Basic {basic}"));
    let body = json!({"amount": 700, "method": method}).to_string();
    let request = request.body(Full::new(body.into())).unwrap();
    let answer = Connection::new(sandbox).send(request).await.unwrap();
    let made: Value = serde_json::from_slice(answer.body()).unwrap();
    made["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned()
}

/// Closes K11: a daemon over a snapshot of fold 9 runs hooks for new events, and does nothing a second time.
#[tokio::test]
async fn a_daemon_over_a_snapshot_of_fold_9_does_nothing_twice() {
    let place = Place::of("compacted");
    let before = {
        let alone =
            ["sandbox", "--plain-http", "--listen", "127.0.0.1:0", "--state", "state/sandbox"];
        let mut sandbox = place.run(&alone);
        let address = sandbox.address("listening ");
        let kept = fs::read(fixture().join("compacted/sandbox.json")).unwrap();
        let kept = serde_json::from_slice(&kept).unwrap();
        control::ask(address, Method::POST, "/_sandbox/restore", Some(&kept)).await.unwrap();
        made(address).await
    };
    let mut daemon = place.run(&["run", "--sandbox"]);
    let sandbox = daemon.address("sandbox   ");
    let charged = charge(sandbox).await;
    let begun = Instant::now();
    loop {
        let all = objects(sandbox, "transactions").await;
        let refunds = all.iter().filter(|one| one["type"] == "REFUND");
        if refunds.clone().any(|one| one.to_string().contains(&charged)) {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "no hook refunded the new charge");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let mut after = before.clone();
    after.last_mut().unwrap().1 += 1;
    assert_eq!(made(sandbox).await, after);
}

/// Runs a daemon until the failed hooks of the state have failed for good. The test advances the sandbox's clock.
async fn failed_for_good(place: &Place) -> (Running, Value) {
    let mut daemon = place.run(&["run", "--sandbox"]);
    let sandbox = daemon.address("sandbox   ");
    let begun = Instant::now();
    loop {
        let view = place.view(&["events", "failed"]);
        if view["failed"] == json!([]) && view["dead"] != json!([]) {
            return (daemon, view);
        }
        assert!(begun.elapsed() < PATIENCE, "{view}");
        let later = json!({"advance": "PT10M"});
        control::ask(sandbox, Method::POST, "/_sandbox/clock", Some(&later)).await.unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Closes K11: hook runs that failed for good are replayed, or removed from the list, by the name of their script.
#[tokio::test]
async fn k11_runs_that_failed_for_good_are_taken_by_their_script() {
    let place = Place::of("records");
    let (daemon, view) = failed_for_good(&place).await;
    assert_eq!(view["dead"][0]["script"], "answers");
    for asked in [["replay", "--script"], ["failed", "--ack-script"]] {
        let other = place.command(&["events", asked[0], asked[1], "other"]).output().unwrap();
        let printed = String::from_utf8_lossy(&other.stderr);
        assert_eq!(other.status.code(), Some(1), "{printed}");
        assert!(printed.contains("the script `other` has no failed hook run"), "{printed}");
    }
    satisfies("events failed", &view);
    let dead = view["dead"].as_array().unwrap().len();
    let replayed = place.view(&["events", "replay", "--script", "answers"]);
    satisfies("events replay", &replayed);
    assert_eq!(replayed, json!({"hooks": dead}));
    drop(daemon);
    // The hooks fail again, since the script is unchanged.
    let (daemon, view) = failed_for_good(&place).await;
    drop(daemon);
    let dead = view["dead"].as_array().unwrap().len();
    let forgotten = place.view(&["events", "failed", "--ack-script", "answers"]);
    satisfies("events failed --ack-script", &forgotten);
    assert_eq!(forgotten, json!({"forgotten": dead}));
    assert_eq!(place.view(&["events", "failed"])["dead"], json!([]));
}
