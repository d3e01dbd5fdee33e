//! `reckon`: billing as code.
//!
//! A tree of YAML files describes the desired merchants, contacts, invoices, saved payment methods
//! and recurring charges. `reckon` makes the payment service match, every effect exactly once.
//! Every effect is data, recorded before it happens and settled after:
//!
//! ```text
//! file ─▶ Manifest ─▶ Desired ─┐
//!                              ├─▶ Plan ─▶ Intent ─▶ Call ─▶ Outcome ─▶ Observation ─▶ Observed
//!         Observed ────────────┘                                           │
//!             ▲                                                            │
//!             └──────────────── (journal, then sled) ◀─────────────────────┘
//! ```
//!
//! The modules follow in reading order, lowest floor first. A file imports only from lower floors;
//! `tests/architecture/main.rs` fails the build of any other edge.

// Values and contracts.
pub mod base;

pub mod api;

pub mod model;

// Rules of the service and of the operator.
pub mod effects;

pub mod policy;

pub mod kinds;

// Files to plans, the state on disk, calls, scripts, notifications.
pub mod client;
pub mod notify;
pub mod plan;
pub mod scripting;
pub mod spec;
pub mod store;

// The engine, and the requests of people and programs.
pub mod engine;

pub mod control;

pub mod config;
pub mod render;

// Entry points.
pub mod cli;
pub mod http;
pub mod watch;

// Beside the floors: the emulated service, and the simulator.
pub mod sandbox;
pub mod sim;
