//! A missing state (docs/operations/store.md). Few commands make a state; every other command leaves the folder as it
//! was. These tests need no service.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use clap::CommandFactory;
use reckon::cli::args::options::Cli;

/// The error code of a missing state.
const ABSENT: &str = "reckon::state::absent";

/// The commands that need no service and end by themselves, with their exit codes without a state. The first code
/// applies where the key of the state exists, the second where it does not.
const TABLE: &[(&str, i32, i32)] = &[
    ("validate", 0, 0),
    ("plan", 0, 0),
    ("plan --out saved.plan", 0, 1),
    ("plan show missing.plan", 1, 1),
    ("approve Merchant/acme --yes", 1, 1),
    ("approve 0123456789abcdef --yes", 1, 1),
    ("approve 0123456789abcdef --yes --write approval.yaml", 1, 1),
    ("suspend Merchant/unknown --reason why", 1, 1),
    ("resume Merchant/acme", 1, 1),
    ("freeze --reason why", 1, 1),
    ("thaw", 1, 1),
    ("sync --yes", 4, 4),
    ("page", 4, 4),
    ("import Contact/jane contact-1 --yes", 1, 1),
    ("import --all cards --merchant acme --yes", 1, 1),
    ("forget Merchant/acme --yes", 1, 1),
    ("sandbox env", 4, 4),
    ("get", 0, 0),
    ("status", 0, 0),
    ("describe Merchant/acme", 0, 0),
    ("link Invoice/jane-first", 1, 1),
    ("attach SavedMethod/jane --token token", 1, 1),
    ("events urls", 0, 1),
    ("events urls --rotate", 1, 1),
    ("events list", 0, 0),
    ("events show event", 1, 1),
    ("events failed", 0, 0),
    ("events failed --ack event", 1, 1),
    ("events trigger transaction.failed", 4, 4),
    ("events resync --since 7d", 1, 1),
    ("events replay event", 1, 1),
    ("events replay --script answers --since 1d", 1, 1),
    ("events tail", 1, 1),
    ("reconcile", 4, 4),
    ("wait --timeout 0s", 3, 3),
    ("new Contact jo", 0, 0),
    ("explain", 0, 0),
    ("explain Merchant", 0, 0),
    ("schema Merchant", 0, 0),
    ("intents", 0, 0),
    ("intents resolve 1 --as retry", 1, 1),
    ("intents dismiss 1 --reason why", 1, 1),
    ("gateway get", 0, 0),
    ("gateway get card.list --merchant acme", 1, 1),
    ("gateway charge --merchant acme --yes --amount 1.00USD --method card", 1, 1),
    ("gateway credit --merchant acme --yes --amount 1.00USD --method card", 1, 1),
    ("gateway refund id --merchant acme --yes --amount 1.00USD", 1, 1),
    ("gateway void id --merchant acme --yes", 1, 1),
    ("gateway capture id --merchant acme --yes --amount 1.00USD", 1, 1),
    ("gateway sign id --merchant acme --yes --data reckon.yaml", 1, 1),
    ("gateway pay id id --merchant acme --yes --amount 1.00USD", 1, 1),
    ("gateway ignore id id --merchant acme --yes", 1, 1),
    ("gateway cancel id --merchant acme --yes", 1, 1),
    ("gateway delete card id --merchant acme --yes", 1, 1),
    ("gateway deauthorise --merchant acme --yes", 1, 1),
    ("gateway change card id --merchant acme --yes --set description=a", 1, 1),
    (
        "gateway schedule id --merchant acme --yes --amount 1.00USD --start 2099-01-01 --every day",
        1,
        1,
    ),
    ("gateway save card --merchant acme --yes --token token", 1, 1),
    ("gateway upload reckon.yaml --merchant acme --yes --contact contact", 1, 1),
    ("gateway vault contact --merchant acme --yes --type card --token token", 1, 1),
    ("gateway merchant --merchant acme --yes --set city=Bern", 1, 1),
    ("gateway account id --merchant acme --yes --type card --set name=a", 1, 1),
    ("gateway purge --merchant acme --yes", 1, 1),
    ("hooks check", 0, 0),
    ("hooks test", 0, 0),
    ("hooks try event", 1, 1),
    ("hooks diff", 0, 0),
    ("hooks list", 0, 0),
    ("hooks forget script --yes", 1, 1),
    ("hooks repl", 0, 0),
    ("hooks doc", 0, 0),
    ("seal Merchant/acme code", 1, 1),
    ("why Merchant/acme", 0, 0),
    ("completions bash", 0, 0),
    ("man store", 0, 0),
    ("store check", 1, 1),
    ("store rebuild", 1, 1),
    ("store backup copy.backup", 1, 1),
    ("store restore missing.backup", 4, 4),
    ("store compact", 1, 1),
    ("store rekey --yes", 1, 1),
    ("store release --all", 1, 1),
];

/// The commands missing from the table. They make a repository or a state, serve until a signal, or need neither.
const OTHERS: [&str; 5] = ["init", "apply", "run", "sandbox", "chaos"];

/// Runs `reckon` in a folder, with an empty environment and nothing on standard input.
fn reckon(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
    command.current_dir(folder).env_clear().stdin(Stdio::null());
    command.args(line.split_whitespace()).output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn printed(output: &Output) -> String {
    let all = [output.stdout.clone(), output.stderr.clone()].concat();
    String::from_utf8(all).unwrap()
}

/// Makes a fresh repository with `init`, with or without the key of its state.
fn repository(has_key: bool) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(code(&reckon(folder.path(), "init")), 0);
    std::fs::create_dir(folder.path().join("hooks")).unwrap();
    if !has_key {
        std::fs::remove_file(folder.path().join(".reckon.key")).unwrap();
    }
    folder
}

/// Returns every file and folder beneath a folder.
fn listed(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            found.insert(path.display().to_string());
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    found
}

/// Closes the item of C: commands that only read, and commands that need an existing state, make neither a state nor a
/// key.
#[test]
fn no_command_but_those_that_are_named_makes_a_state_or_a_key() {
    for has_key in [true, false] {
        let folder = repository(has_key);
        let before = listed(folder.path());
        for (line, with_key, without) in TABLE {
            let output = reckon(folder.path(), line);
            let expected = if has_key { with_key } else { without };
            assert_eq!(code(&output), *expected, "{line} (key: {has_key}): {}", printed(&output));
            drop(std::fs::remove_file(folder.path().join("saved.plan")));
            assert_eq!(listed(folder.path()), before, "{line} (key: {has_key})");
        }
    }
}

#[test]
fn a_command_that_needs_the_state_says_that_there_is_none_and_who_makes_one() {
    let folder = repository(true);
    for line in [
        "store check",
        "store rebuild",
        "store backup copy.backup",
        "store compact",
        "store release --all",
        "events urls --rotate",
        "events resync --since 7d",
        "events tail",
        "gateway get card.list --merchant acme",
        "gateway purge --merchant acme --yes",
        "plan --out saved.plan --state .typo",
        "events urls --state .typo",
        "approve 0123456789abcdef --yes --state .typo",
        "suspend Merchant/acme --reason why --state .typo",
    ] {
        let output = reckon(folder.path(), line);
        let printed = printed(&output);
        assert!(
            printed.contains(ABSENT) && printed.contains("there is no state"),
            "{line}: {printed}"
        );
        assert!(
            printed.contains("create a state there with `reckon apply` or `reckon run`"),
            "{line}: {printed}"
        );
    }
}

/// `approve` takes the checksum that `plan` shows before a state exists. `apply` then takes the saved plan.
#[test]
fn a_plan_that_was_made_before_the_state_is_approved_and_applied_in_it() {
    let folder = repository(true);
    let plan = reckon(folder.path(), "plan -o json");
    let plan: serde_json::Value = serde_json::from_slice(&plan.stdout).unwrap();
    let checksum = plan["checksum"].as_str().unwrap();
    let unconfirmed = reckon(folder.path(), &format!("approve {checksum}"));
    assert_eq!(code(&unconfirmed), 1, "{}", printed(&unconfirmed));
    assert!(!folder.path().join(".reckon").exists());
    assert_eq!(code(&reckon(folder.path(), "plan --out saved.plan")), 0);
    let approved = reckon(folder.path(), &format!("approve {checksum} --yes"));
    assert!(folder.path().join(".reckon/journal").exists(), "{}", printed(&approved));
    assert_eq!(code(&reckon(folder.path(), "store check")), 0);
    let applied = reckon(folder.path(), "apply saved.plan --yes");
    assert!(!printed(&applied).contains("another state"), "{}", printed(&applied));
}

#[test]
fn the_table_names_every_command() {
    let mut paths = Vec::new();
    let mut open = vec![(String::new(), Cli::command())];
    while let Some((path, command)) = open.pop() {
        let own = command.get_subcommands().filter(|one| one.get_name() != "help");
        let own: Vec<_> =
            own.map(|one| (format!("{path} {}", one.get_name()), one.clone())).collect();
        if own.is_empty() || !command.is_subcommand_required_set() {
            paths.push(path.trim().to_owned());
        }
        open.extend(own);
    }
    let named = |path: &&String| {
        let is = |line: &str| {
            line.strip_prefix(path.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        TABLE.iter().any(|(line, ..)| is(line)) || OTHERS.contains(&path.as_str())
    };
    let left: Vec<&String> = paths.iter().filter(|path| !named(path) && !path.is_empty()).collect();
    assert_eq!(left, Vec::<&String>::new());
    assert!(paths.len() > 50, "{paths:?}");
}
