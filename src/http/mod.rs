//! The daemon's HTTP server: the private API, the public addresses, the connections.

pub mod connection_limits;
pub mod listener;
pub mod parameters;
/// The API for operators and pipelines.
pub mod private {
    pub mod answer;
    pub mod auth;
    pub mod events;
    pub mod resources;
    pub mod router;
    pub mod status_body;
    pub mod watch;
    pub mod writes;
}
/// The page for people.
pub mod page {
    pub mod audit;
    pub mod entry;
    pub mod events;
    pub mod graph;
    pub mod guard;
    pub mod orders;
    pub mod resource_orders;
    pub mod resources;
    pub mod respond;
    pub mod routes;
    pub mod visit;
}
/// Addresses for the service, applicants and payers.
pub mod public {
    pub mod ingress;
    pub mod links;
    pub mod pages;
    pub mod public_routes;
    pub mod webhooks;
}
