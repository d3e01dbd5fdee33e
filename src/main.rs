//! argv in, one report out, exit code.

fn main() {}
