//! The examples in the help of every command. Each line is parsed by a test; those that need no
//! service are run by one.

use clap::Command;

/// Commands by their words, each with lines that work in a repository that `reckon init` made.
const EXAMPLES: &[(&str, &[&str])] = &[
    ("", &["reckon init", "reckon plan", "reckon run --sandbox"]),
    ("init", &["reckon init", "reckon init billing", "reckon init --live billing"]),
    (
        "validate",
        &["reckon validate", "reckon validate specs/acme.yaml", "reckon validate -o json"],
    ),
    ("plan", &["reckon plan", "reckon plan --refresh", "reckon plan --out change.plan"]),
    ("plan show", &["reckon plan show change.plan", "reckon plan show change.plan -o markdown"]),
    (
        "apply",
        &["reckon apply", "reckon apply --target Invoice/jane-first", "reckon apply change.plan"],
    ),
    (
        "approve",
        &["reckon approve Merchant/acme", "reckon approve 0123456789abcdef --ceiling '500.00 USD'"],
    ),
    (
        "suspend",
        &[
            "reckon suspend Invoice/jane-first --reason dispute",
            "reckon suspend Merchant/acme --reason audit --until 3d",
        ],
    ),
    ("freeze", &["reckon freeze --reason 'wrong amounts in the tree'"]),
    ("thaw", &["reckon thaw"]),
    ("page", &["reckon page", "reckon page -o json"]),
    ("sync", &["reckon sync", "reckon sync --yes"]),
    ("resume", &["reckon resume Invoice/jane-first", "reckon resume Merchant/acme"]),
    (
        "import",
        &["reckon import Contact/jane contact_1", "reckon import --all cards --merchant acme"],
    ),
    ("forget", &["reckon forget Invoice/jane-first", "reckon forget contact_1 --yes"]),
    ("run", &["reckon run --sandbox", "reckon --config /etc/reckon.yaml run"]),
    ("sandbox", &["reckon sandbox", "reckon sandbox --plain-http --listen 127.0.0.1:8700"]),
    ("sandbox env", &["reckon sandbox env", "reckon sandbox env -o json"]),
    ("status", &["reckon status", "reckon status -o json"]),
    ("get", &["reckon get", "reckon get invoices --not-ready", "reckon get -l team=a -o wide"]),
    ("describe", &["reckon describe Invoice/jane-first", "reckon describe Merchant/acme -o json"]),
    ("link", &["reckon link Invoice/jane-first", "reckon link SavedMethod/jane --days 14"]),
    ("attach", &["reckon attach SavedMethod/jane --token -"]),
    ("events", &["reckon events list", "reckon events failed"]),
    ("events urls", &["reckon events urls", "reckon events urls --rotate --merchant acme"]),
    ("events list", &["reckon events list", "reckon events list --merchant acme --limit 5"]),
    ("events show", &["reckon events show evt_1", "reckon events show evt_1 -o json"]),
    ("events failed", &["reckon events failed", "reckon events failed --ack evt_1"]),
    (
        "events trigger",
        &[
            "reckon events trigger transaction.failed",
            "reckon events trigger transaction.failed --set amount=1200",
        ],
    ),
    (
        "events resync",
        &["reckon events resync --since 7d", "reckon events resync --since 2026-11-30"],
    ),
    (
        "events replay",
        &[
            "reckon events replay evt_1",
            "reckon events replay --script answers",
            "reckon events replay --script answers --since 2d",
            "reckon events replay --script answers --since 2d --merchant acme --yes",
        ],
    ),
    ("events tail", &["reckon events tail", "reckon events tail --merchant acme -o json"]),
    ("reconcile", &["reckon reconcile", "reckon reconcile Invoice/jane-first"]),
    (
        "wait",
        &["reckon wait --for ready", "reckon wait --for synced Invoice/jane-first --timeout 30s"],
    ),
    ("new", &["reckon new Invoice jane-2030", "reckon new contact jo --file specs/jo.yaml"]),
    (
        "explain",
        &[
            "reckon explain",
            "reckon explain Invoice.line_items",
            "reckon explain Config.policy.limits",
            "reckon explain Events.transaction.failed",
        ],
    ),
    ("schema", &["reckon schema", "reckon schema Invoice", "reckon schema Config"]),
    ("intents", &["reckon intents", "reckon intents -o json"]),
    (
        "intents resolve",
        &["reckon intents resolve 7 --as retry", "reckon intents resolve 7 --as done:inv_1"],
    ),
    ("intents dismiss", &["reckon intents dismiss 7 --reason reviewed"]),
    ("gateway", &["reckon gateway get", "reckon gateway void txn_1 --merchant acme"]),
    ("gateway get", &["reckon gateway get", "reckon gateway get card.list --merchant acme"]),
    (
        "gateway charge",
        &["reckon gateway charge --merchant acme --amount '1.00 USD' --method card"],
    ),
    (
        "gateway credit",
        &["reckon gateway credit --merchant acme --amount '1.00 USD' --method card"],
    ),
    ("gateway refund", &["reckon gateway refund txn_1 --merchant acme --amount '1.00 USD'"]),
    ("gateway void", &["reckon gateway void txn_1 --merchant acme"]),
    ("gateway capture", &["reckon gateway capture txn_1 --merchant acme --amount '1.00 USD'"]),
    ("gateway sign", &["reckon gateway sign txn_1 --merchant acme --data strokes.json"]),
    ("gateway pay", &["reckon gateway pay rec_1 occ_1 --merchant acme --amount '1.00 USD'"]),
    ("gateway ignore", &["reckon gateway ignore rec_1 occ_1 --merchant acme"]),
    ("gateway cancel", &["reckon gateway cancel rec_1 --merchant acme"]),
    ("gateway delete", &["reckon gateway delete card card_1 --merchant acme"]),
    ("gateway deauthorise", &["reckon gateway deauthorise --merchant acme"]),
    (
        "gateway change",
        &["reckon gateway change card card_1 --merchant acme --set description=spare"],
    ),
    (
        "gateway schedule",
        &["reckon gateway schedule txn_1 --merchant acme --amount '1.00 USD' --start 2099-01-01 \
            --every day"],
    ),
    ("gateway save", &["reckon gateway save card --merchant acme --token -"]),
    ("gateway upload", &["reckon gateway upload letter.pdf --merchant acme --contact contact_1"]),
    ("gateway vault", &["reckon gateway vault contact_1 --merchant acme --type card --token -"]),
    ("gateway merchant", &["reckon gateway merchant --merchant acme --set city=Bern"]),
    (
        "gateway account",
        &["reckon gateway account acc_1 --merchant acme --type card --set name=Main"],
    ),
    ("gateway purge", &["reckon gateway purge --merchant acme"]),
    ("hooks", &["reckon hooks check", "reckon hooks test"]),
    ("hooks check", &["reckon hooks check", "reckon hooks check -o json"]),
    ("hooks test", &["reckon hooks test", "reckon hooks test answers --junit report.xml"]),
    ("hooks try", &["reckon hooks try evt_1", "reckon hooks try evt_1 --script answers"]),
    ("hooks diff", &["reckon hooks diff", "reckon hooks diff --since 12h --script answers"]),
    ("hooks list", &["reckon hooks list", "reckon hooks list -o json"]),
    ("hooks forget", &["reckon hooks forget answers", "reckon hooks forget answers --yes"]),
    ("hooks repl", &["reckon hooks repl"]),
    ("hooks doc", &["reckon hooks doc", "reckon hooks doc -o markdown"]),
    (
        "seal",
        &[
            "reckon seal Merchant/acme credentials.access_token",
            "reckon seal Merchant/acme authorization_code",
        ],
    ),
    ("why", &["reckon why Invoice/jane-first", "reckon why evt_1 --verify"]),
    ("store", &["reckon store check", "reckon store backup state.backup"]),
    ("store check", &["reckon store check", "reckon store check -o json"]),
    ("store rebuild", &["reckon store rebuild"]),
    ("store backup", &["reckon store backup state.backup", "reckon store backup backups/monday"]),
    (
        "store restore",
        &["reckon store restore state.backup", "reckon store restore state.backup --replace"],
    ),
    ("store compact", &["reckon store compact", "reckon store compact --drop-history"]),
    ("store rekey", &["reckon store rekey", "reckon store rekey --new-key-file new.key"]),
    ("store release", &["reckon store release Invoice/jane-first", "reckon store release --all"]),
    ("chaos", &["reckon chaos --runs 10", "reckon chaos --seed 7 --runs 1"]),
    ("completions", &["reckon completions bash", "reckon completions zsh"]),
    ("man", &["reckon man", "reckon man store backup"]),
];

/// Adds the examples to the help of a command and of all its subcommands.
pub(super) fn add_examples(command: Command, words: &str) -> Command {
    let names: Vec<String> =
        command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
    let command = names.into_iter().fold(command, |command, name| {
        let beneath = format!("{words} {name}");
        command.mut_subcommand(name, |one| add_examples(one, beneath.trim_start()))
    });
    let Some(lines) = of(words) else { return command };
    let before = command.get_after_help().map(|text| format!("\n\n{text}")).unwrap_or_default();
    command.after_help(format!("Examples:\n  {}{before}", lines.join("\n  ")))
}

fn of(words: &str) -> Option<&'static [&'static str]> {
    EXAMPLES.iter().find(|(command, _)| *command == words).map(|(_, lines)| *lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::options::command;

    fn paths(command: &Command, words: &str) -> Vec<String> {
        let mut all = vec![words.to_owned()];
        for one in command.get_subcommands().filter(|one| one.get_name() != "help") {
            all.extend(paths(one, format!("{words} {}", one.get_name()).trim_start()));
        }
        all
    }

    /// Returns the words of a line as a shell does: quotes keep blanks.
    fn split(line: &str) -> Vec<&str> {
        let parts = line.split('\'').enumerate();
        parts
            .flat_map(|(at, part)| match at % 2 {
                0 => part.split_whitespace().collect(),
                _ => vec![part],
            })
            .collect()
    }

    #[test]
    fn every_command_has_examples_that_parse_and_name_it() {
        let all = paths(&command(), "");
        assert_eq!(all.len(), EXAMPLES.len(), "{all:?}");
        for words in all {
            let lines = of(&words).unwrap_or_else(|| panic!("{words} has no example"));
            for line in lines {
                assert!(words.is_empty() || line.contains(&words), "{words}: {line}");
                let parsed = command().try_get_matches_from(split(line));
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
            }
        }
    }
}
