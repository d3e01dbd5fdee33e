//! The scenarios of `examples/scenarios`: each runs as written, and the same way each time.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::support::sandbox_process;

/// Returns all shipped scenarios.
fn scenarios() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/scenarios");
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

fn sandbox(state: &Path, scenario: &Path) -> Command {
    let mut command = sandbox_process::command(state, &["--scenario"]);
    command.arg(scenario);
    command
}

/// Returns the body of a sandbox's answer to a GET.
fn get(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

/// Starts a sandbox with a scenario, takes its snapshot and ends it. Returns its output and the snapshot.
fn played(folder: &Path, scenario: &Path) -> (String, String) {
    let said = folder.join("said");
    let mut command = sandbox(&folder.join("state"), scenario);
    command.stderr(File::create(&said).unwrap());
    let snapshot = sandbox_process::listening(command)
        .map(|sandbox| get(sandbox.address, "/_sandbox/snapshot"));
    let said = std::fs::read_to_string(said).unwrap();
    let Some(snapshot) = snapshot else { panic!("{}: {said}", scenario.display()) };
    (said, snapshot)
}

/// Starts a sandbox that must not start; returns its output.
fn refused(state: &Path, scenario: &Path) -> String {
    let output: Output = sandbox(state, scenario).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn every_scenario_goes_as_it_is_written() {
    let all = scenarios();
    assert!(all.len() >= 10, "{all:?}");
    for scenario in all {
        let folder = tempfile::tempdir().unwrap();
        let (said, snapshot) = played(folder.path(), &scenario);
        let name = scenario.file_stem().unwrap().to_str().unwrap();
        assert!(said.starts_with(&format!("scenario {name}: ")), "{said}");
        assert!(snapshot.contains("\"request/"), "{name}");
    }
}

#[test]
fn a_scenario_is_played_once_and_never_into_another_state() {
    let all = scenarios();
    let (one, other) = (all.first().unwrap(), all.last().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let (_, before) = played(folder.path(), one);
    let (said, after) = played(folder.path(), one);
    assert!(said.contains("already played into this state"), "{said}");
    let requests = |snapshot: &str| snapshot.matches("\"request/").count();
    assert_eq!(requests(&before), requests(&after));
    let said = refused(&folder.path().join("state"), other);
    assert!(said.contains("is not empty") && said.contains("--state"), "{said}");
}

#[test]
fn the_e_mail_of_a_story_leads_to_where_the_sandbox_listens() {
    let folder = tempfile::tempdir().unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/scenarios/invoices.yaml");
    let sandbox = sandbox_process::listening(sandbox(folder.path(), &file)).unwrap();
    let mailbox: serde_json::Value =
        serde_json::from_str(&get(sandbox.address, "/_sandbox/mailbox")).unwrap();
    let link = mailbox["messages"][0]["link"].as_str().unwrap();
    let path = link.strip_prefix(&format!("http://{}", sandbox.address)).unwrap();
    assert!(get(sandbox.address, path).contains("Rent"), "{link}");
}

#[test]
fn a_wrong_scenario_says_where_it_is_wrong() {
    for (text, expect) in [
        ("about: x\nsteps:\n  - requset: GET /status\n", "requset"),
        (
            "about: x\nsteps:\n  - request: GET /status\n    expect: 404\n",
            "step 1: GET /status: status 200 OK, expected 404",
        ),
        (
            "about: x\nsteps:\n  - {say: odd, request: \"GET /v1/cards/${card}\"}\n",
            "step 1 (odd): no earlier step keeps `card`",
        ),
        ("about: x\nsteps:\n  - {request: GET /status, keep: {a: /b}}\n", "no value at `/b`"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("wrong.yaml");
        std::fs::write(&file, text).unwrap();
        let said = refused(&folder.path().join("state"), &file);
        assert!(said.contains(expect), "{said}");
    }
}

#[test]
fn a_scenario_says_what_the_guide_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let guide = std::fs::read_to_string(root.join("docs/guides/sandbox.md")).unwrap();
    let mut lines = guide
        .lines()
        .skip_while(|line| !line.starts_with("$ reckon sandbox --plain-http --scenario "));
    let file = lines.next().unwrap().split_whitespace().last().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (said, _) = played(folder.path(), &root.join(file));
    assert_eq!(said.lines().next(), lines.next());
}
