//! The tools that read the files of `contrib/`, as judges of them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::repository;
use crate::tool::named;

type Judged = Result<(), String>;

/// Returns a tool of the folder that `RECKON_TOOLS` names.
fn judge(tool: &str) -> Result<Command, String> {
    let folder = named("RECKON_TOOLS", "a folder with promtool, shellcheck and others")?;
    let path = PathBuf::from(folder).join(tool);
    if !path.exists() {
        return Err(format!("RECKON_TOOLS has no {tool}"));
    }
    let mut command = Command::new(path);
    command.current_dir(repository("contrib"));
    Ok(command)
}

fn accepts(command: &mut Command) {
    let output = command.output().unwrap();
    let text = [output.stdout.as_slice(), &output.stderr].concat();
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&text));
}

pub(crate) fn promtool() -> Judged {
    accepts(judge("promtool")?.args(["check", "rules", "prometheus/alerts.yaml"]));
    accepts(judge("promtool")?.args(["test", "rules", "prometheus/alerts.test.yaml"]));
    Ok(())
}

pub(crate) fn systemd() -> Judged {
    let tool = Path::new("/usr/bin/systemd-analyze");
    if !tool.exists() {
        return Err("there is no systemd-analyze".to_owned());
    }
    let folder = tempfile::tempdir().unwrap();
    let unit = std::fs::read_to_string(repository("contrib/systemd/reckon.service")).unwrap();
    assert!(unit.contains("ExecStart=/usr/bin/reckon "), "the program is replaced below");
    let copy = folder.path().join("reckon.service");
    let built = unit.replace("/usr/bin/reckon ", &format!("{} ", env!("CARGO_BIN_EXE_reckon")));
    std::fs::write(&copy, built).unwrap();
    accepts(Command::new(tool).arg("verify").arg(&copy));
    let mut exposure = Command::new(tool);
    // 2.0 of 10, in tenths.
    accepts(exposure.args(["security", "--offline=true", "--threshold=20"]).arg(&copy));
    Ok(())
}

pub(crate) fn shellcheck() -> Judged {
    let scripts = ["ci/reckon-ci", "pre-commit/reckon", "../.ci/run", "../.ci/mutants"];
    accepts(judge("shellcheck")?.args(scripts));
    Ok(())
}

pub(crate) fn hadolint() -> Judged {
    accepts(judge("hadolint")?.arg("docker/Dockerfile"));
    Ok(())
}

pub(crate) fn pipelines() -> Judged {
    for (schema, file) in [
        ("vendor.github-workflows", "github/reckon.yaml"),
        ("vendor.gitlab-ci", "gitlab/reckon.yaml"),
    ] {
        accepts(judge("check-jsonschema")?.args(["--builtin-schema", schema, file]));
    }
    Ok(())
}

pub(crate) fn kubernetes() -> Judged {
    accepts(judge("kubernetes-validate")?.args(["--strict", "kubernetes/reckon.yaml"]));
    Ok(())
}
