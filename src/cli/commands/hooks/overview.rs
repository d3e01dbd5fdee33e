//! `hooks`: checks, tries and explains operators' scripts. Only `hooks forget` changes the state;
//! no command changes the service.

use super::{comparison, repl, run, scripts, test};
use crate::base::folder::FolderLocation;
use crate::base::suggestion;
use crate::cli::args::hooks::HooksCommand;
use crate::cli::args::options::{Cli, Output};
use crate::cli::commands::inspect::validate::verdict;
use crate::cli::context::open::Context;
use crate::cli::context::selection::below;
use crate::cli::output::exit::{CommandFailure, Exit};
use crate::cli::output::print::Printer;
use crate::config::notify::NotifyTarget;
use crate::config::setting::ProcessEnv;
use crate::config::settings::Config;
use crate::kinds::schema::register::KINDS;
use crate::model::spec::issue::{PlacedIssue, Severity};
use crate::render;
use crate::render::diagnostic::OutputStyle;
use crate::render::hooks as shown;
use crate::scripting::interface::{ConfiguredNames, Hooks};
use crate::scripting::load::folder;
use crate::scripting::load::folder::ScriptFolder;

/// Runs one of the subcommands.
pub(crate) async fn run(
    cli: &Cli,
    command: &HooksCommand,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    match command {
        HooksCommand::Check => check(&Context::load(cli)?, out),
        HooksCommand::Test(args) => test::run(&Context::load(cli)?, args, out),
        HooksCommand::Run(args) => run::run(&Context::load(cli)?, args, out).await,
        HooksCommand::Shadow(args) => comparison::run(&Context::load(cli)?, args, out).await,
        HooksCommand::List => scripts::list(&Context::load(cli)?, out).await,
        HooksCommand::Forget(args) => scripts::forget(&Context::load(cli)?, args, out).await,
        HooksCommand::Repl => repl::run(&Context::load(cli)?, out).await,
        HooksCommand::Doc => doc(out),
    }
}

fn check(setup: &Context, out: Printer) -> Result<Exit, CommandFailure> {
    let folder = folder(setup)?;
    let (_, problems) = load(setup, &folder)?;
    let report = render::diagnostic::json(folder.script_count(), &problems);
    out.result(&report, || shown::check_report(&folder, &problems, diagnostic_look(out)))?;
    Ok(verdict(problems.iter().any(|problem| problem.severity == Severity::Error)))
}

/// Returns the appearance of printed problems.
pub(crate) fn diagnostic_look(out: Printer) -> OutputStyle {
    let color = out.color && out.form == Output::Text;
    OutputStyle { color, unicode: true, width: out.width }
}

/// Reads the scripts folder of the configuration.
pub(crate) fn folder(setup: &Context) -> Result<ScriptFolder, CommandFailure> {
    let path = setup.config.scripts.get(&ProcessEnv)?;
    let name = below(&setup.root, &path);
    let place = FolderLocation::from_config(&setup.root, &path);
    folder::read(&place, &name.to_string_lossy()).map_err(|error| {
        let what = format!("read the scripts in {place}: {error}");
        CommandFailure::environment("reckon::hooks::folder", what)
            .help("write the real path of the folder, without links: `scripts: /PATH/TO/SCRIPTS`")
    })
}

/// Loads the set of scripts: returns the set if it is valid, and every warning and error.
pub(crate) fn load(
    setup: &Context,
    folder: &ScriptFolder,
) -> Result<(Option<Hooks>, Vec<PlacedIssue>), CommandFailure> {
    let mut problems = folder.problems.clone();
    let hooks = match Hooks::load(&folder.scripts, &known_names(&setup.config)?) {
        Ok(hooks) => {
            problems.extend(hooks.warnings().iter().cloned());
            Some(hooks)
        }
        Err(found) => {
            problems.extend(found);
            None
        }
    };
    problems.sort();
    Ok((hooks.filter(|_| folder.problems.is_empty()), problems))
}

/// Returns the folder and its valid set.
///
/// # Errors
/// The failure lists everything that is wrong with the set.
pub(crate) fn load_valid(
    setup: &Context,
    out: Printer,
) -> Result<(ScriptFolder, Hooks), CommandFailure> {
    let folder = folder(setup)?;
    let (hooks, problems) = load(setup, &folder)?;
    match hooks {
        Some(hooks) => Ok((folder, hooks)),
        None => Err(invalid_scripts(&folder, problems, "nothing was run", out)),
    }
}

/// Returns the failure of an invalid set, with all its problems.
pub(crate) fn invalid_scripts(
    folder: &ScriptFolder,
    problems: Vec<PlacedIssue>,
    so: &str,
    out: Printer,
) -> CommandFailure {
    let message = shown::check_report(folder, &problems, diagnostic_look(out));
    let what = format!("{so}: the scripts have errors\n{message}");
    CommandFailure { problems, ..CommandFailure::input("reckon::hooks::broken", what) }
}

/// Checks that the set has the named script, if one is named.
///
/// # Errors
/// There is none of that name.
pub(crate) fn check_script(hooks: &Hooks, name: Option<&str>) -> Result<(), CommandFailure> {
    let Some(name) = name.filter(|name| !hooks.scripts().any(|known| known == *name)) else {
        return Ok(());
    };
    let failure =
        CommandFailure::input("reckon::hooks::script", format!("there is no script `{name}`"));
    Err(failure.help(suggestion::suggestion_help(name, hooks.scripts().collect::<Vec<_>>())))
}

/// Returns the names that scripts may use.
fn known_names(config: &Config) -> Result<ConfiguredNames, CommandFailure> {
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

fn doc(out: Printer) -> Result<Exit, CommandFailure> {
    if out.form == Output::Markdown {
        out.text(&shown::markdown())?;
    } else {
        out.result(&shown::doc_json(), shown::terminal_doc)?;
    }
    Ok(Exit::Done)
}
