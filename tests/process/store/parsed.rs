//! The parsed specs of the last start, beside the index: sealed, and never needed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::{Daemon, Place};

/// Starts a daemon, lists its resources, and ends it.
fn listed_by_a_daemon(place: &Place) -> String {
    let mut daemon = Daemon::start(place);
    let listed = String::from_utf8(place.run(&["get", "-o", "name"]).stdout).unwrap();
    let process = daemon.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &process]).status().unwrap().success());
    assert!(daemon.0.wait().unwrap().success());
    listed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_parsed_specs_are_sealed_and_anyone_may_damage_or_delete_them() {
    let place = Place::applied().await;
    let file = place.state().join("specs.parsed");
    let listed = || listed_by_a_daemon(&place);
    let expect = listed();
    assert!(expect.contains("Contact/jane"), "{expect}");
    let bytes = fs::read(&file).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    for word in ["jane@example.com", "Doe", "Retainer", "Contact"] {
        let found = bytes.windows(word.len()).any(|part| part == word.as_bytes());
        assert!(!found, "{word} is readable");
    }
    assert_eq!(listed(), expect, "from the parsed specs");
    assert_eq!(fs::read(&file).unwrap(), bytes, "nothing changed, so the file is kept");
    for damage in [&bytes[..bytes.len() - 1], &bytes[..20], &[&bytes[..90], &[0; 40]].concat(), &[]]
    {
        fs::write(&file, damage).unwrap();
        assert_eq!(listed(), expect);
        assert!(fs::read(&file).unwrap().len() >= bytes.len(), "it is made again");
    }
    fs::remove_file(&file).unwrap();
    assert_eq!(listed(), expect);
    fs::remove_file(place.folder.path().join("specs/invoice.yaml")).unwrap();
    assert_eq!(place.code(&["validate"]), 0);
    assert!(listed().contains("Contact/jane"));
    assert!(fs::read(&file).unwrap().len() < bytes.len(), "what was removed left the file");
}
