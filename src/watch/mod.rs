//! The spec tree as a stream of hints.
