//! The command line as a script uses it: exit codes, streams, forms. These tests need no service.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::covers;

/// Runs `reckon` in a folder, with an empty environment.
fn reckon(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
    command.current_dir(folder).env_clear().args(arguments).output().expect("the program runs")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("the program ends by itself")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Makes a fresh repository with `init`.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let made = reckon(folder.path(), &["init"]);
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    folder
}

#[test]
fn a_scaffolded_repository_is_valid_and_has_a_plan() {
    let folder = repository();
    let valid = reckon(folder.path(), &["validate"]);
    assert_eq!((code(&valid), stdout(&valid).as_str()), (0, "3 documents, no problems\n"));
    let plan = reckon(folder.path(), &["plan"]);
    assert_eq!(code(&plan), 0, "{}", stderr(&plan));
    assert!(stdout(&plan).contains("Plan: 3 to create"), "{}", stdout(&plan));
    assert_eq!(code(&reckon(folder.path(), &["plan", "--detailed-exitcode"])), 2);
}

#[test]
fn the_layout_for_live_is_valid_in_both_modes_and_its_repository_moves_no_live_money() {
    let folder = tempfile::tempdir().unwrap();
    let made = reckon(folder.path(), &["init", "--live", "billing"]);
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    let documents = folder.path().join("billing/documents");
    // A folder that holds `.git` is a work tree for the checks of live merchants.
    std::fs::create_dir(documents.join(".git")).unwrap();
    for (config, mode) in
        [("billing/reckon.yaml", "live"), ("billing/documents/reckon.yaml", "test")]
    {
        let valid = reckon(folder.path(), &["--config", config, "validate"]);
        assert_eq!(
            (code(&valid), stdout(&valid).as_str()),
            (0, "3 documents, no problems\n"),
            "{mode}"
        );
    }
    let live = std::fs::read_to_string(folder.path().join("billing/reckon.yaml")).unwrap();
    let inside = live.replace("documents/base, documents/live", "base, live");
    std::fs::write(documents.join("own.yaml"), inside).unwrap();
    let refused = reckon(folder.path(), &["--config", "billing/documents/own.yaml", "validate"]);
    let printed = stdout(&refused);
    assert!(printed.contains("reckon::merchant::live_refused"), "{printed}");
    assert!(printed.contains("live/acme.yaml:"), "{printed}");
}

#[test]
fn the_output_of_a_program_is_the_tree_if_the_operator_alone_names_it() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(code(&reckon(folder.path(), &["init", "--live", "."])), 0);
    let documents = folder.path().join("documents");
    std::fs::create_dir(documents.join(".git")).unwrap();
    let config = std::fs::read_to_string(folder.path().join("reckon.yaml")).unwrap();
    let rendered = config.replace(
        "specs: [documents/base, documents/live]",
        "specs: documents\nrender: [/bin/sh, -c, 'cat live/acme.yaml; echo ---; cat base/jane.yaml']",
    );
    std::fs::write(folder.path().join("live.yaml"), &rendered).unwrap();
    let validate = || reckon(folder.path(), &["--config", "live.yaml", "validate"]);
    let valid = validate();
    assert_eq!(stdout(&valid), "3 documents, no problems\n", "{}", stderr(&valid));

    let jane = std::fs::read_to_string(documents.join("base/jane.yaml")).unwrap();
    std::fs::write(documents.join("base/jane.yaml"), jane.replace("rate_per", "rate_pre")).unwrap();
    let printed = stdout(&validate());
    assert!(
        printed.contains("rendered output:") && printed.contains("document Invoice/jane-first: "),
        "{printed}"
    );
    assert!(printed.contains("rate_pre_quantity"), "there is a snippet: {printed}");
    std::fs::remove_file(documents.join("base/jane.yaml")).unwrap();
    let printed = stdout(&validate());
    assert!(
        printed.contains("reckon::render::failed") && printed.contains("jane.yaml"),
        "{printed}"
    );
    let against = reckon(folder.path(), &["--config", "live.yaml", "plan", "--against", "HEAD"]);
    assert!(stderr(&against).contains("reckon::render::unsupported"), "{}", stderr(&against));

    let inside = rendered.replace("specs: documents", "specs: base");
    std::fs::write(documents.join("reckon.yaml"), inside).unwrap();
    for arguments in [&["validate"][..], &["--config", "reckon.yaml", "validate"]] {
        let refused = reckon(&documents, arguments);
        assert_eq!(code(&refused), 1);
        assert!(stderr(&refused).contains("reckon::render::refused"), "{}", stderr(&refused));
    }
    std::fs::write(folder.path().join("reckon.yaml"), rendered).unwrap();
    let found = reckon(folder.path(), &["validate"]);
    assert!(stderr(&found).contains("was found by default"), "{}", stderr(&found));
}

#[test]
fn init_overwrites_nothing() {
    let folder = repository();
    let specs = folder.path().join("specs/acme.yaml");
    std::fs::write(&specs, "# mine\n").unwrap();
    let again = reckon(folder.path(), &["init"]);
    assert_eq!(code(&again), 0);
    assert_eq!(std::fs::read_to_string(&specs).unwrap(), "# mine\n");
    assert!(stdout(&again).contains("kept"), "{}", stdout(&again));
}

#[test]
fn every_problem_is_told_with_its_place_for_people_and_programs_alike() {
    let folder = repository();
    let specs = folder.path().join("specs/acme.yaml");
    let text = std::fs::read_to_string(&specs).unwrap();
    let text = text.replace("jane@example.com", "jane").replace("mode: test", "mode: tset");
    std::fs::write(&specs, text).unwrap();
    let people = reckon(folder.path(), &["validate"]);
    assert_eq!(code(&people), 1);
    for place in ["specs/acme.yaml:9:9", "specs/acme.yaml:23:16"] {
        assert!(stdout(&people).contains(place), "{}", stdout(&people));
    }
    let programs = reckon(folder.path(), &["validate", "-o", "json"]);
    assert_eq!(code(&programs), 1);
    let report: Value = serde_json::from_str(&stdout(&programs)).unwrap();
    let lines: Vec<&Value> =
        report["problems"].as_array().unwrap().iter().map(|problem| &problem["line"]).collect();
    assert_eq!(lines, [9, 23]);
}

/// Replaces text in a file by text of the same length, and restores the file's time.
fn change_unseen(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    let time = std::fs::metadata(path).unwrap().modified().unwrap();
    assert!(from.len() == to.len() && text.contains(from));
    std::fs::write(path, text.replace(from, to)).unwrap();
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(time).unwrap();
}

#[test]
fn plan_verify_finds_a_change_that_size_and_time_hide() {
    let folder = repository();
    let specs = folder.path().join("specs/acme.yaml");
    // The loader trusts only times that are old enough.
    let file = std::fs::File::options().write(true).open(&specs).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    let plan = |arguments: &[&str]| stdout(&reckon(folder.path(), arguments));
    plan(&["init", "--empty-remote", "--yes"]);
    let before = plan(&["plan"]);
    assert_eq!(plan(&["plan"]), before);
    assert_eq!(plan(&["plan", "--verify"]), before);
    change_unseen(&specs, "name: jane", "name: june");
    assert_eq!(plan(&["plan"]), before, "size and time are unchanged");
    let verified = plan(&["plan", "--verify"]);
    assert!(verified.contains("june") && !before.contains("june"), "{verified}");
    assert_eq!(plan(&["plan"]), verified, "later plans use the verified content");
}

#[test]
fn apply_refuses_a_broken_tree_and_an_unconfirmed_plan() {
    let folder = repository();
    let unconfirmed = reckon(folder.path(), &["apply"]);
    assert_eq!(code(&unconfirmed), 1);
    assert!(stderr(&unconfirmed).contains("--yes"), "{}", stderr(&unconfirmed));
    std::fs::write(folder.path().join("specs/broken.yaml"), "kind: [").unwrap();
    let broken = reckon(folder.path(), &["apply", "--yes"]);
    assert_eq!(code(&broken), 1);
    assert!(stderr(&broken).contains("--isolate"), "{}", stderr(&broken));
}

#[test]
fn a_missing_variable_is_the_environment_and_names_itself() {
    let folder = repository();
    let config = folder.path().join("reckon.yaml");
    let text = std::fs::read_to_string(&config).unwrap();
    let text = text.replace("listen: 127.0.0.1:8780", "listen: {env: RECKON_LISTEN}");
    let text = text.replace("  timeout: 30s", "  timeout: {env: RECKON_TIMEOUT}");
    std::fs::write(&config, text).unwrap();
    let plan = reckon(folder.path(), &["plan"]);
    assert_eq!(code(&plan), 4);
    let printed = stderr(&plan);
    assert!(printed.contains("RECKON_TIMEOUT") && printed.contains("reckon.yaml:13"), "{printed}");
}

#[test]
fn an_unknown_word_is_the_users_input() {
    let folder = repository();
    for arguments in
        [&["aply"][..], &["get", "Invoyce"], &["describe", "Invoice/none"], &["plan", "--nope"]]
    {
        assert_eq!(code(&reckon(folder.path(), arguments)), 1, "{arguments:?}");
    }
    assert_eq!(code(&reckon(folder.path(), &["--help"])), 0);
    assert_eq!(code(&reckon(folder.path(), &["--version"])), 0);
}

#[test]
fn everything_that_cannot_be_set_is_told_in_one_run_and_before_anybody_is_asked() {
    let folder = repository();
    let account = ["account", "a1", "--type", "bank", "--set", "primary=yes"];
    for (arguments, printed) in [
        (
            &["merchant", "--set", "citty=Salem", "--set", "state", "--set", "country=US"][..],
            &["there is no `citty` (did you mean `city`?)", "`state` has no value"][..],
        ),
        (&account, &["`primary` is true or false"]),
        (&["delete", "invoice", "i1"], &["invalid value 'invoice'"]),
        (&["merchant"], &["--set <NAME=VALUE>"]),
        (
            &["change", "recurring", "r1", "--set", "amount=25", "--set", "references=Salem"],
            &["`amount` is an amount with its currency", "there is no `references`"],
        ),
        (&["upload", "nothing.pdf", "--contact", "jane"], &["nothing.pdf: cannot be read"]),
        (&["vault", "jane", "--type", "card", "--token", "-"], &["standard input is empty"]),
        (&["save", "wallet", "--token", "x"], &["invalid value 'wallet'"]),
    ] {
        let arguments = [&["gateway"][..], arguments, &["--merchant", "acme", "--yes"]].concat();
        let output = reckon(folder.path(), &arguments);
        assert_eq!(code(&output), 1, "{arguments:?}");
        for printed in printed {
            assert!(stderr(&output).contains(printed), "{}", stderr(&output));
        }
        assert!(
            !stderr(&output).contains("Salem"),
            "no value of a field is printed: {}",
            stderr(&output)
        );
    }
    let help = stdout(&reckon(folder.path(), &["gateway", "purge", "--help"]));
    assert!(help.contains("reckon.dev/generation"), "{help}");
}

#[test]
fn a_state_without_its_key_is_not_opened() {
    let folder = repository();
    assert_eq!(code(&reckon(folder.path(), &["init", "--empty-remote", "--yes"])), 0);
    assert_eq!(code(&reckon(folder.path(), &["plan"])), 0);
    std::fs::remove_file(folder.path().join(".reckon.key")).unwrap();
    let plan = reckon(folder.path(), &["store", "check"]);
    assert_eq!(code(&plan), 4);
    assert!(stderr(&plan).contains(".reckon.key"), "{}", stderr(&plan));
}

#[test]
fn a_rebuilt_index_says_the_same() {
    let folder = repository();
    let declared = reckon(folder.path(), &["init", "--empty-remote", "--yes"]);
    let digest = |output: &Output| {
        let report: Value = serde_json::from_str(&stdout(output)).unwrap();
        (report["state_digest"].clone(), report["head"].clone())
    };
    let before = reckon(folder.path(), &["store", "check", "-o", "json"]);
    std::fs::remove_dir_all(folder.path().join(".reckon/sled")).unwrap();
    let after = reckon(folder.path(), &["store", "rebuild", "-o", "json"]);
    assert_eq!((code(&declared), code(&before), code(&after)), (0, 0, 0), "{}", stderr(&declared));
    assert_eq!(digest(&before), digest(&after));
}

#[test]
fn the_urls_of_events_and_of_every_sign_up_are_printed_and_stay_the_same() {
    let folder = repository();
    let document = |name: &str| {
        format!(
            "apiVersion: reckon.dev/v1\nkind: MerchantApplication\nmetadata: {{name: {name}}}\n\
             spec: {{submission: sign_up, plan: basic, email: {name}@example.com}}\n"
        )
    };
    let text = [document("harbor"), document("quay")].join("---\n");
    std::fs::write(folder.path().join("specs/applications.yaml"), text).unwrap();
    let people = reckon(folder.path(), &["events", "urls"]);
    assert_eq!(code(&people), 0, "{}", stderr(&people));
    let programs = reckon(folder.path(), &["events", "urls", "-o", "json"]);
    let printed: Value = serde_json::from_str(&stdout(&programs)).unwrap();
    let event_url = printed.pointer("/partner/event_url").and_then(Value::as_str).unwrap();
    let token = event_url.strip_prefix("http://127.0.0.1:8780/webhooks/partner/").unwrap();
    assert_eq!((token.len(), token.ends_with('/')), (41, true), "{event_url}");
    let links = printed.get("applicants").and_then(Value::as_array).unwrap();
    let gateway = printed.pointer("/gateway/0/url").and_then(Value::as_str).unwrap();
    let start = "http://127.0.0.1:8780/webhooks/gateway/default_acme_test_0_";
    assert_eq!(gateway.strip_prefix(start).map(str::len), Some(32), "{gateway}");
    let mut expect = vec![format!("Event URL  {event_url}")];
    expect.push(format!("Merchant/acme (test)  {gateway}"));
    for (link, name) in links.iter().zip(["harbor", "quay"]) {
        let text = |field: &str| link.get(field).and_then(Value::as_str).unwrap();
        assert_eq!(text("application"), format!("MerchantApplication/{name}"));
        let start = format!("http://127.0.0.1:8780/apply/default_{name}_");
        assert_eq!(text("url").strip_prefix(&start).map(str::len), Some(32));
        expect.push(format!("{}  {}", text("application"), text("url")));
    }
    assert_eq!((links.len(), stdout(&people).trim_end()), (2, expect.join("\n").as_str()));
}

#[test]
fn live_money_needs_a_configuration_that_was_chosen() {
    let folder = repository();
    let specs = folder.path().join("specs/acme.yaml");
    let text = std::fs::read_to_string(&specs).unwrap().replace("mode: test", "mode: live");
    std::fs::write(&specs, text).unwrap();
    let found = reckon(folder.path(), &["plan"]);
    assert_eq!(code(&found), 3, "{}", stderr(&found));
    assert!(stdout(&found).contains("--config"), "{}", stdout(&found));
    // Closes the item of C: only `plan` named this problem.
    let valid = reckon(folder.path(), &["validate"]);
    assert_eq!(code(&valid), 0, "a warning is no failure: {}", stdout(&valid));
    for word in ["reckon::merchant::live_refused", "specs/acme.yaml", "0 errors, 1 warning"] {
        assert!(stdout(&valid).contains(word), "{}", stdout(&valid));
    }
    let chosen = reckon(folder.path(), &["--config", "reckon.yaml", "plan"]);
    assert_eq!(code(&chosen), 0, "{}", stdout(&chosen));
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    let inside = reckon(folder.path(), &["--config", "reckon.yaml", "plan"]);
    assert_eq!(code(&inside), 3, "{}", stdout(&inside));
    covers::covers(&["30.4"]);
}

#[test]
fn what_waits_for_no_approval_cannot_be_approved() {
    let folder = repository();
    for (what, word) in [
        ("merchant/acme", "Merchant/acme does not wait for an approval"),
        ("Contact/jane", "Contact/jane does not wait for an approval"),
        ("Merchant/none", "none waits for an approval now"),
        ("Merchant", "Merchant/NAMESPACE/NAME"),
        ("Merchnat/acme", "there is no kind"),
    ] {
        let output = reckon(folder.path(), &["approve", what, "--yes"]);
        assert_eq!(code(&output), 1, "{what}");
        assert!(stderr(&output).contains(word), "{what}: {}", stderr(&output));
    }
    let json = reckon(folder.path(), &["approve", "Merchant/acme", "-o", "json"]);
    let printed: Value = serde_json::from_str(&stderr(&json)).unwrap();
    let word = printed.pointer("/error/code").and_then(Value::as_str);
    assert_eq!((code(&json), word), (1, Some("reckon::approve::nothing_waits")));
}

#[test]
fn a_second_test_of_the_sign_up_is_a_problem_at_its_line_and_names_the_first() {
    let folder = repository();
    let write = |file: &str, name: &str| {
        let text = format!(
            "apiVersion: reckon.dev/v1\nkind: MerchantApplication\nmetadata: {{name: {file}}}\nspec:\n  \
             submission: sign_up\n  plan: basic\n  email: {file}@example.com\n  business_name: {name}\n"
        );
        std::fs::write(folder.path().join(format!("specs/{file}.yaml")), text).unwrap();
    };
    write("harbor", "Harbor Books - TEST");
    write("quay", "Quay Books - TEST");
    let output = reckon(folder.path(), &["validate", "-o", "json"]);
    let printed: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let problem = printed.pointer("/problems/0").unwrap();
    let text = |path: &str| problem.pointer(path).map(Value::to_string).unwrap_or_default();
    assert_eq!(text("/code"), "\"reckon::merchant_application::second_test\"");
    let place = [text("/file"), text("/line"), text("/column"), text("/length")];
    assert_eq!(place, ["\"specs/quay.yaml\"", "8", "18", "17"]);
    let first = [text("/related/0/file"), text("/related/0/line"), text("/related/0/column")];
    assert_eq!(first, ["\"specs/harbor.yaml\"", "8", "18"]);
    assert!(!stdout(&output).contains("Quay Books"), "a business name is personal");
    assert_eq!((code(&output), printed.pointer("/problems/1")), (1, None));
    write("quay", "Quay Books");
    assert_eq!(code(&reckon(folder.path(), &["validate"])), 0);
}

#[test]
fn plain_http_is_spoken_with_this_machine_alone() {
    let folder = repository();
    let config = folder.path().join("reckon.yaml");
    let text = std::fs::read_to_string(&config).unwrap();
    for (host, expect) in
        [("127.0.0.1", 0), ("[::1]", 0), ("10.0.0.1", 1), ("localhost", 1), ("service.example", 1)]
    {
        let other = format!("base_url: http://{host}:8700 ");
        std::fs::write(&config, text.replace("base_url: https://127.0.0.1:8700", &other)).unwrap();
        let planned = reckon(folder.path(), &["plan"]);
        let printed = stderr(&planned);
        assert_eq!(code(&planned), expect, "{host}: {printed}");
        assert_eq!(
            printed.contains(&format!("`http://{host}:8700` is not encrypted")),
            expect == 1
        );
    }
    covers::covers(&["31.6"]);
}

/// Closes S12: a mistyped name or path matched nothing, and the command ended with 0.
#[test]
fn a_name_or_path_that_names_nothing_is_a_mistake_with_the_nearest_one() {
    let folder = repository();
    for (arguments, help) in [
        (
            &["apply", "missing.plan", "--yes"][..],
            "write the path relative to the working directory",
        ),
        (&["apply", "specs/acne.yaml", "--yes"], "did you mean specs/acme.yaml?"),
        (&["validate", "/nonexistent.yaml"], "write the path relative to the working directory"),
        (&["validate", "reckon.yaml"], "name a file or folder in"),
        (&["plan", "/nonexistent"], "write the path relative to the working directory"),
        (&["plan", "spec"], "did you mean specs?"),
        (&["plan", "--target", "Invoice/jane-frst"], "did you mean Invoice/jane-first?"),
        (&["get", "Invoice/jane-frst"], "did you mean Invoice/jane-first?"),
        (&["get", "Invoice/nope"], "list all resources with `reckon get`"),
        (&["describe", "Invoice/nope"], "list all resources with `reckon get`"),
    ] {
        let output = reckon(folder.path(), arguments);
        assert_eq!(code(&output), 1, "{arguments:?}: {}", stdout(&output));
        assert!(stderr(&output).contains(help), "{arguments:?}: {}", stderr(&output));
    }
    for arguments in [&["validate", "specs/acme.yaml"][..], &["plan", "specs"], &["get", "Invoice"]]
    {
        assert_eq!(code(&reckon(folder.path(), arguments)), 0, "{arguments:?}");
    }
}

/// Closes the item of C: a command that only reads makes neither a state nor a key.
#[test]
fn a_look_makes_no_state_and_no_key() {
    let folder = repository();
    std::fs::remove_file(folder.path().join(".reckon.key")).unwrap();
    let looks = [
        &["plan"][..],
        &["get"],
        &["describe", "Merchant/acme"],
        &["intents"],
        &["why", "Merchant/acme"],
        &["events", "list"],
        &["events", "failed"],
        &["hooks", "list"],
    ];
    for arguments in looks {
        let output = reckon(folder.path(), arguments);
        assert_eq!(code(&output), 0, "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("there is no state at"), "{}", stderr(&output));
        for made in [".reckon", ".reckon.key", ".reckon.mark"] {
            assert!(!folder.path().join(made).exists(), "{arguments:?} made {made}");
        }
    }
    assert_eq!(code(&reckon(folder.path(), &["init", "--empty-remote", "--yes"])), 0);
    for arguments in looks {
        let output = reckon(folder.path(), &[arguments, &["--state", ".recon"]].concat());
        let printed = stderr(&output);
        assert_eq!(code(&output), 1, "{arguments:?}: {printed}");
        assert!(
            printed.contains("reckon::state::absent") && printed.contains("--state .reckon?"),
            "{printed}"
        );
        assert!(!folder.path().join(".recon").exists(), "{arguments:?}");
        assert!(!stderr(&reckon(folder.path(), arguments)).contains("no state"), "{arguments:?}");
    }
}
