//! Plays a page of the book: writes its files, runs its commands, and compares each output with the page.
//!
//! A file is a block behind a line that ends with its path in backticks and a colon. A command is a line `$ …` of a
//! `console` block. In the shown output, `…` stands for any lines, or for the rest of its line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longer than any step of a page takes on a slow machine.
const PATIENCE: Duration = Duration::from_mins(1);
/// Commands that only read: they run again until their output is as shown, since effects take a moment.
const READS: [&str; 10] = [
    "get",
    "status",
    "describe",
    "why",
    "plan",
    "validate",
    "events list",
    "events show",
    "intents",
    "hooks list",
];
/// The configuration with the sandbox's present port.
const REACHED: &str = "reached.yaml";

/// A part of a page that a reader does.
#[derive(Debug, PartialEq)]
pub(crate) enum Part {
    File { path: String, text: String },
    Command { line: String, shown: String },
}

/// Returns the path in backticks before the colon that ends a line.
fn named_file(line: &str) -> Option<&str> {
    line.strip_suffix("`:")?.rsplit('`').next().filter(|path| path.contains('.'))
}

/// Returns the files and commands of a page in their order.
pub(crate) fn parts(page: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut blocks = page.split("```");
    while let (Some(before), Some(block)) = (blocks.next(), blocks.next()) {
        let (kind, text) = block.split_once('\n').unwrap_or((block, ""));
        if kind == "console" {
            parts.extend(commands(text));
        } else if let Some(path) = named_file(before.trim_end()) {
            parts.push(Part::File { path: path.to_owned(), text: text.to_owned() });
        }
    }
    parts
}

fn commands(block: &str) -> Vec<Part> {
    let mut found = Vec::new();
    for line in block.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            found.push(Part::Command { line: command.to_owned(), shown: String::new() });
        } else if let Some(Part::Command { shown, .. }) = found.last_mut() {
            shown.push_str(line);
            shown.push('\n');
        }
    }
    found
}

/// Returns a word with the values replaced that differ in each run: times, ages, ports, hashes and the service's ids.
fn steady(word: &str) -> String {
    let bare = word.trim_matches(['(', ')', ',', ';', '.', ':']);
    let digits =
        |text: &str| !text.is_empty() && text.chars().all(|letter| letter.is_ascii_digit());
    let is_age = bare.strip_suffix(['s', 'm', 'h']).is_some_and(digits);
    let is_time = bare.ends_with('Z') && bare.contains(':');
    let is_day = bare.len() == 10 && bare.starts_with("202") && bare.contains('-');
    let of_id = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    let is_intent = bare.strip_prefix("i-").is_some_and(digits);
    let is_hash = bare.len() == 12 && bare.chars().all(|letter| letter.is_ascii_hexdigit());
    let is_id = bare.len() >= 22 && bare.chars().all(of_id);
    match bare.split_once("127.0.0.1:") {
        Some((before, rest)) => {
            let path = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
            format!("{before}127.0.0.1:0{path}")
        }
        None if is_age => "AGE".to_owned(),
        None if is_time => "TIME".to_owned(),
        None if is_day => "DAY".to_owned(),
        None if is_hash || is_id || is_intent => "ID".to_owned(),
        None => word.to_owned(),
    }
}

/// Returns the words of a text; the number behind `record` differs in each run.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let counts = words.last().is_some_and(|last| last.ends_with("record"));
        words.push(if counts { "N".to_owned() } else { steady(word) });
    }
    words
}

fn is_alike(shown: &str, real: &str) -> bool {
    let (mut shown, real) = (words(shown), words(real));
    if shown.last().is_some_and(|word| word == "…") {
        shown.pop();
        return real.starts_with(&shown);
    }
    shown == real
}

/// Tells whether an output is the shown one.
pub(crate) fn matches(shown: &[&str], real: &[&str]) -> bool {
    match (shown.split_first(), real.split_first()) {
        (None, None) => true,
        (Some((&"…", rest)), _) => (0..=real.len()).any(|from| matches(rest, &real[from..])),
        (Some((first, rest)), Some((line, later))) => is_alike(first, line) && matches(rest, later),
        _ => false,
    }
}

fn lines(text: &str) -> Vec<&str> {
    text.trim().lines().collect()
}

/// A reader of a page, in a folder of their own; dropping the value kills the daemon.
pub(crate) struct Reader {
    folder: tempfile::TempDir,
    daemon: Option<Child>,
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Reader {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".bin")).unwrap();
        let program = folder.path().join(".bin/reckon");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_reckon"), program).unwrap();
        Self { folder, daemon: None }
    }

    /// Kills the daemon as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            drop(daemon.kill());
            drop(daemon.wait());
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Does all that a page shows, in its order; returns the number of commands.
    pub(crate) fn play(&mut self, page: &str) -> usize {
        let parts = parts(page);
        for part in &parts {
            match part {
                Part::File { path, text } => self.write(path, text),
                Part::Command { line, shown } => self.compare(line, shown),
            }
        }
        parts.iter().filter(|part| matches!(part, Part::Command { .. })).count()
    }

    /// Runs a command, and compares its output with the shown one.
    fn compare(&mut self, line: &str, shown: &str) {
        let line = line.replace("cargo run --release --", "reckon");
        let line = line.replace("target/release/reckon", "reckon");
        let starts = line.starts_with("reckon run");
        let reads = READS.iter().any(|read| line.starts_with(&format!("reckon {read}")));
        let until = Instant::now().checked_add(PATIENCE).unwrap();
        if starts {
            self.start(&line);
        }
        loop {
            let real = if starts {
                fs::read_to_string(self.path("output")).unwrap()
            } else {
                self.run(&line)
            };
            if matches(&lines(shown), &lines(&real)) {
                return;
            }
            let again = (starts || reads) && Instant::now() < until;
            assert!(again, "`{line}` prints\n{real}\nnot\n{shown}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Starts the daemon on free ports; its output and log go to one file.
    pub(crate) fn start(&mut self, line: &str) {
        let config = self.path("reckon.yaml");
        let text = fs::read_to_string(&config).unwrap();
        let free = text.replace("127.0.0.1:8700", "127.0.0.1:0").replace(":8780", ":0");
        fs::write(config, free).unwrap();
        let output = fs::File::create(self.path("output")).unwrap();
        let mut command = self.shell(&format!("exec {line}"));
        command.stderr(output.try_clone().unwrap()).stdout(output);
        self.daemon = Some(command.spawn().unwrap());
    }

    fn shell(&self, line: &str) -> Command {
        let folder = self.folder.path();
        let mut command = Command::new("sh");
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", folder.join(".bin").display());
        command.current_dir(folder).env_clear().env("PATH", path).args(["-c", line]);
        command.stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, line: &str) -> String {
        let mut command = self.shell(line);
        if line.starts_with("reckon events trigger") {
            self.name_the_port();
            command.env("RECKON_CONFIG", REACHED);
        }
        let output = command.output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    }

    /// Writes a configuration that names the port of the running sandbox.
    fn name_the_port(&self) {
        let read = |name: &str| fs::read_to_string(self.path(name)).unwrap();
        let addresses: serde_json::Value =
            serde_json::from_str(&read(".reckon/addresses.json")).unwrap();
        let sandbox = addresses["sandbox"].as_str().unwrap();
        let (scheme, _) = sandbox.split_once("127.0.0.1").unwrap();
        let text = read("reckon.yaml").replace(&format!("{scheme}127.0.0.1:0"), sandbox);
        fs::write(self.path(REACHED), text).unwrap();
    }
}

/// Copies a folder of the repository with all that is in it.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(&path, to).unwrap();
        }
    }
}
