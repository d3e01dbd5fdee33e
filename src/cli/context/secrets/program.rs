//! Secrets from programs that the operator declared: no shell, no input, a short environment, and a
//! time limit.
//!
//! A program's standard error is discarded, and no message repeats its output: both may hold the
//! secret.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use zeroize::Zeroizing;

use crate::base::secret::Secret;
use crate::cli::context::machine;

/// The variables that a program inherits, where they are set.
pub(super) const GIVEN: [&str; 2] = ["PATH", "HOME"];
/// Interval at which an ending program is polled.
const LOOK: Duration = Duration::from_millis(10);

#[derive(Debug, Clone, Copy)]
pub(super) struct ProgramLimits {
    pub time: Duration,
    pub bytes: u64,
}

impl Default for ProgramLimits {
    fn default() -> Self {
        Self { time: Duration::from_secs(30), bytes: 64 * 1024 }
    }
}

#[derive(Debug)]
pub(super) struct Program<'a> {
    pub words: &'a [String],
    /// The folder it runs in; a relative program with a `/` is found from there too.
    pub dir: &'a Path,
    pub environment: Vec<(&'static str, String)>,
}

type Printed = io::Result<Zeroizing<Vec<u8>>>;

impl Program<'_> {
    /// Runs the program; its output, less one newline at the end, is the secret.
    ///
    /// # Errors
    /// The reason, to follow the program's name.
    pub(super) fn run(&self, limits: ProgramLimits) -> Result<Secret, String> {
        let mut child = self.start()?;
        let printed = match child.stdout.take() {
            Some(output) => read(output, limits.bytes),
            None => return Err(kill(&mut child, "has no output")),
        };
        let bytes = match printed.recv_timeout(limits.time) {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(error)) => return Err(kill(&mut child, &format!("cannot be read: {error}"))),
            Err(_) => return Err(kill(&mut child, &too_slow(limits))),
        };
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limits.bytes {
            return Err(kill(&mut child, &format!("prints more than {} bytes", limits.bytes)));
        }
        let status = wait(&mut child, limits)?;
        if !status.success() {
            return Err(format!("failed ({status}); run it by hand to see why"));
        }
        secret(&bytes)
    }

    fn start(&self) -> Result<Child, String> {
        let (program, arguments) = self.words.split_first().ok_or("has an empty command line")?;
        let own = Path::new(program);
        let beside = own.is_relative() && program.contains('/');
        let place = if beside { std::path::absolute(self.dir.join(own)) } else { Ok(own.into()) };
        let place = place.map_err(|error| format!("cannot be found: {error}"))?;
        machine::command(&place, &self.environment)
            .args(arguments)
            .current_dir(self.dir)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("cannot be started: {error}"))
    }
}

fn wait(child: &mut Child, limits: ProgramLimits) -> Result<ExitStatus, String> {
    match machine::wait_for_end(child, limits.time, LOOK) {
        Ok(Some(status)) => Ok(status),
        Ok(None) => Err(kill(child, &too_slow(limits))),
        Err(error) => Err(kill(child, &format!("cannot be waited for: {error}"))),
    }
}

fn too_slow(limits: ProgramLimits) -> String {
    format!("took longer than {} ms and was stopped", limits.time.as_millis())
}

/// Reads a program's output on another thread, so that one which never ends is left behind.
fn read(output: ChildStdout, bytes_max: u64) -> Receiver<Printed> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Zeroizing::new(Vec::new());
        let read = output.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes);
        // The receiver may have given up.
        drop(sender.send(read.map(|_| bytes)));
    });
    receiver
}

/// Kills a program, and returns the reason.
fn kill(child: &mut Child, why: &str) -> String {
    // The program may have ended by itself meanwhile.
    drop(child.kill());
    drop(child.wait());
    why.to_owned()
}

fn secret(bytes: &[u8]) -> Result<Secret, String> {
    let text =
        std::str::from_utf8(bytes).map_err(|_| "prints text that is not valid UTF-8".to_owned())?;
    let text = text.strip_suffix('\n').unwrap_or(text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    if text.is_empty() { Err("prints nothing".to_owned()) } else { Ok(Secret::from(text)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CANARY: &str = "canary-of-a-program";

    fn run(words: &[&str], limits: ProgramLimits) -> Result<String, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let environment = vec![("HOME", "/nowhere".to_owned())];
        let program = Program { words: &words, dir: Path::new("/"), environment };
        program.run(limits).map(|secret| secret.expose().to_owned())
    }

    fn shell(script: &str) -> Result<String, String> {
        run(&["/bin/sh", "-c", script], ProgramLimits::default())
    }

    #[test]
    fn what_it_prints_less_one_newline_is_the_secret() {
        assert_eq!(shell("printf 'a b\\n\\n'").as_deref(), Ok("a b\n"));
        assert_eq!(shell("printf 'a\\r\\n'").as_deref(), Ok("a"));
        assert_eq!(shell("printf a").as_deref(), Ok("a"));
    }

    #[test]
    fn its_words_are_taken_as_they_are_and_it_has_no_input_and_a_short_environment() {
        let words = ["/bin/echo", "$HOME", "; echo x", "`id`"];
        assert_eq!(run(&words, ProgramLimits::default()).as_deref(), Ok("$HOME ; echo x `id`"));
        assert_eq!(shell("cat; echo end").as_deref(), Ok("end"));
        let names =
            shell("env | cut -d= -f1 | sort | grep -v -e '^_$' -e PWD -e SHLVL -e '^PATH$'");
        assert_eq!(names.as_deref(), Ok("HOME"));
        assert_eq!(shell("pwd").as_deref(), Ok("/"));
    }

    #[test]
    fn nothing_that_it_says_is_repeated_when_it_fails() {
        for script in [
            "echo canary-of-a-program; echo canary-of-a-program >&2; exit 3",
            "echo canary-of-a-program; kill -9 $$",
            "printf '\\377canary-of-a-program'",
            "true canary-of-a-program",
            "while :; do echo canary-of-a-program; done",
        ] {
            let why = shell(script).expect_err(script);
            assert!(!why.contains(CANARY), "{why}");
        }
        let why = run(&["/no/such/program", CANARY], ProgramLimits::default()).expect_err("none");
        assert!(why.starts_with("cannot be started") && !why.contains(CANARY), "{why}");
    }

    #[test]
    fn one_that_does_not_end_or_stop_talking_is_stopped() {
        let short = ProgramLimits { time: Duration::from_millis(50), bytes: 10 };
        let slow = run(&["/bin/sleep", "600"], short).expect_err("slow");
        assert_eq!(slow, "took longer than 50 ms and was stopped");
        let silent =
            run(&["/bin/sh", "-c", "exec >&-; exec sleep 600"], short).expect_err("silent");
        assert_eq!(silent, "took longer than 50 ms and was stopped");
        let fits = ProgramLimits { time: Duration::from_secs(30), bytes: 10 };
        let long = run(&["/bin/echo", "0123456789"], fits).expect_err("long");
        assert_eq!(long, "prints more than 10 bytes");
        assert_eq!(run(&["/bin/echo", "012345678"], fits).as_deref(), Ok("012345678"));
    }
}
