//! Sources of secrets: only those that the operator opened (design.md part 5).
//!
//! A secret is read only when a request needs it, and no message holds its value.

mod program;
#[cfg(test)]
mod tests;

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use program::{GIVEN, Program, ProgramLimits};
use serde_json::Value;
use tokio::runtime::{Handle, RuntimeFlavor};
use zeroize::Zeroizing;

use crate::base::folder::{PathError, open_file};
use crate::base::folder_location::FolderLocation;
use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::base::secret::{Keyring, Secret};
use crate::cli::exit::WAY_ON;
use crate::config::setting::Setting;
use crate::config::settings::Programs;
use crate::engine::handles::shared::{SecretError, SecretResolver};
use crate::kinds::schema::kind::Variables;
use crate::spec::tree::attachments::AttachmentFolder;

pub(crate) type ReadVariable = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Secrets from the environment, from files, from programs and from sealed texts.
#[derive(derive_more::Debug)]
#[debug("OpenedSecrets({variables:?}, {files:?}, {:?})", programs.keys().collect::<Vec<_>>())]
pub(crate) struct OpenedSecrets {
    pub variables: Variables,
    /// The folder beneath which files may be read.
    pub files: Option<PathBuf>,
    pub attachments: Option<AttachmentFolder>,
    pub programs: Programs,
    pub identity: Option<Setting<PathBuf>>,
    /// The folder of the configuration, in which programs run.
    pub dir: PathBuf,
    pub env: ReadVariable,
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

    fn file(&self, name: &str) -> Result<Secret, String> {
        let folder = self.files.as_ref().ok_or("secrets.files is not set in reckon.yaml")?;
        let identity = self.identity()?;
        let folder = FolderLocation::from_config(&self.dir, folder);
        read_beneath(&folder, name, identity.as_deref())
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

    fn open_sealed(&self, sealed: &str, place: &str) -> Result<Secret, String> {
        let opened = self.keyring()?.open(sealed, place);
        opened.map_err(|error| format!("open its sealed text: {error}"))
    }

    /// Reads the identities of `secrets.age`.
    pub(crate) fn keyring(&self) -> Result<Keyring, String> {
        let path = self.identity()?.ok_or("secrets.age is not set in reckon.yaml")?;
        let what = |why: String| format!("the identity file {} {why}", path.display());
        let text = text(&path).map_err(what)?;
        Keyring::read(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Returns the identity's file: as the configuration names it, or else beneath `secrets.files`.
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

const FILE_BYTES_MAX: u64 = 64 * 1024;

/// Reads a file beneath a folder; no link leads out of the folder. `closed` is a file that no spec
/// may name, wherever it is.
///
/// # Errors
/// The reason, which contains nothing of the content.
pub(crate) fn read_beneath(
    folder: &FolderLocation,
    name: &str,
    closed: Option<&Path>,
) -> Result<Secret, String> {
    let root = folder.open().map_err(|error| {
        format!(
            "the folder {folder} of secrets.files cannot be opened: {error}; write its real \
            path, without links"
        )
    })?;
    let file = root.file(name).map_err(|error| match error {
        PathError::NotPlain(_) => {
            format!("the file {name} is not a plain path below secrets.files")
        }
        PathError::Link { .. }
        | PathError::LeadsOutside(_)
        | PathError::NotAFile { .. }
        | PathError::Io(_) => {
            format!("the file {name}: {error}")
        }
    })?;
    if closed.is_some_and(|closed| is_same(closed, &file)) {
        return Err(format!(
            "the file {name} is the identity of secrets.age: a spec cannot read it"
        ));
    }
    let text = content(file).map_err(|why| format!("the file {name} {why}"))?;
    let text = text.trim_end_matches(['\n', '\r']).to_owned();
    if text.is_empty() { Err(format!("the file {name} is empty")) } else { Ok(Secret::from(text)) }
}

/// Reads a small text file of the operator.
///
/// # Errors
/// The reason, to follow the file's name.
pub(crate) fn text(path: &Path) -> Result<Zeroizing<String>, String> {
    content(open_file(path).map_err(|error| format!("cannot be read: {error}"))?)
}

fn content(file: File) -> Result<Zeroizing<String>, String> {
    let broken = |error: io::Error| format!("cannot be read: {error}");
    let mut bytes = Zeroizing::new(Vec::new());
    file.take(FILE_BYTES_MAX.saturating_add(1)).read_to_end(&mut bytes).map_err(broken)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > FILE_BYTES_MAX {
        return Err(format!("is longer than {FILE_BYTES_MAX} bytes"));
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| "is not valid UTF-8".to_owned())?;
    Ok(Zeroizing::new(text.to_owned()))
}

fn is_same(path: &Path, file: &File) -> bool {
    let id = |found: &Metadata| (found.dev(), found.ino());
    let named = path.metadata().ok();
    named.zip(file.metadata().ok()).is_some_and(|(one, other)| id(&one) == id(&other))
}
