//! `hooks`: checks, tries and explains operators' scripts. Only `hooks forget` changes the state;
//! no command changes the service.

use super::args::hooks::HooksCommand;
use super::args::{Cli, Output};
use super::exit::{Exit, Failure};
use super::out::Out;
use super::setup::Setup;
use super::specs::below;
use super::validate::verdict;
use super::{hooks_repl, hooks_roster, hooks_run, hooks_shadow, hooks_test};
use crate::base::folder::Place;
use crate::base::nearest;
use crate::config::{Config, NotifyTarget, ProcessEnv};
use crate::hooks::folder::{self, Folder};
use crate::hooks::{Hooks, Known};
use crate::kinds::register::KINDS;
use crate::model::issue::{Problem, Severity};
use crate::render::diagnostic::Look;
use crate::render::{self, hooks as shown};

/// Runs one of the subcommands.
pub(super) async fn run(cli: &Cli, command: &HooksCommand, out: Out) -> Result<Exit, Failure> {
    match command {
        HooksCommand::Check => check(&Setup::load(cli)?, out),
        HooksCommand::Test(args) => hooks_test::run(&Setup::load(cli)?, args, out),
        HooksCommand::Run(args) => hooks_run::run(&Setup::load(cli)?, args, out).await,
        HooksCommand::Shadow(args) => hooks_shadow::run(&Setup::load(cli)?, args, out).await,
        HooksCommand::List => hooks_roster::list(&Setup::load(cli)?, out).await,
        HooksCommand::Forget(args) => hooks_roster::forget(&Setup::load(cli)?, args, out).await,
        HooksCommand::Repl => hooks_repl::run(&Setup::load(cli)?, out).await,
        HooksCommand::Doc => doc(out),
    }
}

fn check(setup: &Setup, out: Out) -> Result<Exit, Failure> {
    let folder = folder(setup)?;
    let (_, problems) = loaded(setup, &folder)?;
    let report = render::diagnostic::json(folder.count(), &problems);
    out.result(&report, || shown::checked(&folder, &problems, look(out)))?;
    Ok(verdict(problems.iter().any(|problem| problem.severity == Severity::Error)))
}

/// Returns the appearance of printed problems.
pub(super) fn look(out: Out) -> Look {
    let color = out.color && out.form == Output::Text;
    Look { color, unicode: true, width: out.width }
}

/// Reads the scripts folder of the configuration.
pub(super) fn folder(setup: &Setup) -> Result<Folder, Failure> {
    let path = setup.config.scripts.get(&ProcessEnv)?;
    let name = below(&setup.root, &path);
    let place = Place::configured(&setup.root, &path);
    folder::read(&place, &name.to_string_lossy()).map_err(|error| {
        let what = format!("read the scripts in {place}: {error}");
        Failure::environment("reckon::hooks::folder", what).help(
            "put the folder itself there, or write its real path: `scripts: /PATH/TO/SCRIPTS`",
        )
    })
}

/// Loads the set of scripts: returns the set if it is valid, and every warning and error.
pub(super) fn loaded(
    setup: &Setup,
    folder: &Folder,
) -> Result<(Option<Hooks>, Vec<Problem>), Failure> {
    let mut problems = folder.problems.clone();
    let hooks = match Hooks::load(&folder.scripts, &known(&setup.config)?) {
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
pub(super) fn good(setup: &Setup, out: Out) -> Result<(Folder, Hooks), Failure> {
    let folder = folder(setup)?;
    let (hooks, problems) = loaded(setup, &folder)?;
    match hooks {
        Some(hooks) => Ok((folder, hooks)),
        None => Err(broken(&folder, problems, "nothing was run", out)),
    }
}

/// Returns the failure of an invalid set, with all its problems.
pub(super) fn broken(folder: &Folder, problems: Vec<Problem>, so: &str, out: Out) -> Failure {
    let message = shown::checked(folder, &problems, look(out));
    let what = format!("the scripts have problems, so {so}\n{message}");
    Failure { problems, ..Failure::input("reckon::hooks::broken", what) }
}

/// Checks that the set has the named script, if one is named.
///
/// # Errors
/// There is none of that name.
pub(super) fn chosen(hooks: &Hooks, name: Option<&str>) -> Result<(), Failure> {
    let Some(name) = name.filter(|name| !hooks.scripts().any(|known| known == *name)) else {
        return Ok(());
    };
    let failure = Failure::input("reckon::hooks::script", format!("there is no script `{name}`"));
    Err(failure.help(nearest::help(name, hooks.scripts().collect::<Vec<_>>())))
}

/// Returns the names that scripts may use.
fn known(config: &Config) -> Result<Known, Failure> {
    let mail = config.notify.iter().filter_map(|(name, target)| match target {
        NotifyTarget::Mail(mail) => Some((name.to_string(), mail.any)),
        NotifyTarget::Web { .. } => None,
    });
    Ok(Known {
        targets: config.notify.keys().map(ToString::to_string).collect(),
        mail: mail.collect(),
        rights: config.policy.scripts.get(&ProcessEnv)?,
        kinds: KINDS.iter().map(|row| row.name.to_owned()).collect(),
    })
}

fn doc(out: Out) -> Result<Exit, Failure> {
    if out.form == Output::Markdown {
        out.text(&shown::markdown())?;
    } else {
        out.result(&shown::doc_json(), shown::doc)?;
    }
    Ok(Exit::Done)
}
