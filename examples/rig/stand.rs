//! A test rig: a sandbox as a process, a folder with a tree, and the program to run over it.

use std::fs;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use http::Method;
use serde_json::{Value, json};

use crate::connection::Failed;
use crate::settings::Settings;
use crate::tree::{Document, code_variable, merchant_name, write};
use crate::{control, settings};

/// The file for all output of the processes.
const LOG: &str = "processes.log";

/// A running sandbox; dropping the value kills it.
#[derive(Debug)]
pub(crate) struct Sandbox {
    /// The address at which the sandbox listens.
    pub(crate) address: SocketAddr,
    child: Child,
    /// Kept open, so that the sandbox can continue to print.
    _output: BufReader<ChildStdout>,
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        drop(self.child.wait());
    }
}

/// A sandbox, the program and a folder.
#[derive(Debug)]
pub(crate) struct Stand {
    /// The folder with `reckon.yaml` and the specs.
    pub(crate) folder: PathBuf,
    /// The service.
    pub(crate) sandbox: Sandbox,
    /// The sandbox's description of the partner.
    pub(crate) partner: Value,
    binary: PathBuf,
    environment: Vec<(String, String)>,
}

impl Stand {
    /// Starts a sandbox that keeps its state in the folder, with codes for this number of merchants.
    pub(crate) async fn start(
        binary: &Path,
        folder: &Path,
        surface: &str,
        merchants: usize,
    ) -> Result<Self, Failed> {
        fs::create_dir_all(folder)?;
        let sandbox = start_sandbox(binary, folder, surface)?;
        let known =
            control::json(sandbox.address, Method::GET, "/_sandbox/credentials", None).await?;
        let partner = known.get("partner").cloned().unwrap_or_default();
        let mut environment = Vec::new();
        for (variable, field) in
            [("RECKON_CLIENT_ID", "client_id"), ("RECKON_CLIENT_SECRET", "client_secret")]
        {
            environment.push((variable.to_owned(), text(&partner, field)?));
        }
        for merchant in 0..merchants {
            environment.push((code_variable(merchant), code(&sandbox, merchant).await?));
        }
        Ok(Self {
            folder: folder.to_owned(),
            sandbox,
            partner,
            binary: binary.to_owned(),
            environment,
        })
    }

    /// Writes `reckon.yaml`. The address `service` is the sandbox, or a proxy before it.
    pub(crate) fn settle_config(
        &self,
        service: SocketAddr,
        listen: &str,
        [timeout, grace]: [&str; 2],
    ) -> Result<(), Failed> {
        let settings = Settings {
            base_url: format!("http://{service}"),
            ca_file: None,
            listen: listen.to_owned(),
            state: ".reckon".to_owned(),
            timeout: timeout.to_owned(),
            grace: grace.to_owned(),
            redirect_uri: text(&self.partner, "redirect_uri")?,
        };
        Ok(settings::write(&self.folder, &settings)?)
    }

    /// Writes the documents of a tree for which `chosen` is true, one in a file.
    pub(crate) fn write(
        &self,
        tree: &[Document],
        chosen: impl Fn(usize, &Document) -> bool,
    ) -> Result<(), Failed> {
        let documents =
            tree.iter().enumerate().filter(|(place, document)| chosen(*place, document));
        Ok(write(&self.folder, documents, 1)?)
    }

    /// Returns the program with these arguments; its output goes to the log.
    pub(crate) fn command(&self, arguments: &[&str]) -> Result<Command, Failed> {
        let mut command = Command::new(&self.binary);
        command
            .arg("--config")
            .arg(self.folder.join("reckon.yaml"))
            .args(arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(log(&self.folder)?)
            .stderr(log(&self.folder)?);
        Ok(command)
    }

    /// Runs the program to its end.
    ///
    /// # Errors
    ///
    /// An exit code that is not in `fine`.
    pub(crate) fn run(&self, arguments: &[&str], fine: &[i32]) -> Result<i32, Failed> {
        let code = self.command(arguments)?.status()?.code();
        code.filter(|code| fine.contains(code)).ok_or_else(|| {
            let log = self.folder.join(LOG);
            format!("reckon {} ended with {code:?}; see {}", arguments.join(" "), log.display())
                .into()
        })
    }
}

fn log(folder: &Path) -> Result<File, Failed> {
    Ok(OpenOptions::new().create(true).append(true).open(folder.join(LOG))?)
}

fn start_sandbox(binary: &Path, folder: &Path, surface: &str) -> Result<Sandbox, Failed> {
    let mut child = Command::new(binary)
        .args([
            "sandbox",
            "--plain-http",
            "--listen",
            "127.0.0.1:0",
            "--surface",
            surface,
            "--state",
        ])
        .arg(folder.join("sandbox"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log(folder)?)
        .spawn()
        .map_err(|error| format!("{} cannot be started: {error}", binary.display()))?;
    let output = child.stdout.take().ok_or("the sandbox has no output")?;
    let mut output = BufReader::new(output);
    let mut line = String::new();
    output.read_line(&mut line)?;
    let address =
        line.trim().strip_prefix("listening http://").map(|rest| rest.trim_end_matches('/'));
    let address = address.and_then(|address| address.parse().ok());
    let Some(address) = address else {
        child.kill()?;
        child.wait()?;
        return Err(format!(
            "the sandbox's first line is not `listening URL` but `{}`",
            line.trim()
        )
        .into());
    };
    Ok(Sandbox { address, child, _output: output })
}

async fn code(sandbox: &Sandbox, merchant: usize) -> Result<String, Failed> {
    let asked = json!({"merchant": merchant_name(merchant)});
    let path = "/_sandbox/credentials";
    let answer = control::json(sandbox.address, Method::POST, path, Some(&asked)).await?;
    text(&answer, "authorization_code")
}

/// Returns a text of an answer.
pub(crate) fn text(answer: &Value, field: &str) -> Result<String, Failed> {
    let found = answer.get(field).and_then(Value::as_str).map(str::to_owned);
    found.ok_or_else(|| format!("the answer has no `{field}`").into())
}
