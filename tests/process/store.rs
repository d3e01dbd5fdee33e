//! A damaged or locked store, and `why`, with the built program and a sandbox of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::tree;

mod parsed;
mod rekey;

use crate::stand::Stand;

/// A tree of one merchant with an invoice, in a git repository, applied.
struct Place {
    stand: Stand,
    folder: tempfile::TempDir,
}

impl Place {
    async fn applied() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let binary = PathBuf::from(env!("CARGO_BIN_EXE_reckon"));
        let stand = Stand::start(&binary, folder.path(), "public", 1).await.unwrap();
        stand.settle_config(stand.sandbox.address, "127.0.0.1:0", ["5s", "1s"]).unwrap();
        let place = Self { stand, folder };
        let (name, code) = (tree::merchant_name(0), tree::code_variable(0));
        place.write("a.yaml", &format!(
            "apiVersion: reckon.dev/v1\nkind: Merchant\nmetadata: {{name: {name}}}\nspec:\n  mode: test\n  \
             timezone: America/Chicago\n  credentials: {{authorization_code: {{env: {code}}}}}\n"
        ));
        place.contact("jane");
        place.write("invoice.yaml", &format!(
            "apiVersion: reckon.dev/v1\nkind: Invoice\nmetadata: {{name: one}}\nspec:\n  merchant: {name}\n  \
             contact: jane\n  bank_account: Operating\n  invoice_date: 2030-01-15\n  \
             line_items: [{{description: Retainer, rate_per_quantity: \"125.00 USD\"}}]\n"
        ));
        place.commit();
        assert_eq!(place.code(&["apply", "--yes"]), 0);
        place
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.folder.path().join("specs")).unwrap();
        fs::write(self.folder.path().join("specs").join(name), text).unwrap();
    }

    fn contact(&self, name: &str) {
        let merchant = tree::merchant_name(0);
        self.write(&format!("{name}.yaml"), &format!(
            "apiVersion: reckon.dev/v1\nkind: Contact\nmetadata: {{name: {name}}}\nspec:\n  merchant: {merchant}\n  \
             first_name: {name}\n  last_name: Doe\n  email_addresses: [{{address: {name}@example.com}}]\n"
        ));
    }

    fn commit(&self) {
        let git = |arguments: &[&str]| {
            let mut command = Command::new("git");
            command.arg("-C").arg(self.folder.path());
            command.args(["-c", "user.name=Ada Lovelace", "-c", "user.email=ada@example.com"]);
            assert!(command.args(arguments).stdout(Stdio::null()).status().unwrap().success());
        };
        git(&["init", "--quiet"]);
        git(&["add", "specs"]);
        git(&["commit", "--quiet", "--message", "bill Jane"]);
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.stand.command(arguments).unwrap();
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn code(&self, arguments: &[&str]) -> i32 {
        self.run(arguments).status.code().unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["-o", "json"]].concat());
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{arguments:?}: {}", said(&output.stderr)))
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join(".reckon")
    }

    fn at(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn contacts(&self) -> usize {
        let listed = self.json(&["get", "contacts"]);
        listed["items"].as_array().unwrap().iter().filter(|item| item["ready"] == true).count()
    }
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A daemon; dropping the value kills it.
struct Daemon(Child);

impl Daemon {
    fn start(place: &Place) -> Self {
        Self::started(place, place.command(&["run"]).stdout(Stdio::null()).spawn().unwrap())
    }

    /// Waits until this process answers.
    fn started(place: &Place, child: Child) -> Self {
        let daemon = Self(child);
        let until = Instant::now().checked_add(Duration::from_secs(30)).unwrap();
        while !place.state().join("control.sock").exists() {
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

/// Asserts that `why` leads from an id of the service back to the line and its author.
fn traced(place: &Place) {
    let invoice = place.json(&["describe", "Invoice/one"]);
    let id = invoice["remote_id"].as_str().unwrap();
    let view = place.json(&["why", id]);
    let effect = &view["resources"][0]["effects"][0];
    assert_eq!(effect["effect"], "invoice.create");
    assert_eq!((&effect["file"], &effect["line"]), (&"specs/invoice.yaml".into(), &1.into()));
    assert_eq!(effect["author"]["name"], "Ada Lovelace");
    assert_eq!(effect["author"]["subject"], "bill Jane");
    assert_eq!(effect["author"]["commit"], effect["commit"]);
    assert_eq!(effect["progress"][0]["what"], "done");
    assert_eq!(effect["progress"][0]["remote_id"], id);
    assert!(
        effect["progress"][0]["stands"]["record"].as_u64() > effect["stands"]["record"].as_u64()
    );
    let intent = effect["intent"].as_str().unwrap();
    for what in [intent, "Invoice/one", effect["mark"].as_str().unwrap()] {
        let printed = said(&place.run(&["why", what, "--verify"]).stdout);
        for part in [id, "specs/invoice.yaml:1", "Ada Lovelace", "every record from 1 on"] {
            assert!(printed.contains(part), "{what} does not show {part}:\n{printed}");
        }
    }
    assert_eq!(place.code(&["why", "inv_unknown"]), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn why_leads_from_an_id_of_the_service_back_to_the_author_also_beside_the_daemon() {
    let place = Place::applied().await;
    traced(&place);
    let compacted = place.json(&["store", "compact"]);
    assert!(compacted["segments"].as_u64() > Some(0), "{compacted}");
    traced(&place);
    let before = place.json(&["store", "check"]);
    assert_eq!(place.json(&["store", "rebuild"])["state_digest"], before["state_digest"]);
    let _daemon = Daemon::start(&place);
    traced(&place);
}

/// Closes K11 and K18: a state is compacted beside its daemon, and archived history is dropped on request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_daemon_compacts_its_state_and_drops_history_when_asked() {
    let place = Place::applied().await;
    let daemon = Daemon::start(&place);
    let archive = place.state().join("archive");
    let compacted = place.json(&["store", "compact"]);
    assert!(compacted["segments"].as_u64() > Some(0), "{compacted}");
    assert_eq!(compacted["archive"], archive.display().to_string());
    for part in ["journal", "archive", "vault", "index"] {
        assert!(compacted["after"][part].as_u64() > Some(0), "{part}: {compacted}");
    }
    traced(&place);
    place.contact("john");
    place.commit();
    assert_eq!(place.code(&["apply", "--yes"]), 0);
    let backup = place.at("backup");
    place.json(&["store", "backup", &backup]);
    let dropped = place.json(&["store", "compact", "--drop-history"]);
    assert!(dropped["archive_dropped"].as_u64() > Some(0), "{dropped}");
    assert!(dropped["after"]["archive"] == 0 && dropped["archive"].is_null(), "{dropped}");
    assert!(files(&archive).is_empty());
    let printed = said(&place.run(&["why", "Invoice/one"]).stdout);
    assert!(printed.contains("were dropped by a compaction"), "{printed}");
    drop(daemon);
    let printed = said(&place.run(&["store", "compact"]).stdout);
    assert!(printed.contains("journal  ") && printed.contains(" -> "), "{printed}");
    let check = place.json(&["store", "check"]);
    assert_eq!(place.json(&["store", "rebuild"])["state_digest"], check["state_digest"]);
    assert_eq!((place.contacts(), place.code(&["apply", "--yes"])), (2, 0));
}

/// Closes K11: the daemon compacts without a request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_daemon_compacts_by_itself_when_its_journal_is_long() {
    let place = Place::applied().await;
    let first = place.state().join("journal/00000000000000000001.seg");
    let longer = fs::File::options().write(true).open(&first).unwrap();
    longer.set_len(70 << 20).unwrap();
    let daemon = Daemon::start(&place);
    let until = Instant::now().checked_add(Duration::from_mins(1)).unwrap();
    while first.exists() {
        assert!(Instant::now() < until, "the daemon did not compact");
        std::thread::sleep(Duration::from_millis(20));
    }
    traced(&place);
    drop(daemon);
    assert_eq!(place.json(&["store", "check"])["problems"], serde_json::json!([]));
}

/// Runs commands over a damaged state: each ends with 0 or 4, prints a remedy, and never panics.
fn survives(place: &Place, what: &str) {
    for arguments in [&["store", "check"][..], &["plan"], &["why", "Invoice/one"]] {
        let output = place.run(arguments);
        let code = output.status.code();
        let printed = said(&output.stderr) + said(&output.stdout).as_str();
        assert!(matches!(code, Some(0 | 4)), "{what}, {arguments:?}: {code:?} {printed}");
        assert!(!printed.contains("panicked"), "{what}, {arguments:?}: {printed}");
        let ways = ["restore", "give", "move", "put the key", "rebuil", "permission", "Permission"];
        assert!(
            code == Some(0) || ways.iter().any(|way| printed.contains(way)),
            "{what}: {printed}"
        );
    }
}

/// Returns every file beneath a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let all = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().flatten();
    all.filter(|entry| entry.file_type().is_file()).map(|entry| entry.path().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_damage_of_any_file_panics_or_makes_anything_twice() {
    let place = Place::applied().await;
    let (state, whole) = (place.state(), place.folder.path().join("whole"));
    let copy = |from: &Path, to: &Path| {
        let copied = Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap();
        assert!(copied.success());
    };
    copy(&state, &whole);
    for file in files(&whole) {
        let name = file.strip_prefix(&whole).unwrap().to_owned();
        for change in ["deleted", "empty", "cut", "flipped"] {
            fs::remove_dir_all(&state).unwrap();
            copy(&whole, &state);
            let (path, mut bytes) = (state.join(&name), fs::read(&file).unwrap());
            let middle = bytes.len() / 2;
            match change {
                "deleted" => fs::remove_file(&path).unwrap(),
                "empty" => fs::write(&path, b"").unwrap(),
                "cut" => fs::write(&path, &bytes[..middle]).unwrap(),
                _ => {
                    if let Some(byte) = bytes.get_mut(middle) {
                        *byte ^= 0x55;
                    }
                    fs::write(&path, bytes).unwrap();
                }
            }
            survives(&place, &format!("{}: {change}", name.display()));
        }
    }
    fs::remove_dir_all(&state).unwrap();
    copy(&whole, &state);
    assert_eq!(place.code(&["apply", "--yes"]), 0);
    assert_eq!(place.contacts(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_process_is_told_who_holds_the_state() {
    let place = Place::applied().await;
    let lock = fs::File::options().read(true).write(true).open(place.state().join("lock")).unwrap();
    lock.lock().unwrap();
    fs::write(
        place.state().join("lock"),
        r#"{"pid":4242,"host":"elsewhere","started":"2026-11-22T01:02:03Z"}"#,
    )
    .unwrap();
    for arguments in [&["store", "check"][..], &["apply", "--yes"], &["store", "compact"]] {
        let output = place.run(arguments);
        let printed = said(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{arguments:?}: {printed}");
        assert!(printed.contains("process 4242 on elsewhere"), "{arguments:?}: {printed}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restored_state_makes_nothing_twice_and_says_what_it_holds() {
    let place = Place::applied().await;
    {
        let _daemon = Daemon::start(&place);
        assert_eq!(place.code(&["store", "backup", &place.at("one.backup")]), 0);
        let refused = place.run(&["store", "restore", &place.at("one.backup"), "--replace"]);
        assert_eq!(refused.status.code(), Some(4), "{}", said(&refused.stderr));
    }
    place.contact("bob");
    assert_eq!(place.code(&["apply", "--yes"]), 0);
    assert_eq!(place.contacts(), 2);
    assert_eq!(place.code(&["store", "backup", &place.at("one.backup")]), 1, "the path is in use");
    assert_eq!(place.code(&["store", "restore", &place.at("one.backup")]), 1, "a state exists");
    let restored = place.json(&["store", "restore", &place.at("one.backup"), "--replace"]);
    assert_eq!(restored["restored"]["epoch"], 1);
    let aside = restored["moved_aside"].as_str().unwrap();
    assert!(Path::new(aside).join("journal").is_dir());
    let held = place.run(&["apply", "--yes"]);
    assert_eq!(held.status.code(), Some(3), "{}", said(&held.stderr));
    assert!(
        said(&held.stdout).contains("reckon store release Contact/bob"),
        "{}",
        said(&held.stdout)
    );
    assert_eq!(place.contacts(), 1);
    assert_eq!(place.code(&["store", "release", "Contact/bob"]), 0);
    assert_eq!(place.code(&["apply", "--yes"]), 0);
    assert_eq!(place.contacts(), 2);
    assert_eq!(place.code(&["store", "check"]), 0);
}
