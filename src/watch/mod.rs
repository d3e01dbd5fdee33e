//! The spec tree as a stream of hints.
//!
//! Any event means "read again" and nothing more: only the reader of specs finds out the content of
//! a file. Hints come once the tree was quiet for a moment. So an edit is applied within a second,
//! and a checkout of thousands of files is one reading. A possibly missed change (a lost event, a
//! replaced folder) causes a reading of the whole tree, and so does every minute.

pub mod files;
pub mod tree;
