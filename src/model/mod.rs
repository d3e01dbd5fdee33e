//! The data types of the flow, one file each, in its order.
//!
//! `Manifest` → `Desired` → `Plan` of `Step`s → `Effect` → `Intent` → `Outcome` → `Observation` →
//! `Observed`. Every type is plain data; no code here reads a file, a clock or a socket.

pub mod absence;
pub mod action;
pub mod adoption;
pub mod at_most;
pub mod attachment;
pub mod bound;
pub mod class;
pub mod compacted;
pub mod condition;
pub mod desired;
pub mod drift;
pub mod due;
pub mod effect;
pub mod epoch;
pub mod event;
pub mod going;
pub mod health;
pub mod hook;
pub mod inbox;
pub mod intent;
pub mod issue;
pub mod kept;
pub mod limit;
pub mod manifest;
pub mod observed;
pub mod outcome;
pub mod payment;
pub mod plan;
pub mod plan_approval;
pub mod provenance;
pub mod ran;
pub mod reason;
pub mod record;
pub mod remote_object;
pub mod retained;
pub mod retry;
pub mod roster;
pub mod rotation;
pub mod saved;
pub mod scope;
pub mod service_problem;
pub mod showing;
pub mod stake;
pub mod suspension;
pub mod unauthorised;
pub mod unsure;
