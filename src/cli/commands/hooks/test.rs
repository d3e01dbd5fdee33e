//! `hooks test`: runs the test cases beside the scripts.

use super::overview::{folder, invalid_scripts, load};
use crate::cli::args::events::HooksTestArgs;
use crate::cli::context::open::Context;
use crate::cli::exit::{CommandFailure, Exit};
use crate::cli::print;
use crate::cli::print::Printer;
use crate::model::issue::PlacedIssue;
use crate::render::hooks as shown;
use crate::scripting::folder::ScriptFolder;
use crate::scripting::language::source::ScriptSource;
use crate::scripting::run::hooks::Hooks;
use crate::scripting::tools::testcases;
use crate::scripting::tools::testcases::{Case, CaseResult};

/// Mode of a report: programs of other users may read it.
const REPORT: u32 = 0o644;

/// Runs the cases. A set that does not load has none.
pub(crate) fn run(
    setup: &Context,
    args: &HooksTestArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    let folder = folder(setup)?;
    let (hooks, mut problems) = load(setup, &folder)?;
    let files = read(&folder, hooks.as_ref(), &mut problems);
    let Some(hooks) = hooks.filter(|_| files.is_some()) else {
        return Err(invalid_scripts(&folder, problems, "no case was run", out));
    };
    let wanted = |script: &str, case: &Case| {
        args.filter
            .as_deref()
            .is_none_or(|filter| script.contains(filter) || case.name.contains(filter))
    };
    let all = files.iter().flatten();
    let cases = all.flat_map(|(script, cases)| cases.iter().map(move |case| (script, case)));
    let cases = cases.filter(|(script, case)| wanted(script, case));
    let verdicts: Vec<CaseResult> =
        cases.map(|(script, case)| testcases::run(&hooks, script, case)).collect();
    if let Some(path) = &args.junit {
        print::write(path, &shown::junit(&verdicts), REPORT).map_err(|error| {
            let what = format!("write {}: {error}", path.display());
            CommandFailure::environment("reckon::hooks::junit", what)
        })?;
    }
    out.result(&shown::case_results_json(&verdicts), || shown::case_results(&verdicts))?;
    let failed = verdicts.iter().any(|verdict| verdict.difference.is_some());
    Ok(if failed { Exit::Input } else { Exit::Done })
}

type ScriptCases = Vec<(String, Vec<Case>)>;

/// Reads the cases of every file, by script; `None` where one file cannot be read.
fn read(
    folder: &ScriptFolder,
    hooks: Option<&Hooks>,
    problems: &mut Vec<PlacedIssue>,
) -> Option<ScriptCases> {
    let mut files = Vec::new();
    let mut good = true;
    for source in &folder.cases {
        let script = source.path.strip_suffix(testcases::ENDING).unwrap_or(&source.path).to_owned();
        let known = hooks.is_none_or(|hooks| hooks.scripts().any(|name| name == script));
        match testcases::parse_cases(source) {
            Ok(_) if !known => problems.push(cases_without_script(source, &script)),
            Ok(cases) => files.push((script, cases)),
            Err(problem) => problems.push(*problem),
        }
        good = good && known;
    }
    (good && files.len() == folder.cases.len()).then_some(files)
}

fn cases_without_script(source: &ScriptSource, script: &str) -> PlacedIssue {
    PlacedIssue {
        file: source.display_path.clone(),
        line: 1,
        column: 1,
        length: 1,
        code: "reckon::hooks::cases".to_owned(),
        severity: crate::model::issue::Severity::Error,
        message: format!("there is no script `{script}.rhai` for these cases"),
        help: "name the file after its script: `NAME.test.yaml`".to_owned(),
        related: Vec::new(),
    }
}
