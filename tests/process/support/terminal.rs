//! A pseudo-terminal for one command: its output as it arrives, and the final screen.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// A command at a terminal.
pub(crate) struct Terminal {
    master: File,
    child: Child,
    seen: Vec<u8>,
}

impl Terminal {
    /// Starts the command with all its streams at a terminal of its own.
    pub(crate) fn start(command: &mut Command) -> Self {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let size = Winsize { ws_row: 24, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_bytes();
        let name = PathBuf::from(std::ffi::OsString::from_vec(name));
        let slave = || Stdio::from(OpenOptions::new().read(true).write(true).open(&name).unwrap());
        command.stdin(slave()).stdout(slave()).stderr(slave()).env("TERM", "xterm");
        let child = command.spawn().unwrap();
        // The command's own streams are the only ones: the end of the command is the end of the terminal.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self { master: File::from(master), child, seen: Vec::new() }
    }

    /// Reads until this text appears.
    pub(crate) fn wait_for(&mut self, text: &str) {
        while !String::from_utf8_lossy(&self.seen).contains(text) {
            assert!(self.read(), "{text:?} never came: {}", String::from_utf8_lossy(&self.seen));
        }
    }

    /// Presses Ctrl-C.
    pub(crate) fn interrupt(&self) {
        let id = i32::try_from(self.child.id()).unwrap();
        kill_process(Pid::from_raw(id).unwrap(), Signal::INT).unwrap();
    }

    /// Waits for the end; returns the exit code and the final screen.
    pub(crate) fn end(mut self) -> (Option<i32>, Vec<String>) {
        while self.read() {}
        let code = self.child.wait().unwrap().code();
        (code, screen(&String::from_utf8_lossy(&self.seen)))
    }

    /// Reads more; returns false at the end.
    fn read(&mut self) -> bool {
        let mut some = [0; 4096];
        // Once the last process has left a terminal, reading it is an error.
        let length = self.master.read(&mut some).unwrap_or(0);
        self.seen.extend_from_slice(&some[..length]);
        length > 0
    }
}

/// Returns the lines that a terminal shows after this output. It handles the control sequences of a progress bar.
pub(crate) fn screen(output: &str) -> Vec<String> {
    let mut lines: Vec<Vec<char>> = vec![Vec::new()];
    let (mut row, mut column) = (0_usize, 0_usize);
    let mut rest = output.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' => column = 0,
            '\n' => row += 1,
            '\u{1b}' if rest.next_if_eq(&'[').is_some() => {
                let mut number = String::new();
                while let Some(digit) = rest.next_if(|c| !c.is_ascii_alphabetic()) {
                    number.push(digit);
                }
                let count = number.parse().unwrap_or(0_usize);
                match rest.next() {
                    Some('A') => row = row.saturating_sub(count.max(1)),
                    Some('B') => row += count.max(1),
                    Some('K') if count == 2 => lines[row].clear(),
                    Some('K') => lines[row].truncate(column),
                    Some('J') => {
                        lines[row].truncate(column);
                        lines.truncate(row + 1);
                    }
                    _ => {}
                }
            }
            c => {
                let line = &mut lines[row];
                line.resize(line.len().max(column + 1), ' ');
                line[column] = c;
                column += 1;
            }
        }
        lines.resize(lines.len().max(row + 1), Vec::new());
    }
    lines
        .into_iter()
        .map(|line| line.into_iter().collect::<String>().trim_end().to_owned())
        .collect()
}
