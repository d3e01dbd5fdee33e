//! The terminal after a progress bar, and code in messages.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::support::terminal::{Terminal, screen};

fn reckon(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
    command.current_dir(folder).env_clear().args(arguments);
    command
}

/// Makes a fresh repository with `init`.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    assert!(reckon(folder.path(), &["init"]).output().unwrap().status.success());
    folder
}

/// A service that accepts every call and answers none, until the test closes the connections.
struct Mute {
    base_url: String,
    /// The open calls. `None` closes each new connection at once.
    waiting: Arc<Mutex<Option<Vec<TcpStream>>>>,
}

impl Mute {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let waiting = Arc::new(Mutex::new(Some(Vec::new())));
        let held = waiting.clone();
        std::thread::spawn(move || {
            for call in listener.incoming().flatten() {
                if let Some(held) = &mut *held.lock().unwrap() {
                    held.push(call);
                }
            }
        });
        Self { base_url, waiting }
    }

    fn hang_up(&self) {
        *self.waiting.lock().unwrap() = None;
    }
}

/// Makes a repository whose service is mute, and the command that waits for this service.
fn applying(service: &Mute) -> (tempfile::TempDir, Command) {
    let folder = repository();
    let path = folder.path().join("reckon.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("ca_file:"));
    let lines = lines.map(|line| {
        let is_base = line.trim_start().starts_with("base_url:");
        if is_base { format!("  base_url: {}", service.base_url) } else { line.to_owned() }
    });
    std::fs::write(&path, lines.collect::<Vec<_>>().join("\n")).unwrap();
    let mut command = reckon(folder.path(), &["apply", "--yes", "-v"]);
    for name in ["RECKON_CLIENT_ID", "RECKON_CLIENT_SECRET", "CODE_ACME"] {
        command.env(name, "value");
    }
    (folder, command)
}

/// Closes the item of C: spinner residue. Ctrl-C ends a run whose calls fail, and no progress line remains.
#[test]
fn nothing_of_the_progress_stays_after_an_interrupted_apply() {
    let service = Mute::start();
    let (_folder, mut command) = applying(&service);
    let mut terminal = Terminal::start(&mut command);
    terminal.wait_for("applying: ");
    terminal.interrupt();
    terminal.wait_for("stopping; waiting for the answers of calls in flight");
    service.hang_up();
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(130), "{screen:#?}");
    let left: Vec<&String> = screen.iter().filter(|line| line.contains("applying: ")).collect();
    assert_eq!(left, Vec::<&String>::new(), "{screen:#?}");
    assert!(screen.iter().any(|line| line.starts_with("stopping; ")), "{screen:#?}");
}

/// The same for a counter of a command without a signal handler.
#[test]
fn nothing_of_a_count_stays_after_ctrl_c() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::start(&mut reckon(folder.path(), &["chaos", "--runs", "100000"]));
    terminal.wait_for("100000 worlds");
    terminal.interrupt();
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(130), "{screen:#?}");
    assert_eq!(screen.concat(), "", "{screen:#?}");
}

#[test]
fn the_screen_of_the_tests_is_the_one_of_a_terminal() {
    assert_eq!(screen("a: 1\r\u{1b}[2Kb\r\nc"), ["b", "c"]);
    assert_eq!(screen("one\r\ntwo\u{1b}[1A\r\u{1b}[2Kx\u{1b}[31m\u{1b}[K"), ["x", "two"]);
}

/// Returns whether backticks pair, and no pair is within another one.
fn is_paired(text: &str) -> bool {
    let parts: Vec<&str> = text.split('`').collect();
    parts.len() % 2 == 1 && parts.iter().skip(1).step_by(2).all(|code| code.trim() == *code)
}

/// Closes the item of C: crossed backticks, in messages that quote a document.
#[test]
fn the_backticks_of_problems_pair_whatever_a_document_says() {
    let folder = repository();
    let header = "apiVersion: reckon.dev/v1\nkind: Contact\n";
    for (name, text) in [
        ("empty.yaml", "a: 1\n".to_owned()),
        ("nameless.yaml", format!("{header}metadata: {{}}\n")),
        ("semicolon.yaml", format!("{header}metadata: {{name: \"a; b\"}}\nspec: {{}}\n")),
        ("edge.yaml", format!("{header}metadata: {{name: -a}}\nspec: {{}}\n")),
        ("space.yaml", format!("{header}metadata: {{name: a, namespace: \"b; c\"}}\nspec: {{}}\n")),
        ("kind.yaml", header.replace("Contact", "Contract")),
    ] {
        std::fs::write(folder.path().join("specs").join(name), text).unwrap();
    }
    let output = reckon(folder.path(), &["validate", "-o", "json"]).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let problems = report["problems"].as_array().unwrap();
    assert!(problems.len() > 8, "{problems:#?}");
    for problem in problems {
        for text in [&problem["message"], &problem["help"]] {
            assert!(is_paired(text.as_str().unwrap()), "{text}");
        }
    }
}
