//! Help, new documents, and the options of every command: examples, variables, colours and suggestions. These tests need no
//! service.

use std::path::Path;
use std::process::{Command, Output};

use clap::CommandFactory;
use reckon::cli::args::options::Cli;
use serde_json::Value;

const KINDS: [&str; 6] =
    ["MerchantApplication", "Merchant", "Contact", "Invoice", "SavedMethod", "RecurringCharge"];

/// Runs `reckon` in a folder, with this environment alone.
fn reckon(folder: &Path, environment: &[(&str, &str)], line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
    command.current_dir(folder).env_clear().envs(environment.iter().copied());
    command.args(line.split_whitespace()).output().unwrap()
}

/// Runs `reckon` and expects this code; returns all that it prints.
fn ends(folder: &Path, line: &str, code: i32) -> String {
    let output = reckon(folder, &[], line);
    let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(code), "{line}: {printed}");
    printed
}

fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    ends(folder.path(), "init", 0);
    folder
}

#[test]
fn the_new_document_of_each_kind_is_valid_in_the_tree_and_overwrites_nothing() {
    for kind in KINDS {
        let folder = repository();
        let line = format!("new {kind} it --file specs/new/it.yaml");
        let made = ends(folder.path(), &line, 0);
        assert!(made.contains(&format!("{kind}/it")), "{made}");
        let path = folder.path().join("specs/new/it.yaml");
        let text = std::fs::read_to_string(&path).unwrap();
        ends(folder.path(), "validate", 0);
        assert!(ends(folder.path(), &line, 1).contains("reckon::new::exists"));
        let other = format!("new {kind} other --file specs/new/it.yaml");
        assert!(ends(folder.path(), &other, 1).contains("reckon::new::file_exists"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        let json: Value =
            serde_json::from_str(&ends(folder.path(), &format!("new {kind} other -o json"), 0))
                .unwrap();
        assert!(json["documents"].to_string().contains(&format!("{kind}/other")), "{json}");
    }
}

#[test]
fn a_new_document_belongs_to_the_merchant_that_is_named() {
    let folder = repository();
    ends(folder.path(), "new Merchant harbor --file specs/harbor.yaml", 0);
    assert!(ends(folder.path(), "new Contact jo", 1).contains("--merchant acme"));
    let near = ends(folder.path(), "new Contact jo --merchant harbr", 1);
    assert!(near.contains("did you mean --merchant harbor?"), "{near}");
    let invoice = ends(folder.path(), "new Invoice due --merchant harbor", 0);
    assert!(invoice.contains("kind: Contact") && invoice.contains("contact: due"), "{invoice}");
    let invoice = ends(folder.path(), "new Invoice due --merchant acme", 0);
    assert!(!invoice.contains("kind: Contact") && invoice.contains("contact: jane"), "{invoice}");
}

#[test]
fn explain_alone_lists_the_kinds() {
    let folder = tempfile::tempdir().unwrap();
    let list = ends(folder.path(), "explain", 0);
    for kind in KINDS.iter().chain(&["Defaults", "Config", "Events"]) {
        assert!(list.lines().any(|line| line.starts_with(kind)), "{kind}: {list}");
    }
    let json: Value = serde_json::from_str(&ends(folder.path(), "explain -o json", 0)).unwrap();
    assert_eq!(json["kinds"].as_array().map(Vec::len), Some(KINDS.len() + 3));
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = ends(folder.path(), &format!("completions {shell}"), 0);
        for name in Cli::command().get_subcommands().map(clap::Command::get_name) {
            assert!(script.contains(name), "{shell} completes no {name}");
        }
    }
    let page = ends(folder.path(), "man store backup", 0);
    assert!(page.contains(".TH reckon-store-backup") && page.contains(".SH SYNOPSIS"), "{page}");
    assert!(ends(folder.path(), "man", 0).contains("reconcile"));
    let wrong = ends(folder.path(), "man store bakcup", 1);
    assert!(wrong.contains("did you mean `backup`?"), "{wrong}");
}

/// Commands whose examples need no service, no state and no files beside those of `init`.
const OFFLINE: [&str; 10] = [
    "validate",
    "plan",
    "get",
    "describe",
    "new",
    "explain",
    "schema",
    "intents",
    "completions",
    "man",
];

/// Returns the lines below `Examples:`.
fn examples(help: &str) -> Vec<String> {
    let lines = help.split("Examples:\n").nth(1).expect("examples").lines();
    lines.map_while(|line| line.strip_prefix("  ")).map(str::to_owned).collect()
}

#[test]
fn the_examples_of_commands_that_need_no_service_work() {
    let folder = repository();
    for command in OFFLINE {
        let help = ends(folder.path(), &format!("{command} --help"), 0);
        for line in examples(&help).iter().filter(|line| !line.contains("--refresh")) {
            ends(folder.path(), line.strip_prefix("reckon ").unwrap(), 0);
        }
    }
}

#[test]
fn options_of_every_command_stand_under_their_own_heading_with_their_variables() {
    let folder = tempfile::tempdir().unwrap();
    let help = ends(folder.path(), "get --help", 0);
    let (own, global) = help.split_once("\nGlobal options:\n").expect("a heading");
    assert!(own.contains("--not-ready") && !own.contains("--config"), "{own}");
    for variable in ["RECKON_CONFIG", "RECKON_SERVER", "RECKON_TOKEN_FILE"] {
        assert!(global.contains(&format!("[env: {variable}]")), "{global}");
    }
    let shown = reckon(folder.path(), &[("RECKON_TOKEN_FILE", "/hidden/place")], "get --help");
    assert!(!String::from_utf8(shown.stdout).unwrap().contains("/hidden/place"));
}

#[test]
fn a_variable_stands_for_an_option_and_an_option_wins() {
    let (folder, elsewhere) = (repository(), tempfile::tempdir().unwrap());
    let config = folder.path().join("reckon.yaml").display().to_string();
    let run = |environment: &[(&str, &str)], line: &str| {
        let output = reckon(elsewhere.path(), environment, line);
        let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code(), printed)
    };
    let named = [("RECKON_CONFIG", config.as_str())];
    assert_eq!(run(&named, "validate").0, Some(0));
    assert_eq!(run(&[("RECKON_CONFIG", "none.yaml")], "validate").0, Some(1));
    let wins = run(&[("RECKON_CONFIG", "none.yaml")], &format!("--config {config} validate"));
    assert_eq!(wins.0, Some(0), "{}", wins.1);
    // The token is never sent in the clear, wherever the address comes from.
    let server = [named[0], ("RECKON_SERVER", "http://billing.example")];
    let (code, printed) = run(&server, "get");
    assert!(code == Some(1) && printed.contains("reckon::server::usage"), "{printed}");
    let (code, printed) = run(&server, "get --token-file none");
    assert!(code == Some(1) && printed.contains("reckon::server::url"), "{printed}");
    // A state on the command line is meant, and a token file alone means nothing.
    let (code, printed) = run(&server, "get --state state");
    assert!(code == Some(1) && printed.contains("reckon::state::absent"), "{printed}");
    let (code, printed) = run(&[named[0], ("RECKON_TOKEN_FILE", "none")], "get");
    assert_eq!(code, Some(0), "{printed}");
}

/// A variable that names the configuration is as good as the option, and no better.
#[test]
fn a_configuration_beside_the_specs_serves_no_live_merchant_by_variable_either() {
    let folder = repository();
    let git = Command::new("git").arg("init").arg("-q").current_dir(folder.path()).status();
    assert!(git.unwrap().success());
    let specs = folder.path().join("specs/acme.yaml");
    let text = std::fs::read_to_string(&specs).unwrap();
    std::fs::write(&specs, text.replace("mode: test", "mode: live")).unwrap();
    let environment =
        [("RECKON_CONFIG", "reckon.yaml"), ("PATH", option_env!("PATH").unwrap_or_default())];
    let output = reckon(folder.path(), &environment, "validate");
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("reckon::merchant::live_refused"), "{printed}");
    assert!(printed.contains("in the same git work tree"), "{printed}");
}

#[test]
fn colours_follow_one_rule_on_both_streams() {
    let folder = repository();
    let colored = |environment: &[(&str, &str)], line: &str| {
        let output = reckon(folder.path(), environment, line);
        [output.stdout, output.stderr].map(|printed| printed.contains(&0x1b))
    };
    for line in ["get", "explain", "get --help", "aply", "plan"] {
        assert_eq!(colored(&[], line), [false; 2], "a pipe: {line}");
        let always = format!("{line} --color always");
        assert_ne!(colored(&[("NO_COLOR", "1")], &always), [false; 2], "{always}");
        let never = format!("{line} --color never");
        assert_eq!(colored(&[("CLICOLOR_FORCE", "1")], &never), [false; 2], "{never}");
    }
}

#[test]
fn a_mistyped_name_gets_the_nearest_one() {
    let folder = repository();
    for (line, suggestion) in [
        ("aply", "'apply'"),
        ("plan --refesh", "'--refresh'"),
        ("get Invoyce", "did you mean `Invoice`?"),
        ("new Contct jo", "did you mean `Contact`?"),
        ("describe Merchant/acne", "did you mean Merchant/acme?"),
        ("get --merchant acne", "did you mean Merchant/acme?"),
        ("plan --target Contact/jnae", "did you mean Contact/jane?"),
        ("events trigger transaction.fialed", "did you mean `transaction.failed`?"),
        ("events trigger transaction.failed --merchant acne", "did you mean --merchant acme?"),
        ("explain Invoice.curency", "did you mean `currency`?"),
    ] {
        let printed = ends(folder.path(), line, 1);
        assert!(printed.contains(suggestion), "{line}: {printed}");
    }
    let far = ends(folder.path(), "describe Merchant/harbor", 1);
    assert!(!far.contains("did you mean"), "{far}");
}
