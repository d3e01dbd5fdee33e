//! `plan --against`: two trees of a git repository compared offline, in a clone that has no state and no key.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// A git repository that holds a tree.
struct Clone(tempfile::TempDir);

impl Clone {
    /// Makes a repository with a configuration and without specs.
    fn new() -> Self {
        let clone = Self(tempfile::tempdir().unwrap());
        clone.git(&["init", "-q", "-b", "main"]);
        clone.write(
            "reckon.yaml",
            "apiVersion: reckon.dev/v1\nkind: Config\npartner: {name: {env: PARTNER}}\n\
             secrets: {key: {env: RECKON_KEY}, env: [CODE_*], attachments: files}\n\
             policy: {amounts: decimal}\nspecs: specs\nstate: .reckon\n",
        );
        fs::create_dir(clone.0.path().join("specs")).unwrap();
        clone
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.0.path().join(name).parent().unwrap()).unwrap();
        fs::write(self.0.path().join(name), text).unwrap();
    }

    /// Commits everything.
    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "change"]);
    }

    fn git(&self, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.current_dir(self.0.path()).env("GIT_CONFIG_NOSYSTEM", "1");
        git.env("HOME", self.0.path());
        git.args(["-c", "user.name=t", "-c", "user.email=t@example.com"]).args(arguments);
        let output = git.output().expect("git runs");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }

    /// Runs the program with an empty environment.
    fn reckon(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
        command
            .current_dir(self.0.path())
            .env_clear()
            .args(arguments)
            .output()
            .expect("the program runs")
    }

    /// Returns the plan as JSON, and the exit code.
    fn plan(&self, range: &str) -> (Value, i32) {
        let arguments = ["plan", "--against", range, "--detailed-exitcode", "-o", "json"];
        let output = self.reckon(&arguments);
        let text = String::from_utf8(output.stdout).unwrap();
        let printed = String::from_utf8(output.stderr).unwrap();
        let plan = serde_json::from_str(&text).unwrap_or_else(|_| panic_with(&printed));
        (plan, output.status.code().unwrap())
    }
}

fn panic_with(printed: &str) -> Value {
    assert_eq!(printed, "", "`plan` printed no plan");
    Value::Null
}

/// Returns the verdict, name and reason of each step.
fn steps(plan: &Value) -> Vec<String> {
    let text = |step: &Value, field: &str| step[field].as_str().unwrap().to_owned();
    let steps = plan["steps"].as_array().unwrap().iter();
    let lines = steps.map(|step| {
        let [verdict, kind, name, reason] =
            ["verdict", "kind", "name", "reason"].map(|field| text(step, field));
        format!("{verdict} {kind}/{name} {reason}")
    });
    lines.collect()
}

const TREE: &str = r#"apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec: {mode: live, timezone: America/Chicago, credentials: {authorization_code: {env: CODE_ACME}}}
---
apiVersion: reckon.dev/v1
kind: Contact
metadata: {name: jane}
spec: {merchant: acme, first_name: Jane, last_name: Doe, email_addresses: [{address: jane@example.com}]}
---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: card, annotations: {reckon.dev/deletion: delete}}
spec:
  merchant: acme
  type: card
  description: office
  source: {card: {number: {env: CODE_CARD}, exp_month: 12, exp_year: 2031}}
---
apiVersion: reckon.dev/v1
kind: RecurringCharge
metadata: {name: monthly}
spec:
  merchant: acme
  method: card
  amount: "20.00 USD"
  schedule: {start: 2040-02-01, interval_unit: MONTH, interval_delay: 1}
"#;

const INVOICE: &str = r#"apiVersion: reckon.dev/v1
kind: Invoice
metadata: {name: first}
spec:
  merchant: acme
  contact: jane
  bank_account: Operating
  invoice_date: 2040-01-15
  line_items: [{description: Retainer, rate_per_quantity: "125.00 USD"}]
"#;

#[test]
fn a_change_is_planned_offline_in_a_clone_without_state_or_key() {
    let clone = Clone::new();
    clone.write("specs/tree.yaml", TREE);
    clone.commit();
    assert_eq!(
        clone.plan("HEAD").1,
        0,
        "the tree is unchanged: {:?}",
        steps(&clone.plan("HEAD").0)
    );
    clone.write(
        "specs/tree.yaml",
        &TREE.replace("20.00", "25.00").replace("last_name: Doe", "last_name: Roe"),
    );
    clone.write("specs/invoice.yaml", INVOICE);
    let (plan, code) = clone.plan("HEAD");
    assert_eq!(code, 3, "a contact's name cannot change");
    assert_eq!(
        steps(&plan),
        [
            "blocked Contact/jane CannotChange",
            "create Invoice/first NotCreated",
            "update RecurringCharge/monthly Changed"
        ]
    );
    let text = plan.to_string();
    assert!(!text.contains("Roe") && text.contains("•••"), "{text}");
    let totals = plan["totals"].as_array().unwrap();
    let totals: Vec<String> = totals
        .iter()
        .map(|sum| format!("{} {} {}", sum["amount"], sum["meaning"], sum["mode"]))
        .collect();
    assert_eq!(totals, [r#"2500 "collected_per_occurrence" "live""#, r#"12500 "invoiced" "live""#]);
    assert_eq!(plan["steps"][2]["changes"][0]["before"], "20.00 USD");
    let markdown = clone.reckon(&["plan", "--against", "HEAD", "-o", "markdown"]);
    let markdown = String::from_utf8(markdown.stdout).unwrap();
    assert!(markdown.contains("as if the service matched"), "{markdown}");
    for made in [".reckon", ".reckon.key"] {
        assert!(!clone.0.path().join(made).exists(), "{made}");
    }
}

#[test]
fn two_revisions_are_compared_whatever_the_tree_is_now() {
    let clone = Clone::new();
    clone.write("specs/tree.yaml", TREE);
    clone.commit();
    clone.git(&["tag", "one"]);
    let (method, _) = TREE.split_once("---\napiVersion: reckon.dev/v1\nkind: SavedMethod").unwrap();
    clone.write("specs/tree.yaml", method);
    clone.commit();
    clone.write("specs/tree.yaml", "kind: [");
    let (plan, code) = clone.plan("one..main");
    assert_eq!(code, 3, "the removal guard blocks in the pull request already: {plan}");
    let planned = steps(&plan);
    assert!(planned.contains(&"blocked SavedMethod/card Guarded".to_owned()), "{planned:?}");
    assert!(planned.contains(&"orphan RecurringCharge/monthly Orphaned".to_owned()), "{planned:?}");
    let removed = plan["steps"].as_array().unwrap().iter().find(|one| one["reason"] == "Guarded");
    assert_eq!(removed.unwrap()["file"], "one:specs/tree.yaml");
    let (back, _) = clone.plan("main..one");
    let planned = steps(&back);
    assert_eq!(planned.len(), 2, "{planned:?}");
    assert!(planned.iter().all(|step| step.starts_with("create ")), "{planned:?}");
    assert_eq!(clone.plan("one...main").0["steps"], plan["steps"], "`one` is the merge base");
    let present = clone.reckon(&["plan", "--against", "one"]);
    assert_eq!(present.status.code(), Some(1), "the working tree is invalid");
    let printed = String::from_utf8(present.stderr).unwrap();
    assert!(printed.contains("specs/tree.yaml:1:"), "{printed}");
}

#[test]
fn several_folders_are_one_tree_and_each_is_compared() {
    let clone = Clone::new();
    let config = fs::read_to_string(clone.0.path().join("reckon.yaml")).unwrap();
    clone.write("reckon.yaml", &config.replace("specs: specs", "specs: [specs, overlays/live]"));
    clone.write("specs/tree.yaml", TREE);
    clone.write("overlays/live/README", "");
    clone.write("overlays/test/never.yaml", "kind: [");
    clone.commit();
    clone.write("overlays/live/invoice.yaml", INVOICE);
    let (plan, _) = clone.plan("HEAD");
    assert_eq!(steps(&plan), ["create Invoice/first NotCreated"]);
    assert_eq!(plan["steps"][0]["file"], "overlays/live/invoice.yaml");
    clone.commit();
    let (back, _) = clone.plan("HEAD..HEAD~1");
    assert_eq!(back["steps"].as_array().unwrap().len(), 1, "{back}");
    assert_eq!(back["steps"][0]["file"], "HEAD:overlays/live/invoice.yaml");
    let chosen = clone.reckon(&["validate", "overlays/live"]);
    assert_eq!(chosen.status.code(), Some(0), "{chosen:?}");
    let outside = clone.reckon(&["validate", "overlays/test"]);
    assert_eq!(outside.status.code(), Some(1), "{outside:?}");

    clone.write("specs/again.yaml", INVOICE);
    let double = clone.reckon(&["validate"]);
    let printed = String::from_utf8(double.stdout).unwrap();
    assert_eq!(double.status.code(), Some(1), "{printed}");
    let at = "overlays/live/invoice.yaml:3";
    assert!(printed.contains("reckon::link::duplicate") && printed.contains(at), "{printed}");
    assert!(printed.contains("specs/again.yaml:3"), "the later folder is at fault: {printed}");

    clone.write("reckon.yaml", &config.replace("specs: specs", "specs: [specs, specs/live]"));
    let overlap = clone.reckon(&["validate"]);
    let printed = String::from_utf8(overlap.stderr).unwrap();
    assert_eq!(overlap.status.code(), Some(1), "{printed}");
    assert!(printed.contains("reckon::config::specs_overlap"), "{printed}");
}

#[test]
fn a_merchant_that_comes_by_defaults_is_planned_like_one_in_the_document() {
    const DEFAULTS: &str = "apiVersion: reckon.dev/v1\nkind: Defaults\nspec: {merchant: acme}\n";
    let clone = Clone::new();
    let (head, rest) = TREE.split_once("---\n").unwrap();
    let second = head.replace("name: acme", "name: bolt").replace("CODE_ACME", "CODE_BOLT");
    clone.write("specs/merchants.yaml", &format!("{head}---\n{second}"));
    clone.write("specs/books/tree.yaml", rest);
    clone.write("specs/books/invoice.yaml", INVOICE);
    clone.commit();
    let bare = |text: &str| text.replace("  merchant: acme\n", "").replace("merchant: acme, ", "");
    clone.write("specs/books/tree.yaml", &bare(rest));
    clone.write("specs/books/invoice.yaml", &bare(INVOICE));
    clone.write("specs/books/defaults.yaml", DEFAULTS);
    let (same, code) = clone.plan("HEAD");
    assert_eq!((steps(&same), code), (vec![], 0), "the effective documents are unchanged");
    clone.commit();

    clone.write("specs/books/defaults.yaml", &DEFAULTS.replace("acme", "bolt"));
    let given = steps(&clone.plan("HEAD").0);
    fs::remove_file(clone.0.path().join("specs/books/defaults.yaml")).unwrap();
    clone.write("specs/books/tree.yaml", &rest.replace("merchant: acme", "merchant: bolt"));
    clone.write("specs/books/invoice.yaml", &INVOICE.replace("merchant: acme", "merchant: bolt"));
    assert_eq!(steps(&clone.plan("HEAD").0), given);
    assert!(given.iter().any(|step| step.contains("Invoice/first")), "{given:?}");
}

#[test]
fn a_branch_that_is_behind_undoes_nothing_in_its_plan() {
    let clone = Clone::new();
    clone.write("specs/tree.yaml", TREE);
    clone.commit();
    clone.git(&["branch", "raise"]);
    // Meanwhile another branch is merged.
    clone.write("specs/invoice.yaml", INVOICE);
    clone.commit();
    clone.git(&["checkout", "-q", "raise"]);
    clone.write("specs/tree.yaml", &TREE.replace("20.00", "25.00"));
    clone.commit();
    let (plan, code) = clone.plan("main...raise");
    assert_eq!(code, 2, "{plan}");
    assert_eq!(steps(&plan), ["update RecurringCharge/monthly Changed"]);
    let (straight, _) = clone.plan("main..raise");
    let planned = steps(&straight);
    assert!(
        planned.iter().any(|step| step.contains("Invoice/first")),
        "`..` also shows the merged branch: {planned:?}"
    );
}

#[test]
fn what_was_broken_before_is_told_and_is_nobody_s_fault_now() {
    let clone = Clone::new();
    clone.write("specs/tree.yaml", TREE);
    clone.write("specs/broken.yaml", "kind: [");
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("o.yaml"), INVOICE).unwrap();
    std::os::unix::fs::symlink(
        outside.path().join("o.yaml"),
        clone.0.path().join("specs/out.yaml"),
    )
    .unwrap();
    clone.commit();
    for gone in ["specs/broken.yaml", "specs/out.yaml"] {
        fs::remove_file(clone.0.path().join(gone)).unwrap();
    }
    let (plan, code) = clone.plan("HEAD");
    assert_eq!((code, steps(&plan)), (0, Vec::new()), "{plan}");
    let problems: Vec<&str> = plan["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| problem["file"].as_str().unwrap())
        .collect();
    assert_eq!(problems, ["HEAD:specs/broken.yaml", "HEAD:specs/out.yaml"]);
    assert!(
        !plan.to_string().contains("Invoice/first"),
        "no symbolic link is followed out of the tree"
    );
}

#[test]
fn a_wrong_revision_or_name_is_the_users_input() {
    let clone = Clone::new();
    clone.write("specs/tree.yaml", TREE);
    clone.commit();
    for range in ["nowhere", "HEAD..nowhere", "--output=x", "-h.."] {
        let argument = format!("--against={range}");
        let output = clone.reckon(&["plan", &argument]);
        let printed = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{range}: {printed}");
        assert!(printed.contains("reckon::git::revision"), "{range}: {printed}");
    }
    let output = clone.reckon(&["plan", "--against", "HEAD", "--target", "Contact/jame"]);
    let printed = String::from_utf8(output.stderr).unwrap();
    assert!(printed.contains("did you mean Contact/jane?"), "{printed}");
    let nowhere = tempfile::tempdir().unwrap();
    for file in ["reckon.yaml", "specs/tree.yaml"] {
        let to = nowhere.path().join(file);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(clone.0.path().join(file), to).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
    command.current_dir(nowhere.path()).env_clear();
    let output = command.args(["plan", "--against", "HEAD"]).output().unwrap();
    assert_ne!(output.status.code(), Some(0), "the folder is no repository");
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn every_kind_of_the_example_tree_is_settled_against_itself_and_made_against_nothing() {
    let clone = Clone(tempfile::tempdir().unwrap());
    clone.git(&["init", "-q", "-b", "main"]);
    clone.commit();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["specs", "examples/attachments"] {
        copy(&root.join(folder), &clone.0.path().join(folder));
    }
    fs::copy(root.join("reckon.yaml"), clone.0.path().join("reckon.yaml")).unwrap();
    clone.commit();
    let (same, code) = clone.plan("HEAD");
    assert_eq!((steps(&same), code), (Vec::new(), 0));
    assert_eq!(same["problems"], Value::Array(Vec::new()), "attachments are read as well");
    let (all, code) = clone.plan("HEAD~..HEAD");
    assert_eq!(code, 2);
    let blocked: Vec<String> =
        steps(&all).into_iter().filter(|step| step.starts_with("blocked")).collect();
    assert_eq!(blocked, Vec::<String>::new());
    assert_eq!(all["resources"], same["resources"]);
}

/// Closes M14: `plan --against` checks the limits of the configuration for a pull request, per step and in sum.
#[test]
fn m14_limits_are_looked_at_without_a_state() {
    let clone = Clone::new();
    clone.write("specs/tree.yaml", TREE);
    let policy = |limits: &str| {
        let text = fs::read_to_string(clone.0.path().join("reckon.yaml")).unwrap();
        let rest = text.lines().filter(|line| !line.starts_with("policy:"));
        let rest: Vec<&str> = rest.collect();
        let limits = format!("policy: {{amounts: decimal, limits: {{{limits}}}}}");
        clone.write("reckon.yaml", &format!("{}\n{limits}\n", rest.join("\n")));
    };
    clone.commit();
    clone.write("specs/invoice.yaml", INVOICE);
    clone.write("specs/tree.yaml", &TREE.replace("20.00", "90.00"));
    for (limits, over) in [
        ("per_object: [\"100.00 USD\"]", vec!["blocked Invoice/first OverLimit"]),
        ("usual_percent: 300", vec!["blocked RecurringCharge/monthly OverLimit"]),
        (
            "per_run: [\"200.00 USD\"]",
            vec!["blocked Invoice/first OverLimit", "blocked RecurringCharge/monthly OverLimit"],
        ),
        ("per_run: [\"215.00 USD\"]", vec![]),
    ] {
        policy(limits);
        let (plan, code) = clone.plan("HEAD");
        let blocked = steps(&plan).into_iter().filter(|step| step.starts_with("blocked"));
        assert_eq!(blocked.collect::<Vec<_>>(), over, "{limits}");
        assert_eq!(code, if over.is_empty() { 2 } else { 3 }, "{limits}");
        for step in
            plan["steps"].as_array().unwrap().iter().filter(|step| step["verdict"] == "blocked")
        {
            let name = limits.split(':').next().unwrap();
            assert_eq!(step["limit"]["limit"], format!("policy.limits.{name}"), "{step}");
        }
    }
}

/// Closes M14: a changed amount shows the sum due before, the sum after, and the difference, by currency, mode and
/// month.
#[test]
fn m14_a_change_shows_what_is_due_before_and_after() {
    let clone = Clone::new();
    clone.write("specs/tree.yaml", &TREE.replace("20.00", "27.00"));
    clone.commit();
    clone.write("specs/tree.yaml", &TREE.replace("20.00", "39.00"));
    clone.write("specs/invoice.yaml", INVOICE);
    let (plan, _) = clone.plan("HEAD");
    let due = plan["due"].as_array().unwrap();
    let row = |row: &Value| {
        let text = |field: &str| row[field].as_str().unwrap().to_owned();
        let minor = |field: &str| row[field].as_i64().unwrap();
        let (before, after, difference) = (minor("before"), minor("after"), minor("difference"));
        format!(
            "{} {} {before} {after} {difference} {}",
            text("month"),
            text("currency"),
            text("mode")
        )
    };
    let rows: Vec<String> = due.iter().map(row).collect();
    assert_eq!(rows.len(), 13, "{rows:?}");
    assert_eq!(rows.first().unwrap(), "2040-01 USD 0 12500 12500 live");
    assert_eq!(rows.get(1).unwrap(), "2040-02 USD 2700 3900 1200 live");
    assert_eq!(rows.last().unwrap(), "2041-01 USD 2700 3900 1200 live");
    let text = clone.reckon(&["plan", "--against", "HEAD"]);
    let text = String::from_utf8(text.stdout).unwrap();
    let line = "2040-02 to 2041-01, each month  27.00 USD   39.00 USD   +12.00 USD  live";
    assert!(text.contains(line), "{text}");
    let markdown = clone.reckon(&["plan", "--against", "HEAD", "-o", "markdown"]);
    let markdown = String::from_utf8(markdown.stdout).unwrap();
    assert!(markdown.contains(r"27\.00 USD | 39\.00 USD | \+12\.00 USD | live"), "{markdown}");
}
