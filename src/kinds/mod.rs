//! One file per kind of manifest, and one line each in the register.
