//! The program of `render`, whose output is the tree: no shell, no input, no secret in its
//! environment, and limits of time and size.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::base::secret::mask_digits;
use crate::cli::context::machine;
use crate::config::setting::{EnvSource, ProcessEnv};
use crate::spec::text::decode::FILE_BYTES_MAX;
use crate::spec::tree::files::SourceProblem;
use crate::spec::tree::rendered::{OUTPUT, TreeRenderer};

/// The variables that the program inherits, where they are set.
const GIVEN: [&str; 3] = ["PATH", "HOME", "LANG"];
const TIME: Duration = Duration::from_mins(1);
/// Interval at which the ending program is polled.
const LOOK: Duration = Duration::from_millis(10);
/// The end of its standard error that a problem repeats.
const ERROR_LINES: usize = 5;
const ERROR_CHARACTERS: usize = 600;
const ERROR_BYTES: u64 = 1 << 20;

#[derive(Debug)]
pub(crate) struct RenderProgram {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    pub dir: PathBuf,
    pub time: Duration,
}

type PipedOutput = Receiver<io::Result<Vec<u8>>>;

impl RenderProgram {
    pub(crate) fn new(program: PathBuf, arguments: Vec<String>, dir: PathBuf) -> Self {
        Self { program, arguments, dir, time: TIME }
    }

    /// Runs the program.
    ///
    /// # Errors
    /// The reason, to follow the program's name.
    fn run(&self) -> Result<Vec<u8>, String> {
        let mut child = self.start()?;
        let (Some(output), Some(errors)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(kill(&mut child, "has no output"));
        };
        let (output, errors) = (read(output, FILE_BYTES_MAX), read(errors, ERROR_BYTES));
        let slow = format!("took longer than {} s and was stopped", self.time.as_secs());
        let text = match output.recv_timeout(self.time) {
            Ok(Ok(text)) => text,
            Ok(Err(error)) => {
                return Err(kill(&mut child, &format!("cannot be read: {error}")));
            }
            Err(_) => return Err(kill(&mut child, &slow)),
        };
        if u64::try_from(text.len()).unwrap_or(u64::MAX) > FILE_BYTES_MAX {
            let long = format!("prints more than {} MiB", FILE_BYTES_MAX >> 20);
            return Err(kill(&mut child, &long));
        }
        match machine::wait_for_end(&mut child, self.time, LOOK) {
            Ok(Some(status)) if status.success() => Ok(text),
            Ok(Some(status)) => Err(failure(status, &errors)),
            Ok(None) => Err(kill(&mut child, &slow)),
            Err(error) => Err(kill(&mut child, &format!("cannot be waited for: {error}"))),
        }
    }

    fn start(&self) -> Result<Child, String> {
        let given = GIVEN.iter().filter_map(|name| Some((*name, ProcessEnv.var(name)?)));
        let mut command = machine::command(&self.program, &given.collect::<Vec<_>>());
        command.args(&self.arguments).current_dir(&self.dir);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.process_group(0).spawn();
        child.map_err(|error| format!("cannot be started: {error}"))
    }
}

impl TreeRenderer for RenderProgram {
    fn render(&self) -> Result<Vec<u8>, SourceProblem> {
        self.run().map_err(|why| {
            let message = format!("the program of `render` {why}");
            let help = format!(
                "run `{}` in {} by hand; until it succeeds, the last output stays in use",
                self.program.display(),
                self.dir.display()
            );
            let path = OUTPUT.to_owned();
            SourceProblem { path, code: "reckon::render::failed", message, help }
        })
    }
}

/// Kills the program and those that it started, and returns the reason.
fn kill(child: &mut Child, why: &str) -> String {
    // The program may have ended by itself meanwhile.
    kill_process_group(Pid::from_child(child), Signal::KILL).unwrap_or_default();
    drop(child.wait());
    why.to_owned()
}

/// Reads a stream on a thread of its own; of one that is too long, up to the limit.
fn read(stream: impl Read + Send + 'static, bytes_max: u64) -> PipedOutput {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stream.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes);
        // The receiver may have given up.
        drop(sender.send(read.map(|_| bytes)));
    });
    receiver
}

/// Describes a failed end by the last lines of the standard error.
fn failure(status: ExitStatus, errors: &PipedOutput) -> String {
    let printed = errors.recv_timeout(LOOK.saturating_mul(100));
    let printed = printed.ok().and_then(Result::ok).unwrap_or_default();
    let text = String::from_utf8_lossy(&printed);
    let plain = |line: &str| line.chars().filter(|letter| !letter.is_control()).collect::<String>();
    let lines: Vec<String> =
        text.lines().map(plain).filter(|line| !line.trim().is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(ERROR_LINES)..).unwrap_or_default().join("; ");
    let skipped = last.chars().count().saturating_sub(ERROR_CHARACTERS);
    let last: String = last.chars().skip(skipped).collect();
    if last.is_empty() {
        return format!("failed ({status}) and printed no reason");
    }
    format!("failed ({status}): {}", mask_digits(&last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str, time: Duration) -> Result<String, String> {
        let arguments = vec!["-c".to_owned(), script.to_owned()];
        let program =
            RenderProgram { time, ..RenderProgram::new("/bin/sh".into(), arguments, "/".into()) };
        program.render().map(|text| String::from_utf8(text).unwrap()).map_err(|it| it.message)
    }

    #[test]
    fn it_runs_in_its_folder_with_a_short_environment_and_no_input() {
        let names = "pwd; cat; env | cut -d= -f1 | grep -v -e PATH -e HOME -e LANG -e PWD -e SHLVL -e '^_$'";
        assert_eq!(run(&format!("{names}; true"), TIME).as_deref(), Ok("/\n"));
    }

    #[test]
    fn a_failure_tells_its_last_lines_without_card_numbers_and_in_bounds() {
        let why = run(
            "for i in 1 2 3 4 5 6; do echo line$i >&2; done; echo 4111111111111111 >&2; exit 3",
            TIME,
        );
        let why = why.unwrap_err();
        assert!(why.contains("exit status: 3") && why.contains("line3; line4"), "{why}");
        assert!(!why.contains("line2") && !why.contains("4111111111111111"), "{why}");
        let long = run("head -c 100000 /dev/zero | tr '\\0' x >&2; exit 1", TIME).unwrap_err();
        assert!(long.len() < 2 * ERROR_CHARACTERS, "{}", long.len());
    }

    #[test]
    fn one_that_does_not_end_is_stopped_with_all_that_it_started() {
        let slow = run("sleep 600 & sleep 600", Duration::from_millis(50)).unwrap_err();
        assert!(slow.contains("took longer"), "{slow}");
        let long = run("yes", TIME).unwrap_err();
        assert!(long.contains("prints more than 16 MiB"), "{long}");
    }
}
