//! The plan from one tree to another without any service: the consequences of a change of the files
//! if the service matched the first tree.

use super::views::Against;
use crate::model::issue::TreeProblems;
use crate::model::manifest::Desired;
use crate::policy::PolicyRules;

/// Two trees to compare.
#[derive(Debug)]
pub struct ComparedTrees<'a> {
    /// The tree that is assumed to be applied.
    pub before: &'a Desired,
    /// The wanted tree.
    pub after: &'a Desired,
    pub against: Against,
    /// The problems of both trees' files.
    pub problems: TreeProblems,
    pub rules: &'a PolicyRules,
}
