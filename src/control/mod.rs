//! The requests of people and programs, whatever carries them.
