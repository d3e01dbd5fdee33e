//! The sandbox's page for people: its time, merchants, money, requests, faults and e-mails, with
//! forms that order what the control paths order.
//!
//! A page shows no key, token or card number, and reads a bounded number of entries.

pub mod data;
pub mod forms;
pub mod lists;
pub mod orders;
pub mod overview;
pub mod tables;
