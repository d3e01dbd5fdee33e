//! Charges, refunds, credits, voids, signatures, and the invoices that transactions pay.

pub mod charges;
pub mod invoice_payments;
pub mod order;
pub mod refunds;
pub mod search;
pub mod signatures;
pub mod transactions;
