//! Effects on contacts, invoices and files.

pub mod contact_create;
pub mod contact_hash;
pub mod file_upload;
pub mod invoice_create;
