//! Reads scripts: folders, modules, syntax.

pub mod events;
pub mod folder;
pub mod scripts;
pub mod source;
