//! Sources of secrets: only those that the operator opened (design.md part 5).
//!
//! A secret is read only when a request needs it, and no message holds its value.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use tokio::runtime::{Handle, RuntimeFlavor};

use self::program::{GIVEN, Program, ProgramLimits};
use crate::base::folder::FolderLocation;
use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::base::sealed::Keyring;
use crate::base::secret::Secret;
use crate::cli::output::exit::WAY_ON;
use crate::config::programs::Programs;
use crate::config::setting::Setting;
use crate::engine::core::handles::{SecretError, SecretResolver};
use crate::kinds::schema::open_variables::Variables;
use crate::spec::tree::attachments::AttachmentFolder;

mod file;
mod program;

/// Reads one variable of the environment.
pub(crate) type ReadVariable = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Secrets from the environment, from files, from programs and from sealed texts.
pub(crate) struct OpenedSecrets {
    /// The variables that specs may name.
    pub variables: Variables,
    /// The folder beneath which files may be read.
    pub files: Option<PathBuf>,
    /// The folder of files that specs may attach.
    pub attachments: Option<AttachmentFolder>,
    /// The programs that specs may name.
    pub programs: Programs,
    /// The file of the identity that opens sealed texts.
    pub identity: Option<Setting<PathBuf>>,
    /// The folder of the configuration, in which programs run.
    pub dir: PathBuf,
    pub env: ReadVariable,
}

impl std::fmt::Debug for OpenedSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let programs: Vec<&String> = self.programs.keys().collect();
        write!(f, "OpenedSecrets({:?}, {:?}, {programs:?})", self.variables, self.files)
    }
}

impl SecretResolver for OpenedSecrets {
    fn resolve(&self, source: &Value, key: &Key) -> Result<Secret, SecretError> {
        let text = |field: &str| source.get(field).and_then(Value::as_str);
        let found = if let Some(literal) = text("literal") {
            Ok(Secret::from(literal.to_owned()))
        } else if let Some(name) = text("env") {
            self.variable(name)
        } else if let Some(name) = text("file") {
            self.file(name)
        } else if let Some(name) = text("exec") {
            self.program(name)
        } else if let Some((sealed, field)) = text("age").zip(text("field")) {
            self.open_sealed(sealed, &place(key, field))
        } else {
            Err("unknown source".to_owned())
        };
        found.map_err(|why| {
            let message = format!("the secret of {} cannot be read: {why}", key.short());
            SecretError { message }
        })
    }

    fn attachment(&self, path: &str, sha256: Digest) -> Result<Vec<u8>, SecretError> {
        let folder = self.attachments.as_ref();
        let folder =
            folder.ok_or_else(|| "secrets.attachments is not set in reckon.yaml".to_owned());
        let read = folder.and_then(|folder| run_blocking(|| folder.read(path, sha256)));
        read.map_err(|message| SecretError { message })
    }
}

/// Returns the one place in which a sealed text opens: `Kind/namespace/name/field`.
pub(crate) fn place(key: &Key, field: &str) -> String {
    format!("{key}/{field}")
}

impl OpenedSecrets {
    /// Reads a variable that the operator opened to specs.
    fn variable(&self, name: &str) -> Result<Secret, String> {
        if !self.variables.is_open(name) {
            return Err(format!(
                "the variable {name} is not open to specs: add it to secrets.env in reckon.yaml, \
                unless reckon.yaml reads it itself"
            ));
        }
        let value = (self.env)(name).filter(|value| !value.is_empty());
        value.map(Secret::from).ok_or_else(|| format!("the variable {name} is not set; {WAY_ON}"))
    }

    /// Reads a file beneath the opened folder.
    fn file(&self, name: &str) -> Result<Secret, String> {
        let folder = self.files.as_ref().ok_or("secrets.files is not set in reckon.yaml")?;
        let identity = self.identity()?;
        let folder = FolderLocation::from_config(&self.dir, folder);
        file::read_beneath(&folder, name, identity.as_deref())
    }

    /// Runs a declared program and returns its output. Other tasks of the process go on meanwhile.
    fn program(&self, name: &str) -> Result<Secret, String> {
        let words = self.programs.get(name).ok_or_else(|| {
            format!("the program {name} is not declared: add it to secrets.exec in reckon.yaml")
        })?;
        let env = |name: &str| (self.env)(name);
        let words: Result<Vec<String>, _> = words.iter().map(|word| word.get(&env)).collect();
        let words = words.map_err(|error| format!("the program {name}: {error}"))?;
        let given = GIVEN.into_iter().filter_map(|name| (self.env)(name).map(|text| (name, text)));
        let program = Program { words: &words, dir: &self.dir, environment: given.collect() };
        let found = run_blocking(|| program.run(ProgramLimits::default()));
        found.map_err(|why| format!("the program {name} {why}"))
    }

    /// Opens a sealed text for the field at `place`.
    fn open_sealed(&self, sealed: &str, place: &str) -> Result<Secret, String> {
        let opened = self.keyring()?.open(sealed, place);
        opened.map_err(|error| format!("open its sealed text: {error}"))
    }

    /// Reads the identities of `secrets.age`.
    pub(crate) fn keyring(&self) -> Result<Keyring, String> {
        let path = self.identity()?.ok_or("secrets.age is not set in reckon.yaml")?;
        let what = |why: String| format!("the identity file {} {why}", path.display());
        let text = file::text(&path).map_err(what)?;
        Keyring::read(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Returns the file of the identity: as a path of the configuration, or else beneath the folder
    /// of secrets.
    fn identity(&self) -> Result<Option<PathBuf>, String> {
        let Some(setting) = &self.identity else { return Ok(None) };
        let path =
            setting.get(&|name: &str| (self.env)(name)).map_err(|error| error.to_string())?;
        let beneath = || Some(self.files.as_ref()?.join(path.strip_prefix(&self.dir).ok()?));
        let other = if path.exists() { None } else { beneath().filter(|other| other.exists()) };
        Ok(Some(other.unwrap_or(path)))
    }
}

/// Runs slow work without blocking the runtime's other tasks.
fn run_blocking<T>(run: impl FnOnce() -> T) -> T {
    let threads = Handle::try_current().map(|handle| handle.runtime_flavor());
    if threads.is_ok_and(|flavor| flavor == RuntimeFlavor::MultiThread) {
        tokio::task::block_in_place(run)
    } else {
        run()
    }
}

#[cfg(test)]
mod tests;
