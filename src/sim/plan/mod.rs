//! Script of a run, drawn from its seed before the run begins: documents, people, faults, network
//! and hooks.

pub mod dice;
pub mod document_gen;
pub mod document_text;
pub mod documents;
pub mod faults;
pub mod hook_scripts;
pub mod incident;
pub mod network;
pub mod people;
pub mod requests;
pub mod scenario;
pub mod script;
pub mod storms;
pub mod world_parts;
