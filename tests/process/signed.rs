//! Approvals in signed commits, with real repositories and keys: approvals that count, and approvals that must not
//! count.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::outputs::schemas::satisfies;
use crate::support::shell;
use crate::support::shell::{Shell, code, stderr, stdout};

const HEAD: &str = r"apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec: {mode: test, timezone: America/Chicago, credentials: {authorization_code: {env: CODE_ACME}}}
---
apiVersion: reckon.dev/v1
kind: Contact
metadata: {name: jane}
spec: {merchant: acme, first_name: Jane, last_name: Doe, email_addresses: [{address: jane@example.com}]}
";

fn invoice(name: &str, amount: &str) -> String {
    format!(
        "apiVersion: reckon.dev/v1\nkind: Invoice\nmetadata: {{name: {name}}}\nspec:\n  merchant: acme\n  \
         contact: jane\n  bank_account: Operating\n  invoice_date: 2030-01-15\n  \
         line_items: [{{description: Retainer, rate_per_quantity: \"{amount}\"}}]\n"
    )
}

/// A sandbox, a repository with specs beside the configuration, and people with keys.
struct House {
    shell: Shell,
}

impl House {
    /// Bob commits an invoice of 800 USD. The limit is 500; above 1000, two people must approve.
    fn new() -> Self {
        let house = Self { shell: Shell::start() };
        house.configure("signed: {signers: signers}");
        for folder in ["repo/specs", "keys"] {
            fs::create_dir_all(house.path(folder)).unwrap();
        }
        let mut signers = Vec::new();
        for person in ["ann", "bob", "eve"] {
            let key = house.path(&format!("keys/{person}"));
            let mut keygen = Command::new("ssh-keygen");
            keygen.args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"]).arg(&key);
            assert!(keygen.status().unwrap().success());
            if person != "eve" {
                let public = fs::read_to_string(key.with_extension("pub")).unwrap();
                signers.push(format!("{person}@example.com {public}"));
            }
        }
        house.write("signers", &signers.concat());
        house.git("bob", &["init", "-q", "-b", "main"]);
        house.write("repo/specs/tree.yaml", HEAD);
        house.write("repo/specs/a.yaml", &invoice("a", "800.00 USD"));
        house.commit("bob", &["specs"]);
        // A checksum belongs to a state, and `plan` makes no state.
        assert_eq!(code(&house.reckon(&["init", "--empty-remote", "--yes"])), 0);
        house
    }

    fn configure(&self, signed: &str) {
        let file = self.path("reckon.yaml");
        let text = fs::read_to_string(&file).unwrap();
        let (before, after) = text.split_once("policy:\n").unwrap();
        let (_, after) = after.split_once("doubt:").unwrap();
        let after = after.replace("specs: specs", "specs: repo/specs");
        let policy = format!(
            "policy:\n  amounts: decimal\n  limits: {{per_object: [\"500.00 USD\"]}}\n  \
             approvals:\n    above: [\"1000.00 USD\"]\n    {signed}\ndoubt:"
        );
        fs::write(file, format!("{before}{policy}{after}")).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.shell.path(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    /// Runs git in the repository, with a person's name and key.
    fn git(&self, who: &str, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        git.arg("-C").arg(self.path("repo")).env_clear();
        git.env("PATH", std::env::var_os("PATH").unwrap());
        let key = format!("user.signingkey={}", self.path(&format!("keys/{who}.pub")).display());
        git.args(["-c", "gpg.format=ssh", "-c", &key, "-c", "advice.mergeConflict=false"]);
        git.args([
            "-c",
            &format!("user.name={who}"),
            "-c",
            &format!("user.email={who}@example.com"),
        ]);
        let said = git.args(arguments).output().unwrap();
        assert!(said.status.success(), "{arguments:?}: {}", stderr(&said));
        stdout(&said).trim().to_owned()
    }

    /// Commits these paths, signed.
    fn commit(&self, who: &str, paths: &[&str]) {
        self.git(who, &[&["add", "-A"], paths].concat());
        self.git(who, &["commit", "-q", "-S", "-m", "a change"]);
    }

    /// Runs the program with git in its path.
    fn reckon(&self, arguments: &[&str]) -> Output {
        let path = std::env::var("PATH").unwrap();
        self.shell.reckon_with(arguments, &[("PATH", Some(&path))])
    }

    fn apply(&self) -> Output {
        self.reckon(&["apply", "--yes"])
    }

    fn checksum(&self) -> String {
        let plan = self.reckon(&["plan", "-o", "json"]);
        json(&plan)["checksum"].as_str().unwrap().to_owned()
    }

    /// Approves the present plan in a new file, which is not committed.
    fn approve(&self, file: &str) {
        let (checksum, file) = (self.checksum(), format!("repo/approvals/{file}"));
        let written = self.reckon(&["approve", &checksum, "--yes", "--write", &file]);
        assert_eq!(code(&written), 0, "{}", stderr(&written));
    }

    /// Does the same and commits the file alone, signed.
    fn approved(&self, who: &str) {
        self.approve(&format!("{who}.yaml"));
        self.commit(who, &["approvals"]);
    }

    /// Returns the exit code, the status of each file, and the codes of all problems.
    fn looked(&self) -> (i32, Vec<String>, Vec<String>) {
        let said = self.reckon(&["approve", "--signed", "-o", "json"]);
        assert!([0, 1].contains(&code(&said)), "{}", stderr(&said));
        let view = json(&said);
        satisfies("approve --signed", &view);
        let files = view["files"].as_array().unwrap();
        let standing = files.iter().map(|file| file["standing"].as_str().unwrap().to_owned());
        let of_files = files.iter().filter_map(|file| file["problems"].as_array()).flatten();
        let problems = view["problems"].as_array().unwrap().iter().chain(of_files);
        let codes =
            problems.map(|one| one["code"].as_str().unwrap().replace("reckon::approval::", ""));
        (code(&said), standing.collect(), codes.collect())
    }

    /// Asserts that no file counts, for this reason alone.
    fn refused(&self, why: &str) {
        let (code, standing, codes) = self.looked();
        assert_eq!((code, &*codes), (1, &[why.to_owned()][..]), "{standing:?}");
        assert!(!standing.contains(&"counts".to_owned()), "{standing:?}");
    }

    /// Asserts the same. `apply` also reports it and does nothing that a limit blocks.
    fn refused_for_good(&self, why: &str) {
        self.refused(why);
        let applied = self.apply();
        assert_eq!(code(&applied), 3, "{why}: {}", stderr(&applied));
        let code_name = format!("reckon::approval::{why}");
        assert!(stderr(&applied).contains(&code_name), "{}", stderr(&applied));
        assert_eq!(self.shell.count("invoices"), 0, "{why}");
    }

    fn counts(&self) {
        let (code, standing, codes) = self.looked();
        assert_eq!((code, standing), (0, vec!["counts".to_owned()]), "{codes:?}");
    }
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&stdout(output)).unwrap_or_else(|_| Value::String(stderr(output)))
}

#[test]
fn a_signed_approval_counts_once_for_its_plan_and_for_nothing_larger() {
    let house = House::new();
    let before = house.checksum();
    house.approved("ann");
    assert_eq!(house.checksum(), before, "an approval changes no plan");
    let applied = house.apply();
    assert_eq!(code(&applied), 0, "{}", stderr(&applied));
    assert!(stderr(&applied).contains("signed by ann@example.com"), "{}", stderr(&applied));
    assert_eq!(house.shell.count("invoices"), 1);
    let printed = stdout(&house.reckon(&["why", "Invoice/a"]));
    let commit = house.git("ann", &["rev-parse", "HEAD"]);
    for fact in ["ann@example.com approved the plan", "approvals/ann.yaml", &*commit, "SHA256:"] {
        assert!(printed.contains(fact), "{fact}: {printed}");
    }
    let position = |house: &House| json(&house.reckon(&["plan", "-o", "json"]))["position"].clone();
    let at = position(&house);
    assert_eq!(house.looked(), (0, vec!["known".to_owned()], vec![]));
    assert_eq!(position(&house), at, "a known approval is not recorded again");

    house.write("repo/specs/b.yaml", &invoice("b", "900.00 USD"));
    house.commit("bob", &["specs"]);
    assert_eq!(code(&house.apply()), 3, "the approval covers no other object");
    assert_eq!(house.shell.count("invoices"), 1);
}

#[test]
fn a_larger_plan_than_the_one_that_was_approved_waits() {
    let house = House::new();
    house.approved("ann");
    house.write("repo/specs/a.yaml", &invoice("a", "800.01 USD"));
    house.commit("bob", &["specs"]);
    assert_eq!(house.looked(), (0, vec!["other_plan".to_owned()], vec![]));
    assert_eq!((code(&house.apply()), house.shell.count("invoices")), (3, 0));
    house.write("repo/specs/a.yaml", &invoice("a", "800.00 USD"));
    house.commit("bob", &["specs"]);
    // Merchant and contact exist now, so this is another plan, with the invoice alone.
    house.approve("again.yaml");
    house.commit("ann", &["approvals"]);
    let (code, standing, codes) = house.looked();
    assert_eq!(
        (code, &*standing),
        (0, &["counts".to_owned(), "other_plan".to_owned()][..]),
        "{codes:?}"
    );
    house.write("repo/specs/a.yaml", &invoice("a", "700.00 USD"));
    house.commit("bob", &["specs"]);
    assert_eq!(shell::code(&house.apply()), 0, "a smaller amount stays approved");
    assert_eq!(house.shell.count("invoices"), 1);
}

#[test]
fn the_authors_of_every_folder_of_specs_are_known() {
    let house = House::new();
    let config = fs::read_to_string(house.path("reckon.yaml")).unwrap();
    let several = config.replace("specs: repo/specs", "specs: [repo/specs, repo/live]");
    house.write("reckon.yaml", &several);
    house.git("bob", &["mv", "specs/a.yaml", "specs/b.yaml"]);
    house.write("repo/live/c.yaml", &invoice("c", "700.00 USD"));
    house.commit("ann", &["live", "specs"]);
    house.approved("ann");
    house.refused_for_good("own_work");
    house.write("repo/live/d.yaml", "");
    house.refused("dirty");
}

#[test]
fn who_changes_defaults_or_moves_a_document_below_them_is_an_author() {
    let defaults = "apiVersion: reckon.dev/v1\nkind: Defaults\nspec: {merchant: acme}\n";
    let house = House::new();
    house.write("repo/specs/x/defaults.yaml", defaults);
    house.commit("ann", &["specs"]);
    house.approved("ann");
    house.refused_for_good("own_work");

    let house = House::new();
    house.write("repo/specs/x/defaults.yaml", defaults);
    house.commit("bob", &["specs"]);
    house.git("ann", &["mv", "specs/a.yaml", "specs/x/a.yaml"]);
    house.commit("ann", &["specs"]);
    house.approved("ann");
    house.refused_for_good("own_work");

    let house = House::new();
    fs::create_dir(house.path("repo/specs/x")).unwrap();
    house.git("ann", &["mv", "specs/a.yaml", "specs/x/a.yaml"]);
    house.commit("ann", &["specs"]);
    house.approved("ann");
    house.counts();
}

#[test]
fn only_the_commit_of_an_allowed_signer_who_is_not_the_author_counts() {
    let house = House::new();
    house.approved("eve");
    house.refused_for_good("unknown_signer");

    let house = House::new();
    house.approve("ann.yaml");
    house.git("ann", &["add", "-A", "approvals"]);
    house.git("ann", &["commit", "-q", "-m", "no signature"]);
    house.refused_for_good("unsigned");

    let house = House::new();
    house.approved("bob");
    house.refused_for_good("own_work");
}

#[test]
fn a_commit_that_changes_more_and_a_file_that_was_changed_do_not_count() {
    let house = House::new();
    house.approve("ann.yaml");
    house.write("repo/README", "and more");
    house.commit("ann", &["approvals", "README"]);
    house.refused_for_good("mixed");

    let house = House::new();
    house.approved("ann");
    let file = house.path("repo/approvals/ann.yaml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("800.00", "900.00")).unwrap();
    house.counts_only_what_is_committed();
    house.git("eve", &["commit", "-q", "-a", "-m", "no signature"]);
    house.refused("unsigned");
    house.commit_again("bob");
    house.refused_for_good("own_work");
}

impl House {
    fn counts_only_what_is_committed(&self) {
        let said = self.git("ann", &["status", "--porcelain"]);
        assert_eq!(said, "M approvals/ann.yaml");
        let shown = self.git("ann", &["show", "HEAD:approvals/ann.yaml"]);
        assert!(shown.contains("800.00"));
    }

    /// Commits a change of the approval, signed by this person.
    fn commit_again(&self, who: &str) {
        let file = self.path("repo/approvals/ann.yaml");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace("900.00", "901.00")).unwrap();
        self.commit(who, &["approvals"]);
    }
}

#[test]
fn an_approval_ends_when_it_says_so_and_when_the_operator_does() {
    let house = House::new();
    let checksum = house.checksum();
    let text = |expires: &str| {
        format!(
            "apiVersion: reckon.dev/v1\nkind: PlanApproval\nplan: \"{checksum}\"\nexpires: {expires}\n"
        )
    };
    house.write("repo/approvals/a.yaml", &text("2020-01-01"));
    house.commit("ann", &["approvals"]);
    house.refused_for_good("expired");

    let house = House::new();
    house.configure("valid_for: 1h\n    signed: {signers: signers}");
    house.approve("a.yaml");
    house.git("ann", &["add", "-A", "approvals"]);
    let past = "2020-01-01T00:00:00Z";
    let mut git = Command::new("git");
    git.arg("-C").arg(house.path("repo")).env("GIT_COMMITTER_DATE", past);
    let key = format!("user.signingkey={}", house.path("keys/ann.pub").display());
    let made = git
        .args([
            "-c",
            "gpg.format=ssh",
            "-c",
            &key,
            "-c",
            "user.name=ann",
            "-c",
            "user.email=ann@example.com",
        ])
        .args(["commit", "-q", "-S", "-m", "long ago"])
        .status();
    assert!(made.unwrap().success());
    house.refused_for_good("expired");
}

#[test]
fn ceilings_hold_and_bad_files_are_told_with_their_places() {
    let house = House::new();
    let checksum = house.checksum();
    let low = ["approve", &checksum, "--yes", "--ceiling", "799.99 USD", "--write", "x.yaml"];
    let said = house.reckon(&low);
    assert!(code(&said) == 1 && stderr(&said).contains("beyond_ceiling"), "{}", stderr(&said));
    let head = "apiVersion: reckon.dev/v1\nkind: PlanApproval\n";
    let low = format!("{head}plan: \"{checksum}\"\nceilings: [\"799.99 USD\"]\n");
    house.write("repo/approvals/a.yaml", &low);
    house.commit("ann", &["approvals"]);
    house.refused("beyond_ceiling");
    house.write("repo/approvals/a.yaml", &format!("{head}plan: \"{checksum}\"\nceiling: 1\n"));
    house.commit("ann", &["approvals"]);
    let said = house.reckon(&["approve", "--signed"]);
    assert_eq!(code(&said), 1);
    assert!(stdout(&said).contains("repo/approvals/a.yaml:4:1"), "{}", stdout(&said));
    assert!(stdout(&said).contains("unknown_key"), "{}", stdout(&said));
}

#[test]
fn nothing_that_a_pull_request_reaches_says_who_may_sign() {
    let house = House::new();
    house.approved("ann");
    let inside = house.path("repo/signers");
    fs::copy(house.path("signers"), &inside).unwrap();
    house.configure("signed: {signers: repo/signers}");
    house.refused("signers_inside");
    std::os::unix::fs::symlink(&inside, house.path("linked")).unwrap();
    house.configure("signed: {signers: linked}");
    house.refused("signers_inside");
    let git = house.path("signers").display().to_string();
    house.git("eve", &["config", "gpg.ssh.allowedSignersFile", &git]);
    house.write("others", "eve@example.com ssh-ed25519 AAAA\n");
    house.configure("signed: {signers: others}");
    house.refused("unknown_signer");
    house.configure("signed: {signers: missing}");
    house.refused("signers");
    house.configure("signed: {signers: signers, folder: repo/specs/approvals}");
    house.refused("folder");
    house.configure("signed: {signers: signers}");
    house.counts();
}

#[test]
fn a_configuration_beside_the_specs_in_git_names_nobody() {
    let house = House::new();
    house.approved("ann");
    house.git("bob", &["init", "-q", ".."]);
    fs::remove_dir_all(house.path("repo/.git")).unwrap();
    house.refused_for_good("config_inside");
}

#[test]
fn specs_that_are_not_as_committed_have_no_approvals_by_file() {
    let house = House::new();
    house.approved("ann");
    house.write("repo/.git/info/exclude", "hidden.yaml\n");
    for name in ["new.yaml", "hidden.yaml"] {
        let file = format!("repo/specs/{name}");
        house.write(&file, "# nothing yet\n");
        house.refused("dirty");
        fs::remove_file(house.path(&file)).unwrap();
    }
}

#[test]
fn a_shallow_clone_does_not_tell_who_wrote_the_specs() {
    let house = House::new();
    house.approved("ann");
    let from = format!("file://{}", house.path("repo").display());
    let to = house.path("clone").display().to_string();
    house.git("bob", &["clone", "-q", "--depth", "1", &from, &to]);
    fs::remove_dir_all(house.path("repo")).unwrap();
    fs::rename(house.path("clone"), house.path("repo")).unwrap();
    house.refused_for_good("shallow");
}

#[test]
fn above_an_amount_it_takes_two_signers_or_one_and_a_command() {
    let house = House::new();
    house.write("repo/specs/a.yaml", &invoice("a", "2000.00 USD"));
    // Eve wrote it: she may not approve, but her key is known.
    let eve = fs::read_to_string(house.path("keys/eve.pub")).unwrap();
    let signers = fs::read_to_string(house.path("signers")).unwrap();
    house.write("signers", &format!("{signers}eve@example.com {eve}"));
    house.write("repo/specs/b.yaml", &invoice("b", "3000.00 USD"));
    fs::remove_file(house.path("repo/specs/a.yaml")).unwrap();
    house.commit("eve", &["specs"]);
    house.approved("ann");
    house.approve("ann2.yaml");
    house.commit("ann", &["approvals"]);
    let applied = house.apply();
    assert_eq!((code(&applied), house.shell.count("invoices")), (3, 0), "one person, twice");
    house.approved("bob");
    let applied = house.apply();
    assert_eq!(code(&applied), 0, "{}", stderr(&applied));
    assert_eq!(house.shell.count("invoices"), 1);

    let house = House::new();
    house.write("repo/specs/a.yaml", &invoice("a", "2000.00 USD"));
    house.commit("bob", &["specs"]);
    house.approved("ann");
    assert_eq!(code(&house.apply()), 3);
    let checksum = house.checksum();
    let approved = house.reckon(&["approve", &checksum, "--yes"]);
    assert_eq!(code(&approved), 0, "{}", stderr(&approved));
    let applied = house.apply();
    assert_eq!(code(&applied), 0, "{}", stderr(&applied));
    assert_eq!(house.shell.count("invoices"), 1);
}

#[test]
fn names_are_believed_only_where_the_operator_says_so() {
    let forged = || {
        let house = House::new();
        house.write("repo/specs/a.yaml", &invoice("a", "900.00 USD"));
        house.git("eve", &["commit", "-q", "-a", "-m", "no matter who I am"]);
        house
    };
    let house = forged();
    house.approved("ann");
    house.refused("unknown_author");
    house.configure("signed: {signers: signers, authors: named}");
    house.approve("again.yaml");
    house.commit("ann", &["approvals"]);
    assert!(house.looked().1.contains(&"counts".to_owned()));

    let house = House::new();
    house.configure("signed: {signers: signers, authors: named}");
    house.write("repo/specs/a.yaml", &invoice("a", "900.00 USD"));
    let author = "ann <ANN@example.com>";
    house.git("bob", &["commit", "-q", "-a", "--author", author, "-m", "in her name"]);
    house.approved("ann");
    house.refused("own_work");
}

#[test]
fn neither_an_apply_nor_a_move_makes_somebody_else_the_author() {
    let house = House::new();
    // Everything else is done at the commit that holds Bob's invoice.
    assert_eq!(code(&house.apply()), 3);
    house.git("ann", &["mv", "specs/a.yaml", "specs/moved.yaml"]);
    house.commit("ann", &["specs"]);
    house.approved("bob");
    house.refused("own_work");
    house.git("ann", &["rm", "-q", "approvals/bob.yaml"]);
    house.git("ann", &["commit", "-q", "-S", "-m", "taken back"]);
    house.approved("ann");
    house.counts();
}

const CARD: &str = r#"apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: card}
spec:
  merchant: acme
  type: card
  source: {card: {number: "4242424242424242", exp_month: 12, exp_year: 2031}}
"#;

fn rent(amount: &str) -> String {
    let schedule = "{start: 2035-01-01, interval_unit: MONTH, interval_delay: 1}";
    format!(
        "apiVersion: reckon.dev/v1\nkind: RecurringCharge\nmetadata: {{name: rent}}\nspec:\n  \
         merchant: acme\n  method: card\n  description: Rent\n  amount: \"{amount}\"\n  schedule: {schedule}\n"
    )
}

#[test]
fn who_wrote_what_was_applied_since_may_approve_what_others_make_of_it() {
    let house = House::new();
    fs::remove_file(house.path("repo/specs/a.yaml")).unwrap();
    house.write("repo/specs/card.yaml", CARD);
    house.write("repo/specs/rent.yaml", &rent("20.00 USD"));
    house.commit("ann", &["specs"]);
    let applied = house.apply();
    assert_eq!(code(&applied), 0, "{}", stderr(&applied));
    house.write("repo/specs/rent.yaml", &rent("900.00 USD"));
    house.commit("bob", &["specs"]);
    house.approved("ann");
    house.counts();
    assert_eq!(code(&house.apply()), 0);
    house.write("repo/specs/rent.yaml", &rent("910.00 USD"));
    house.commit("ann", &["specs"]);
    house.write("repo/specs/rent.yaml", &rent("920.00 USD"));
    house.commit("bob", &["specs"]);
    house.approve("more.yaml");
    house.commit("ann", &["approvals"]);
    house.refused_for_good("own_work");
}

#[test]
fn who_merges_is_no_author_unless_the_merge_says_more() {
    let branch = |house: &House| {
        house.git("bob", &["checkout", "-q", "-b", "more"]);
        house.write("repo/specs/a.yaml", &invoice("a", "900.00 USD"));
        house.commit("bob", &["specs"]);
        house.git("bob", &["checkout", "-q", "main"]);
        house.write("repo/specs/b.yaml", &invoice("b", "20.00 USD"));
        house.commit("bob", &["specs"]);
    };
    let house = House::new();
    branch(&house);
    house.git("ann", &["merge", "-q", "-S", "--no-edit", "more"]);
    house.approved("ann");
    house.counts();

    let house = House::new();
    branch(&house);
    house.git("ann", &["merge", "-q", "-S", "--no-edit", "-s", "ours", "more"]);
    house.approved("ann");
    let (_, _, codes) = house.looked();
    assert_eq!(codes, ["own_work"], "the merge took one side");
}

#[test]
fn an_approval_is_written_from_a_plan_alone() {
    let house = House::new();
    let plan = house.reckon(&["plan", "-o", "json"]);
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("plan.json"), stdout(&plan)).unwrap();
    let write = |arguments: &[&str]| bare(elsewhere.path(), arguments);
    let refused = write(&["approve", "plan.json", "--write", "a.yaml"]);
    assert!(
        code(&refused) == 1 && stderr(&refused).contains("unconfirmed"),
        "{}",
        stderr(&refused)
    );
    let written = write(&["approve", "plan.json", "--write", "a.yaml", "--yes", "--expires", "3d"]);
    assert_eq!(code(&written), 0, "{}", stderr(&written));
    let text = fs::read_to_string(elsewhere.path().join("a.yaml")).unwrap();
    let plan = json(&plan);
    assert!(text.contains(plan["checksum"].as_str().unwrap()), "{text}");
    assert!(text.contains("ceilings: [\"800.00 USD\"]") && text.contains("expires: "), "{text}");
    let again = write(&["approve", "plan.json", "--write", "a.yaml", "--yes"]);
    assert_eq!(code(&again), 4, "an existing file is left alone");
}

/// Runs the program in an empty environment.
fn bare(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
    command.current_dir(folder).env_clear().args(arguments).output().unwrap()
}

/// Stops the daemon of a house when the value is dropped.
struct Stop<'a>(&'a House);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        let lock = fs::read_to_string(self.0.path(".reckon/lock")).unwrap_or_default();
        let owner: Value = serde_json::from_str(&lock).unwrap_or_default();
        let pid = owner["pid"].as_u64().map(|pid| pid.to_string()).unwrap_or_default();
        drop(Command::new("kill").arg(&pid).output());
    }
}

/// Waits until another process has caused this.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now().checked_add(Duration::from_mins(2)).unwrap();
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_daemon_takes_in_what_is_committed_while_it_runs() {
    let house = House::new();
    std::thread::scope(|scope| {
        let daemon = scope.spawn(|| house.reckon(&["run"]));
        until("the daemon starts", || house.path(".reckon/control.sock").exists());
        let stop = Stop(&house);
        until("all but the invoice is done", || {
            let plan = json(&house.reckon(&["plan", "-o", "json"]));
            let steps = plan["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
            steps.len() == 1 && steps[0]["reason"] == "OverLimit"
        });
        assert_eq!(house.shell.count("invoices"), 0);
        house.approved("ann");
        until("the invoice is made", || house.shell.count("invoices") == 1);
        let (_, standing, _) = house.looked();
        assert_eq!(standing, ["other_plan"], "nothing is left to approve");
        drop(stop);
        let ended = daemon.join().unwrap();
        assert_eq!(code(&ended), 0, "{}", stderr(&ended));
        assert!(stderr(&ended).contains("signed by ann@example.com"), "{}", stderr(&ended));
    });
    assert!(stdout(&house.reckon(&["why", "Invoice/a"])).contains("ann@example.com approved"));
}

/// Makes a house in which Ann changed the amount of Bob's invoice and approved it. `trick` hides her change from git.
fn tricked(trick: impl Fn(&House)) -> House {
    let house = House::new();
    trick(&house);
    house.approved("ann");
    house
}

/// Returns an invoice with an even number of bytes, which UTF-16 needs.
fn even(name: &str, amount: &str) -> String {
    let text = invoice(name, amount);
    if text.len().is_multiple_of(2) { text } else { format!("{text}\n") }
}

/// Closes S1: the check of authors and the loader read the same bytes, regardless of git's settings.
#[test]
fn s1_an_author_whose_attributes_hide_the_text_does_not_approve_it() {
    let hidden = |attributes: &str, settings: &[(&str, &str)]| {
        tricked(|house| {
            for (name, value) in settings {
                house.git("ann", &["config", name, value]);
            }
            house.write("repo/.gitattributes", &format!("specs/x.yaml {attributes}\n"));
            house.write("repo/specs/x.yaml", &even("x", "900.00 USD"));
            house.commit("ann", &["specs", ".gitattributes"]);
            assert_eq!(house.git("ann", &["status", "--porcelain"]), "", "{attributes}");
        })
    };
    let filter = [("filter.x.clean", "sed s/.*/#/"), ("filter.x.smudge", "cat")];
    for (attributes, settings) in [
        ("working-tree-encoding=UTF-16LE", &[][..]),
        ("filter=x", &filter),
        ("ident", &[]),
        ("merge=union", &[]),
    ] {
        let house = hidden(attributes, settings);
        house.refused_for_good("attributes");
        let said = stdout(&house.reckon(&["approve", "--signed"]));
        assert!(said.contains(attributes) && said.contains(".gitattributes:1"), "{said}");
    }
}

/// Closes S1: the same where the repository's own settings hide a change.
#[test]
fn s1_a_change_that_git_was_asked_to_overlook_is_a_change() {
    for bit in ["--assume-unchanged", "--skip-worktree"] {
        let house = tricked(|house| {
            house.git("ann", &["update-index", bit, "specs/a.yaml"]);
            house.write("repo/specs/a.yaml", &invoice("a", "900.00 USD"));
            assert_eq!(house.git("ann", &["status", "--porcelain"]), "", "{bit}");
        });
        house.refused_for_good("dirty");
        let said = house.reckon(&["approve", "--signed"]);
        assert!(stdout(&said).contains("repo/specs/a.yaml"), "{}", stdout(&said));
    }

    let house = tricked(|house| {
        house.git("ann", &["config", "core.autocrlf", "true"]);
        let text = invoice("a", "800.00 USD").replace('\n', "\r\n");
        house.write("repo/specs/a.yaml", &text);
    });
    house.refused_for_good("dirty");
    let said = house.reckon(&["approve", "--signed"]);
    assert!(stdout(&said).contains("core.autocrlf"), "{}", stdout(&said));

    let house = tricked(|house| {
        // A git that honours grafts does not see her commit.
        let first = house.git("bob", &["rev-parse", "HEAD"]);
        house.write("repo/specs/a.yaml", &invoice("a", "900.00 USD"));
        house.commit("ann", &["specs"]);
        house.write("repo/note", "nothing of note");
        house.commit("bob", &["note"]);
        let last = house.git("bob", &["rev-parse", "HEAD"]);
        house.write("repo/.git/info/grafts", &format!("{last} {first}\n"));
    });
    house.refused_for_good("own_work");
}

/// Closes S1: a symbolic link does not count as the text that it points to.
#[test]
fn s1_a_link_among_the_specs_has_no_author() {
    let house = House::new();
    house.git("bob", &["mv", "specs/a.yaml", "specs/a.yml.txt"]);
    std::os::unix::fs::symlink("a.yml.txt", house.path("repo/specs/a.yaml")).unwrap();
    house.commit("bob", &["specs"]);
    house.approved("ann");
    house.refused_for_good("link");
}

/// Closes S1: a repository may name objects by SHA-256 as well.
#[test]
fn s1_a_repository_of_sha_256_has_approvals() {
    let house = House::new();
    fs::remove_dir_all(house.path("repo/.git")).unwrap();
    house.git("bob", &["init", "-q", "-b", "main", "--object-format=sha256"]);
    house.commit("bob", &["specs"]);
    house.approved("ann");
    house.counts();
    house.write("repo/specs/a.yaml", &invoice("a", "800.00 USD").replace('\n', "\r\n"));
    house.refused("dirty");
}

/// Closes S1: a file that a pull request reaches through a link cannot name the signers.
#[test]
fn s1_a_configuration_that_is_a_link_into_the_repository_names_nobody() {
    let house = House::new();
    house.approved("ann");
    let (outside, inside) = (house.path("reckon.yaml"), house.path("repo/reckon.yaml"));
    fs::rename(&outside, &inside).unwrap();
    std::os::unix::fs::symlink(&inside, &outside).unwrap();
    house.refused("config_inside");
}

/// Closes S4: the target of a pull request's link is neither read as specs nor inspected with git.
#[test]
fn s4_specs_that_are_a_link_are_not_read_and_their_repository_is_not_asked() {
    let house = House::new();
    house.approved("ann");
    let before = json(&house.reckon(&["plan", "-o", "json"]));
    assert!(before["commit"].is_string() && !before["steps"].as_array().unwrap().is_empty());
    fs::rename(house.path("repo"), house.path("other")).unwrap();
    fs::create_dir(house.path("repo")).unwrap();
    std::os::unix::fs::symlink("../other/specs", house.path("repo/specs")).unwrap();
    let plan = json(&house.reckon(&["plan", "-o", "json"]));
    assert_eq!((&plan["commit"], &plan["coverage"]), (&Value::Null, &Value::from("partial")));
    assert!(plan["steps"].as_array().unwrap().is_empty(), "{plan}");
    let problem = &plan["problems"][0];
    assert_eq!(problem["code"], "reckon::source::symlink");
    let (message, help) = (problem["message"].as_str().unwrap(), problem["help"].as_str().unwrap());
    assert!(message.contains("`repo/specs`, a symbolic link"), "{message}");
    assert!(help.contains("specs: /"), "{help}");
    house.refused("repository");
    let against = house.reckon(&["plan", "--against", "HEAD"]);
    assert_eq!(code(&against), 1, "{}", stderr(&against));
    assert!(stderr(&against).contains("a symbolic link"), "{}", stderr(&against));
}
