//! People, payers and operators of a simulated world.

pub mod applicant;
pub mod approver;
pub mod command;
pub mod command_gen;
pub mod merchant_commands;
pub mod payer;
pub mod people;
pub mod people_tasks;
pub mod requests;
pub mod sandbox_control;
