//! Commands that use a daemon elsewhere, with the built program. The runner has only a tree and a token.

use std::fs;
use std::fs::Permissions;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

pub(crate) mod stage;

use crate::support::canaries::Canaries;
use stage::{Stage, send};

pub(crate) const TREE: &str = r"apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec: {mode: test, timezone: America/Chicago, credentials: {authorization_code: {env: OPEN_CODE}}}
---
apiVersion: reckon.dev/v1
kind: Contact
metadata: {name: jane}
spec: {merchant: acme, first_name: Jane, last_name: Doe, email_addresses: [{address: jane@example.com}]}
";

const INVOICE: &str = r#"---
apiVersion: reckon.dev/v1
kind: Invoice
metadata: {name: first}
spec:
  merchant: acme
  contact: jane
  bank_account: Operating
  invoice_date: 2030-01-15
  line_items: [{description: Retainer, rate_per_quantity: "125.00 USD"}]
"#;

const PAYER: &str = r"---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: jane-card}
spec: {merchant: acme, type: card, source: intake}
";

/// A limit that the invoice exceeds.
const LIMIT: &str = ", limits: {test: {per_object: ['10.00 USD']}}";

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn without_token(stage: &Stage) {
    let mut canaries = Canaries::default();
    canaries.plant("the token", &stage.token());
    let mut found = Vec::new();
    for (what, bytes) in &stage.said {
        found.extend(canaries.in_bytes(&format!("`{what}`"), bytes));
    }
    let is_token_file = |place: &String| {
        place.contains("daemon/.reckon/api.token") || place.contains("runner/token")
    };
    found.extend(canaries.in_folder(stage.root()).into_iter().filter(|one| !is_token_file(one)));
    assert_eq!(found, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payer_s_link_is_made_and_a_token_attached_beside_a_daemon() {
    let mut stage = Stage::set(&format!("{TREE}{PAYER}"), "").await;
    stage.start();
    stage.asks(0, &["apply", "--yes"]);
    let link = stage.asks(0, &["link", "SavedMethod/jane-card", "--days", "2"]).0;
    assert!(link.contains("/intake/default_jane-card_0_"), "{link}");
    let here = parsed(&stage.asks(0, &["link", "SavedMethod/jane-card", "-o", "json"]).0);
    assert!(here["link"].as_str().unwrap().starts_with("http"), "{here}");
    let none = stage.asks(1, &["link", "SavedMethod/nobody"]).1;
    assert!(none.contains("reckon::link::none"), "{none}");
    let token = "canary_of_a_token";
    let attach = ["-vvv", "attach", "SavedMethod/jane-card", "--token", token];
    let (said, notes) = stage.asks(0, &attach);
    assert!(said.contains("the daemon saves it"), "{said}");
    assert!(!said.contains(token) && !notes.contains(token), "{notes}");
    without_token(&stage);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_runner_keeps_no_state_and_does_what_can_be_done_beside_a_daemon() {
    let mut stage = Stage::set(&format!("{TREE}{INVOICE}"), "").await;
    stage.start();
    let (done, notes) = stage.asks(0, &["apply", "--yes"]);
    assert!(notes.contains("waiting for it"), "{done}{notes}");
    assert_eq!(stage.count("invoices").await, 1);
    let (plan, _) = stage.asks(0, &["plan", "--detailed-exitcode", "-o", "json"]);
    assert_eq!(parsed(&plan)["steps"], json!([]));
    let items = parsed(&stage.asks(0, &["get", "-o", "json"]).0)["items"].clone();
    assert!(items.as_array().unwrap().iter().all(|item| item["ready"] == true), "{items}");
    let invoice = parsed(&stage.asks(0, &["describe", "Invoice/first", "-o", "json"]).0);
    let id = invoice["remote_id"].as_str().unwrap().to_owned();
    stage.asks(0, &["intents"]);
    for what in ["Invoice/first", &id] {
        let why = parsed(&stage.asks(0, &["why", what, "--verify", "-o", "json"]).0);
        assert_eq!(why["resources"][0]["key"], "Invoice/default/first", "{why}");
        assert_eq!(why["whole"], 1);
    }
    let (said, _) = stage.asks(0, &["suspend", "Contact/jane", "--reason", "audit"]);
    assert!(said.contains("api token"), "{said}");
    stage.asks(0, &["resume", "Contact/jane"]);
    let here = stage.asks(0, &["events", "urls", "-o", "json"]).0;
    assert_eq!(parsed(&here), parsed(&stage.there(&["events", "urls", "-o", "json"]).1));
    assert!(stage.asks(0, &["link", "Invoice/first"]).0.contains("http"));
    for (arguments, code) in [
        (&["why", "Invoice/nobody"][..], "reckon::why::unknown"),
        (&["why", "nonsense/x"], "reckon::usage::kind"),
        (&["describe", "Invoice/nobody"], "reckon::usage::unknown_resource"),
        (&["plan", "--target", "Invoice/frist"], "reckon::choice::unknown"),
        (&["intents", "resolve", "i-999999", "--as", "retry"], "reckon::intents::unknown"),
        (&["store", "check"], "reckon::server::local"),
        (&["store", "backup", "copy"], "reckon::server::local"),
        (&["init", "--empty-remote"], "reckon::server::local"),
        (&["run"], "reckon::server::local"),
        (&["apply", "--yes", "--exclude", "Contact/jane"], "reckon::server::local"),
    ] {
        let (_, notes) = stage.asks(1, arguments);
        assert!(notes.contains(code), "{arguments:?}: {notes}");
    }
    stage.asks(0, &["plan", "--out", "p.json"]);
    let (shown, _, _) = stage.run(&["plan", "show", "p.json"]);
    assert_eq!(shown, 0);
    assert!(stage.asks(1, &["apply", "p.json"]).1.contains("reckon::server::local"));
    let left = fs::read_dir(stage.path("runner")).unwrap();
    let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["p.json", "specs", "token"], "a runner keeps no state");
    without_token(&stage);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_tree_is_planned_over_the_daemon_s_state_and_not_applied() {
    let mut stage = Stage::set(TREE, LIMIT).await;
    stage.start();
    stage.asks(0, &["apply", "--yes"]);
    let items =
        |stage: &mut Stage| parsed(&stage.asks(0, &["get", "-o", "json"]).0)["items"].clone();
    let before = items(&mut stage);
    stage.write("runner/specs/new/invoice.yaml", &INVOICE[4..]);
    let (plan, _) = stage.asks(3, &["plan", "-o", "json"]);
    let plan = parsed(&plan);
    assert_eq!(plan["steps"].as_array().unwrap().len(), 1, "{plan}");
    let step = &plan["steps"][0];
    assert_eq!((&step["name"], &step["reason"]), (&json!("first"), &json!("OverLimit")));
    assert_eq!((&step["file"], &step["line"]), (&json!("specs/new/invoice.yaml"), &json!(1)));
    let (within, _) = stage.asks(0, &["plan", "specs/tree.yaml", "-o", "json"]);
    assert_eq!(parsed(&within)["steps"], json!([]));
    let (_, notes) = stage.asks(1, &["apply", "--yes"]);
    assert!(notes.contains("reckon::server::other_tree"), "{notes}");
    assert!(notes.contains("missing there: new/invoice.yaml"), "{notes}");
    assert_eq!(items(&mut stage), before, "the refused apply changed nothing");
    // Once the daemon has the tree, it computes the same plan, and the runner can approve that plan.
    let checksum = plan["checksum"].as_str().unwrap().to_owned();
    stage.write("daemon/specs/new/invoice.yaml", &INVOICE[4..]);
    let (_, notes) = stage.asks(3, &["apply", "--yes"]);
    assert!(notes.contains("waiting for it"), "{notes}");
    assert_eq!(stage.count("invoices").await, 0, "a limit blocks the invoice");
    let (approved, _) = stage.asks(0, &["approve", &checksum, "--yes", "-o", "json"]);
    assert!(approved.contains("api token"), "{approved}");
    stage.asks(0, &["apply", "--yes"]);
    assert_eq!(stage.count("invoices").await, 1);
    stage.write("runner/specs/broken.yaml", "kind: [");
    let (broken, _) = stage.asks(1, &["plan", "-o", "json"]);
    assert_eq!(parsed(&broken)["problems"][0]["file"], "specs/broken.yaml");
    stage.write("daemon/specs/broken.yaml", "kind: [");
    assert!(stage.asks(1, &["apply", "--yes"]).1.contains("reckon::apply::broken"));
    stage.asks(0, &["apply", "--yes", "--isolate"]);
    without_token(&stage);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_runner_is_told_what_is_wrong_and_what_to_do() {
    let mut stage = Stage::set(TREE, "").await;
    let url = format!("http://{}", stage.start());
    let token = stage.token();
    stage.write("runner/wrong", &"ab".repeat(32));
    stage.write("runner/empty", "\n");
    stage.write("runner/short", "secret");
    let elsewhere = format!("http://{}", stage.sandbox());
    for (arguments, code, exit) in [
        (["--server", &url, "--token-file", "wrong"], "reckon::server::token", 4),
        (["--server", &url, "--token-file", "empty"], "reckon::server::token_file", 4),
        (["--server", &url, "--token-file", "short"], "reckon::server::token_file", 4),
        (["--server", &url, "--token-file", "none"], "reckon::server::token_file", 4),
        (["--server", &elsewhere, "--token-file", "token"], "reckon::server::answer", 4),
        (
            ["--server", "http://127.0.0.1:1", "--token-file", "token"],
            "reckon::server::unreachable",
            4,
        ),
        (["--server", "http://billing.example", "--token-file", "token"], "reckon::server::url", 1),
        (
            ["--server", "https://u:p@billing.example", "--token-file", "token"],
            "reckon::server::url",
            1,
        ),
    ] {
        let (ended, output, notes) = stage.run(&[&arguments[..], &["get", "-o", "json"]].concat());
        assert_eq!((ended, output.as_str()), (exit, ""), "{arguments:?} {notes}");
        let error = &parsed(&notes)["error"];
        assert_eq!(error["code"], code, "{notes}");
        assert!(!error["help"].as_str().unwrap_or_default().is_empty(), "{notes}");
    }
    for arguments in [
        &["--server", &url, "get"][..],
        &["--token-file", "token", "get"],
        &["--server", &url, "--token-file", "token", "--state", "s", "get"],
    ] {
        assert_eq!(stage.run(arguments).0, 1, "{arguments:?}");
    }
    // A read-only token, after a restart in which the daemon reads the file again.
    stage.stop();
    let reader = "cd".repeat(32);
    let file = stage.path("daemon/.reckon/api.token");
    fs::write(&file, format!("ci read {reader}\n{token}\n")).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    let (code, _) = stage.there(&["run"]);
    assert_eq!(code, 4, "a token file that others may read is refused");
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    stage.start();
    stage.asks(0, &["get"]);
    stage.asks(0, &["plan", "--target", "Contact/jane"]);
    for arguments in [
        &["suspend", "Contact/jane", "--reason", "audit"][..],
        &["events", "urls"],
        &["apply", "--yes"],
    ] {
        assert!(stage.asks(4, arguments).1.contains("reckon::server::read_only"));
    }
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_write_with_a_token_and_json() {
    let mut stage = Stage::set(TREE, "").await;
    let address = stage.start();
    let bearer = format!("Bearer {}", stage.token());
    let token =
        [("host", "billing.example"), ("via", "1.1 proxy"), ("authorization", bearer.as_str())];
    let post = |path: &str, body: &Value| {
        send(address, &format!("POST /api/v1/{path}"), &token, &body.to_string())
    };
    let (status, body) = post("reconcile", &json!({"wait": true}));
    assert_eq!((status, &body["reconciled"]), (200, &json!(true)), "{body}");
    assert_eq!(stage.count("contacts").await, 1);
    assert_eq!(post("reconcile", &json!({})).0, 202);
    let jane =
        json!({"resource": "Contact/jane", "reason": "audit", "until": "2099-01-01T00:00:00Z"});
    let (status, body) = post("suspend", &jane);
    assert_eq!((status, &body["suspended"]["actor"]), (200, &json!("api token")), "{body}");
    assert_eq!(post("resume", &json!({"resource": "Contact/jane"})).0, 200);
    assert_eq!(post("resume", &json!({"resource": "Contact/jane"})).0, 409);
    assert_eq!(post("resume", &json!({"resource": "Contact/june"})).0, 404);
    assert_eq!(post("intents/i-000099/resolve", &json!({"as": "retry"})).0, 404);
    assert_eq!(post("approve", &json!({"plan": "0123456789abcdef"})).0, 409);
    assert_eq!(post("approve", &json!({"merchant": "Merchant/acme"})).0, 404);
    let near = [("host", "127.0.0.1")];
    let ask = |request: &str, headers: &[(&str, &str)]| send(address, request, headers, "{}").0;
    assert_eq!(ask("GET /api/v1/status", &near), 200, "a local read needs no token");
    assert_eq!(
        ask("GET /api/v1/status", &token),
        200,
        "a read through a proxy with a token is allowed"
    );
    assert_eq!(ask("GET /api/v1/status", &token[..2]), 403);
    assert_eq!(ask("POST /api/v1/reconcile", &near), 401);
    let page = [near[0], ("origin", "https://evil.example"), token[2]];
    assert_eq!(ask("POST /api/v1/reconcile", &page), 403);
    let wrong = [near[0], ("authorization", "Bearer 0123456789abcdef0123456789abcdef")];
    assert_eq!(ask("GET /api/v1/status", &wrong), 401);
}

/// Starts a proxy that writes its own certificate to a file and names the client in `x-forwarded-for`.
async fn proxy(daemon: SocketAddr, certificate: &std::path::Path) -> SocketAddr {
    use axum::body::{Body, to_bytes};
    use axum::extract::Request;
    reckon::client::transport::install_crypto();
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    fs::write(certificate, made.cert.pem()).unwrap();
    let config = axum_server::tls_rustls::RustlsConfig::from_pem(
        made.cert.pem().into_bytes(),
        made.signing_key.serialize_pem().into_bytes(),
    );
    let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
    let pass = move |request: Request| {
        let client = client.clone();
        async move {
            let (head, body) = request.into_parts();
            let body = to_bytes(body, 1 << 24).await.unwrap();
            let url = format!("http://{daemon}{}", head.uri.path());
            let mut headers = head.headers;
            headers.insert("x-forwarded-for", "203.0.113.9".parse().unwrap());
            let sent = client.request(head.method, url).headers(headers).body(body).send().await;
            let answer = sent.unwrap();
            let mut response = http::Response::builder().status(answer.status());
            *response.headers_mut().unwrap() = answer.headers().clone();
            response.headers_mut().unwrap().remove("transfer-encoding");
            response.body(Body::from(answer.bytes().await.unwrap())).unwrap()
        }
    };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let router = axum::Router::new().fallback(pass);
    let server = axum_server::tls_rustls::from_tcp_rustls(listener, config.await.unwrap()).unwrap();
    tokio::spawn(server.serve(router.into_make_service()));
    address
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proxy_with_a_certificate_may_stand_between() {
    let mut stage = Stage::set(TREE, "").await;
    let daemon = stage.start();
    let certificate = stage.path("proxy.pem");
    let url = format!("https://{}", proxy(daemon, &certificate).await);
    let certificate = certificate.display().to_string();
    let asked = ["--server", &url, "--token-file", "token", "-o", "json", "apply", "--yes"];
    let (code, _, notes) = stage.run(&asked);
    assert_eq!(code, 4, "{notes}");
    assert_eq!(parsed(&notes)["error"]["code"], "reckon::server::tls", "{notes}");
    let (code, output, notes) = stage.run_with(&asked, &[("SSL_CERT_FILE", &certificate)]);
    assert_eq!(code, 0, "{output}{notes}");
    assert_eq!(stage.count("contacts").await, 1);
}
