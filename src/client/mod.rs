//! The only user of reqwest towards the service: Call to Outcome.
