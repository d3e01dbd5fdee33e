//! Commands: one folder for each job of an operator.

pub mod adopt;
pub mod applying;
pub mod chaos;
pub mod dispatch;
pub mod events;
pub mod gateway;
pub mod hooks;
pub mod init;
pub mod inspect;
pub mod payers;
pub mod planning;
pub mod sandbox;
pub mod seal;
pub mod signed;
pub mod store;
pub mod suspend;
