//! Files to Desired and problems.
