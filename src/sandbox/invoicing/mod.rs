//! Contacts, files, invoices, their e-mails and the payment portal.

pub mod contacts;
pub mod invoices;
pub mod mail;
pub mod portal;
