//! The daemon's page, walked from its first address: every link leads somewhere, and every page keeps the rules.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::daemon_process;

/// Personal details that no page shows, and a text that would be a script.
const NAME: &str = "Canaria";
const MAIL: &str = "canary@quetzal.example";
const HOSTILE: &str = "<script>alert(7)</script>";

fn tree() -> String {
    format!(
        "apiVersion: reckon.dev/v1
kind: Merchant
metadata: {{name: acme}}
spec: {{mode: test, timezone: America/Chicago, credentials: {{authorization_code: {{env: CODE_ACME}}}}}}
---
apiVersion: reckon.dev/v1
kind: Contact
metadata: {{name: jane, labels: {{note: \"{HOSTILE}\"}}}}
spec: {{merchant: acme, first_name: Canaria, last_name: Quetzal, email_addresses: [{{address: {MAIL}}}]}}
---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {{name: later}}
spec: {{merchant: acme, type: card, source: intake}}
---
apiVersion: reckon.dev/v1
kind: RecurringCharge
metadata: {{name: club}}
spec:
  merchant: acme
  method: later
  amount: \"20.00 USD\"
  schedule: {{start: 2040-02-01, interval_unit: MONTH, interval_delay: 1}}
"
    )
}

#[derive(Debug)]
struct Answer {
    status: u16,
    headers: BTreeMap<String, String>,
    body: String,
}

/// Requests a path without a token, as a browser on this machine does.
fn get(address: &str, path: &str) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").expect("a whole answer");
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let header = |line: &str| {
        let (name, value) = line.split_once(": ").unwrap();
        (name.to_lowercase(), value.to_owned())
    };
    Answer { status, headers: lines.map(header).collect(), body: body.to_owned() }
}

fn address(folder: &Path) -> String {
    let text = fs::read_to_string(folder.join(".reckon/addresses.json")).unwrap();
    let addresses: Value = serde_json::from_str(&text).unwrap();
    addresses["http"].as_str().unwrap().trim_start_matches("http://").to_owned()
}

/// Returns the values of an attribute.
fn attributes(html: &str, name: &str) -> Vec<String> {
    let start = format!(" {name}=\"");
    let all = html.split(&start).skip(1);
    all.filter_map(|rest| rest.split('"').next()).map(|value| value.replace("&amp;", "&")).collect()
}

/// Walks every link from the first page on; returns each page by its address.
fn walk(address: &str) -> BTreeMap<String, Answer> {
    let mut queue = vec!["/".to_owned()];
    let mut pages = BTreeMap::new();
    while let Some(path) = queue.pop() {
        if pages.contains_key(&path) {
            continue;
        }
        let answer = get(address, &path);
        let links = [attributes(&answer.body, "href"), attributes(&answer.body, "src")].concat();
        let local = links.into_iter().filter(|link| link.starts_with('/'));
        if answer.headers["content-type"].starts_with("text/html") {
            queue.extend(local);
        }
        pages.insert(path, answer);
        assert!(pages.len() < 500, "the walk ends");
    }
    pages
}

/// Waits until the daemon has created the contact, so that the journal has something to show.
fn wait_until_busy(address: &str) {
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        let contact = get(address, "/api/v1/resources/Contact/default/jane");
        if contact.status == 200 && contact.body.contains("\"remote_id\":\"") {
            return;
        }
        assert!(Instant::now() < end, "{}", contact.body);
        std::thread::yield_now();
    }
}

#[test]
fn every_page_and_link_of_a_busy_daemon_can_be_read_and_shows_nothing_private() {
    let folder = tempfile::tempdir().unwrap();
    let _daemon = daemon_process::start(folder.path(), &tree()).unwrap();
    let address = address(folder.path());
    wait_until_busy(&address);
    let pages = walk(&address);
    let paths: BTreeSet<&str> = pages.keys().map(String::as_str).collect();
    for path in [
        "/",
        "/resources",
        "/graph",
        "/graph?resource=Contact%2Fjane",
        "/graph?merchant=Merchant%2Facme",
        "/plan",
        "/intents",
        "/events",
        "/audit",
        "/resources/Contact/default/jane",
    ] {
        assert!(paths.contains(path), "{path} is linked: {paths:?}");
    }
    assert!(paths.iter().any(|path| path.starts_with("/why?what=i-")), "{paths:?}");
    assert!(pages["/resources/RecurringCharge/default/club"].body.contains("SavedMethod/later"));
    for (path, page) in &pages {
        assert_eq!(page.status, 200, "{path}: {}", page.body);
        for secret in [NAME, "Quetzal", MAIL, HOSTILE] {
            assert!(!page.body.contains(secret), "{path} shows {secret}");
        }
        if page.headers["content-type"].starts_with("text/html") {
            check_page(path, page);
        }
    }
}

fn check_page(path: &str, page: &Answer) {
    let policy = &page.headers["content-security-policy"];
    assert!(
        policy.starts_with("default-src 'none'") && !policy.contains("unsafe"),
        "{path}: {policy}"
    );
    assert_eq!(page.headers["cache-control"], "no-store", "{path}");
    for inline in [" style=\"", " onclick=\"", " onload=\"", "<script>", "<style", "javascript:"] {
        assert!(!page.body.contains(inline), "{path} has {inline}");
    }
    assert_eq!(page.body.matches("<h1>").count(), 1, "{path}");
    assert!(page.body.contains("href=\"#content\""), "{path} has a skip link");
    let foreign = attributes(&page.body, "href").into_iter().chain(attributes(&page.body, "src"));
    let foreign: Vec<String> = foreign.filter(|link| link.contains("//")).collect();
    assert!(foreign.is_empty(), "{path} names other hosts: {foreign:?}");
}

#[test]
fn a_page_that_does_not_exist_and_a_wrong_filter_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let _daemon = daemon_process::start(folder.path(), &tree()).unwrap();
    let address = address(folder.path());
    for (path, status, text) in [
        ("/resources/Invoice/default/nobody", 404, "There is no resource Invoice/nobody."),
        ("/graph?resource=Invoice/nobody", 404, "There is no resource of this name."),
        ("/graph?resource=Contact/jane&merchant=acme", 400, "not both"),
        ("/resources?kind=Nothing", 400, "there is no kind Nothing"),
        ("/resources?merchant=acne", 400, "did you mean Merchant/acme?"),
        ("/resources?labels=%3D", 400, "is no label filter"),
        ("/audit?intent=twelve", 400, "an intent is written as"),
        ("/resources?search=JAN", 200, "Contact/jane"),
    ] {
        let page = get(&address, path);
        assert_eq!(page.status, status, "{path}: {}", page.body);
        assert!(page.body.contains(text), "{path}: {}", page.body);
    }
    let mut stream = TcpStream::connect(&address).unwrap();
    write!(stream, "GET / HTTP/1.1\r\nHost: reckon.example\r\nConnection: close\r\n\r\n").unwrap();
    let mut refused = String::new();
    stream.read_to_string(&mut refused).unwrap();
    assert!(refused.starts_with("HTTP/1.1 403"), "another name of the host: {refused}");
}
