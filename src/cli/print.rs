//! Output of commands: results go to standard output, everything else to standard error.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use console::Term;
use schemars::JsonSchema;
use serde::Serialize;

use super::exit::{CommandFailure, CommandResult, Exit};
use crate::cli::args::output::{Output, ReportForm};
use crate::engine::protocol::views::Overview;
use crate::model::issue::ProblemCounts;
use crate::render;
use crate::render::diagnostic::OutputStyle;
use crate::render::progress::without_bar;
use crate::render::reports::findings::ReportFindings;
use crate::render::reports::{annotations, junit, sarif};
use crate::render::words::{Screen, fit_lines};

/// Columns at which diagnostics are wrapped.
const WIDTH: usize = 100;

/// Sets the rule for colours on both streams of this process. With `auto`, a terminal shows them
/// unless the environment forbids colours (`NO_COLOR`, `TERM=dumb`).
pub(crate) fn use_color(asked: clap::ColorChoice) {
    let choice = match asked {
        clap::ColorChoice::Auto => anstream::ColorChoice::Auto,
        clap::ColorChoice::Always => anstream::ColorChoice::AlwaysAnsi,
        clap::ColorChoice::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
}

/// Returns true if a stream shows colours by the rule of this process.
pub(crate) fn is_colored(stream: &impl anstream::stream::RawStream) -> bool {
    anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never
}

/// One line of a process that serves: `run` and `sandbox`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ServingLine<'a> {
    /// The address of the emulator inside a daemon.
    Sandbox(&'a str),
    /// The address at which the process listens.
    Listening(&'a str),
    /// The status, when its counts changed and nothing is under way.
    Overview(&'a Overview),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Printer {
    pub form: Output,
    /// Standard output.
    pub screen: Screen,
    /// True if a person at the terminal can answer.
    pub interactive: bool,
    pub width: usize,
    /// The form of findings, for the programs that show them beside a change.
    pub report: Option<ReportForm>,
    /// True if each step of a large plan is shown.
    pub details: bool,
}

impl Printer {
    pub(crate) fn new(form: Output) -> Self {
        let color = is_colored(&io::stdout());
        let width = Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
        Self {
            form,
            screen: Screen { color, width },
            interactive: io::stdin().is_terminal() && io::stderr().is_terminal(),
            width: width.map_or(WIDTH, |width| width.min(WIDTH)),
            report: None,
            details: false,
        }
    }

    /// Returns the style of diagnostics: coloured only in the form of text.
    pub(crate) fn diagnostic_look(self) -> OutputStyle {
        let color = self.screen.color && self.form == Output::Text;
        OutputStyle { color, unicode: true, width: self.width }
    }

    /// Returns a printer that breaks no line: for documents, scripts and other texts to copy.
    pub(crate) fn verbatim(self) -> Self {
        Self { screen: Screen { width: None, ..self.screen }, ..self }
    }

    /// Prints a result: `value` for programs, `text` for people.
    pub(crate) fn result<T: Serialize>(
        self,
        value: &T,
        text: impl FnOnce() -> String,
    ) -> CommandResult<()> {
        match self.form {
            Output::Text => self.text(&fitted(&text(), self.screen.width)),
            Output::Markdown => self.text(&text()),
            Output::Json => self.text(&render::json(value)),
            Output::Yaml => self.text(&render::yaml(value)),
        }
    }

    /// Prints one result of several: for programs one line of JSON, so that each is complete in
    /// itself.
    pub(crate) fn line<T: Serialize>(
        self,
        value: &T,
        text: impl FnOnce() -> String,
    ) -> CommandResult<()> {
        match self.form {
            Output::Json | Output::Yaml => self.text(&render::json_line(value)),
            Output::Text | Output::Markdown => self.text(&text()),
        }
    }

    /// Prints findings as a report; returns false where the form is none.
    pub(crate) fn report(self, findings: impl FnOnce() -> ReportFindings) -> CommandResult<bool> {
        let Some(form) = self.report else { return Ok(false) };
        let render: fn(&ReportFindings) -> String = match form {
            ReportForm::Sarif => |findings| render::json(&sarif::log(findings)),
            ReportForm::Junit => junit::report,
            ReportForm::Github => annotations::github,
            ReportForm::Gitlab => |findings| render::json(&annotations::gitlab(findings)),
        };
        let findings = findings();
        if !findings.omitted.is_zero() {
            let ProblemCounts { errors, warnings } = findings.omitted;
            self.note(&format!("not listed: {errors} errors, {warnings} warnings"));
        }
        self.text(&render(&findings)).map(|()| true)
    }

    pub(crate) fn finish<T: Serialize>(
        self,
        value: &T,
        text: impl FnOnce() -> String,
    ) -> CommandResult {
        self.result(value, text).map(|()| Exit::Done)
    }

    /// Prints text as it is. A closed reader is no failure.
    #[expect(clippy::unused_self, reason = "the streams belong to it")]
    pub(crate) fn text(self, text: &str) -> CommandResult<()> {
        let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        ignore_broken_pipe(without_bar(|| {
            let mut stdout = anstream::stdout().lock();
            write!(stdout, "{text}{newline}").and_then(|()| stdout.flush())
        }))
    }

    /// Prints a message beside the result.
    #[expect(clippy::unused_self, reason = "the streams belong to it")]
    pub(crate) fn note(self, text: &str) {
        print_note(text);
    }

    /// Prints a message where no terminal shows progress, such as in a pipeline's log.
    pub(crate) fn log(self, text: &str) {
        if !io::stderr().is_terminal() {
            self.note(text);
        }
    }

    /// Shows what a person has to agree to, and asks, unless `yes` is set. Without a terminal `yes`
    /// is required: `refusal` is the code of that failure and its help.
    pub(crate) fn agree(
        self,
        yes: bool,
        shown: impl FnOnce() -> String,
        refusal: (&'static str, &str),
        question: &str,
    ) -> CommandResult<bool> {
        if yes {
            return Ok(true);
        }
        self.note(&shown());
        self.agree_to_shown(false, refusal, question)
    }

    /// Asks as [`Self::agree`] does, for what is on the screen already.
    pub(crate) fn agree_to_shown(
        self,
        yes: bool,
        refusal: (&'static str, &str),
        question: &str,
    ) -> CommandResult<bool> {
        if yes {
            return Ok(true);
        }
        if !self.interactive {
            let failure = CommandFailure::input(refusal.0, "not confirmed: no terminal to ask at");
            return Err(failure.help(refusal.1));
        }
        self.confirm(question)
    }

    /// Asks a yes or no question at the terminal; no is the default.
    #[expect(clippy::unused_self, reason = "the streams belong to it")]
    pub(crate) fn confirm(self, question: &str) -> CommandResult<bool> {
        let mut stderr = anstream::stderr();
        ignore_broken_pipe(write!(stderr, "{question} [y/N] ").and_then(|()| stderr.flush()))?;
        let mut answer = String::new();
        let read = io::stdin().read_line(&mut answer);
        read.map_err(|error| CommandFailure::environment("reckon::terminal", error))?;
        Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
    }
}

/// Standard error for logs, which are written while no bar is drawn.
pub(crate) struct Stderr;

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        without_bar(|| io::stderr().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Prints a message to standard error, whatever form results have.
pub(crate) fn print_note(text: &str) {
    let text = fitted(text, Term::stderr().size_checked().map(|(_, columns)| columns.into()));
    // A closed standard error cannot show an error either.
    drop(without_bar(|| writeln!(anstream::stderr(), "{text}")));
}

/// Returns text whose lines fit a terminal of this width.
fn fitted(text: &str, width: Option<usize>) -> Cow<'_, str> {
    width.map_or(Cow::Borrowed(text), |width| Cow::Owned(fit_lines(text, width)))
}

/// Ignores a broken pipe: its reader has seen enough.
fn ignore_broken_pipe(written: io::Result<()>) -> CommandResult<()> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(CommandFailure::environment("reckon::output", format!("write the output: {error}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

// Writes files at paths that a person names: each is complete or absent, and never written through
// a link.

/// Writes a file in place of an existing one; a link is replaced, and its target stays as it is.
pub(crate) fn write(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let fresh = temporary_path(path);
    drop(fs::remove_file(&fresh));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&fresh)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    let done = written.and_then(|()| fs::rename(&fresh, path));
    if done.is_err() {
        drop(fs::remove_file(&fresh));
    }
    done
}

/// Makes a new file and its folders; never writes to an existing file.
pub(crate) fn create(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder)?;
    }
    let mut file = fs::File::create_new(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Returns the temporary name of a file until it is complete.
fn temporary_path(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Closes S4: a report is not written through a link that a pull request brought.
    #[test]
    fn s4_a_link_is_replaced_and_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (outside, report) = (dir.path().join("outside"), dir.path().join("report.xml"));
        fs::write(&outside, "theirs").unwrap();
        symlink(&outside, &report).unwrap();
        write(&report, "ours", 0o644).unwrap();
        assert_eq!(fs::read_to_string(&outside).unwrap(), "theirs");
        assert_eq!(fs::read_to_string(&report).unwrap(), "ours");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
