//! Shared look of every page of the sandbox and of the daemon: one frame, and one style sheet,
//! light and dark.

#[cfg(test)]
#[expect(
    clippy::float_arithmetic,
    clippy::disallowed_types,
    reason = "the contrast of colours is a fraction, and no money"
)]
mod contrast;
mod frame;
#[cfg(test)]
pub(crate) mod outline;

pub use frame::{PageFrame, headers};

/// The style sheet.
pub const STYLES: &str = include_str!("page_style/pages.css");
