//! From a request to its answer: dispatch, authentication, errors, faults.

pub mod answer;
pub mod auth;
pub mod authority;
pub mod cors;
pub mod dispatch;
pub mod documented_surface;
pub mod fault;
pub mod lenient_json;
pub mod log;
pub mod refusal;
pub mod request;
pub mod routes;
pub mod serve;
