//! One file per effect on the service, and one line each in the register.
