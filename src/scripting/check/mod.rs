//! Static checks of scripts: names, rights, types, constants.

pub mod argument_type;
pub mod checker;
pub mod known_names;
