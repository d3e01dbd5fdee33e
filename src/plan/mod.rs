//! Desired and Observed to a Plan; pure and infallible.
