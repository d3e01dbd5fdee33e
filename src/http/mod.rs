//! The daemon's HTTP door.
