//! A daemon reads `reckon.yaml` and its tokens again whenever they change (M16).

use std::fs;
use std::net::SocketAddr;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::server::TREE;
use crate::server::stage::{Stage, send};

/// Longer than a reload takes on a slow machine.
const PATIENCE: Duration = Duration::from_mins(1);
/// Number of questions of each asker while the configuration changes.
const QUESTIONS: usize = 60;
const CONFIG: &str = "daemon/reckon.yaml";

const INVOICE: &str = r#"---
apiVersion: reckon.dev/v1
kind: Invoice
metadata: {name: late}
spec:
  merchant: acme
  contact: jane
  bank_account: Operating
  invoice_date: 2030-01-15
  line_items: [{description: Retainer, rate_per_quantity: "125.00 USD"}]
"#;

/// Returns the daemon's status once a part of it is as expected.
fn status_when(address: SocketAddr, is_met: impl Fn(&Value) -> bool) -> Value {
    let begin = Instant::now();
    loop {
        let (_, status) = send(address, "GET /api/v1/status", &[("host", "127.0.0.1")], "");
        if is_met(&status) {
            return status;
        }
        assert!(begin.elapsed() < PATIENCE, "{status}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn loaded(status: &Value) -> &str {
    status["configuration"]["loaded"].as_str().unwrap_or_default()
}

fn refused(status: &Value) -> Option<&str> {
    status["configuration"]["refused"]["problem"].as_str()
}

/// The status of a read with this token through a proxy.
fn read_with(address: SocketAddr, token: &str) -> u16 {
    let bearer = format!("Bearer {token}");
    let headers = [("host", "billing.example"), ("via", "1.1 proxy"), ("authorization", &bearer)];
    send(address, "GET /api/v1/status", &headers, "").0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_holds_from_the_moment_in_which_it_is_written() {
    let mut stage = Stage::set(TREE, "").await;
    let address = stage.start();
    let first = status_when(address, |status| status["ready"] == json!(2));
    let text = fs::read_to_string(stage.path(CONFIG)).unwrap();
    let limited = text.replace("decimal}", "decimal, limits: {test: {per_object: ['10.00 USD']}}}");
    stage.write(CONFIG, &limited);
    let second = status_when(address, |status| loaded(status) > loaded(&first));
    assert_eq!(refused(&second), None);
    stage.write("daemon/specs/late.yaml", INVOICE);
    status_when(address, |status| status["stuck"] == json!(1));
    assert_eq!(stage.count("invoices").await, 0, "the limit of the new configuration holds");

    stage
        .write(CONFIG, &limited.replace("per_object: ['10.00 USD']", "per_objekt: ['500.00 USD']"));
    let third = status_when(address, |status| refused(status).is_some());
    let problem = refused(&third).unwrap();
    assert!(problem.contains("reckon.yaml:") && problem.contains("per_objekt"), "{problem}");
    assert_eq!((loaded(&third), &third["stuck"]), (loaded(&second), &json!(1)), "{third}");

    stage.write(CONFIG, &limited.replace("listen:", "state: elsewhere\nlisten:"));
    let moved = |status: &Value| refused(status).is_some_and(|why| why.contains("`state` cannot"));
    status_when(address, moved);

    stage.write(CONFIG, &text);
    let last = status_when(address, |status| loaded(status) > loaded(&second));
    assert_eq!(refused(&last), None, "{last}");
    status_when(address, |status| status["ready"] == json!(3));
    assert_eq!(stage.count("invoices").await, 1, "made once, without the limit");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_folder_and_every_input_of_a_program_is_watched() {
    let mut stage = Stage::set(TREE, "").await;
    let address = stage.start_with(&["--config", "reckon.yaml", "-vvv", "run"]);
    let first = status_when(address, |status| status["ready"] == json!(2));
    let text = fs::read_to_string(stage.path(CONFIG)).unwrap();
    stage.write("daemon/more/README", "");
    stage.write(CONFIG, &text.replace("listen:", "specs: [specs, more]\nlisten:"));
    let second = status_when(address, |status| loaded(status) > loaded(&first));
    stage.write("daemon/more/late.yaml", INVOICE);
    status_when(address, |status| status["ready"] == json!(3));

    stage.write("daemon/specs/late.txt", INVOICE);
    let rendered = "specs: specs\nrender: [/bin/cat, tree.yaml, late.txt]\nlisten:";
    stage.write(CONFIG, &text.replace("listen:", rendered));
    status_when(address, |status| loaded(status) > loaded(&second));
    let again = INVOICE.replace("name: late", "name: later");
    stage.write("daemon/specs/late.txt", &format!("{INVOICE}{again}"));
    status_when(address, |status| status["ready"] == json!(4));
    fs::remove_file(stage.path("daemon/specs/late.txt")).unwrap();
    let failed =
        status_when(address, |status| status["problems"][0]["code"] == "reckon::render::failed");
    assert_eq!(failed["ready"], json!(4), "the last output stays in use: {failed}");
    assert_eq!(stage.count("invoices").await, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_counts_and_ends_without_a_restart() {
    let mut stage = Stage::set(TREE, "").await;
    let address = stage.start();
    let first = status_when(address, |status| status["ready"] == json!(2));
    let (old, new) = (stage.token(), "cd".repeat(32));
    assert_eq!((read_with(address, &old), read_with(address, &new)), (200, 401));
    stage.write("daemon/.reckon/api.token", &format!("ops {new}\n"));
    let second = status_when(address, |status| loaded(status) > loaded(&first));
    assert_eq!((read_with(address, &old), read_with(address, &new)), (401, 200));

    stage.write("daemon/.reckon/api.token", "ops short\n");
    let third = status_when(address, |status| refused(status).is_some());
    assert!(!refused(&third).unwrap().contains("short "), "no text of the file: {third}");
    assert_eq!((read_with(address, &new), loaded(&third)), (200, loaded(&second)));
    assert!(stage.there(&["get"]).1.contains("jane"), "the control socket goes on");
}

/// Whoever asks while the configuration is exchanged gets an answer, over the socket and over HTTP.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_question_is_answered_while_configurations_change() {
    let mut stage = Stage::set(TREE, "").await;
    let address = stage.start();
    let mut before = status_when(address, |status| status["ready"] == json!(2));
    let text = fs::read_to_string(stage.path(CONFIG)).unwrap();
    let manual = text.replace("policy: {", "policy: {sync: manual, ");
    let asks_the_socket = || {
        for _ in 0..QUESTIONS {
            let status = stage.on_daemon(&["status", "-o", "json"]).output().unwrap();
            assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
        }
    };
    let asks_over_http = || {
        for _ in 0..QUESTIONS {
            let (code, plan) = send(address, "GET /api/v1/plan", &[("host", "127.0.0.1")], "");
            assert_eq!(code, 200, "{plan}");
        }
    };
    let mut exchanges = 0;
    std::thread::scope(|scope| {
        let askers = [scope.spawn(asks_the_socket), scope.spawn(asks_over_http)];
        while askers.iter().any(|asker| !asker.is_finished()) {
            exchanges += 1;
            let next = if exchanges % 2 == 1 { &manual } else { &text };
            stage.write("daemon/next.yaml", next);
            fs::rename(stage.path("daemon/next.yaml"), stage.path(CONFIG)).unwrap();
            before = status_when(address, |status| loaded(status) > loaded(&before));
        }
    });
    assert!(exchanges > 2, "{exchanges}");
    assert_eq!(before["ready"], json!(2), "{before}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hangup_reads_the_configuration_again() {
    let mut stage = Stage::set(TREE, "").await;
    let address = stage.start();
    let first = status_when(address, |status| status["ready"] == json!(2));
    let sent = Command::new("kill").args(["-s", "HUP", &stage.process().to_string()]).status();
    assert!(sent.unwrap().success());
    let second = status_when(address, |status| loaded(status) > loaded(&first));
    assert_eq!(second["ready"], json!(2), "{second}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_start_would_refuse_never_ends_the_daemon() {
    let mut stage = Stage::set(TREE, "").await;
    let address = stage.start();
    let first = status_when(address, |status| status["ready"] == json!(2));
    let text = fs::read_to_string(stage.path(CONFIG)).unwrap();
    let key = "A".repeat(43) + "=";
    stage.write("daemon/plain", "no folder");
    let edits = [
        ("listen:", "scripts: plain\nlisten:".to_owned(), "read the scripts"),
        ("listen:", "state_mark: elsewhere\nlisten:".to_owned(), "`state_mark` cannot"),
        ("secrets: {", format!("secrets: {{key: {key}, "), "key"),
        ("listen:", "trusted_proxies: [everybody]\nlisten:".to_owned(), "everybody"),
    ];
    for (before, after, reason) in edits {
        stage.write(CONFIG, &text.replacen(before, &after, 1));
        let status = status_when(address, |status| {
            refused(status).is_some_and(|problem| problem.contains(reason))
        });
        assert_eq!(loaded(&status), loaded(&first), "{after}: the present one stays in use");
        assert!(!status.to_string().contains(&key), "{status}");
    }
    stage.write("daemon/specs/late.yaml", INVOICE);
    status_when(address, |status| status["ready"] == json!(3));
}
