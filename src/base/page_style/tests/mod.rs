//! Checks of pages and styles.

#[expect(
    clippy::float_arithmetic,
    clippy::disallowed_types,
    reason = "the contrast of colours is a fraction, and no money"
)]
mod contrast;
pub(crate) mod outline;
