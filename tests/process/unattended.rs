//! Use without a person at a terminal: cancelled pipelines, machines that kill, monitors, and scripts that settle
//! effects in doubt. The tests use the built program and a sandbox of its own.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use http::Method;
use serde_json::{Value, json};

use crate::stand::Stand;
use crate::{control, tree};

/// Longer than any step of these tests takes on a slow machine.
const PATIENCE: Duration = Duration::from_mins(1);
/// The duration of a call that a test interrupts.
const SLOW_MS: u64 = 1500;

/// A repository with a connected merchant, and a sandbox.
struct Place {
    stand: Stand,
    folder: tempfile::TempDir,
}

/// A process; dropping the value kills it.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().unwrap_or_default();
        drop(self.0.wait());
    }
}

impl Running {
    /// Sends a signal.
    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args(["-s", signal, &self.0.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// Waits for the end of the process; returns the exit code.
    fn code(mut self) -> Option<i32> {
        self.0.wait().unwrap().code()
    }
}

impl Place {
    async fn connected() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let binary = PathBuf::from(env!("CARGO_BIN_EXE_reckon"));
        let stand = Stand::start(&binary, folder.path(), "documented", 1).await.unwrap();
        stand.settle_config(stand.sandbox.address, "127.0.0.1:0", ["5s", "1s"]).unwrap();
        let place = Self { stand, folder };
        fs::create_dir_all(place.folder.path().join("specs")).unwrap();
        let (name, code) = (tree::merchant_name(0), tree::code_variable(0));
        place.write("merchant", &format!(
            "apiVersion: reckon.dev/v1\nkind: Merchant\nmetadata: {{name: {name}}}\nspec:\n  mode: test\n  \
             timezone: America/Chicago\n  credentials: {{authorization_code: {{env: {code}}}}}\n"
        ));
        assert_eq!(place.run(&["apply", "--yes"]).status.code(), Some(0));
        place
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(format!("specs/{name}.yaml")), text).unwrap();
    }

    /// Writes a contact; nothing on the service distinguishes one contact from another.
    fn contact(&self, said: &str) {
        let merchant = tree::merchant_name(0);
        self.write("jane", &format!(
            "apiVersion: reckon.dev/v1\nkind: Contact\nmetadata: {{name: jane, annotations: {{{said}}}}}\nspec:\n  \
             merchant: {merchant}\n  first_name: Jane\n  last_name: Doe\n  email_addresses: [{{address: j@example.com}}]\n"
        ));
    }

    fn command(&self, arguments: &[&str]) -> Command {
        self.stand.command(arguments).unwrap()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = self.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap()
    }

    /// Returns the exit code and the JSON output.
    fn json(&self, arguments: &[&str]) -> (Option<i32>, Value) {
        let output = self.run(&[arguments, &["-o", "json"]].concat());
        (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_default())
    }

    fn start(&self, arguments: &[&str]) -> Running {
        Running(self.command(arguments).spawn().unwrap())
    }

    async fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> String {
        control::ask(self.stand.sandbox.address, method, path, body).await.unwrap()
    }

    async fn strike(&self, order: Value) {
        self.ask(Method::POST, "/_sandbox/faults", Some(&order)).await;
    }

    /// Returns the service's objects of a kind.
    async fn objects(&self, kind: &str) -> Vec<Value> {
        let text = self.ask(Method::GET, &format!("/_sandbox/objects/{kind}"), None).await;
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Waits until a request has met the fault.
    async fn struck(&self) {
        let until = Instant::now().checked_add(PATIENCE).unwrap();
        loop {
            let faults = self.ask(Method::GET, "/_sandbox/faults", None).await;
            let faults: Value = serde_json::from_str(&faults).unwrap();
            if faults["faults"][0]["struck"] == 1 {
                return;
            }
            assert!(Instant::now() < until, "no request met the fault: {faults}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Returns the address of the daemon, once it listens.
    async fn address(&self) -> SocketAddr {
        let until = Instant::now().checked_add(PATIENCE).unwrap();
        let path = self.folder.path().join(".reckon/addresses.json");
        loop {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let addresses: Value = serde_json::from_str(&text).unwrap_or_default();
            let http = addresses["http"].as_str().and_then(|url| url.strip_prefix("http://"));
            if let Some(address) = http.and_then(|address| address.parse().ok())
                && control::ask(address, Method::GET, "/readyz", None).await.is_ok()
            {
                return address;
            }
            assert!(Instant::now() < until, "the daemon does not start");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Asserts that the contact exists once, the state knows it, and nothing is left to do.
async fn is_whole(place: &Place) {
    assert_eq!(place.objects("contacts").await.len(), 1);
    let (code, intents) = place.json(&["intents"]);
    assert_eq!((code, &intents["items"], &intents["remade"]), (Some(0), &json!([]), &json!([])));
    assert_eq!(place.run(&["plan", "--detailed-exitcode"]).status.code(), Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_apply_writes_down_the_answer_of_its_call_and_is_no_success() {
    for signal in ["TERM", "INT"] {
        let place = Place::connected().await;
        place.contact("");
        place.write("other", "# nothing\n");
        place.strike(json!({"method": "POST", "path": "/contacts", "fault": "delay", "delay_ms": SLOW_MS, "times": 1})).await;
        let running = place.start(&["apply", "--yes"]);
        place.struck().await;
        running.signal(signal);
        assert_eq!(running.code(), Some(130), "{signal}");
        is_whole(&place).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_that_is_told_to_end_writes_down_the_answer_of_its_call() {
    let place = Place::connected().await;
    place.contact("");
    place.strike(json!({"method": "POST", "path": "/contacts", "fault": "delay", "delay_ms": SLOW_MS, "times": 1})).await;
    let running = place.start(&["run"]);
    place.struck().await;
    running.signal("TERM");
    assert_eq!(running.code(), Some(0));
    is_whole(&place).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_process_leaves_neither_a_lock_nor_a_socket_in_the_way() {
    let place = Place::connected().await;
    let daemon = place.start(&["run"]);
    place.address().await;
    assert_eq!(place.run(&["store", "check"]).status.code(), Some(4), "the daemon holds the state");
    drop(daemon);
    for left in ["lock", "control.sock"] {
        assert!(place.folder.path().join(".reckon").join(left).exists(), "{left} is left behind");
    }
    place.contact("");
    assert_eq!(place.run(&["apply", "--yes"]).status.code(), Some(0));
    is_whole(&place).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_nothing_can_prove_is_seen_everywhere_and_settled_by_a_script() {
    let place = Place::connected().await;
    place.contact("reckon.dev/on-doubt: hold");
    place
        .strike(json!({"method": "POST", "path": "/contacts", "fault": "drop_after", "times": 1}))
        .await;
    assert_eq!(place.run(&["apply", "--yes"]).status.code(), Some(3), "a person must act");
    let (code, intents) = place.json(&["intents"]);
    let held = &intents["items"][0];
    assert_eq!(
        (code, &held["state"], &held["effect"]),
        (Some(3), &json!("held"), &json!("contact.create"))
    );
    assert!(held["reason"].as_str().unwrap().contains("nothing can prove it"), "{held}");

    let daemon = place.start(&["run"]);
    let address = place.address().await;
    let status = control::json(address, Method::GET, "/api/v1/status", None).await.unwrap();
    assert_eq!((&status["stuck"], &status["open_intents"]), (&json!(1), &json!(1)), "{status}");
    let metrics = control::ask(address, Method::GET, "/metrics", None).await.unwrap();
    assert!(metrics.contains("reckon_intents{state=\"held\"} 1\n"), "{metrics}");
    assert_eq!(place.objects("contacts").await.len(), 1, "the contact is not made again meanwhile");

    let id = held["id"].as_str().unwrap();
    let made = place.objects("contacts").await[0]["id"].as_str().unwrap().to_owned();
    let word = format!("done:{made}");
    let doubted = place.run(&["intents", "resolve", id, "--as", &word]);
    let printed = String::from_utf8_lossy(&doubted.stderr).into_owned();
    assert!(
        doubted.status.code() == Some(1) && printed.contains("reckon::intents::unverified"),
        "{printed}"
    );
    let word = format!("unverified:{made}");
    let said = place.run(&["intents", "resolve", id, "--as", &word]);
    assert_eq!(said.status.code(), Some(0), "{}", String::from_utf8_lossy(&said.stderr));
    let metrics = control::ask(address, Method::GET, "/metrics", None).await.unwrap();
    assert!(metrics.contains("reckon_intents{state=\"held\"} 0\n"), "{metrics}");
    drop(daemon);
    assert_eq!(place.run(&["apply", "--yes"]).status.code(), Some(0));
    is_whole(&place).await;
    assert_eq!(place.json(&["describe", "Contact/jane"]).1["remote_id"], json!(made));
}
