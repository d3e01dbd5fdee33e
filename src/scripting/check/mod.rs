//! Static checks of scripts: names, rights, types, constants.

pub mod calls;
pub mod checker;
pub mod declarations;
pub mod host_calls;
pub mod syntax;
