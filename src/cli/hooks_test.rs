//! `hooks test`: runs the test cases beside the scripts.

use super::args::hooks::HooksTestArgs;
use super::exit::{Exit, Failure};
use super::hooks::{broken, folder, loaded};
use super::out::Out;
use super::out_file;
use super::setup::Setup;
use crate::hooks::cases::{self, Case, Verdict};
use crate::hooks::folder::Folder;
use crate::hooks::{Hooks, Source};
use crate::model::issue::Problem;
use crate::render::hooks as shown;

/// Mode of a report: programs of other users may read it.
const REPORT: u32 = 0o644;

/// Runs the cases. A set that does not load has none.
pub(super) fn run(setup: &Setup, args: &HooksTestArgs, out: Out) -> Result<Exit, Failure> {
    let folder = folder(setup)?;
    let (hooks, mut problems) = loaded(setup, &folder)?;
    let files = read(&folder, hooks.as_ref(), &mut problems);
    let Some(hooks) = hooks.filter(|_| files.is_some()) else {
        return Err(broken(&folder, problems, "no case was run", out));
    };
    let wanted = |script: &str, case: &Case| {
        args.filter
            .as_deref()
            .is_none_or(|filter| script.contains(filter) || case.name.contains(filter))
    };
    let all = files.iter().flatten();
    let cases = all.flat_map(|(script, cases)| cases.iter().map(move |case| (script, case)));
    let cases = cases.filter(|(script, case)| wanted(script, case));
    let verdicts: Vec<Verdict> =
        cases.map(|(script, case)| cases::run(&hooks, script, case)).collect();
    if let Some(path) = &args.junit {
        out_file::write(path, &shown::junit(&verdicts), REPORT).map_err(|error| {
            let what = format!("write {}: {error}", path.display());
            Failure::environment("reckon::hooks::junit", what)
        })?;
    }
    out.result(&shown::verdicts_json(&verdicts), || shown::verdicts(&verdicts))?;
    let failed = verdicts.iter().any(|verdict| verdict.trouble.is_some());
    Ok(if failed { Exit::Input } else { Exit::Done })
}

type Files = Vec<(String, Vec<Case>)>;

/// Reads the cases of every file, by script; `None` where one file cannot be read.
fn read(folder: &Folder, hooks: Option<&Hooks>, problems: &mut Vec<Problem>) -> Option<Files> {
    let mut files = Vec::new();
    let mut good = true;
    for source in &folder.cases {
        let script = source.path.strip_suffix(cases::ENDING).unwrap_or(&source.path).to_owned();
        let known = hooks.is_none_or(|hooks| hooks.scripts().any(|name| name == script));
        match cases::read(source) {
            Ok(_) if !known => problems.push(stray(source, &script)),
            Ok(cases) => files.push((script, cases)),
            Err(problem) => problems.push(*problem),
        }
        good = good && known;
    }
    (good && files.len() == folder.cases.len()).then_some(files)
}

fn stray(source: &Source, script: &str) -> Problem {
    Problem {
        file: source.shown.clone(),
        line: 1,
        column: 1,
        length: 1,
        code: "reckon::hooks::cases".to_owned(),
        severity: crate::model::issue::Severity::Error,
        message: format!("there is no script `{script}.rhai` that these cases are of"),
        help: "name the file like its script: `NAME.test.yaml`".to_owned(),
        related: Vec::new(),
    }
}
