//! Register of host functions: the functions that scripts can call in addition to the language.
//! Their rows are beside their code.

use super::call::HostFn;
use super::{calculation, money, notifications, reads, suspension};

/// Returns every host function, in the order of the documentation.
pub fn rows() -> impl Iterator<Item = &'static HostFn> + Clone {
    let actions = money::ROWS.iter().chain(suspension::ROWS).chain(notifications::ROWS);
    actions.chain(reads::ROWS).chain(calculation::ROWS)
}

/// Returns the rows of a name, or of a former name.
pub fn rows_named(name: &str) -> impl Iterator<Item = &'static HostFn> {
    rows().filter(move |row| row.names().any(|known| known == name))
}

/// Returns the name of the function whose action requests or reads have this name in the journal.
pub fn function_name(recorded: &str) -> &str {
    let row = rows().find(|row| row.recorded_name() == recorded);
    row.map_or(recorded, |row| row.name)
}
