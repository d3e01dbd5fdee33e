//! Files → (`Desired`, problems).

pub mod decode;
pub mod finding;
pub mod lint;
pub mod node;
pub mod split;
