//! The page of metrics, beside a real scrape; and the names in alerts and dashboard, beside the page.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use serde_json::Value;

use crate::{daemon_process, repository};

const MERCHANT: &str = "apiVersion: reckon.dev/v1\nkind: Merchant\nmetadata: {name: acme}\n\
    spec: {mode: test, timezone: UTC, credentials: {authorization_code: {env: CODE_ACME}}}\n";

/// One metric: its type, its labels, and whether it may be absent.
#[derive(Debug, Default, PartialEq)]
struct Row {
    kind: String,
    labels: BTreeSet<String>,
    may_be_absent: bool,
}

/// Returns the rows of the page by the name of the metric.
fn page() -> BTreeMap<String, Row> {
    let text = fs::read_to_string(repository("docs/reference/metrics.md")).unwrap();
    let mut rows = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("| `reckon_")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let words = |cell: &str| {
            let words = cell.split(", ").map(|word| word.trim_matches('`').to_owned());
            words.filter(|word| !word.is_empty()).collect::<BTreeSet<_>>()
        };
        let row = Row {
            kind: cells[2].to_owned(),
            labels: words(cells[3]),
            may_be_absent: cells[4].contains("absent "),
        };
        assert_eq!(rows.insert(cells[1].trim_matches('`').to_owned(), row), None, "{line}");
    }
    rows
}

/// Returns what a daemon with a merchant shows at `/metrics`.
fn scrape(folder: &Path) -> String {
    let _daemon = daemon_process::start(folder, MERCHANT).unwrap();
    let text = fs::read_to_string(folder.join(".reckon/addresses.json")).unwrap();
    let addresses: Value = serde_json::from_str(&text).unwrap();
    let address = addresses["http"].as_str().unwrap().trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /metrics HTTP/1.0\r\nhost: {address}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(" 200 "), "{answer}");
    body.to_owned()
}

/// Returns the metrics of a scrape, with the labels of their samples.
fn shown(text: &str) -> BTreeMap<String, Row> {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let mut now = String::new();
    for line in text.lines() {
        if let Some(declared) = line.strip_prefix("# TYPE ") {
            let (name, kind) = declared.split_once(' ').unwrap();
            name.clone_into(&mut now);
            kind.clone_into(&mut rows.entry(now.clone()).or_default().kind);
        } else if !line.starts_with('#') {
            let labels = line.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
            let labels = labels.map_or("", |(labels, _)| labels).split(',');
            let labels = labels.filter_map(|label| label.split_once('=')).map(|(name, _)| name);
            let row = rows.get_mut(&now).unwrap();
            row.labels.extend(labels.filter(|name| *name != "le").map(str::to_owned));
        }
    }
    rows
}

pub(crate) fn page_matches_scrape() {
    let folder = tempfile::tempdir().unwrap();
    let (page, shown) = (page(), shown(&scrape(folder.path())));
    for (name, row) in &shown {
        let listed = page.get(name).unwrap_or_else(|| panic!("the page does not list {name}"));
        assert_eq!(listed.kind, row.kind, "{name}");
        // A family without a sample shows no label.
        assert!(row.labels.is_empty() || row.labels == listed.labels, "{name}: {row:?}");
    }
    let missing =
        page.iter().filter(|(name, row)| !row.may_be_absent && !shown.contains_key(*name));
    let missing: Vec<&String> = missing.map(|(name, _)| name).collect();
    assert_eq!(missing, Vec::<&String>::new(), "the page lists what a daemon does not show");
}

/// Returns the names of metrics in a text: words that begin with `reckon_`.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("reckon_")).map(str::to_owned).collect()
}

pub(crate) fn names_exist() {
    let page = page();
    let alerts = fs::read_to_string(repository("contrib/prometheus/alerts.yaml")).unwrap();
    let dashboard = fs::read_to_string(repository("contrib/grafana/dashboard.json")).unwrap();
    serde_json::from_str::<Value>(&dashboard).unwrap();
    for (file, text) in [("alerts.yaml", alerts), ("dashboard.json", dashboard)] {
        let names = names(&text);
        assert!(names.len() > 10, "{file}: {names:?}");
        for name in &names {
            let parts =
                ["_bucket", "_sum", "_count"].iter().filter_map(|end| name.strip_suffix(end));
            let of_histogram =
                parts.filter_map(|base| page.get(base)).any(|row| row.kind == "histogram");
            assert!(page.contains_key(name) || of_histogram, "{file} names {name}, which is none");
        }
    }
}
