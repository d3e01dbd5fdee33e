//! A complete, offline stand-in for the payment service.
