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

pub mod base;

pub mod api;

pub mod model;

pub mod effects;
pub mod kinds;
pub mod policy;

pub mod client;
pub mod hooks;
pub mod outbox;
pub mod plan;
pub mod spec;
pub mod store;

pub mod engine;

pub mod control;

pub mod cli;
pub mod http;
pub mod watch;

pub mod config;
pub mod render;
pub mod sim;

pub mod sandbox;
