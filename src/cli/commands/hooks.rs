//! `hooks check`, `hooks test`, `hooks doc`, `hooks list` and `hooks forget`. Only `hooks forget`
//! changes the state; no command changes the service.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::folder_location::FolderLocation;
use crate::base::wording;
use crate::cli::args::events::{HooksForgetArgs, HooksTestArgs};
use crate::cli::args::output::Output;
use crate::cli::commands::documents::exit_for;
use crate::cli::context::machine::below;
use crate::cli::context::open::Context;
use crate::cli::exit::{CommandFailure, CommandResult, Exit, file_problem};
use crate::cli::print::{self, Printer};
use crate::config::notify::NotifyTarget;
use crate::config::setting::ProcessEnv;
use crate::config::settings::Config;
use crate::control::requests::ForgetScript;
use crate::engine::protocol::hooks::{HooksView, ScriptView};
use crate::engine::protocol::query::HooksQuery;
use crate::kinds::register::KINDS;
use crate::model::issue::{PlacedIssue, ProblemCounts, Severity};
use crate::render::diagnostic::ProblemsView;
use crate::render::hooks as shown;
use crate::render::hooks::doc_view::HookDocView;
use crate::render::hooks::views::{CaseResultsView, ScriptsView};
use crate::scripting::hooks::Hooks;
use crate::scripting::language::names::ConfiguredNames;
use crate::scripting::language::source::{CASES_ENDING, ScriptFolder, ScriptSource, read_folder};
use crate::scripting::tools::testcases::{self, Case, CaseResult};

pub(crate) fn check(setup: &Context) -> CommandResult {
    let folder = folder(setup)?;
    let (_, mut problems) = load(setup, &folder)?;
    problems.extend(folder.cases.iter().flat_map(testcases::former_name_warnings));
    problems.sort();
    let report = ProblemsView::new(folder.script_count(), &problems, ProblemCounts::default());
    let look = setup.out.diagnostic_look();
    setup.out.result(&report, || shown::check_report(&folder, &problems, look))?;
    Ok(exit_for(problems.iter().any(|problem| problem.severity == Severity::Error)))
}

pub(crate) fn folder(setup: &Context) -> CommandResult<ScriptFolder> {
    let path = setup.config.scripts.get(&ProcessEnv)?;
    let name = below(&setup.root, &path);
    let place = FolderLocation::from_config(&setup.root, &path);
    read_folder(&place, &name.to_string_lossy()).map_err(|error| {
        let what = format!("read the scripts in {place}: {error}");
        CommandFailure::environment("reckon::hooks::folder", what)
            .help("write the real path of the folder, without links: `scripts: /PATH/TO/SCRIPTS`")
    })
}

/// Loads the set of scripts: returns the set if it is valid, and every warning and error.
pub(crate) fn load(
    setup: &Context,
    folder: &ScriptFolder,
) -> CommandResult<(Option<Hooks>, Vec<PlacedIssue>)> {
    let mut problems = folder.problems.clone();
    let loaded = Hooks::load(&folder.scripts, &known_names(&setup.config)?);
    problems.extend(match &loaded {
        Ok(hooks) => hooks.warnings().to_vec(),
        Err(found) => found.clone(),
    });
    problems.sort();
    Ok((loaded.ok().filter(|_| folder.problems.is_empty()), problems))
}

pub(crate) fn load_valid(setup: &Context) -> CommandResult<(ScriptFolder, Hooks)> {
    let folder = folder(setup)?;
    let (hooks, problems) = load(setup, &folder)?;
    let invalid = || invalid_scripts(&folder, problems, "nothing was run", setup.out);
    let hooks = hooks.ok_or_else(invalid)?;
    Ok((folder, hooks))
}

pub(crate) fn invalid_scripts(
    folder: &ScriptFolder,
    problems: Vec<PlacedIssue>,
    so: &str,
    out: Printer,
) -> CommandFailure {
    let message = shown::check_report(folder, &problems, out.diagnostic_look());
    let what = format!("{so}: the scripts have errors\n{message}");
    CommandFailure { problems, ..CommandFailure::input("reckon::hooks::broken", what) }
}

/// Checks that the set has the named script, if one is named.
pub(crate) fn check_script(hooks: &Hooks, name: Option<&str>) -> CommandResult<()> {
    let Some(name) = name.filter(|name| !hooks.scripts().any(|known| known == *name)) else {
        return Ok(());
    };
    let failure =
        CommandFailure::input("reckon::hooks::script", format!("there is no script `{name}`"));
    Err(failure.help(wording::suggestion_help(name, hooks.scripts().collect::<Vec<_>>())))
}

fn known_names(config: &Config) -> CommandResult<ConfiguredNames> {
    let mail = config.notify.iter().filter_map(|(name, target)| match target {
        NotifyTarget::Mail(mail) => Some((name.to_string(), mail.allows_any_recipient)),
        NotifyTarget::Web { .. } => None,
    });
    Ok(ConfiguredNames {
        targets: config.notify.keys().map(ToString::to_string).collect(),
        mail: mail.collect(),
        rights: config.policy.scripts.get(&ProcessEnv)?,
        kinds: KINDS.iter().map(|row| row.name.to_owned()).collect(),
    })
}

pub(crate) fn doc(out: Printer) -> CommandResult {
    if out.form == Output::Markdown {
        out.text(&shown::markdown())?;
    } else {
        out.result(&HookDocView::of_this_program(), shown::terminal_doc)?;
    }
    Ok(Exit::Done)
}

/// Runs `hooks list`. A script that is absent or stopped needs attention (exit 3).
pub(crate) async fn list(setup: &Context) -> CommandResult {
    let HooksView { known, quotas, .. } = setup.query(HooksQuery).await?;
    let shown = || format!("{}{}", shown::script_lines(&known), shown::quota_lines(&quotas));
    let view = ScriptsView { version: 1, scripts: &known, quotas: &quotas };
    setup.out.result(&view, shown)?;
    Ok(if shown::needs_attention(&known) { Exit::NeedsAttention } else { Exit::Done })
}

/// Output of `hooks forget -o json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ForgottenScript<'a> {
    script: &'a str,
    /// Events that waited for it.
    events: u64,
    /// Values that it kept, which are gone.
    kept: usize,
}

pub(crate) async fn forget(setup: &Context, args: &HooksForgetArgs) -> CommandResult {
    let HooksView { known, .. } = setup.query(HooksQuery).await?;
    let named = known.iter().find(|one| one.script == args.script);
    let script =
        named.filter(|one| one.absent.is_some()).ok_or_else(|| cannot_forget(&known, args))?;
    let refusal = (
        "reckon::hooks::unconfirmed",
        "review what would be forgotten, then repeat the command with --yes",
    );
    let shown = || shown::forget_request(script);
    if !setup.out.agree(args.yes, shown, refusal, "Forget it?")? {
        return Ok(Exit::Done);
    }
    let kept = setup.send(ForgetScript(args.script.clone())).await?;
    let kept = kept.ok_or_else(|| cannot_forget(&known, args))?;
    let told = ForgottenScript { script: &args.script, events: script.waiting, kept };
    setup.out.finish(&told, || format!("{} is forgotten", args.script))
}

/// Returns the failure of a script that is in use, or that the state does not know.
fn cannot_forget(known: &[ScriptView], args: &HooksForgetArgs) -> CommandFailure {
    let name = &args.script;
    if known.iter().any(|one| one.script == *name) {
        let what = format!("the script `{name}` is in use");
        return CommandFailure::input("reckon::hooks::in_use", what)
            .help("remove its file first; its events then wait until you forget it");
    }
    let failure =
        CommandFailure::input("reckon::hooks::script", format!("there is no script `{name}`"));
    let absent = known.iter().filter(|one| one.absent.is_some());
    let absent: Vec<&str> = absent.map(|one| one.script.as_str()).collect();
    failure.help(if absent.is_empty() {
        "list all scripts with `reckon hooks list`; none is absent".to_owned()
    } else {
        wording::suggestion_help(name, absent)
    })
}

/// Mode of a report: programs of other users may read it.
const REPORT: u32 = 0o644;

/// Runs the cases. A set that does not load has none.
pub(crate) fn test(setup: &Context, args: &HooksTestArgs) -> CommandResult {
    let folder = folder(setup)?;
    let (hooks, mut problems) = load(setup, &folder)?;
    let files = read_cases(&folder, hooks.as_ref(), &mut problems);
    let Some(hooks) = hooks.filter(|_| files.is_some()) else {
        return Err(invalid_scripts(&folder, problems, "no case was run", setup.out));
    };
    let filter = args.filter.as_deref().unwrap_or_default();
    let all = files.iter().flatten();
    let cases = all.flat_map(|(script, cases)| cases.iter().map(move |case| (script, case)));
    let cases =
        cases.filter(|(script, case)| script.contains(filter) || case.name.contains(filter));
    let verdicts: Vec<CaseResult> =
        cases.map(|(script, case)| testcases::run(&hooks, script, case)).collect();
    if let Some(path) = &args.junit {
        print::write(path, &shown::junit(&verdicts), REPORT).map_err(|error| {
            let what = format!("write {}: {error}", path.display());
            CommandFailure::environment("reckon::hooks::junit", what)
        })?;
    }
    let view = CaseResultsView::new(&verdicts);
    setup.out.result(&view, || shown::case_results(&verdicts))?;
    let failed = verdicts.iter().any(|verdict| verdict.difference.is_some());
    Ok(if failed { Exit::Input } else { Exit::Done })
}

type ScriptCases = Vec<(String, Vec<Case>)>;

/// Reads the cases of every file, by script; `None` where one file cannot be read.
fn read_cases(
    folder: &ScriptFolder,
    hooks: Option<&Hooks>,
    problems: &mut Vec<PlacedIssue>,
) -> Option<ScriptCases> {
    let mut files = Vec::new();
    let mut good = true;
    for source in &folder.cases {
        let script = source.path.strip_suffix(CASES_ENDING).unwrap_or(&source.path).to_owned();
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
    let message = format!("there is no script `{script}.rhai` for these cases");
    let help = "name the file after its script: `NAME.test.yaml`";
    file_problem(&source.display_path, "reckon::hooks::cases", message, help)
}
