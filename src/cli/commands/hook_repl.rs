//! `hooks repl`: evaluates lines of a script against the state; the actions that they request are
//! shown, and never done.

use std::io::{self, IsTerminal, Write};

use crate::cli::commands::hook_trials::{self, on_stage};
use crate::cli::commands::hooks::{check_script, load_valid};
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::cli::print::Printer;
use crate::render::hooks::runs;
use crate::render::hooks::views::{ReplLine, ReplRefusal};
use crate::scripting::hooks::Hooks;
use crate::scripting::language::limits::TIME_MAX;
use crate::scripting::tools::repl::{Repl, ReplOutcome};

const HELP: &str = ":event ID     bind `event` to a known event, and drop all requested actions
:script NAME  read the stored values of this script
:actions      list the requested actions
:clear        drop the requested actions
:quit         leave
Everything else is evaluated; `reckon hooks doc` lists the functions. Requested actions are never done.";

struct Prompt<'a> {
    session: &'a StateSession,
    hooks: &'a Hooks,
    out: Printer,
    /// `None` while a thread of the stage evaluates.
    repl: Option<Repl>,
    typed: String,
    failed: bool,
}

/// Runs the command. Mistakes at a terminal are no failure; in a pipe they exit with 1.
pub(crate) async fn run(setup: &Context) -> CommandResult {
    let (folder, hooks) = load_valid(setup)?;
    let repl = Some(Repl::new(&hooks, &folder.scripts));
    let session = StateSession::open_view(setup).await?;
    let (hooks, out) = (&hooks, setup.out);
    let mut prompt =
        Prompt { session: &session, hooks, out, repl, typed: String::new(), failed: false };
    let ended = prompt.lines().await;
    let failed = prompt.failed;
    session.end(setup, ended).await?;
    Ok(if failed && !io::stdin().is_terminal() { Exit::Input } else { Exit::Done })
}

impl Prompt<'_> {
    async fn lines(&mut self) -> CommandResult<()> {
        loop {
            self.prompt()?;
            let line = tokio::task::spawn_blocking(read).await.map_err(CommandFailure::bug)??;
            let Some(line) = line else { return self.evaluate_rest().await };
            let command = line.trim().strip_prefix(':').filter(|_| self.typed.is_empty());
            match command {
                Some("quit" | "q") => return Ok(()),
                Some(command) => self.command(command).await?,
                None => self.line(&line).await?,
            }
        }
    }

    /// Evaluates an unfinished input at the end of all input.
    async fn evaluate_rest(&mut self) -> CommandResult<()> {
        if self.typed.trim().is_empty() { Ok(()) } else { self.evaluate(true).await }
    }

    fn prompt(&self) -> CommandResult<()> {
        if !self.out.interactive {
            return Ok(());
        }
        let sign = if self.typed.is_empty() { "> " } else { "… " };
        let mut stderr = anstream::stderr();
        write!(stderr, "{sign}")
            .and_then(|()| stderr.flush())
            .map_err(|error| CommandFailure::environment("reckon::terminal", error))
    }

    /// Takes one line; an empty line ends an unfinished input.
    async fn line(&mut self, line: &str) -> CommandResult<()> {
        if self.typed.is_empty() && line.trim().is_empty() {
            return Ok(());
        }
        self.typed.extend([line, "\n"]);
        self.evaluate(line.trim().is_empty()).await
    }

    async fn evaluate(&mut self, is_end: bool) -> CommandResult<()> {
        let Some(mut repl) = self.repl.take() else {
            return Err(CommandFailure::bug("internal error: the interpreter is missing"));
        };
        let text = self.typed.trim_end().to_owned();
        let merchant = repl.merchant().cloned();
        let work = move |reads| {
            let answer = repl.evaluate(&text, reads, Some(TIME_MAX));
            (repl, answer)
        };
        let (repl, answer) = on_stage(self.session, merchant, work).await?;
        self.repl = Some(repl);
        let typed = std::mem::take(&mut self.typed);
        match answer {
            ReplOutcome::Incomplete if !is_end => self.typed = typed,
            ReplOutcome::Incomplete => {
                self.wrong("incomplete input: a `}`, `)`, `]` or a value is missing")?;
            }
            ReplOutcome::Done(done) => {
                self.print(&ReplLine::from(&done), || runs::evaluated_text(&done))?;
            }
            ReplOutcome::Failed(problem) => {
                self.failed = true;
                let look = self.out.diagnostic_look();
                let shown = runs::typed_problem(typed.trim_end(), &problem, look);
                self.print(&ReplLine::Failed { problem }, || shown)?;
            }
        }
        Ok(())
    }

    async fn command(&mut self, command: &str) -> CommandResult<()> {
        let Some(repl) = self.repl.as_mut() else {
            return Err(CommandFailure::bug("internal error: the interpreter is missing"));
        };
        let (word, rest) = command.split_once(' ').unwrap_or((command, ""));
        match (word, rest.trim()) {
            ("event", id) if !id.is_empty() => match hook_trials::event(self.session, id).await {
                Ok(event) => repl.bind(&event),
                Err(failure) => return self.wrong(&failure.message),
            },
            ("script", name) if !name.is_empty() => match check_script(self.hooks, Some(name)) {
                Ok(()) => repl.set_script(name),
                Err(failure) => return self.wrong(&failure.message),
            },
            ("actions", "") => {
                let all = ReplLine::requests(repl.actions(), repl.stored());
                let text = runs::requests_text(repl.actions(), repl.stored());
                return self.print(&all, || text);
            }
            ("clear", "") => repl.clear(),
            ("help", "") => return self.out.text(HELP),
            _ => return self.wrong("no such command; list all with `:help`"),
        }
        Ok(())
    }

    fn wrong(&mut self, message: &str) -> CommandResult<()> {
        self.failed = true;
        let problem = ReplRefusal { message: message.to_owned() };
        self.print(&ReplLine::Refused { problem }, || message.to_owned())
    }

    /// Prints one line of JSON for programs, so that each answer is complete in itself.
    fn print(&self, line: &ReplLine, text: impl FnOnce() -> String) -> CommandResult<()> {
        self.out.line(line, text)
    }
}

fn read() -> CommandResult<Option<String>> {
    let mut line = String::new();
    let count = io::stdin().read_line(&mut line);
    let count = count.map_err(|error| CommandFailure::environment("reckon::terminal", error))?;
    Ok((count > 0).then(|| line.trim_end_matches(['\n', '\r']).to_owned()))
}
