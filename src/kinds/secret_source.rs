//! Where a secret comes from: `{env: NAME}`, `{file: NAME}`, `{exec: NAME}`, `{age: "…"}`, or a text that may
//! stand in the open.
//!
//! Reading a spec resolves nothing and shows nothing: no message here repeats what was written, since
//! a name in the wrong place may be the secret itself. The canonical form is `{"env":"X"}`,
//! `{"file":"x"}`, `{"exec":"x"}`, `{"age":"…","field":"…"}` or `{"literal":"…"}`; the last one is hidden by
//! [`crate::kinds::redact`]. The `field` of a sealed text is filled in by [`crate::kinds::secret_place`]: it is
//! where the text stands, which is the only place where it opens.

use crate::base::sealed::is_sealed;
use crate::base::secret::Secret;
use crate::model::issue::Issue;

mod serde_form;

/// What a parser says it expected where a secret should stand.
pub(crate) const EXPECTED: &str = "a secret source";

/// The forms that a secret may have, for messages.
pub(crate) const FORMS: &str = "`{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`";

/// Longest name of a program, in characters.
const PROGRAM_LENGTH_MAX: usize = 63;

/// A secret of a spec, unresolved. Which of them is set is checked by [`SecretSource::issue`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretSource {
    env: Option<String>,
    file: Option<String>,
    exec: Option<String>,
    age: Option<String>,
    field: Option<String>,
    literal: Option<Secret>,
}

/// The one place that a checked [`SecretSource`] names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source<'a> {
    /// A variable of the environment.
    Env(&'a str),
    /// A file beneath the folder of secrets.
    File(&'a str),
    /// A program that the operator declared by this name.
    Exec(&'a str),
    /// A text sealed for this place.
    Age(&'a str),
    /// The text itself.
    Literal(&'a Secret),
}

impl SecretSource {
    /// The place it names; `None` where it names none or several.
    pub fn source(&self) -> Option<Source<'_>> {
        let Self { env, file, exec, age, field: _, literal } = self;
        let given = [
            env.as_deref().map(Source::Env),
            file.as_deref().map(Source::File),
            exec.as_deref().map(Source::Exec),
            age.as_deref().map(Source::Age),
            literal.as_ref().map(Source::Literal),
        ];
        let mut given = given.into_iter().flatten();
        given.next().filter(|_| given.next().is_none())
    }

    /// The text, where it stands in the open.
    pub fn literal(&self) -> Option<&Secret> {
        match self.source() {
            Some(Source::Literal(text)) => Some(text),
            Some(Source::Env(_) | Source::File(_) | Source::Exec(_) | Source::Age(_)) | None => {
                None
            }
        }
    }

    /// What is wrong with the names at `path`; says nothing about a text in the open but that it is empty.
    pub fn issue(&self, path: &str) -> Option<Issue> {
        let forms = format!("write {FORMS}");
        let (code, message, help) = match self.source() {
            None => (
                "reckon::secret::not_one_source",
                "a secret comes from exactly one place",
                forms.as_str(),
            ),
            Some(Source::Env(name)) if !is_variable(name) => (
                "reckon::secret::env_name",
                "this is no name of an environment variable",
                "write capital letters, digits and `_`, such as `{env: CODE_ACME}`",
            ),
            Some(Source::File(name)) if !is_relative(name) => (
                "reckon::secret::file_name",
                "this is no file beneath the folder of secrets",
                "write a relative path without `..`, such as `{file: acme/code}`",
            ),
            Some(Source::Exec(name)) if !is_program(name) => (
                "reckon::secret::exec_name",
                "this is no name of a program",
                "write a name that `secrets.exec` of reckon.yaml declares, such as `{exec: card-of-jane}`; never a command",
            ),
            Some(Source::Age(text)) if !is_sealed(text) => (
                "reckon::secret::age_malformed",
                "this is no sealed text",
                "write the whole of what `reckon seal KIND/NAME FIELD` prints, with its first and last line",
            ),
            Some(Source::Literal(text)) if text.expose().trim().is_empty() => {
                ("reckon::secret::empty", "the secret is empty", forms.as_str())
            }
            Some(
                Source::Env(_)
                | Source::File(_)
                | Source::Exec(_)
                | Source::Age(_)
                | Source::Literal(_),
            ) => return None,
        };
        Some(Issue::error(code, path, message, help))
    }

    /// The same, and a text in the open is an error: for secrets that no published value stands for.
    pub fn hidden_issue(&self, path: &str) -> Option<Issue> {
        self.issue(path).or_else(|| {
            self.literal().map(|_| {
                let message = "a secret stands here in the open";
                let help = format!("write {FORMS}");
                Issue::error("reckon::secret::in_the_open", path, message, help)
            })
        })
    }
}

/// Can this be the name of such a place (`env`, `file` or `exec`)?
pub fn is_name(place: &str, name: &str) -> bool {
    match place {
        "env" => is_variable(name),
        "file" => is_relative(name),
        "exec" => is_program(name),
        _ => false,
    }
}

/// `[A-Z_][A-Z0-9_]*`.
fn is_variable(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit();
    !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(allowed)
}

/// A relative path that cannot leave its folder.
fn is_relative(name: &str) -> bool {
    let plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    name.split('/').all(plain) && !name.chars().any(|c| c.is_control() || c == '\\')
}

/// Letters, digits, `-`, `_` and `.`, beginning with a letter or a digit: what `secrets.exec` may call a program.
pub fn is_program(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.len() <= PROGRAM_LENGTH_MAX
        && name.chars().all(allowed)
}

#[cfg(test)]
mod tests;
