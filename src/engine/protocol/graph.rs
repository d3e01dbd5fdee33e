//! Resources and their needs as a graph of bounded size.

use serde::{Deserialize, Serialize};

use crate::base::id::Key;
use crate::model::plan::Standing;

/// The resources that a graph is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GraphSubject {
    All,
    /// A merchant and its resources.
    Merchant(Key),
    /// One resource, all that it needs, and all that need it.
    Resource(Key),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphView {
    pub nodes: Vec<GraphNode>,
    /// Pairs of places in `nodes`: a needed resource, and one that needs it.
    pub edges: Vec<(usize, usize)>,
    /// Number of resources beside those in `nodes`, which come first if they are not ready.
    pub left_out: usize,
    /// True if more resources than `left_out` are left out: the search ended at its limit.
    pub is_cut: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphNode {
    pub key: Key,
    /// `None` if nothing has this name.
    pub standing: Option<Standing>,
    /// A CamelCase word.
    pub reason: String,
    /// One sentence.
    pub message: String,
}
