//! Scripts on disk against the data of a daemon: tried on an event, and compared with the actions of earlier runs.

mod replay;

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::support::daemon_process;

const TREE: &str = "apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec: {mode: test, timezone: America/Chicago, credentials: {authorization_code: {env: CODE_ACME}}}
";

/// The script that the daemon runs.
const THEN: &str = r#"
fn on_transaction_authorized(event) {
    if event.data.type != "CHARGE" { return; }
    let count = kv_get("count") ?? 0;
    kv_set("count", count + 1);
    let acme = resource("Merchant/acme");
    if acme != () { suspend("Merchant/acme", `charge ${count}`, #{name: "stop", at: "2999-01-01"}); }
}
"#;

fn reckon(folder: &Path, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reckon"));
    command.current_dir(folder).env_clear().args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn text(output: &Output) -> String {
    let parts =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    parts.concat()
}

fn printed(folder: &Path, arguments: &[&str]) -> (Option<i32>, Value) {
    let output = reckon(folder, &[&["-o", "json"], arguments].concat(), "");
    let value = serde_json::from_slice(&output.stdout);
    (output.status.code(), value.unwrap_or_else(|_| panic!("{}", text(&output))))
}

/// Sends one request to the service, with a key or without.
fn ask(service: &str, method: &str, path: &str, key: Option<&str>, body: &Value) -> Value {
    let address = service.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let basic = key.map(|key| data_encoding::BASE64.encode(format!("{key}:").as_bytes()));
    let basic = basic.map(|basic| format!("authorization: Basic {basic}\r\n")).unwrap_or_default();
    let body = body.to_string();
    write!(
        stream,
        "{method} {path} HTTP/1.0\r\nhost: {address}\r\ncontent-type: application/json\r\n{basic}\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap_or_else(|_| panic!("{path}: {answer}"))
}

fn charge(service: &str, minor: i64) {
    let all = ask(service, "GET", "/_sandbox/credentials", None, &Value::Null);
    let merchants = all["merchants"].as_array().unwrap();
    let acme = merchants.iter().find(|one| one["name"] == "acme").unwrap();
    let key = acme["test"]["secret_key"].as_str().unwrap();
    let method = json!({"type": "card", "number": "4242424242424242", "exp_month": 12,
        "exp_year": 2031, "cvv": "123"});
    let charge = json!({"amount": minor, "method": method});
    let charge = ask(service, "POST", "/v1/charges", Some(key), &charge);
    assert!(charge["id"].is_string(), "{charge}");
}

/// Asks until the answer fits.
fn until<T>(mut asked: impl FnMut() -> Option<T>) -> T {
    (0..600).find_map(|_| asked()).expect("the answer fits in time")
}

/// Returns the events of the charge, the oldest first, once the hooks have run for `count` events.
fn events(folder: &Path, count: usize) -> Vec<String> {
    until(|| {
        let (_, all) = printed(folder, &["events", "list"]);
        let of = |one: &&Value| one["type"] == "transaction.authorized";
        let items = all["items"].as_array()?.iter().rev().filter(of);
        let ids: Vec<String> = items.map(|one| one["id"].as_str().unwrap().to_owned()).collect();
        let (_, hooks) = printed(folder, &["events", "failed"]);
        let waiting = hooks["waiting"].as_array()?.len();
        (ids.len() == count && waiting == count).then_some(ids)
    })
}

/// Checks that one event is shown with its run and the action that waits, and is found by both.
fn shows_what_became_of_an_event(path: &Path, id: &str) {
    let (code, shown) = printed(path, &["events", "show", id]);
    assert_eq!(code, Some(0), "{shown}");
    let run = &shown["runs"][0];
    assert_eq!((&run["script"], &run["outcome"]), (&json!("count"), &json!("done")), "{shown}");
    assert!(run["reads"].to_string().contains("Merchant/acme"), "{shown}");
    let action = &run["actions"][0];
    assert_eq!((&action["name"], &action["state"]), (&json!("stop"), &json!("open")), "{shown}");
    assert_eq!(shown["hooks"]["state"], "acting", "{shown}");
    let (_, data) = printed(path, &["events", "show", id, "--data"]);
    assert_eq!((&data["amount"], &data), (&json!(700), &shown["data"]));
    assert!(!data.to_string().contains("424242424242"), "{data}");
    let filter = ["--status", "acting", "--type", "transaction", "--since", "1h"];
    let (_, found) = printed(path, &[&["events", "list"][..], &filter].concat());
    assert_eq!(found["items"].as_array().map(Vec::len), Some(2), "{found}");
    let (_, none) = printed(path, &["events", "list", "--status", "failed"]);
    assert_eq!(none["items"], json!([]));
}

#[test]
fn scripts_on_disk_are_tried_on_what_is_known_and_held_against_what_was_done() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::create_dir(path.join("scripts")).unwrap();
    let script = path.join("scripts/count.rhai");
    fs::write(&script, THEN).unwrap();
    let daemon = daemon_process::start(path, TREE).unwrap();
    until(|| (printed(path, &["get"]).1["items"][0]["ready"] == true).then_some(()));
    charge(&daemon.service, 700);
    events(path, 1);
    charge(&daemon.service, 800);
    let ids = events(path, 2);

    shows_what_became_of_an_event(path, &ids[0]);

    // Reads repeat the answers of the original run, although the count has changed since.
    let (code, same) = printed(path, &["hooks", "diff"]);
    assert_eq!(
        (code, same["same"].as_u64(), &same["items"]),
        (Some(0), Some(4), &json!([])),
        "{same}"
    );
    assert!(same["reads_of_then"].as_u64() >= Some(4), "{same}");

    // Now the script on disk differs; the daemon's copy is not used.
    let edited = THEN
        .replace("charge ${count}", "charge number ${count}")
        .replace("\"stop\"", "`stop-${event.data.amount}`");
    fs::write(
        &script,
        format!("{edited}\nfn on_transaction_voided(event) {{ log(\"voided\"); }}\n"),
    )
    .unwrap();
    let (code, run) = printed(path, &["hooks", "try", &ids[0]]);
    assert_eq!(code, Some(0), "{run}");
    let asked = &run["runs"][0];
    assert_eq!(asked["actions"][0]["name"], "stop-700");
    assert_eq!(
        (&asked["actions"][0]["do"], &asked["actions"][0]["reason"]),
        (&json!("suspend"), &json!("charge number 2"))
    );
    assert_eq!(asked["kept"], json!({"count": 3}), "a dry run reads the current kept values");
    let (code, shadow) = printed(path, &["hooks", "diff", "--since", "1d", "--script", "count"]);
    assert_eq!((code, shadow["items"].as_array().unwrap().len()), (Some(2), 2), "{shadow}");
    let found = &shadow["items"][1]["differences"];
    assert_eq!(
        (&found["added"][0]["name"], &found["gone"][0]["name"]),
        (&json!("stop-800"), &json!("stop"))
    );
    assert_eq!(
        (&found["added"][0]["reason"], &found["kept"]),
        (&json!("charge number 1"), &json!([]))
    );
    let shown = text(&reckon(path, &["hooks", "diff"], ""));
    assert!(
        shown.contains("  - suspend stop {") && shown.contains("  + suspend stop-800 {"),
        "{shown}"
    );
    assert!(
        shown.contains("4 events since") && shown.contains("2 the same, 2 different"),
        "{shown}"
    );

    nothing_of_it_was_done_and_mistakes_are_told(path, &ids);
    a_read_goes_through_the_daemon_and_a_failure_shows_its_place(path, &ids);
    a_prompt_sees_the_same(path, &ids);

    // Without the daemon, the state on disk gives the same answers.
    drop(daemon);
    fs::write(&script, edited).unwrap();
    let (code, run) = printed(path, &["--state", ".reckon", "hooks", "try", &ids[0]]);
    assert_eq!((code, &run["runs"][0]["kept"]), (Some(0), &json!({"count": 3})), "{run}");
    let (code, shadow) = printed(path, &["hooks", "diff"]);
    assert_eq!((code, shadow["items"].as_array().unwrap().len()), (Some(2), 2), "{shadow}");
}

fn a_prompt_sees_the_same(path: &Path, ids: &[String]) {
    let lines = format!(
        ":event {}\nlet double = event.data.amount * 2;\ndouble\nfn word(n) {{\n  `n${{n}}`\n}}\nword(double)\n\
         :script count\nkv_get(\"count\")\ngateway_get(\"transaction.get\", #{{id: event.data.id}}).amount\n\
         resource(\"Merchant/acme\").ready\nsuspend(\"Merchant/acme\", \"x\", #{{name: \"typed\"}})\n:actions\n:quit\n",
        ids[0]
    );
    let typed = reckon(path, &["hooks", "repl"], &lines);
    let answers: Vec<String> = text(&typed).lines().map(str::to_owned).collect();
    assert_eq!(typed.status.code(), Some(0), "{answers:?}");
    let asked = "  requests suspend typed {merchant: acme, key: Merchant/default/acme, reason: x}";
    let expect = ["1400", "\"n1400\"", "2", "700", "true", "\"typed\"", asked, asked];
    assert_eq!(answers, expect);
    let typed = reckon(path, &["hooks", "repl"], "1 +\n2\nnothing(3)\n:event none\nif true {\n");
    let printed = text(&typed);
    assert_eq!(typed.status.code(), Some(1), "{printed}");
    for part in ["3\n", "repl:1:1", "nothing", "there is no event none", "incomplete input"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    let typed = reckon(path, &["-o", "json", "hooks", "repl"], "2 + 2\nx\n");
    let text = String::from_utf8(typed.stdout).unwrap();
    let all: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&all[0]["value"], &all[1]["problem"]["line"]), (&json!("4"), &json!(1)));
    assert_eq!(events(path, 2), ids, "no action was requested");
}

fn nothing_of_it_was_done_and_mistakes_are_told(path: &Path, ids: &[String]) {
    assert_eq!(events(path, 2), ids);
    let old = printed(path, &["hooks", "run", &ids[0], "--dry-run"]);
    assert_eq!(old, printed(path, &["hooks", "try", &ids[0]]), "the old words do the same");
    let unknown = reckon(path, &["hooks", "try", "nothing"], "");
    assert!(
        unknown.status.code() == Some(1) && text(&unknown).contains("no event nothing"),
        "{}",
        text(&unknown)
    );
    let other = reckon(path, &["hooks", "try", &ids[0], "--script", "cuont"], "");
    assert!(
        other.status.code() == Some(1) && text(&other).contains("did you mean `count`?"),
        "{}",
        text(&other)
    );
}

fn a_read_goes_through_the_daemon_and_a_failure_shows_its_place(path: &Path, ids: &[String]) {
    let script = path.join("scripts/count.rhai");
    let reads = "fn on_transaction_authorized(event) {\n    let t = gateway_get(\"transaction.get\", #{id: event.data.id});\n    log(`now ${t.amount}`);\n    throw \"enough\";\n}\n";
    fs::write(&script, reads).unwrap();
    let failed = reckon(path, &["hooks", "try", &ids[1]], "");
    let shown = text(&failed);
    assert!(
        failed.status.code() == Some(1)
            && shown.contains("scripts/count.rhai:4:5")
            && shown.contains("enough"),
        "{shown}"
    );
    let (_, failed) = printed(path, &["hooks", "try", &ids[1]]);
    assert_eq!(failed["failures"][0]["log"], json!(["now 800"]), "{failed}");
    let (code, shadow) = printed(path, &["hooks", "diff"]);
    assert_eq!(
        (code, shadow["items"][0]["fails"][0][0].as_str()),
        (Some(2), Some("count")),
        "{shadow}"
    );
    assert!(shadow["reads_of_now"].as_u64() >= Some(2), "{shadow}");
}
