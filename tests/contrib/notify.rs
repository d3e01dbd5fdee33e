//! A daemon beside a service manager of the test's own: a datagram socket.

use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::repository;

const CONFIG: &str = "apiVersion: reckon.dev/v1\nkind: Config\npartner: {name: acme}\n\
    service: {base_url: 'http://127.0.0.1:0'}\nspecs: specs\nlisten: 127.0.0.1:0\n";
const PATIENCE: Duration = Duration::from_mins(2);

fn next(manager: &UnixDatagram) -> String {
    let mut bytes = [0; 256];
    let length = manager.recv(&mut bytes).expect("the daemon reports in time");
    String::from_utf8_lossy(&bytes[..length]).trim().to_owned()
}

/// Runs the health check of the image and of the probes beside the daemon.
fn check_health(folder: &Path) {
    let words = ["get", "-l", "reckon.dev/health", "-o", "name"];
    let image = std::fs::read_to_string(repository("contrib/docker/Dockerfile")).unwrap();
    assert!(image.contains(&format!("\"{}\"]", words.join("\", \""))), "{image}");
    let probes = std::fs::read_to_string(repository("contrib/kubernetes/reckon.yaml")).unwrap();
    assert!(probes.contains(&format!("{}]", words.join(", "))), "{probes}");
    let mut check = Command::new(env!("CARGO_BIN_EXE_reckon"));
    let output = check.current_dir(folder).env_clear().args(words).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

pub(crate) fn lifecycle() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("notify");
    let manager = UnixDatagram::bind(&socket).unwrap();
    manager.set_read_timeout(Some(PATIENCE)).unwrap();
    std::fs::create_dir(folder.path().join("specs")).unwrap();
    std::fs::write(folder.path().join("reckon.yaml"), CONFIG).unwrap();
    let mut daemon = Command::new(env!("CARGO_BIN_EXE_reckon"))
        .current_dir(folder.path())
        .args(["run", "--sandbox"])
        .env_clear()
        .env("NOTIFY_SOCKET", &socket)
        .env("WATCHDOG_USEC", "150000")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    assert_eq!(next(&manager), "READY=1");
    let state = folder.path().join(".reckon/addresses.json");
    assert!(state.exists(), "the daemon is ready once it listens");
    assert_eq!([next(&manager), next(&manager)], ["WATCHDOG=1", "WATCHDOG=1"]);
    check_health(folder.path());
    let id = daemon.id().to_string();
    assert!(Command::new("kill").args(["-s", "TERM", &id]).status().unwrap().success());
    let last = std::iter::repeat_with(|| next(&manager)).find(|state| state != "WATCHDOG=1");
    assert_eq!(last.as_deref(), Some("STOPPING=1"));
    assert!(daemon.wait().unwrap().code().is_some(), "the daemon ends by itself");
}
