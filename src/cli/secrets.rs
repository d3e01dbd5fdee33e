//! Where secrets come from: only what the operator opened (design.md part 5).

use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::base::id::Key;
use crate::base::secret::Secret;
use crate::config::Variables;
use crate::engine::{SecretError, Secrets};

/// A secret in a file is at most so long.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// Reads one variable of the environment.
pub(super) type Env = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Secrets from the environment and from files.
pub(super) struct OpenedSecrets {
    /// The variables that specs may name.
    pub variables: Variables,
    /// The folder beneath which files may be read.
    pub files: Option<PathBuf>,
    /// The environment.
    pub env: Env,
}

impl std::fmt::Debug for OpenedSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OpenedSecrets({:?}, {:?})", self.variables, self.files)
    }
}

impl Secrets for OpenedSecrets {
    fn resolve(&self, source: &Value, key: &Key) -> Result<Secret, SecretError> {
        let text = |field: &str| source.get(field).and_then(Value::as_str);
        if let Some(literal) = text("literal") {
            return Ok(Secret::from(literal.to_owned()));
        }
        if let Some(name) = text("env") {
            return self.variable(name, key);
        }
        if let Some(name) = text("file") {
            return self.file(name, key);
        }
        Err(missing(key, "its source is none that this version knows"))
    }
}

impl OpenedSecrets {
    /// A variable that the operator opened to specs.
    fn variable(&self, name: &str, key: &Key) -> Result<Secret, SecretError> {
        if !self.variables.is_open(name) {
            let why = format!(
                "the variable {name} is not open to specs: add it to secrets.env in reckon.yaml \
                 (one that reckon.yaml reads itself never is)"
            );
            return Err(missing(key, &why));
        }
        let value = (self.env)(name).filter(|value| !value.is_empty());
        value
            .map(Secret::from)
            .ok_or_else(|| missing(key, &format!("the variable {name} is not set")))
    }

    /// A file beneath the opened folder; no link leads out of it.
    fn file(&self, name: &str, key: &Key) -> Result<Secret, SecretError> {
        let Some(folder) = &self.files else {
            return Err(missing(key, "secrets.files in reckon.yaml names no folder"));
        };
        let path = Path::new(name);
        if !path.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(missing(
                key,
                &format!("the file {name} is not a plain path below secrets.files"),
            ));
        }
        let broken = |error: std::io::Error| missing(key, &format!("the file {name}: {error}"));
        if has_link(folder, path).map_err(broken)? {
            return Err(missing(
                key,
                &format!("the file {name} is, or stands behind, a symbolic link"),
            ));
        }
        let file = std::fs::File::open(folder.join(path)).map_err(broken)?;
        let mut text = String::new();
        file.take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(broken)?;
        let text = text.trim_end_matches(['\n', '\r']).to_owned();
        if text.is_empty() {
            return Err(missing(key, &format!("the file {name} is empty")));
        }
        Ok(Secret::from(text))
    }
}

/// Whether any part of a path below a folder is a symbolic link.
fn has_link(folder: &Path, path: &Path) -> std::io::Result<bool> {
    let mut place = folder.to_owned();
    for part in path.components() {
        place.push(part);
        if std::fs::symlink_metadata(&place)?.file_type().is_symlink() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A secret of a resource that cannot be had.
fn missing(key: &Key, why: &str) -> SecretError {
    SecretError { message: format!("the secret of {} cannot be had: {why}", key.short()) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::config::EnvPattern;

    fn opened(files: Option<PathBuf>) -> OpenedSecrets {
        OpenedSecrets {
            variables: Variables::new(
                vec![EnvPattern::Prefix("CODE_".to_owned()), EnvPattern::Exact("EXACT".to_owned())],
                BTreeSet::from(["CODE_MINE".to_owned()]),
            ),
            files,
            env: Arc::new(|name| (name != "CODE_UNSET").then(|| format!("value of {name}"))),
        }
    }

    fn resolve(secrets: &OpenedSecrets, source: &Value) -> Result<String, String> {
        let key = "Merchant/acme".parse().expect("a key");
        let found = secrets.resolve(source, &key);
        found.map(|secret| secret.expose().to_owned()).map_err(|error| error.message)
    }

    #[test]
    fn only_opened_variables_are_read() {
        let secrets = opened(None);
        assert_eq!(resolve(&secrets, &json!({"env": "CODE_A"})).as_deref(), Ok("value of CODE_A"));
        for closed in ["HOME", "EXACT2", "CODE_MINE", "CODE_UNSET"] {
            let error = resolve(&secrets, &json!({"env": closed})).expect_err("closed");
            assert!(error.contains(closed), "{error}");
        }
    }

    #[test]
    fn a_file_cannot_be_reached_outside_the_folder() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("code"), "abc\n").expect("written");
        std::os::unix::fs::symlink("/etc", dir.path().join("out")).expect("linked");
        let secrets = opened(Some(dir.path().to_owned()));
        assert_eq!(resolve(&secrets, &json!({"file": "code"})).as_deref(), Ok("abc"));
        for name in ["../code", "/etc/hostname", "out/hostname", "missing"] {
            assert!(resolve(&secrets, &json!({"file": name})).is_err(), "{name}");
        }
    }
}
