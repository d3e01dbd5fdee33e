//! Formats an error with its chain of causes, for people.

use std::error::Error;

/// Maximum number of causes that are followed.
const CAUSES_MAX: usize = 8;

/// Returns an error and its causes, in one line.
pub fn causes(error: &dyn Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    for _ in 0..CAUSES_MAX {
        let Some(next) = cause else { break };
        line.push_str(": ");
        line.push_str(&next.to_string());
        cause = next.source();
    }
    line
}

/// Returns the message of the innermost cause: the system's own, where a library only passes its
/// error on.
pub fn root_cause(error: &dyn Error) -> String {
    let mut innermost = error;
    for _ in 0..CAUSES_MAX {
        let Some(next) = innermost.source() else { break };
        innermost = next;
    }
    innermost.to_string()
}
