use std::collections::BTreeSet;
use std::path::Path;

use serde_json::json;

use crate::cli::context::secrets::*;
use crate::kinds::schema::kind::EnvPattern;

fn opened(files: Option<PathBuf>) -> OpenedSecrets {
    OpenedSecrets {
        variables: Variables::new(
            vec![EnvPattern::Prefix("CODE_".to_owned()), EnvPattern::Exact("EXACT".to_owned())],
            BTreeSet::from(["CODE_MINE".to_owned()]),
        ),
        files,
        attachments: None,
        programs: Programs::new(),
        identity: None,
        dir: PathBuf::from("/"),
        env: Arc::new(|name| (name != "CODE_UNSET").then(|| format!("value of {name}"))),
    }
}

/// S3: the place that sealed texts in people's trees name stays as it is, byte for byte.
#[test]
fn the_place_of_a_sealed_text_never_changes() {
    let key = "SavedMethod/a.b/jane".parse().expect("a key");
    assert_eq!(place(&key, "source.card.number"), "SavedMethod/a.b/jane/source.card.number");
}

fn resolve(secrets: &OpenedSecrets, source: &Value) -> Result<String, String> {
    let key = "Merchant/acme".parse().expect("a key");
    let found = secrets.resolve(source, &key);
    found.map(|secret| secret.expose().to_owned()).map_err(|error| error.message)
}

#[test]
fn only_opened_variables_are_read() {
    let secrets = opened(None);
    assert_eq!(resolve(&secrets, &json!({"env": "CODE_A"})).as_deref(), Ok("value of CODE_A"));
    for closed in ["HOME", "EXACT2", "CODE_MINE", "CODE_UNSET"] {
        let error = resolve(&secrets, &json!({"env": closed})).expect_err("closed");
        assert!(error.contains(closed), "{error}");
    }
}

#[test]
fn a_file_cannot_be_reached_outside_the_folder() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("code"), "abc\n").expect("written");
    std::os::unix::fs::symlink("/etc", dir.path().join("out")).expect("linked");
    std::os::unix::fs::symlink("code", dir.path().join("again")).expect("linked");
    let secrets = opened(Some(dir.path().to_owned()));
    assert_eq!(resolve(&secrets, &json!({"file": "code"})).as_deref(), Ok("abc"));
    for name in ["../code", "/etc/hostname", "out/hostname", "again", "missing", "."] {
        assert!(resolve(&secrets, &json!({"file": name})).is_err(), "{name}");
    }
}

#[test]
fn a_file_that_is_too_long_or_no_text_is_refused_and_not_shown() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("long"), "canary".repeat(20_000)).expect("written");
    std::fs::write(dir.path().join("bytes"), b"canary\xff").expect("written");
    std::fs::write(dir.path().join("empty"), "\n").expect("written");
    std::fs::create_dir(dir.path().join("folder")).expect("made");
    let secrets = opened(Some(dir.path().to_owned()));
    for name in ["long", "bytes", "empty", "folder"] {
        let error = resolve(&secrets, &json!({"file": name})).expect_err(name);
        assert!(error.contains(name) && !error.contains("canary"), "{error}");
    }
}

#[test]
fn only_declared_programs_are_run() {
    let words = ["/bin/echo", "value"].map(|word| Setting::Literal(word.to_owned()));
    let programs = Programs::from([("jane".to_owned(), words.to_vec())]);
    let secrets = OpenedSecrets { programs, ..opened(None) };
    assert_eq!(resolve(&secrets, &json!({"exec": "jane"})).as_deref(), Ok("value"));
    let error = resolve(&secrets, &json!({"exec": "/bin/echo"})).expect_err("not declared");
    assert!(error.contains("secrets.exec"), "{error}");
}

/// Makes a folder with an identity, and secrets that use it.
fn with_identity(file: &str) -> (tempfile::TempDir, OpenedSecrets) {
    let dir = tempfile::tempdir().expect("a folder");
    let key = "AGE-SECRET-KEY-1GQ9778VQXMMJVE8SK7J6VT8UJ4HDQAJUVSFCWCM02D8GEWQ72PVQ2Y5J33";
    let files = dir.path().join("secrets");
    std::fs::create_dir(&files).expect("made");
    std::fs::write(dir.path().join(file), key).expect("written");
    std::fs::write(files.join("other"), "text").expect("written");
    let name = Path::new(file).strip_prefix("secrets").unwrap_or(Path::new(file));
    let identity = Some(Setting::Literal(dir.path().join(name)));
    let root = dir.path().to_owned();
    (dir, OpenedSecrets { identity, dir: root, ..opened(Some(files)) })
}

#[test]
fn a_sealed_text_opens_where_it_was_sealed_for_alone() {
    let (_dir, secrets) = with_identity("age.key");
    let place = place(&"Merchant/acme".parse().expect("a key"), "credentials.access_token");
    let keyring = secrets.keyring().expect("an identity");
    let sealed = keyring.seal(&place, &Secret::from("canary")).expect("sealed");
    let source = |field: &str| json!({"age": sealed, "field": field});
    assert_eq!(resolve(&secrets, &source("credentials.access_token")).as_deref(), Ok("canary"));
    for field in ["credentials.authorization_code", "", "credentials"] {
        let error = resolve(&secrets, &source(field)).expect_err("elsewhere");
        assert!(error.contains("another place") && !error.contains("canary"), "{error}");
    }
    let other = "Merchant/other/acme".parse().expect("a key");
    assert!(secrets.resolve(&source("credentials.access_token"), &other).is_err());
    assert!(resolve(&opened(None), &source("credentials.access_token")).is_err());
}

#[test]
fn the_identity_may_stand_among_the_files_but_no_spec_reads_it() {
    let (_dir, secrets) = with_identity("secrets/age.key");
    assert!(secrets.keyring().is_ok());
    assert_eq!(resolve(&secrets, &json!({"file": "other"})).as_deref(), Ok("text"));
    let error = resolve(&secrets, &json!({"file": "age.key"})).expect_err("closed");
    assert!(error.contains("secrets.age") && !error.contains("AGE-SECRET"), "{error}");
}
