//! Script of a run, drawn from its seed before the run begins: documents, people, faults, network
//! and hooks.

pub mod chance;
pub mod document_gen;
pub mod document_text;
pub mod documents;
pub mod hook_scripts;
pub mod network;
pub mod parts;
pub mod people;
pub mod requests;
pub mod scenario;
pub mod script;
pub mod trouble;
pub mod world_parts;
