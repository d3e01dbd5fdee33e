//! The daemon's page, walked from its first address: every link leads somewhere, and every page keeps the rules.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::canaries::Canaries;
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
    send(address, &format!("GET {path} HTTP/1.1\r\n"), "")
}

/// Sends a request that begins with this head.
fn send(address: &str, head: &str, body: &str) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "{head}Host: {address}\r\nConnection: close\r\n\r\n{body}").unwrap();
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

/// A browser in a session: its cookie, and the value of its forms.
struct Session<'a> {
    address: &'a str,
    cookie: String,
    form: String,
}

/// Sends a form as the page's own.
fn post(address: &str, path: &str, cookie: &str, body: &str) -> Answer {
    let head = format!(
        "POST {path} HTTP/1.1\r\nOrigin: http://{address}\r\nCookie: {cookie}\r\nContent-Length: {}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\n",
        body.len()
    );
    send(address, &head, body)
}

impl<'a> Session<'a> {
    fn enter(address: &'a str, link: &str) -> Self {
        let path = link.strip_prefix(&format!("http://{address}")).expect(link);
        let question = get(address, path);
        assert!(question.status == 200 && question.body.contains("uid "), "{}", question.body);
        let token = path.strip_prefix("/enter/").unwrap();
        let entered = post(address, "/enter", "", &format!("token={token}"));
        assert_eq!(entered.status, 303, "{}", entered.body);
        assert_eq!(post(address, "/enter", "", &format!("token={token}")).status, 403);
        let cookie = entered.headers["set-cookie"].split(';').next().unwrap().to_owned();
        let mut session = Self { address, cookie, form: String::new() };
        let form = session.get("/do/freeze").body;
        let (_, value) = form.split_once("name=\"form_token\" value=\"").expect(&form);
        value.split('"').next().unwrap().clone_into(&mut session.form);
        session
    }

    fn get(&self, path: &str) -> Answer {
        let head = format!("GET {path} HTTP/1.1\r\nCookie: {}\r\n", self.cookie);
        send(self.address, &head, "")
    }

    /// Sends a form, and returns the page that follows.
    fn order(&self, path: &str, fields: &str) -> Answer {
        let body = format!("form_token={}{fields}", self.form);
        let answer = post(self.address, path, &self.cookie, &body);
        assert_eq!(answer.status, 303, "{path}: {}", answer.body);
        self.get(&answer.headers["location"])
    }
}

fn reckon(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
    let output = command.current_dir(folder).env_clear().args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn who_asked_for_a_link_freezes_suspends_and_resumes_on_the_page_and_no_token_shows() {
    let folder = tempfile::tempdir().unwrap();
    let log = fs::File::create(folder.path().join("daemon.log")).unwrap();
    let daemon = daemon_process::start_with(folder.path(), &tree(), &["-vvv"], log.into()).unwrap();
    let address = address(folder.path());
    wait_until_busy(&address);
    let made: Value =
        serde_json::from_str(&reckon(folder.path(), &["page", "-o", "json"])).unwrap();
    let (link, actor) = (made["link"].as_str().unwrap(), made["actor"].as_str().unwrap());
    let session = Session::enter(&address, link);
    let frozen = session.order("/do/freeze", "&reason=canary+of+a+freeze");
    assert!(frozen.body.contains("canary of a freeze") && frozen.body.contains("Thaw"));
    let trail = get(&address, "/audit").body;
    assert!(trail.contains("canary of a freeze") && trail.contains(actor), "{actor}: {trail}");
    assert!(session.order("/do/thaw", "").body.contains("thawed"));
    let name = "RecurringCharge/default/club";
    let fields = "&reason=closed&until=2039-01-01T00:00";
    let suspended = session.order(&format!("/do/suspend/{name}"), fields).body;
    assert!(suspended.contains("closed") && suspended.contains("2039-01-01"), "{suspended}");
    assert!(session.order(&format!("/do/resume/{name}"), "").body.contains("was resumed"));
    assert!(session.order("/do/reconcile", "").body.contains("reads the tree now"));
    assert_eq!(session.get("/do/settle/i-999999").status, 404);
    let status = reckon(folder.path(), &["get", "-o", "json"]);
    drop(daemon);
    let mut canaries = Canaries::default();
    canaries.plant("the token of the link", link.rsplit('/').next().unwrap());
    canaries.plant("the cookie", session.cookie.split('=').nth(1).unwrap());
    canaries.plant("the value of the forms", &session.form);
    let found = [canaries.in_folder(folder.path()), canaries.in_bytes("get", status.as_bytes())];
    assert_eq!(found.concat(), Vec::<String>::new());
}
