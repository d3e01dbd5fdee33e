//! Where a command's words go: results to standard output, everything else to standard error.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use super::args::Output;
use super::exit::Failure;
use crate::render::progress::aside;

/// Lines of diagnostics are wrapped here.
const WIDTH: usize = 100;

/// The two streams, and the form that was asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Out {
    /// The form of results.
    pub form: Output,
    /// Whether standard output is a terminal that shows colour.
    pub color: bool,
    /// Whether a person sits at the terminal and can answer.
    pub interactive: bool,
    /// How wide lines may be, in columns.
    pub width: usize,
}

impl Out {
    /// The process' own streams.
    pub(super) fn new(form: Output) -> Self {
        let choice = anstream::AutoStream::choice(&io::stdout());
        Self {
            form,
            color: choice != anstream::ColorChoice::Never,
            interactive: io::stdin().is_terminal() && io::stderr().is_terminal(),
            width: WIDTH,
        }
    }

    /// Prints a result: `value` for programs, `text` for people.
    pub(super) fn result<T: Serialize>(
        self,
        value: &T,
        text: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        match self.form {
            Output::Text | Output::Markdown => self.text(&text()),
            Output::Json => self.text(&crate::render::json(value)),
            Output::Yaml => self.text(&crate::render::yaml(value)),
        }
    }

    /// Prints text as it is. A reader that went away is no failure.
    #[expect(clippy::unused_self, reason = "the streams belong to it")]
    pub(super) fn text(self, text: &str) -> Result<(), Failure> {
        let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        quiet(aside(|| {
            let mut stdout = anstream::stdout().lock();
            write!(stdout, "{text}{newline}").and_then(|()| stdout.flush())
        }))
    }

    /// Says something beside the result.
    #[expect(clippy::unused_self, reason = "the streams belong to it")]
    pub(super) fn note(self, text: &str) {
        said(text);
    }

    /// Says something beside the result where nobody watches a terminal, such as in a pipeline's log.
    pub(super) fn log(self, text: &str) {
        if !io::stderr().is_terminal() {
            self.note(text);
        }
    }

    /// Asks a yes or no question at the terminal; no is the default.
    #[expect(clippy::unused_self, reason = "the streams belong to it")]
    pub(super) fn confirm(self, question: &str) -> Result<bool, Failure> {
        let mut stderr = anstream::stderr();
        quiet(write!(stderr, "{question} [y/N] ").and_then(|()| stderr.flush()))?;
        let mut answer = String::new();
        let read = io::stdin().read_line(&mut answer);
        read.map_err(|error| Failure::environment("reckon::terminal", error))?;
        Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
    }
}

/// Standard error for logs, which are written while no bar is drawn.
pub(super) struct Stderr;

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        aside(|| io::stderr().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Says something on standard error, whatever form results have.
pub(super) fn said(text: &str) {
    // Standard error that is closed cannot be told about.
    drop(aside(|| writeln!(anstream::stderr(), "{text}")));
}

/// A reader that closed the pipe has seen enough.
fn quiet(written: io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::environment("reckon::output", format!("write the output: {error}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
