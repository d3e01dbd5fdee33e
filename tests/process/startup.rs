//! A command's inputs at its start: its address, its variables, its scripts, and the permissions of the files that it
//! writes.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rustix::fs::Mode;
use serde_json::{Value, json};

use crate::support::daemon_process;

/// A script that reads and writes one value for several events at once; `hooks check` warns.
const WARNED_OF: &str = r#"const CONCURRENCY = 4;

fn on_transaction_authorized(event) {
    let count = kv_get("count") ?? 0;
    kv_set("count", count + 1);
}
"#;

/// Runs `reckon` in a folder, with an empty environment.
fn reckon(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
    command.current_dir(folder).env_clear().args(arguments).output().expect("the program runs")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("the program ends by itself")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Makes a fresh repository with `init`, and a state.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&["init"][..], &["init", "--empty-remote", "--yes"]] {
        let made = reckon(folder.path(), arguments);
        assert_eq!(code(&made), 0, "{}", stderr(&made));
    }
    folder
}

/// Returns every file and folder beneath a folder.
fn beneath(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    let mut at = 0;
    while let Some(path) = found.get(at).cloned() {
        at = at.saturating_add(1);
        if path.is_dir() {
            found.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    found
}

/// Closes the item of C: `sandbox` listens at the service's address in the configuration.
#[test]
fn c5_a_sandbox_listens_at_the_address_of_the_configuration() {
    let folder = repository();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let file = folder.path().join("reckon.yaml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("127.0.0.1:8700", &address)).unwrap();
    let mut command = Command::new("timeout");
    command.current_dir(folder.path()).env_clear().args([
        "30",
        env!("CARGO_BIN_EXE_reckon"),
        "sandbox",
    ]);
    let output = command.output().unwrap();
    let printed = stderr(&output);
    assert!(code(&output) == 4 && printed.contains("reckon::sandbox::listen"), "{printed}");
    assert!(printed.contains(&address), "{printed}");
}

/// Closes the item of C: without its variables, `apply` explains how to set them.
#[test]
fn c7_apply_without_its_variables_says_how_they_are_set() {
    let folder = repository();
    let output = reckon(folder.path(), &["apply", "--yes"]);
    let printed = stderr(&output);
    assert_eq!(code(&output), 4, "{printed}");
    assert!(
        printed.contains("RECKON_CLIENT_ID") && printed.contains("export the variable"),
        "{printed}"
    );
    assert!(printed.contains("eval \"$(reckon sandbox env)\""), "{printed}");
}

/// Closes S13: the configuration that `init` writes explains the rate of a merchant's webhook address.
#[test]
fn s13_the_first_configuration_says_how_many_posts_are_taken() {
    let folder = repository();
    let text = fs::read_to_string(folder.path().join("reckon.yaml")).unwrap();
    let printed = text.lines().find(|line| line.starts_with("webhooks: ")).unwrap();
    assert!(printed.starts_with("webhooks: {rate: 200, burst: 1000} "), "{printed}");
}

/// Closes S11: only the owner can read the files of a daemon and its sandbox. Closes K9: a warning does not invalidate
/// a set of scripts.
#[test]
fn s11_what_a_daemon_writes_is_its_owners_alone_and_k9_warnings_keep_no_set_out() {
    rustix::process::umask(Mode::from_raw_mode(0o022));
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("scripts")).unwrap();
    fs::write(folder.path().join("scripts/counts.rhai"), WARNED_OF).unwrap();
    let daemon = daemon_process::start(folder.path(), "").unwrap();
    let state = folder.path().join(".reckon");
    let all = beneath(&state);
    assert!(all.iter().any(|path| path.starts_with(state.join("sandbox/state"))), "{all:?}");
    for path in all {
        let mode = fs::symlink_metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
    }
    let dead = reckon(folder.path(), &["events", "failed", "-o", "json"]);
    let dead: Value = serde_json::from_slice(&dead.stdout).unwrap();
    assert_eq!((&dead["problems"], &dead["scripts"]), (&json!(0), &json!(["counts"])));
    drop(daemon);
}
