//! Links and tokens of payers, and the messages that carry them.

pub mod attach;
pub mod intake;
pub mod notification;
pub mod page_link;
