//! The command line door.
