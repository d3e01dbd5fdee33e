//! `completions` and `man`: texts for a shell and for `man`, made from the declared arguments.

use clap::Command;
use clap_complete::generate;
use clap_mangen::Man;
use schemars::JsonSchema;
use serde::Serialize;

use crate::base::wording;
use crate::cli::args::options::{self, CompletionsArgs, ManArgs};
use crate::cli::exit::{CommandFailure, CommandResult};
use crate::cli::print::Printer;

const PROGRAM: &str = "reckon";

/// Output of `completions -o json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CompletionsOutput {
    shell: String,
    script: String,
}

pub(crate) fn completions(args: &CompletionsArgs, out: Printer) -> CommandResult {
    let mut script = Vec::new();
    generate(args.shell, &mut options::command(), PROGRAM, &mut script);
    let script = String::from_utf8(script).map_err(CommandFailure::bug)?;
    let made = CompletionsOutput { shell: args.shell.to_string(), script };
    out.verbatim().finish(&made, || made.script.clone())
}

/// Output of `man -o json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ManOutput {
    /// The name of the page, such as `reckon-store-backup`.
    page: String,
    roff: String,
}

pub(crate) fn man(args: &ManArgs, out: Printer) -> CommandResult {
    let mut program = options::command();
    program.build();
    let page = [PROGRAM].into_iter().chain(args.command.iter().map(String::as_str));
    let page = page.collect::<Vec<_>>().join("-");
    let command = find(program, &args.command)?;
    let mut roff = Vec::new();
    let written = Man::new(command).render(&mut roff);
    written.map_err(|error| CommandFailure::bug(format!("internal error: {error}")))?;
    let roff = String::from_utf8(roff).map_err(CommandFailure::bug)?;
    let made = ManOutput { page, roff };
    out.verbatim().finish(&made, || made.roff.clone())
}

/// Returns the command of these words.
fn find(program: Command, words: &[String]) -> CommandResult<Command> {
    words.iter().try_fold(program, |command, word| {
        let found = command.find_subcommand(word).cloned();
        found.ok_or_else(|| {
            let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
            let what = format!("{} has no command {word:?}", command.get_name());
            CommandFailure::input("reckon::usage::command", what).help(wording::suggestion_help(
                word,
                names.into_iter().filter(|name| *name != "help"),
            ))
        })
    })
}
