//! Requests of the emulated service: parsed, normalised, and checked against the documented surface.

pub mod documented_surface;
pub mod lenient_json;
pub mod request;
