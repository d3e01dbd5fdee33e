//! `why`: from what was done back to the commit, the lines and the author, through the built program.
#![expect(clippy::disallowed_methods, reason = "it waits for real processes in real time")]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that fails loudly is right here"
)]

#[path = "rig/shell.rs"]
#[expect(dead_code, reason = "not everything of a shell is used here")]
mod shell;

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use shell::{Shell, code, stderr, stdout};

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

    /// Commits the specs; answers the commit.
    fn commit(&self, who: &str) -> String {
        self.git(who, &["add", "--all", "specs"]);
        self.git(who, &["commit", "--quiet", "--message", &format!("a change of {who}")]);
        self.git(who, &["rev-parse", "HEAD"])
    }

    /// Writes another text into a file.
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

    /// The newest effect that `why` tells of this.
    fn newest(&self, what: &str) -> Value {
        let view = self.json(&["why", what]);
        view["resources"][0]["effects"].as_array().unwrap().last().unwrap().clone()
    }
}

/// A daemon; it ends with this value.
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
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.0.kill().unwrap_or_default();
        drop(self.0.wait());
    }
}

/// Closes M5: the commit and the state of the file are those of the look that planned the effect, also in a daemon that
/// started before; the author is that of the lines that changed, also in a file that was moved.
#[test]
fn m5_an_effect_names_the_commit_and_the_author_of_the_lines_that_changed() {
    let house = House::new();
    let first = house.git("ada", &["rev-parse", "HEAD"]);
    let _daemon = Daemon::start(&house);
    house.apply();
    let made = house.newest("SavedMethod/visa");
    assert_eq!((&made["commit"], &made["author"]["name"]), (&json!(first), &json!("ada")));
    assert_eq!((&made["line"], &made["changed"]), (&json!(9), &Value::Null), "{made}");

    house.edit("specs/a.yaml", "description: private", "description: of the firm");
    let second = house.commit("bob");
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

    house.commit("cleo");
    fs::create_dir(house.shell.path("specs/cards")).unwrap();
    house.git("dan", &["mv", "specs/a.yaml", "specs/cards/all.yaml"]);
    house.commit("dan");
    house.edit("specs/cards/all.yaml", "4242\", exp_month: 9", "4242\", exp_month: 9 ");
    house.edit("specs/cards/all.yaml", "of the house", "of the yard");
    let last = house.commit("eve");
    house.apply();
    let moved = house.newest("SavedMethod/visa");
    assert_eq!((&moved["commit"], &moved["author"]["name"]), (&json!(last), &json!("eve")));
    assert_eq!(moved["file"], "specs/cards/all.yaml");
    assert_eq!(
        house.json(&["why", "SavedMethod/visa"])["resources"][0]["effects"][0]["author"]["name"],
        "ada"
    );
}
