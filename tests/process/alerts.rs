//! A daemon posts its alerts to a listener at a loopback address, and names a target that nothing reaches.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::server::TREE;
use crate::server::stage::{Stage, send};

/// Longer than a state lasts before its alert, and than its message is gathered, on a slow machine.
const PATIENCE: Duration = Duration::from_mins(4);
const INVOICE: &str = r#"---
apiVersion: reckon.dev/v1
kind: Invoice
metadata: {name: late}
spec:
  merchant: acme
  contact: jane
  bank_account: Operating
  invoice_date: 2030-01-15
  line_items: [{description: Canary, rate_per_quantity: "125.00 USD"}]
"#;

/// Reads one POST and answers 204. Returns its key and body.
fn receive(stream: TcpStream) -> (String, Value) {
    let mut reader = BufReader::new(stream);
    let (mut length, mut key) = (0, String::new());
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            if line.trim_end().is_empty() {
                break;
            }
            continue;
        };
        match name.to_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap(),
            "idempotency-key" => value.clone_into(&mut key),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let answer = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";
    reader.into_inner().write_all(answer).unwrap();
    (key, serde_json::from_slice(&body).unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_posts_its_problems_and_shows_a_target_that_nothing_reaches() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let program = listener.local_addr().unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (sender, posts) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            drop(sender.send(receive(stream)));
        }
    });
    let mut stage = Stage::set(TREE, "").await;
    let text = fs::read_to_string(stage.path("daemon/reckon.yaml")).unwrap();
    let limited = text.replace("decimal}", "decimal, limits: {test: {per_object: ['10.00 USD']}}}");
    assert_ne!(text, limited);
    let notify = format!(
        "notify:\n  ops: {{url: 'http://{program}/', type: json, alerts: all}}\n  \
         chat: {{url: 'http://{closed}/', type: chat, alerts: [over_limit]}}\nlisten:"
    );
    stage.write("daemon/reckon.yaml", &limited.replace("listen:", &notify));
    stage.write("daemon/specs/late.yaml", INVOICE);
    let address = stage.start();
    let (key, body) = posts.recv_timeout(PATIENCE).expect("a post");
    assert!(key.starts_with("alert-"), "{key}");
    assert_eq!(body["form"], "alert.v1");
    assert_eq!(body["counts"], json!({"over_limit": 1}));
    let item = &body["items"][0];
    let place = (&item["resource"], &item["merchant"], &item["file"], &item["line"]);
    let file = json!("specs/late.yaml");
    assert_eq!(place, (&json!("Invoice/late"), &json!("Merchant/acme"), &file, &json!(2)));
    assert!(!body.to_string().contains("Canary"), "{body}");

    let begin = Instant::now();
    let view = loop {
        let (_, status) = send(address, "GET /api/v1/status", &[("host", "127.0.0.1")], "");
        if let Some(view) = status["alerts"].as_array().and_then(|alerts| alerts.first()) {
            break view.clone();
        }
        assert!(begin.elapsed() < PATIENCE, "{status}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert_eq!((&view["target"], &view["waiting"]), (&json!("chat"), &json!(1)));
    let (_, shown) = stage.there(&["status"]);
    assert!(shown.contains("Alerts     not delivered to `chat` since "), "{shown}");
    let (_, why) = stage.there(&["-o", "json", "why", "Invoice/late"]);
    assert!(!why.contains("Canary"), "{why}");
    assert!(posts.try_recv().is_err(), "each change is reported once");
}
