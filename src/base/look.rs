//! The look of every page that people see, of the sandbox and of the daemon: one sheet of styles, light and dark.

/// The sheet of styles.
pub const STYLES: &str = include_str!("look/pages.css");
