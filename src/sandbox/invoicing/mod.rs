//! Contacts, files, invoices, their e-mails and the payment portal.

pub mod contact_hashes;
pub mod contacts;
pub mod files;
pub mod invoices;
pub mod mail;
pub mod portal;
