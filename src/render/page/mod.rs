//! The daemon's page for people: each view of the engine as HTML. Text from outside is cleaned and
//! escaped, and no markup holds a script or a style of its own.

pub mod assets;
pub mod audit;
pub mod entry;
pub mod event;
pub mod events;
pub mod forms;
pub mod frame;
pub mod graph;
pub mod intents;
mod money;
pub mod orders;
pub mod overview;
mod parts;
pub mod plan;
pub mod resource;
pub mod resource_orders;
pub mod resources;
#[cfg(test)]
mod tests;
pub mod why;
