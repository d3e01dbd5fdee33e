//! The sources of spec files.
