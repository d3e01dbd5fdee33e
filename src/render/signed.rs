//! What became of approvals in signed commits.

use serde::Serialize;

use super::words::{clean, line as end};
use crate::model::issue::Problem;
use crate::model::plan_approval::Signature;

/// Columns of the word before a file.
const WORD_WIDTH: usize = 10;
/// Characters of a commit's id that people read.
const SHORT: usize = 12;

/// Every approval file, and what keeps all of them from counting.
#[derive(Debug, Default, Serialize)]
pub struct View {
    /// The files, in the order of their names.
    pub files: Vec<FileView>,
    /// Why none of them counts.
    pub problems: Vec<Problem>,
}

/// How a file stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It approves the present plan.
    Counts,
    /// It was written down before, and is not asked again.
    Known,
    /// It names another plan than the present one.
    OtherPlan,
    /// It does not count.
    Refused,
}

/// One file.
#[derive(Debug, Serialize)]
pub struct FileView {
    /// Its path from the folder of the configuration.
    pub file: String,
    /// How it stands.
    pub standing: Standing,
    /// Who signed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signer: Option<String>,
    /// The evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
    /// How many people approved the plan by now, and how many have to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approvers: Option<(usize, usize)>,
    /// Why it does not count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

impl FileView {
    /// A file of which no more is known.
    pub fn new(file: &str, standing: Standing) -> Self {
        Self {
            file: file.to_owned(),
            standing,
            signer: None,
            signature: None,
            approvers: None,
            problems: Vec::new(),
        }
    }
}

impl View {
    /// Everything that keeps an approval from counting.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter().chain(self.files.iter().flat_map(|file| &file.problems))
    }
}

/// All files for people.
pub fn text(view: &View) -> String {
    let mut out = String::new();
    if view.files.is_empty() && view.problems.is_empty() {
        return "no approval files are committed\n".to_owned();
    }
    for file in &view.files {
        end(&mut out, &line(file));
    }
    for problem in view.problems() {
        end(&mut out, &self::problem(problem));
    }
    out
}

/// Why something does not count: its place, its code, what is wrong, and what to do.
pub fn problem(problem: &Problem) -> String {
    let Problem { file, line, column, code, message, help, .. } = problem;
    let wrong = clean(&format!("error[{code}]: {file}:{line}:{column}: {message}"));
    format!("{wrong}\n  help: {}", clean(help))
}

/// One file.
pub fn line(file: &FileView) -> String {
    let (word, more) = match file.standing {
        Standing::Counts => ("counts", ""),
        Standing::Known => ("known", "  written down before"),
        Standing::OtherPlan => ("waits", "  names another plan than the present one"),
        Standing::Refused => ("refused", ""),
    };
    let signed = file.signer.as_ref().zip(file.signature.as_ref()).map(|(who, evidence)| {
        let commit = evidence.commit.get(..SHORT).unwrap_or(&evidence.commit);
        format!("  signed by {who} in commit {commit}, {}", evidence.key)
    });
    let missing = file.approvers.filter(|(by, needed)| by < needed);
    let missing = missing.map(|(by, needed)| format!("  ({by} of {needed} people)"));
    let (signed, missing) = (signed.unwrap_or_default(), missing.unwrap_or_default());
    clean(&format!("{word:WORD_WIDTH$} {}{more}{signed}{missing}", file.file))
}
