//! The portal link of an invoice, with the built program. The link appears on standard output on request, and nowhere
//! else.

use std::path::Path;
use std::process::Stdio;

use http::Method;
use serde_json::Value;

use crate::control;
use crate::support::canaries::Canaries;
use crate::support::running::{Running, Stand};
use crate::support::{covers, running};

const TREE: &str = r#"
apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec: {mode: test, timezone: UTC, credentials: {authorization_code: {env: OPEN_CODE}}}
---
apiVersion: reckon.dev/v1
kind: Contact
metadata: {name: jane}
spec: {merchant: acme, first_name: Jane, last_name: Doe, email_addresses: [{address: jane@example.com}]}
---
apiVersion: reckon.dev/v1
kind: Invoice
metadata: {name: one}
spec:
  merchant: acme
  contact: jane
  bank_account: Operating
  invoice_date: 2030-01-15
  line_items: [{description: Retainer, rate_per_quantity: "125.00 USD"}]
  attachments: [{file: letters/one.txt}]
"#;

/// Starts a sandbox as a process, and makes a repository with one invoice that attaches a file.
async fn set_up(stand: &mut Stand<'_>) -> Running {
    let kept = stand.folder.join("sandbox").display().to_string();
    let sandbox =
        stand.command(&["sandbox", "--plain-http", "--listen", "127.0.0.1:0", "--state", &kept]);
    let sandbox = Running::start(sandbox);
    let known = running::credentials(sandbox.address).await;
    let partner = |field: &str| known["partner"][field].as_str().unwrap().to_owned();
    stand.environment = vec![
        ("CLIENT_SECRET".to_owned(), partner("client_secret")),
        ("OPEN_CODE".to_owned(), running::code(sandbox.address, "acme").await),
    ];
    let service = sandbox.address;
    stand.write(
        "reckon.yaml",
        &format!(
            "apiVersion: reckon.dev/v1\nkind: Config\npartner: {{name: acme, client_id: {}, client_secret: {{env: CLIENT_SECRET}}, redirect_uri: \"{}\"}}\n\
             service: {{base_url: \"http://{service}\", web_url: \"http://{service}\", timeout: 20s}}\n\
             secrets: {{env: [OPEN_*], attachments: attached}}\nlisten: 127.0.0.1:0\n",
            partner("client_id"),
            partner("redirect_uri"),
        ),
    );
    stand.write("attached/letters/one.txt", "Dear Jane");
    stand.write("specs/all.yaml", TREE);
    sandbox
}

/// Runs `link`; returns standard output and keeps standard error.
fn link(stand: &mut Stand<'_>, arguments: &[&str]) -> String {
    let arguments = [&["-vvv", "link", "Invoice/one"], arguments].concat();
    let output = stand.command(&arguments).stdin(Stdio::null()).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{printed}{log}");
    stand.said.push((arguments.join(" "), output.stderr));
    printed.trim().to_owned()
}

/// Plants the secret part of a link.
fn planted(canaries: &mut Canaries, name: &str, link: &str) -> String {
    let (portal, hash) = link.rsplit_once('/').unwrap();
    assert!(portal.starts_with("http") && portal.ends_with("/contacts") && hash.len() == 64);
    canaries.plant(name, hash);
    hash.to_owned()
}

fn not_found(canaries: &Canaries, stand: &Stand<'_>, folders: &[&Path]) {
    let mut found: Vec<String> = folders.iter().flat_map(|one| canaries.in_folder(one)).collect();
    for (what, printed) in &stand.said {
        found.extend(canaries.in_bytes(&format!("`{what}`"), printed));
    }
    assert_eq!(found, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_is_printed_once_and_shows_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut canaries = Canaries::default();
    let mut stand = Stand { folder, environment: Vec::new(), said: Vec::new() };
    let sandbox = set_up(&mut stand).await;
    let printed = stand.ends(&["link", "Invoice/one"], 1);
    assert!(printed.contains("reckon::state::absent"), "no state exists yet: {printed}");
    stand.ends(&["init", "--empty-remote", "--yes"], 0);
    let printed = stand.ends(&["link", "Invoice/one"], 1);
    assert!(printed.contains("reckon::link::none"), "the invoice is not made yet: {printed}");
    assert!(stand.ends(&["link", "Contact/jane"], 1).contains("reckon::link::kind"));
    stand.ends(&["-vvv", "apply", "--yes"], 0);

    let alone = link(&mut stand, &[]);
    let log = String::from_utf8_lossy(&stand.said.last().unwrap().1).into_owned();
    assert!(log.contains("  trace  "), "the log is complete: {log}");
    let json: Value = serde_json::from_str(&link(&mut stand, &["-o", "json"])).unwrap();
    let first = planted(&mut canaries, "the link", &alone);
    let second = planted(&mut canaries, "the link in JSON", json["link"].as_str().unwrap());
    assert_ne!(first, second);
    for form in ["text", "json", "yaml"] {
        stand.ends(&["-vvv", "get", "Invoice/one", "-o", form], 0);
        stand.ends(&["-vvv", "describe", "Invoice/one", "-o", form], 0);
        stand.ends(&["-vvv", "plan", "-o", form], 0);
    }

    let log = folder.join("daemon.log");
    let mut command = stand.command(&["-vvv", "run"]);
    command.stderr(std::fs::File::create(&log).unwrap());
    let daemon = Running::start(command);
    stand.said.push(("run".to_owned(), daemon.said.clone().into_bytes()));
    let beside = link(&mut stand, &[]);
    planted(&mut canaries, "the link beside the daemon", &beside);
    for path in ["/api/v1/resources", "/api/v1/resources/Invoice/default/one", "/api/v1/plan"] {
        let answer = control::ask(daemon.address, Method::GET, path, None).await.unwrap();
        stand.said.push((path.to_owned(), answer.into_bytes()));
    }
    drop(daemon);
    stand.said.push(("the daemon's log".to_owned(), std::fs::read(&log).unwrap()));

    let path = "/_sandbox/objects/contact_hashes";
    let hashes = control::ask(sandbox.address, Method::GET, path, None).await.unwrap();
    assert_eq!(hashes.lines().count(), 3);
    stand.said.push((path.to_owned(), hashes.into_bytes()));
    let invoices = control::ask(sandbox.address, Method::GET, "/_sandbox/objects/invoices", None);
    let invoice: Value = serde_json::from_str(invoices.await.unwrap().trim()).unwrap();
    assert_eq!(invoice["attachments"][0]["file_name"], "one.txt");
    not_found(&canaries, &stand, &[&folder.join(".reckon"), &folder.join("sandbox")]);
    covers::covers(&["22.10"]);
}
