//! `policy.approvals.signed`: the source of approvals in signed commits, and their allowed signers.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde_json::Value;

use crate::base::wording;
use crate::config::reader::ConfigReader;
use crate::config::setting::{
    ConfigError, EnvSource, FromText, InvalidValue, Setting, word_schema,
};
use crate::spec::text::node::Node;

const KEYS: [&str; 3] = ["folder", "signers", "authors"];

/// Approvals in signed commits.
#[derive(Debug, Clone, JsonSchema)]
pub struct SignedSection {
    /// The folder of the approvals; none: `approvals` beside the specs.
    folder: Option<Setting<PathBuf>>,
    /// The file of allowed signers, in the form of `ssh-keygen`.
    #[schemars(with = "Setting<PathBuf>")]
    signers: Option<Setting<PathBuf>>,
    /// The evidence for the author of a document: the signatures of the commits that changed it, or
    /// the names in those commits, which anyone can write.
    #[schemars(extend("default" = "signed"))]
    authors: Option<Setting<AuthorEvidence>>,
    #[schemars(skip)]
    place: String,
}

/// The way to identify the author of a document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AuthorEvidence {
    /// By the signatures of the commits that changed it.
    #[default]
    Signed,
    /// By the names in those commits, which anyone can write.
    Named,
}

/// The operator's rules for approvals in signed commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedRules {
    /// The folder of the approvals; none: `approvals` beside the specs.
    pub folder: Option<PathBuf>,
    /// The file of allowed signers, in the form of `ssh-keygen`.
    pub signers: PathBuf,
    pub authors: AuthorEvidence,
    /// The place where the section names the signers, such as `reckon.yaml:14`.
    pub place: String,
}

impl FromText for AuthorEvidence {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        match text {
            "signed" => Ok(Self::Signed),
            "named" => Ok(Self::Named),
            _ => Err(InvalidValue::new(
                format!("unknown value `{text}`"),
                wording::suggestion_help(text, ["signed", "named"]),
            )),
        }
    }

    fn schema() -> Value {
        word_schema(&["signed", "named"])
    }
}

impl SignedSection {
    /// Returns the rules, or `None` where the section has a mistake that is reported elsewhere.
    ///
    /// # Errors
    /// As [`Setting::get`].
    pub fn get(&self, env: &dyn EnvSource) -> Result<Option<SignedRules>, ConfigError> {
        let Some(signers) = &self.signers else { return Ok(None) };
        let authors = self.authors.as_ref().map(|authors| authors.get(env)).transpose()?;
        Ok(Some(SignedRules {
            folder: self.folder.as_ref().map(|folder| folder.get(env)).transpose()?,
            signers: signers.get(env)?,
            authors: authors.unwrap_or_default(),
            place: self.place.clone(),
        }))
    }
}

impl ConfigReader<'_> {
    /// Reads `policy.approvals.signed`.
    pub(crate) fn read_signed_section(&mut self, approvals: &Node) -> Option<SignedSection> {
        let node = self.section(approvals, "signed", &KEYS)?;
        let place = node.entry("signers").map_or(node.span.start, |entry| entry.key_span.start);
        let (line, _) = self.source.position(place);
        let section = SignedSection {
            folder: self.setting(node, "folder"),
            signers: self.setting(node, "signers"),
            authors: self.setting(node, "authors"),
            place: format!("{}:{line}", self.source.file),
        };
        if node.entry("signers").is_none_or(|entry| entry.value.is_null()) {
            let help = "write `signers: /etc/reckon/signers`, a file of allowed signers as ssh-keygen reads it";
            let message = "`signers` is missing, so no person can sign an approval";
            self.report("reckon::config::missing", node.span.clone(), message, help);
        }
        Some(section)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::settings::Config;

    fn check(signed: &str) -> Result<SignedRules, Vec<String>> {
        let head = "apiVersion: reckon.dev/v1\nkind: Config\npolicy:\n  approvals:\n    signed:";
        let text = format!("{head} {signed}\n").into_bytes();
        match Config::parse("reckon.yaml", Path::new("/etc/reckon"), text) {
            Ok(config) => {
                Ok(config.policy.approvals.signed.unwrap().get(&|_: &str| None).unwrap().unwrap())
            }
            Err(broken) => Err(broken.problems.iter().map(|one| one.message.clone()).collect()),
        }
    }

    #[test]
    fn names_are_believed_only_where_the_operator_says_so() {
        let rules = check("{signers: signers}").unwrap();
        let place = "reckon.yaml:5".to_owned();
        let signers = PathBuf::from("/etc/reckon/signers");
        assert_eq!(
            rules,
            SignedRules { folder: None, signers, authors: AuthorEvidence::Signed, place }
        );
        let rules = check("{signers: /s, folder: /b/approvals, authors: named}").unwrap();
        assert_eq!(
            (rules.authors, rules.folder),
            (AuthorEvidence::Named, Some("/b/approvals".into()))
        );
    }

    #[test]
    fn what_is_wrong_is_told() {
        assert_eq!(check("{signers: s, authors: any, keys: 1}").unwrap_err().len(), 2);
        let missing = check("{folder: approvals}").unwrap_err();
        assert_eq!(missing, ["`signers` is missing, so no person can sign an approval"]);
    }
}
