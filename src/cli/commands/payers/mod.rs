//! Links for payers, and the tokens that their pages supply.

pub mod attach;
pub mod intake;
pub mod link;
