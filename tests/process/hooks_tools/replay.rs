//! `events replay --since`: first the cost, then the runs.

use super::*;
use crate::outputs::schemas::satisfies;

const FORGETS: &str = r#"
fn on_transaction_authorized(event) { kv_set("last", event.id); }
"#;

const CORRECTED: &str = r#"
fn on_transaction_authorized(event) {
    if event.data.type != "CHARGE" { return; }
    suspend("Merchant/acme", "a charge", #{name: "stop", at: "2999-01-01"});
}
"#;

const REPLAY: [&str; 6] = ["events", "replay", "--script", "count", "--since", "1h"];

/// Returns the event of the charge once the script has handled it.
fn handled(folder: &Path) -> String {
    until(|| {
        let (_, all) = printed(folder, &["events", "list", "--status", "no-action"]);
        let of = |one: &&Value| one["type"] == "transaction.authorized";
        Some(all["items"].as_array()?.iter().find(of)?["id"].as_str()?.to_owned())
    })
}

fn loaded(folder: &Path) -> Value {
    printed(folder, &["events", "failed"]).1["loaded"].clone()
}

/// Returns the counts of the only action: new, requested before.
fn counts(cost: &Value) -> (&Value, &Value) {
    assert_eq!(cost["actions"].as_array().map(Vec::len), Some(1), "{cost}");
    assert_eq!(cost["actions"][0]["verb"], "suspend", "{cost}");
    (&cost["actions"][0]["new"], &cost["actions"][0]["repeated"])
}

/// Closes K12: the cost comes first, and the runs do just that.
#[test]
fn k12_a_script_runs_again_for_a_period_once_its_cost_was_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::create_dir(path.join("scripts")).unwrap();
    fs::write(path.join("scripts/count.rhai"), FORGETS).unwrap();
    let daemon = daemon_process::start(path, TREE).unwrap();
    until(|| (printed(path, &["get"]).1["items"][0]["ready"] == true).then_some(()));
    charge(&daemon.service, 700);
    let event = handled(path);
    let before = loaded(path);
    fs::write(path.join("scripts/count.rhai"), CORRECTED).unwrap();
    until(|| (loaded(path) != before).then_some(()));

    let (code, cost) = printed(path, &REPLAY);
    assert_eq!(
        (code, &cost["events"], &cost["earlier"]["succeeded"]),
        (Some(2), &json!(1), &json!(1))
    );
    assert_eq!(counts(&cost), (&json!(1), &json!(0)));
    satisfies("events replay --since", &cost);
    let shown = text(&reckon(path, &REPLAY, ""));
    assert!(shown.contains("count would run again for 1 event since"), "{shown}");
    assert!(shown.contains("suspend: 1 new\n"), "{shown}");
    let (_, detail) = printed(path, &["events", "show", &event]);
    assert_eq!(detail["runs"].as_array().map(Vec::len), Some(1), "nothing is done: {detail}");

    let command = cost["confirm"].as_str().unwrap();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let (code, replayed) = printed(path, &words);
    assert_eq!((code, &replayed), (Some(0), &json!({"hooks": 1})));
    satisfies("events replay --since --yes", &replayed);
    let detail = until(|| {
        let (_, detail) = printed(path, &["events", "show", &event]);
        (detail["runs"].as_array().map(Vec::len) == Some(2)).then_some(detail)
    });
    assert_eq!(detail["replays"][0]["script"], "count", "{detail}");
    assert_eq!(detail["runs"][1]["actions"][0]["name"], "stop", "{detail}");
    let (_, cost) = printed(path, &REPLAY);
    assert_eq!(counts(&cost), (&json!(0), &json!(1)));
    mistakes(path);
}

fn mistakes(path: &Path) {
    let unknown = reckon(path, &["events", "replay", "--script", "cuont", "--since", "1h"], "");
    assert_eq!(unknown.status.code(), Some(1));
    assert!(text(&unknown).contains("did you mean `count`?"), "{}", text(&unknown));
    let period = [&REPLAY[..], &["--until", "2h"]].concat();
    let period = reckon(path, &period, "");
    assert!(text(&period).contains("--until is before --since"), "{}", text(&period));
    let limit = [&REPLAY[..], &["--limit", "0"]].concat();
    assert!(text(&reckon(path, &limit, "")).contains("a number from 1 to 5000"));
}
