//! `reckon-ci` from a pull request to what is applied: with a forge of the test's own, a daemon and a sandbox.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::forge::Forge;
use crate::repository;
use crate::stage::Stage;

const TREE: &str = "apiVersion: reckon.dev/v1\nkind: Merchant\nmetadata: {name: acme}\n\
    spec: {mode: test, timezone: America/Chicago, credentials: {authorization_code: {env: OPEN_CODE}}}\n---\n\
    apiVersion: reckon.dev/v1\nkind: Contact\nmetadata: {name: jane}\n\
    spec: {merchant: acme, first_name: Jane, last_name: Doe, email_addresses: [{address: jane@example.com}]}\n";

/// The configuration of a checkout without a daemon.
const CONFIG: &str = "apiVersion: reckon.dev/v1\nkind: Config\npartner: {name: acme}\n\
    service: {base_url: 'http://127.0.0.1:1'}\nsecrets: {env: [OPEN_*]}\npolicy: {amounts: decimal}\n";

/// A limit that the invoice exceeds.
const LIMIT: &str = ", limits: {test: {per_object: ['10.00 USD']}}";

fn invoice(name: &str) -> String {
    format!(
        "apiVersion: reckon.dev/v1\nkind: Invoice\nmetadata: {{name: {name}}}\nspec:\n  merchant: acme\n  contact: jane\n  \
         bank_account: Operating\n  invoice_date: 2030-01-15\n  \
         line_items: [{{description: Retainer, rate_per_quantity: \"125.00 USD\"}}]\n"
    )
}

pub(crate) fn needs_programs() -> Result<(), String> {
    for program in ["bash", "curl", "jq"] {
        let found = Command::new(program).arg("--version").stdout(Stdio::null()).status();
        found.map_err(|_| format!("there is no {program}, which reckon-ci needs"))?;
    }
    Ok(())
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs `reckon-ci` in a checkout, in the environment of a pull request of this forge.
pub(crate) fn ci(checkout: &Path, command: &str, forge: &Forge, more: &[(&str, &str)]) -> Output {
    let event = checkout.with_extension("event.json");
    fs::write(&event, json!({"pull_request": {"number": 7}}).to_string()).unwrap();
    let built = PathBuf::from(env!("CARGO_BIN_EXE_reckon"));
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", built.parent().unwrap().display());
    Command::new("bash")
        .arg(repository("contrib/ci/reckon-ci"))
        .arg(command)
        .current_dir(checkout)
        .env_clear()
        .envs([("PATH", path.as_str()), ("GITHUB_TOKEN", "forge-token")])
        .env("GITHUB_API_URL", format!("http://{}", forge.address))
        .envs([("GITHUB_REPOSITORY", "acme/billing"), ("RECKON_WAIT", "0")])
        .env("GITHUB_EVENT_PATH", event)
        .envs(more.iter().copied())
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

pub(crate) fn from_request_to_applied() -> Result<(), String> {
    needs_programs()?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build().unwrap().block_on(request_to_applied());
    Ok(())
}

async fn request_to_applied() {
    let mut stage = Stage::set(TREE, LIMIT).await;
    let server = format!("http://{}", stage.start());
    stage.asks(0, &["apply", "--yes"]);
    // A person's comment with the mark stays as it is.
    let forge = Forge::start("<!-- reckon plan -->\nnot the pipeline's");
    let token = stage.token();
    let runner = stage.path("runner");
    let there = [("RECKON_SERVER", server.as_str()), ("RECKON_TOKEN", token.as_str())];

    stage.write("runner/specs/first.yaml", &invoice("first"));
    for expected in ["Invoice/first", "Invoice/second"] {
        let planned = ci(&runner, "plan", &forge, &there);
        assert!(planned.status.success(), "{}", text(&planned.stderr));
        let comments = forge.comments();
        assert_eq!((comments.len(), comments[0].0.as_str()), (2, "anna"), "{comments:?}");
        assert!(comments[0].1.ends_with("not the pipeline's"), "{comments:?}");
        let plan = &comments[1].1;
        assert!(plan.starts_with("<!-- reckon plan -->\n") && plan.contains(expected), "{plan}");
        assert!(!plan.contains(&token) && !text(&planned.stdout).contains(&token));
        stage.write("runner/specs/second.yaml", &invoice("second"));
    }

    let early = ci(&runner, "apply", &forge, &there);
    assert_eq!(early.status.code(), Some(1), "the daemon does not have the commit yet");
    for name in ["first", "second"] {
        stage.write(&format!("daemon/specs/{name}.yaml"), &invoice(name));
    }
    let blocked = ci(&runner, "apply", &forge, &there);
    assert_eq!(blocked.status.code(), Some(3), "{}", text(&blocked.stderr));
    assert_eq!(stage.count("invoices").await, 0, "the limit blocks both");
    let approved = [&there[..], &[("RECKON_APPROVE", "yes")]].concat();
    let applied = ci(&runner, "apply", &forge, &approved);
    assert!(applied.status.success(), "{}{}", text(&applied.stdout), text(&applied.stderr));
    assert_eq!(stage.count("invoices").await, 2);
}

/// Writes a program in the place of reckon, whose plan has tables longer than a comment may be.
fn write_long_plan(bin: &Path) {
    fs::create_dir(bin).unwrap();
    let row = "| 125.00 USD | invoiced | test |\n".repeat(3000);
    let plan = format!("<details>\n\n{row}\n</details>\n\nthe last line\n");
    fs::write(bin.join("plan.md"), plan).unwrap();
    let program = bin.join("reckon");
    fs::write(&program, "#!/bin/sh\ncat \"${0%/*}/plan.md\"\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Checks that the hook of git refuses staged documents with errors, whatever the work tree has.
fn refuses_commit(checkout: &Path, git: &dyn Fn(&[&str])) {
    let built = PathBuf::from(env!("CARGO_BIN_EXE_reckon"));
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", built.parent().unwrap().display());
    let hook = || {
        let mut command = Command::new("bash");
        command.arg(repository("contrib/pre-commit/reckon")).current_dir(checkout).env_clear();
        command.env("PATH", &path).output().unwrap()
    };
    assert!(hook().status.success(), "nothing is staged");
    git(&["add", "specs/0.yaml"]);
    fs::write(checkout.join("specs/0.yaml"), invoice("i0")).unwrap();
    let refused = hook();
    assert_eq!(refused.status.code(), Some(1), "{}", text(&refused.stderr));
    git(&["add", "specs/0.yaml"]);
    assert!(hook().status.success());
}

pub(crate) fn cut_and_annotated() -> Result<(), String> {
    needs_programs()?;
    let folder = tempfile::tempdir().unwrap();
    let checkout = folder.path().join("checkout");
    fs::create_dir_all(checkout.join("specs")).unwrap();
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(&checkout).args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.com",
        ]);
        assert!(command.args(arguments).stdout(Stdio::null()).status().unwrap().success());
    };
    fs::write(checkout.join("specs/tree.yaml"), TREE).unwrap();
    fs::write(checkout.join("reckon.yaml"), CONFIG).unwrap();
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "tree"]);
    git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    for number in 0..600 {
        fs::write(checkout.join(format!("specs/{number}.yaml")), invoice(&format!("i{number}")))
            .unwrap();
    }
    let forge = Forge::start("hello");
    let offline = [("GITHUB_BASE_REF", "main")];
    let planned = ci(&checkout, "plan", &forge, &offline);
    assert!(planned.status.success(), "{}", text(&planned.stderr));
    let plan = forge.comments()[1].1.clone();
    assert!(plan.len() < 65_536 && plan.contains("more steps"), "{} bytes", plan.len());

    let bin = folder.path().join("bin");
    write_long_plan(&bin);
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let planned = ci(&checkout, "plan", &forge, &[offline[0], ("PATH", &path)]);
    assert!(planned.status.success(), "{}", text(&planned.stderr));
    let plan = forge.comments()[1].1.clone();
    assert!(plan.len() < 65_536 && plan.contains("\n\n</details>\n"), "{} bytes", plan.len());
    assert!(plan.contains("longer than a comment may be") && !plan.contains("the last line"));
    assert!(text(&planned.stdout).contains("the last line"), "the job shows the whole plan");

    let broken = invoice("i0").replace("bank_account", "bank_acount");
    fs::write(checkout.join("specs/0.yaml"), broken).unwrap();
    let checked = ci(&checkout, "validate", &forge, &[]);
    assert_eq!(checked.status.code(), Some(1), "{}", text(&checked.stderr));
    let line = text(&checked.stdout);
    assert!(line.starts_with("::error file=specs/0.yaml,line="), "{line}");
    assert!(line.contains("bank_acount") && line.contains("title=reckon%3A%3A"), "{line}");
    let report = checkout.join("gl-code-quality-report.json");
    assert_eq!(ci(&checkout, "validate", &forge, &[("GITLAB_CI", "true")]).status.code(), Some(1));
    let report: Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    refuses_commit(&checkout, &git);
    assert_eq!(report[0]["location"]["path"], "specs/0.yaml");
    Ok(())
}
