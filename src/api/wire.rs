//! The service's objects as they stand on the wire.
