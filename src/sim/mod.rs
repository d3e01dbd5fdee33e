//! The simulator: the production engine against a seeded, failing world.
