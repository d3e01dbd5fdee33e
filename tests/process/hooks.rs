//! Wrong scripts are reported with help, hostile scripts end, and the shipped scripts pass their cases.

mod former_names;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use serde_json::{Value, json};

use reckon::kinds::register::KINDS;
use reckon::model::issue::Severity;
use reckon::policy::Rights;
use reckon::render::diagnostic::OutputStyle;
use reckon::render::hooks as shown;
use reckon::scripting::engine::{FailureCause, RunFailure};
use reckon::scripting::hooks::{EventHandler, Hooks};
use reckon::scripting::host::session::Reads;
use reckon::scripting::language::limits::{TIME_MAX, on_stack};
use reckon::scripting::language::names::ConfiguredNames;
use reckon::scripting::language::source::{ScriptFolder, read_folder};

/// With this variable set, the test writes the snapshots instead of comparing them.
const BLESS: &str = "RECKON_BLESS";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn known() -> ConfiguredNames {
    ConfiguredNames {
        targets: ["ops", "payers"].map(str::to_owned).into(),
        kinds: KINDS.iter().map(|row| row.name.to_owned()).collect(),
        rights: Rights::all(),
        ..ConfiguredNames::default()
    }
}

fn listed(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Reads one wrong script with the module beside it, or a whole folder of its own.
fn wrong(path: &Path) -> ScriptFolder {
    if path.is_dir() {
        return read_folder(&path.into(), "scripts").unwrap();
    }
    let name = path.file_name().unwrap().to_str().unwrap();
    let mut all = read_folder(&path.parent().unwrap().into(), "scripts").unwrap();
    all.scripts.retain(|source| source.path == name || source.path.starts_with("lib/"));
    all
}

#[test]
fn every_wrong_script_is_told_in_words_that_help() {
    let bless = std::env::var_os(BLESS).is_some();
    let paths = listed("tests/hooks/wrong").into_iter();
    let paths = paths.filter(|path| {
        let script = path.extension().is_some_and(|extension| extension == "rhai");
        script || (path.is_dir() && !path.ends_with("lib"))
    });
    let (mut count, mut codes) = (0, BTreeSet::new());
    for path in paths {
        let folder = wrong(&path);
        let problems = match Hooks::load(&folder.scripts, &known()) {
            Ok(hooks) => hooks.warnings().to_vec(),
            Err(problems) => problems,
        };
        assert!(!problems.is_empty(), "{} has no problems", path.display());
        codes.extend(problems.iter().map(|problem| problem.code.clone()));
        let look = OutputStyle { color: false, unicode: true, width: 100 };
        let text = shown::check_report(&folder, &problems, look);
        let snapshot = path.with_extension("txt");
        if bless {
            fs::write(&snapshot, &text).unwrap();
        }
        let kept = fs::read_to_string(&snapshot).unwrap_or_default();
        assert_eq!(text, kept, "{}: run with {BLESS}=1 to write the report", path.display());
        count += 1;
    }
    assert!(count >= 44, "{count} wrong scripts");
    assert!(codes.len() >= 15, "{codes:?}");
}

/// Reads for hostile scripts; one of them panics.
struct World;

impl Reads for World {
    fn resource(&self, _key: &str) -> Result<Value, String> {
        Ok(Value::Null)
    }

    fn find(&self, _kind: &str, _filter: &Value) -> Result<Value, String> {
        Ok(json!([]))
    }

    fn transaction(&self, id: &str) -> Result<Value, String> {
        Ok(json!({ "id": id }))
    }

    fn remote(&self, name: &str, args: &Value) -> Result<Value, String> {
        assert_ne!(args.get("id"), Some(&json!("panic")), "a native panics");
        Err(format!("no answer for {name}"))
    }

    fn kv(&self, _script: &str, _key: &str) -> Result<Value, String> {
        Ok(Value::Null)
    }
}

fn event() -> Value {
    json!({"id": "e1", "type": "transaction.failed", "created": "2026-11-30T12:00:00Z", "mode": "test",
        "merchant": "acme", "resource": null, "data": {"id": "t1"}})
}

/// Returns the peak memory of this process, in KiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Runs the one script of a set.
fn ran(hooks: &Hooks, script: &str) -> Result<(), Box<RunFailure>> {
    let handler = EventHandler { script: script.to_owned(), function: "on_event".to_owned() };
    let reads: Arc<dyn Reads> = Arc::new(World);
    let run = on_stack(|| hooks.run(&handler, &event(), &reads, Some(TIME_MAX)));
    run.expect("no thread panics").map(drop)
}

#[test]
fn every_hostile_script_ends_with_a_failure_and_takes_little() {
    let mut count = 0;
    let mut sorts = BTreeSet::new();
    for path in listed("tests/hooks/hostile") {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut folder = read_folder(&path.parent().unwrap().into(), "scripts").unwrap();
        folder.scripts.retain(|source| source.name() == name);
        let before = peak();
        // A report of a panic reads the program's symbols; that memory is not the script's.
        let mut panicked = false;
        match Hooks::load(&folder.scripts, &known()) {
            Err(problems) => {
                assert!(problems.iter().any(|problem| problem.severity == Severity::Error));
                sorts.insert("refused");
            }
            Ok(hooks) => {
                let failure = ran(&hooks, &name).expect_err(&name);
                assert!(!failure.message.is_empty(), "{name}");
                panicked = failure.cause == FailureCause::Panic;
                sorts.insert(match failure.cause {
                    FailureCause::Script => "script",
                    FailureCause::LimitExceeded => "bound",
                    FailureCause::TimedOut => "time",
                    FailureCause::Panic => "panic",
                    FailureCause::Missing => "gone",
                });
            }
        }
        let grown = peak().saturating_sub(before);
        assert!(panicked || grown < 64 << 10, "{name} took {grown} KiB");
        count += 1;
    }
    assert!(count >= 24, "{count} hostile scripts");
    assert!(sorts.is_superset(&["bound", "panic", "script"].into()), "{sorts:?}");
}

#[test]
fn a_runaway_is_stopped_by_the_wall_and_the_next_run_is_as_before() {
    let text = "fn on_event(event) {\n    let n = 0;\n    loop { n = (n + 1) % 7; }\n}\n";
    let good = "fn on_event(event) {\n    log(event.id);\n}\n";
    let source = |name: &str, text: &str| reckon::scripting::language::source::ScriptSource {
        path: format!("{name}.rhai"),
        display_path: format!("scripts/{name}.rhai"),
        text: text.into(),
    };
    let hooks = Hooks::load(&[source("bad", text), source("good", good)], &known()).unwrap();
    let reads: Arc<dyn Reads> = Arc::new(World);
    let handler =
        |script: &str| EventHandler { script: script.to_owned(), function: "on_event".to_owned() };
    on_stack(|| {
        let tiny = std::time::Duration::from_micros(1);
        let failure = hooks.run(&handler("bad"), &event(), &reads, Some(tiny)).unwrap_err();
        assert_eq!(failure.cause, FailureCause::TimedOut, "{failure}");
        let endless = hooks.run(&handler("bad"), &event(), &reads, None).unwrap_err();
        assert_eq!(endless.cause, FailureCause::LimitExceeded, "{endless}");
        let run = hooks.run(&handler("good"), &event(), &reads, Some(TIME_MAX)).unwrap();
        assert_eq!(run.log, ["e1"]);
    })
    .expect("the thread ends");
}

/// Runs the program in a folder.
fn reckon(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_reckon"))
        .current_dir(folder)
        .env_clear()
        .args(arguments)
        .output()
        .expect("the program runs")
}

fn text(output: &Output) -> String {
    let parts =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    parts.concat()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

const TARGETS: &str = "notify:\n  ops: {url: {env: CHAT}, type: chat}\n  payers:\n    mail: {to: [a@b.example], from: a@b.example, \
    host: smtp.b.example}\n";

/// The rights that the shipped scripts need, in the section that `init` makes.
const RIGHTS: (&str, &str) =
    ("policy:\n", "policy:\n  scripts: {allow: [refund, charge, credit, mail, card_link]}\n");

/// Makes a repository with the shipped scripts and the targets that they use.
fn scaffolded() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    assert!(reckon(folder.path(), &["init"]).status.success());
    copy(&root().join("scripts"), &folder.path().join("scripts"));
    let config = folder.path().join("reckon.yaml");
    let written = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{}{TARGETS}", written.replace(RIGHTS.0, RIGHTS.1))).unwrap();
    folder
}

#[test]
fn the_shipped_scripts_pass_their_checks_and_cases_in_a_new_repository_and_in_this_one() {
    let new = scaffolded();
    for folder in [new.path(), root()] {
        let checked = reckon(folder, &["hooks", "check"]);
        // Closes the item of C: a module in `lib` is no script.
        assert_eq!(text(&checked), "8 scripts, no problems\n");
        assert!(checked.status.success());
        let tested = reckon(folder, &["hooks", "test"]);
        assert!(tested.status.success(), "{}", text(&tested));
        assert!(text(&tested).contains("cases, 0 failed"), "{}", text(&tested));
    }
    let scripts = fs::read_dir(root().join("scripts")).unwrap();
    let names = scripts.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: BTreeSet<String> = names.collect();
    for name in names.iter().filter_map(|name| name.strip_suffix(".rhai")) {
        assert!(names.contains(&format!("{name}.test.yaml")), "{name} has no cases");
    }
}

#[test]
fn a_case_that_fails_shows_what_differs_and_is_told_to_a_build_server() {
    let folder = scaffolded();
    let path = folder.path().join("scripts/decisions.test.yaml");
    let cases = fs::read_to_string(&path)
        .unwrap()
        .replace("declined: duplicate_merchant\"", "declined: another\"");
    fs::write(&path, cases).unwrap();
    let arguments = ["hooks", "test", "decisions", "--junit", "out.xml"];
    let tested = reckon(folder.path(), &arguments);
    assert_eq!(tested.status.code(), Some(1));
    let printed = text(&tested);
    assert!(
        printed.contains("FAILED  decisions: a decline is reported with its reason"),
        "{printed}"
    );
    assert!(
        printed.contains("  - - body: 'MerchantApplication/acme was declined: another'"),
        "{printed}"
    );
    assert!(
        printed.contains("  + - body: 'MerchantApplication/acme was declined: duplicate_merchant'"),
        "{printed}"
    );
    assert!(printed.contains("4 cases, 1 failed"), "{printed}");
    let junit = fs::read_to_string(folder.path().join("out.xml")).unwrap();
    assert!(junit.contains("tests=\"4\" failures=\"1\""), "{junit}");
}

#[test]
fn a_broken_set_is_refused_whole_and_told_to_programs_like_documents() {
    let folder = scaffolded();
    fs::write(folder.path().join("scripts/bad.rhai"), "fn on_transaction_faild(event) {\n}\n")
        .unwrap();
    let checked = reckon(folder.path(), &["-o", "json", "hooks", "check"]);
    assert_eq!(checked.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&checked.stdout).unwrap();
    assert_eq!((&report["version"], &report["documents"]), (&json!(1), &json!(9)));
    let problem = &report["problems"][0];
    assert_eq!(problem["file"], "scripts/bad.rhai");
    assert_eq!(problem["code"], "reckon::hooks::event");
    assert_eq!(
        (&problem["line"], &problem["column"], &problem["length"]),
        (&json!(1), &json!(4), &json!(20))
    );
    assert_eq!(problem["help"], "did you mean `on_transaction_failed`?");
    let tested = reckon(folder.path(), &["hooks", "test"]);
    assert_eq!(tested.status.code(), Some(1));
    assert!(text(&tested).contains("no case was run"), "{}", text(&tested));
}

#[test]
fn a_file_of_cases_that_cannot_be_read_is_told_with_its_place() {
    let folder = scaffolded();
    fs::write(folder.path().join("scripts/volume.test.yaml"), "cases:\n- name: x\n  evnt: {}\n")
        .unwrap();
    fs::write(folder.path().join("scripts/absent.test.yaml"), "cases: []\n").unwrap();
    let tested = reckon(folder.path(), &["hooks", "test"]);
    assert_eq!(tested.status.code(), Some(1));
    let printed = text(&tested);
    assert!(printed.contains("scripts/volume.test.yaml:3:3"), "{printed}");
    assert!(printed.contains("there is no script `absent.rhai`"), "{printed}");
}

/// The pages of reference that are made from the program's own tables, each with its command.
const PAGES: [(&[&str], &str); 3] = [
    (&["explain"], "docs/reference/kinds.md"),
    (&["explain", "Config"], "docs/reference/configuration.md"),
    (&["explain", "Events"], "docs/reference/event-types.md"),
];

#[test]
fn the_pages_of_reference_are_made_of_the_tables() {
    for (command, page) in PAGES {
        let made = text(&reckon(root(), &[&["-o", "markdown"], command].concat()));
        let path = root().join(page);
        if std::env::var_os(BLESS).is_some() {
            fs::write(&path, &made).unwrap();
        }
        let kept = fs::read_to_string(path).unwrap_or_default();
        let line = made.lines().zip(kept.lines()).position(|(made, kept)| made != kept);
        assert!(made == kept, "{command:?} -o markdown > {page} differs in line {line:?}");
    }
}

#[test]
fn the_documentation_is_made_of_the_register() {
    let made = reckon(root(), &["-o", "markdown", "hooks", "doc"]);
    let path = root().join("docs/guides/hooks.md");
    if std::env::var_os(BLESS).is_some() {
        fs::write(&path, &made.stdout).unwrap();
    }
    let kept = fs::read_to_string(path).unwrap_or_default();
    assert_eq!(text(&made), kept, "reckon hooks doc -o markdown > docs/guides/hooks.md");
    let terminal = text(&reckon(root(), &["hooks", "doc"]));
    for row in reckon::scripting::engine::host_functions() {
        assert!(terminal.contains(&row.usage()), "{}", row.usage());
        assert!(kept.contains(&format!("### `{}`", row.usage())), "{}", row.usage());
    }
    assert!(kept.contains("`recurring_charge.payment_method.expiring`"));
}

#[test]
fn the_example_of_the_documentation_does_what_its_case_says() {
    let doc = fs::read_to_string(root().join("docs/guides/hooks.md")).unwrap();
    let block = |start: &str| -> String {
        let rest = doc.split(start).nth(1).expect("the document has the block");
        rest.split("```").next().unwrap().to_owned()
    };
    let folder = scaffolded();
    let scripts = folder.path().join("scripts");
    fs::write(scripts.join("example.rhai"), block("```rhai\n")).unwrap();
    fs::write(scripts.join("example.test.yaml"), format!("cases:\n{}", block("```yaml\ncases:\n")))
        .unwrap();
    let tested = reckon(folder.path(), &["hooks", "test", "example"]);
    assert!(text(&tested).contains("1 case, 0 failed"), "{}", text(&tested));
    let config = folder.path().join("reckon.yaml");
    let written = fs::read_to_string(&config).unwrap().replace(TARGETS, "");
    fs::write(&config, format!("{written}notify:\n{}", block("```yaml\nnotify:\n"))).unwrap();
    let checked = reckon(folder.path(), &["hooks", "check"]);
    assert_eq!(text(&checked), "9 scripts, no problems\n");
}
