//! S14: `store rekey`, with real processes.

use super::*;

const KEY_VARIABLE: &str = "KEY_OF_THE_STATE";

impl Place {
    fn key(&self) -> String {
        fs::read_to_string(self.key_file()).unwrap().trim().to_owned()
    }

    fn key_file(&self) -> PathBuf {
        self.folder.path().join(".reckon.key")
    }

    fn put_key(&self, key: &str) {
        fs::write(self.key_file(), key).unwrap();
    }

    /// Everything that an exchange of the key must not change.
    fn lasting(&self) -> [Value; 3] {
        let invoice = self.json(&["describe", "Invoice/one"]);
        let plan = self.json(&["plan"]);
        [
            paths(&self.json(&["events", "urls"])),
            invoice["remote_id"].clone(),
            plan["checksum"].clone(),
        ]
    }

    /// Returns the places that show one of these keys: the output, and all files but the key files.
    fn shows(&self, keys: &[String], printed: &str) -> Vec<String> {
        let forms = keys.iter().flat_map(|key| {
            let raw = data_encoding::BASE64.decode(key.as_bytes()).unwrap();
            let hex = data_encoding::HEXLOWER.encode(&raw);
            [key.trim_end_matches('=').as_bytes().to_vec(), raw, hex.into_bytes()]
        });
        let forms: Vec<Vec<u8>> = forms.collect();
        let holds = |bytes: &[u8]| {
            forms.iter().any(|form| bytes.windows(form.len()).any(|window| window == form))
        };
        let mut found = Vec::new();
        if holds(printed.as_bytes()) {
            found.push("the output".to_owned());
        }
        let is_key = |path: &Path| path.to_string_lossy().contains(".key");
        let files = files(self.folder.path()).into_iter().filter(|path| !is_key(path));
        let files = files.filter(|path| fs::read(path).is_ok_and(|bytes| holds(&bytes)));
        found.extend(files.map(|path| path.display().to_string()));
        found
    }

    fn with_key(&self, arguments: &[&str], key: &str) -> Output {
        self.command(arguments).env(KEY_VARIABLE, key).output().unwrap()
    }
}

/// Addresses without their host, since the daemon's port differs.
fn paths(urls: &Value) -> Value {
    let text = urls.to_string();
    let parts = text.split("http://127.0.0.1:");
    parts.map(|part| part.trim_start_matches(char::is_numeric)).collect::<String>().into()
}

fn printed(output: &Output) -> String {
    [said(&output.stdout), said(&output.stderr)].concat()
}

/// Closes S14: the lasting values stay, the old key opens nothing, and no output or file shows a key.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_key_is_exchanged_and_nothing_else_changes() {
    let place = Place::applied().await;
    let (old, before) = (place.key(), place.lasting());
    let unasked = place.run(&["store", "rekey"]);
    assert_eq!(unasked.status.code(), Some(1), "{}", printed(&unasked));
    assert!(printed(&unasked).contains("store rekey --yes"), "{}", printed(&unasked));
    assert_eq!(place.key(), old);
    let backup = place.at("one.backup");
    assert_eq!(place.code(&["store", "backup", &backup]), 0);
    let done = place.run(&["store", "rekey", "--yes"]);
    assert_eq!(done.status.code(), Some(0), "{}", printed(&done));
    let new = place.key();
    assert_ne!(new, old);
    assert_eq!(place.lasting(), before);
    let check = place.run(&["store", "check"]);
    assert!(printed(&check).contains("exchanged once"), "{}", printed(&check));
    place.contact("john");
    assert_eq!((place.code(&["apply", "--yes"]), place.contacts()), (0, 2));
    place.put_key(&old);
    let refused = place.run(&["store", "check"]);
    assert_eq!(refused.status.code(), Some(4), "{}", printed(&refused));
    assert!(printed(&refused).contains("reckon store rekey"), "{}", printed(&refused));
    let all: String =
        [&unasked, &done, &check, &refused].iter().map(|output| printed(output)).collect();
    assert_eq!(place.shows(&[old.clone(), new.clone()], &all), [""; 0]);

    place.put_key(&new);
    let restored = place.run(&["store", "restore", &backup, "--replace"]);
    assert_eq!(restored.status.code(), Some(4), "{}", printed(&restored));
    assert!(printed(&restored).contains("needs the older key"), "{}", printed(&restored));
    assert_eq!(place.code(&["store", "backup", &place.at("two.backup")]), 0);
    place.put_key(&old);
    assert_eq!(place.code(&["store", "restore", &backup, "--replace"]), 0);
    assert_eq!(place.code(&["store", "check"]), 0);
    let later = ["store", "restore", &place.at("two.backup"), "--replace"];
    assert_eq!(place.code(&later), 4, "a later backup needs the new key");
    place.put_key(&new);
    assert_eq!(place.code(&later), 0);
}

/// Closes S14: the daemon continues with the new key.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_daemon_exchanges_its_key_and_goes_on() {
    let place = Place::applied().await;
    let (old, before) = (place.key(), place.lasting());
    let daemon = Daemon::start(&place);
    let rekeyed = place.json(&["store", "rekey", "--yes"]);
    assert_eq!(
        (&rekeyed["rekeyed"]["generation"], &rekeyed["set_secrets_key"]),
        (&1.into(), &false.into())
    );
    assert_eq!(place.lasting(), before);
    place.contact("john");
    place.commit();
    assert_eq!((place.code(&["apply", "--yes"]), place.contacts()), (0, 2));
    let backup = place.run(&["store", "backup", &place.at("backup")]);
    assert_eq!(backup.status.code(), Some(0), "{}", printed(&backup));
    assert_eq!(place.json(&["store", "rekey", "--yes"])["rekeyed"]["generation"], 2);
    drop(daemon);
    let log = fs::read_to_string(place.folder.path().join("processes.log")).unwrap();
    assert_eq!(place.shows(&[old.clone(), place.key()], &log), [""; 0]);
    assert_eq!(place.json(&["store", "check"])["rekeyed"]["generation"], 2);
    assert_eq!((place.code(&["apply", "--yes"]), place.contacts()), (0, 2));
    place.put_key(&old);
    assert_eq!(place.code(&["store", "check"]), 4);
}

/// Closes S14: an operator's key is exchanged for another key of the operator, also beside the daemon.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_of_the_configuration_is_exchanged_for_one_in_a_file() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::applied().await;
    let (old, before) = (place.key(), place.lasting());
    fs::remove_file(place.key_file()).unwrap();
    let config = place.folder.path().join("reckon.yaml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(
        &config,
        text.replace("secrets:\n", &format!("secrets:\n  key: {{env: {KEY_VARIABLE}}}\n")),
    )
    .unwrap();
    let [new, path] = ["new", "other"].map(|byte| {
        let path = place.folder.path().join(format!("{byte}.key"));
        let key = data_encoding::BASE64.encode(&[if byte == "new" { 7 } else { 8 }; 32]);
        fs::write(&path, &key).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        [key, path.display().to_string()]
    });
    let rekey = |key: &str, file: &str| {
        place.with_key(&["store", "rekey", "--yes", "--new-key-file", file], key)
    };
    let missing = place.with_key(&["store", "rekey", "--yes"], &old);
    assert_eq!(missing.status.code(), Some(1), "{}", printed(&missing));
    assert!(printed(&missing).contains("--new-key-file"), "{}", printed(&missing));
    fs::set_permissions(&path[1], fs::Permissions::from_mode(0o644)).unwrap();
    let exposed = rekey(&old, &path[1]);
    assert_eq!(exposed.status.code(), Some(1), "{}", printed(&exposed));
    assert_eq!(place.with_key(&["store", "check"], &old).status.code(), Some(0));
    let done = rekey(&old, &new[1]);
    assert_eq!(done.status.code(), Some(0), "{}", printed(&done));
    assert!(printed(&done).contains("set secrets.key"), "{}", printed(&done));
    let refused = place.with_key(&["store", "check"], &old);
    assert_eq!(refused.status.code(), Some(4), "{}", printed(&refused));
    assert!(printed(&refused).contains("reckon store rekey"), "{}", printed(&refused));

    fs::set_permissions(&path[1], fs::Permissions::from_mode(0o600)).unwrap();
    let child =
        place.command(&["run"]).env(KEY_VARIABLE, &new[0]).stdout(Stdio::null()).spawn().unwrap();
    let daemon = Daemon::started(&place, child);
    let done = rekey(&new[0], &path[1]);
    assert_eq!(done.status.code(), Some(0), "{}", printed(&done));
    let stale = place.with_key(&["store", "backup", &place.at("stale")], &new[0]);
    assert_eq!(stale.status.code(), Some(4), "{}", printed(&stale));
    let urls = place.with_key(&["events", "urls", "-o", "json"], &path[0]);
    assert_eq!(paths(&serde_json::from_slice(&urls.stdout).unwrap()), before[0]);
    drop(daemon);
    assert_eq!(place.with_key(&["apply", "--yes"], &path[0]).status.code(), Some(0));
}

/// Kills a process as soon as the condition holds. The process may end earlier by itself.
fn killed(mut child: Child, is_so: impl Fn() -> bool) {
    let until = Instant::now().checked_add(Duration::from_secs(30)).unwrap();
    while !is_so() && child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < until, "the condition was never met");
        std::thread::yield_now();
    }
    child.kill().unwrap_or_default();
    drop(child.wait());
}

/// Closes S14: a command or a daemon that is killed during an exchange of the key leaves a state that opens.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_is_killed_while_it_exchanges_the_key_leaves_a_state_that_opens() {
    let place = Place::applied().await;
    let next = place.folder.path().join(".reckon.key.next");
    let keys = place.state().join("vault/keys");
    let mut generation = 0;
    for moment in 0..9 {
        let (before, key) = (fs::read(&keys).unwrap(), place.key());
        let rekey = || place.command(&["store", "rekey", "--yes"]).spawn().unwrap();
        let is_so: Box<dyn Fn() -> bool> = match moment % 3 {
            0 => Box::new(|| next.exists()),
            1 => Box::new(|| fs::read(&keys).is_ok_and(|bytes| bytes != before)),
            _ => Box::new(|| {
                fs::read_to_string(place.key_file()).is_ok_and(|text| text.trim() != key)
            }),
        };
        if moment < 6 {
            killed(rekey(), is_so);
        } else {
            let mut daemon = Daemon::start(&place);
            let asking = rekey();
            while !is_so() {
                std::thread::yield_now();
            }
            daemon.0.kill().unwrap();
            drop(daemon);
            drop(asking.wait_with_output());
            fs::remove_file(place.state().join("control.sock")).unwrap_or_default();
        }
        let check = place.run(&["store", "check", "-o", "json"]);
        assert_eq!(check.status.code(), Some(0), "moment {moment}: {}", printed(&check));
        let check: Value = serde_json::from_slice(&check.stdout).unwrap();
        let now = check["rekeyed"]["generation"].as_u64().unwrap_or(0);
        assert!(now == generation || now == generation + 1, "moment {moment}: {check}");
        assert!(check["problems"] == serde_json::json!([]), "moment {moment}: {check}");
        assert!(!next.exists(), "moment {moment}");
        generation = now;
    }
    assert!(generation > 0, "no exchange reached the vault");
    assert_eq!((place.code(&["apply", "--yes"]), place.contacts()), (0, 1));
}
