//! `why`: from an effect back to the commit, the lines and the author, with the built program.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::shell::{Shell, code, stderr, stdout};

/// A shell whose folder is a git repository.
struct House {
    shell: Shell,
}

const MERCHANT: &str = "apiVersion: reckon.dev/v1\nkind: Merchant\nmetadata: {name: acme}\nspec:\n  mode: test\n  \
    timezone: America/Chicago\n  credentials: {authorization_code: {env: CODE_ACME}}\n";

const CARD: &str = "---\napiVersion: reckon.dev/v1\nkind: SavedMethod\nmetadata:\n  name: visa\nspec:\n  merchant: acme\n  \
    type: card\n  description: private\n  source:\n    card: {number: \"4242424242424242\", exp_month: 9, exp_year: 2034, \
    name: Jane Doe, postal_code: \"60614\"}\n";

impl House {
    fn new() -> Self {
        let house = Self { shell: Shell::start() };
        house.git("ada", &["init", "--quiet"]);
        house.shell.write("specs/a.yaml", &format!("{MERCHANT}{CARD}"));
        house.commit("ada");
        house
    }

    fn git(&self, who: &str, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        git.arg("-C").arg(self.shell.path("")).env_clear();
        git.env("PATH", std::env::var_os("PATH").unwrap());
        let (name, email) = (format!("user.name={who}"), format!("user.email={who}@example.com"));
        let said = git.args(["-c", &name, "-c", &email]).args(arguments).output().unwrap();
        assert!(said.status.success(), "{arguments:?}: {}", stderr(&said));
        stdout(&said).trim().to_owned()
    }

    /// Commits the specs; returns the commit.
    fn commit(&self, who: &str) -> String {
        self.git(who, &["add", "--all", "specs"]);
        self.git(who, &["commit", "--quiet", "--message", &format!("a change of {who}")]);
        self.git(who, &["rev-parse", "HEAD"])
    }

    /// Replaces text in a file.
    fn edit(&self, file: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.shell.path(file)).unwrap();
        assert!(text.contains(from), "{text}");
        self.shell.write(file, &text.replace(from, to));
    }

    fn says(&self, arguments: &[&str], ends: i32) -> String {
        let path = std::env::var("PATH").unwrap();
        let output = self.shell.reckon_with(arguments, &[("PATH", Some(&path))]);
        assert_eq!(code(&output), ends, "{arguments:?}: {}{}", stdout(&output), stderr(&output));
        stdout(&output)
    }

    fn apply(&self) {
        self.says(&["apply", "--yes"], 0);
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.says(&[arguments, &["-o", "json"]].concat(), 0)).unwrap()
    }

    /// Returns the newest effect that `why` shows for a resource.
    fn newest(&self, what: &str) -> Value {
        let view = self.json(&["why", what]);
        view["resources"][0]["effects"].as_array().unwrap().last().unwrap().clone()
    }
}

/// A daemon; dropping the value kills it.
struct Daemon(Child);

impl Daemon {
    fn start(house: &House) -> Self {
        let path = std::env::var("PATH").unwrap();
        let mut command = house.shell.command(&["run"], &[("PATH", Some(&path))]);
        let daemon = Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        let until = Instant::now().checked_add(Duration::from_secs(30)).unwrap();
        while !house.shell.path(".reckon/control.sock").exists() {
            assert!(Instant::now() < until, "the daemon did not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        daemon
    }

    /// Does something while the daemon stands still: it then reads an edit and its commit at once.
    fn while_stopped<T>(&self, act: impl FnOnce() -> T) -> T {
        let signal = |name: &str| {
            let sent = Command::new("kill").args(["-s", name, &self.0.id().to_string()]).status();
            assert!(sent.unwrap().success());
        };
        signal("STOP");
        let done = act();
        signal("CONT");
        done
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.0.kill().unwrap_or_default();
        drop(self.0.wait());
    }
}

/// Closes M5: commit and file are those of the read that planned the effect, also in a daemon that started before. The
/// author is that of the changed lines, also in a file that was moved.
#[test]
fn m5_an_effect_names_the_commit_and_the_author_of_the_lines_that_changed() {
    let house = House::new();
    let first = house.git("ada", &["rev-parse", "HEAD"]);
    let daemon = Daemon::start(&house);
    house.apply();
    let made = house.newest("SavedMethod/visa");
    assert_eq!((&made["commit"], &made["author"]["name"]), (&json!(first), &json!("ada")));
    assert_eq!((&made["line"], &made["changed"]), (&json!(9), &Value::Null), "{made}");

    let second = daemon.while_stopped(|| {
        house.edit("specs/a.yaml", "description: private", "description: of the firm");
        house.commit("bob")
    });
    house.apply();
    let changed = house.newest("SavedMethod/visa");
    assert_eq!((&changed["commit"], &changed["changed"]), (&json!(second), &json!([[16, 16]])));
    assert_eq!(changed["author"]["name"], "bob", "{changed}");
    let text = house.says(&["why", "SavedMethod/visa"], 0);
    assert!(text.contains("specs/a.yaml:16") && text.contains("bob@example.com"), "{text}");

    house.edit("specs/a.yaml", "of the firm", "of the house");
    house.apply();
    let edited = house.newest("SavedMethod/visa");
    assert_eq!((&edited["commit"], &edited["uncommitted"]), (&json!(second), &json!(true)));
    assert_eq!(edited["author"], Value::Null, "{edited}");
    let text = house.says(&["why", "SavedMethod/visa"], 0);
    assert!(text.contains("uncommitted change after commit"), "{text}");
    assert!(text.contains("author     not known: the change was in no commit"), "{text}");

    let last = daemon.while_stopped(|| {
        house.commit("cleo");
        fs::create_dir(house.shell.path("specs/cards")).unwrap();
        house.git("dan", &["mv", "specs/a.yaml", "specs/cards/all.yaml"]);
        house.commit("dan");
        house.edit("specs/cards/all.yaml", "4242\", exp_month: 9", "4242\", exp_month: 9 ");
        house.edit("specs/cards/all.yaml", "of the house", "of the yard");
        house.commit("eve")
    });
    house.apply();
    let moved = house.newest("SavedMethod/visa");
    assert_eq!((&moved["commit"], &moved["author"]["name"]), (&json!(last), &json!("eve")));
    assert_eq!(moved["file"], "specs/cards/all.yaml");
    assert_eq!(
        house.json(&["why", "SavedMethod/visa"])["resources"][0]["effects"][0]["author"]["name"],
        "ada"
    );
}

const CONTACT: &str = "apiVersion: reckon.dev/v1\nkind: Contact\nmetadata: {name: NAME}\nspec: {merchant: acme, first_name: \
    Jane, last_name: Doe, email_addresses: [{address: NAME@example.com}]}\n";

fn contact(name: &str) -> String {
    CONTACT.replace("NAME", name)
}

/// Closes M5: `why` shows an effect of a former name under each name. For a document that was never sent, it shows the
/// plan's reason.
#[test]
fn m5_why_follows_renames_and_tells_why_nothing_was_sent() {
    let house = House::new();
    house.shell.write("specs/jane.yaml", &contact("jane"));
    house.apply();
    let made = house.json(&["why", "Contact/jane"])["resources"][0]["effects"].clone();
    let moved = contact("jane")
        .replace("{name: jane}", "{name: joan, annotations: {reckon.dev/moved-from: jane}}");
    house.shell.write("specs/jane.yaml", &moved);
    house.apply();
    for name in ["Contact/joan", "Contact/jane", "acme:Contact/default/jane"] {
        let view = house.json(&["why", name]);
        assert_eq!(view["resources"][0]["key"], "Contact/default/joan", "{name}: {view}");
        assert_eq!(view["resources"][0]["effects"], made, "{name}");
        assert_eq!(view["resources"].as_array().unwrap().len(), 1, "{view}");
    }
    let later = contact("kim")
        .replace("{name: kim}", "{name: kim, annotations: {reckon.dev/suspend: \"true\"}}");
    house.shell.write("specs/kim.yaml", &later);
    let text = house.says(&["why", "Contact/kim"], 0);
    assert!(text.contains("not sent yet: ") && text.contains("specs/kim.yaml:1"), "{text}");
    house.says(&["why", "Contact/nobody"], 1);
}

/// Returns the words of a text that have the form of ids.
fn words(text: &str) -> BTreeSet<String> {
    let is_id = |word: &&str| {
        let bare = ["i_", "p_", "bank_"]
            .iter()
            .find_map(|prefix| word.strip_prefix(prefix))
            .unwrap_or(word);
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let mark = word.strip_prefix("rk").is_some_and(|mark| mark.len() == 26);
        let intent = word.strip_prefix("i-").is_some_and(|id| id.parse::<u64>().is_ok());
        let saved = word.strip_prefix("plan-").is_some_and(|id| id.len() == 12);
        let kinds = ["Merchant/", "Contact/", "SavedMethod/", "RecurringCharge/", "Action/"];
        let resource = kinds.iter().any(|kind| {
            word.strip_prefix(kind).is_some_and(|name| name.starts_with(char::is_alphanumeric))
        });
        (bare.len() == 22 && bare.chars().all(plain) && bare.contains(char::is_uppercase))
            || mark
            || intent
            || saved
            || resource
    };
    let cut = |c: char| c.is_whitespace() || "\"',`(){}[]:".contains(c);
    let words = text.split(cut).map(|word| word.trim_end_matches(['.', ';', ',']));
    words.filter(is_id).map(str::to_owned).collect()
}

/// Makes a state with something of each sort: effects, an action, events, an approval and a saved plan.
fn rich() -> (House, Daemon, String) {
    let house = House::new();
    house.edit(
        "reckon.yaml",
        "amounts: decimal\n",
        "amounts: decimal\n  limits: {test: {per_object: [\"15.00 USD\"]}}\n",
    );
    house.shell.write("specs/jane.yaml", &contact("jane"));
    house.apply();
    house.shell.write(
        "specs/rent.yaml",
        "apiVersion: reckon.dev/v1\nkind: RecurringCharge\nmetadata: {name: rent}\nspec: {merchant: acme, method: visa, \
         amount: \"20.00 USD\", first_charge: now, schedule: {interval_unit: MONTH, interval_delay: 1}}\n",
    );
    let plan: Value = serde_json::from_str(&house.says(&["plan", "-o", "json"], 3)).unwrap();
    let checksum = plan["checksum"].as_str().unwrap().to_owned();
    assert!(house.says(&["why", &checksum], 0).contains("not approved"));
    house.says(&["approve", &checksum, "--yes"], 0);
    house.says(&["plan", "--out", "plan.json"], 0);
    let plan = house.says(&["plan", "show", "plan.json"], 0);
    house.says(&["apply", "plan.json", "--yes"], 0);
    let daemon = Daemon::start(&house);
    house.says(
        &[
            "gateway",
            "charge",
            "--merchant",
            "acme",
            "--method",
            "visa",
            "--amount",
            "5.00 USD",
            "--yes",
        ],
        0,
    );
    house.says(&["events", "resync", "--since", "2026-01-01"], 0);
    (house, daemon, format!("{plan}\n{checksum}"))
}

/// Closes M5: `why` knows every name and id that a command prints.
#[test]
fn m5_why_knows_every_word_that_a_command_prints() {
    let (house, _daemon, mut printed) = rich();
    let checksum = printed.lines().last().unwrap().to_owned();
    let ask = |printed: &mut String, arguments: &[&str]| {
        printed.push('\n');
        printed.push_str(&house.says(arguments, 0));
    };
    for form in ["text", "json"] {
        for command in
            [&["get"][..], &["plan"], &["intents"], &["events", "list"], &["hooks", "list"]]
        {
            ask(&mut printed, &[command, &["-o", form]].concat());
        }
        for key in ["Merchant/acme", "Contact/jane", "SavedMethod/visa", "RecurringCharge/rent"] {
            ask(&mut printed, &["describe", key, "-o", form]);
            ask(&mut printed, &["why", key, "-o", form]);
        }
    }
    let first: Vec<String> = words(&printed).into_iter().collect();
    for word in first {
        ask(&mut printed, &["why", &word]);
    }
    let all = words(&printed);
    assert!(all.iter().any(|word| word.starts_with("Action/charge-")), "{all:?}");
    assert!(all.iter().any(|word| word.starts_with("plan-")), "{all:?}");
    assert!(all.len() > 20, "{all:?}");
    for word in &all {
        house.says(&["why", word], 0);
    }
    assert!(house.says(&["why", &checksum[..16]], 0).contains("approval "));
}
