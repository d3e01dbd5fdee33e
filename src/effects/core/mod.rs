//! Parts that every effect shares: the register, the context, the expected answer, the evidence.

pub mod context;
pub mod evidence;
pub mod expect;
pub mod row;
