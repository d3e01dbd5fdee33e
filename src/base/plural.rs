//! Counts in words, singular and plural.

use std::fmt::Display;

/// Returns `1 resource`, `2 resources`.
pub fn count_noun<N: Copy + Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let ending = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// Returns the count with a verb that fits it: `1 is`, `2 are`.
pub fn count_verb<N: Copy + Display + PartialEq + From<u8>>(
    count: N,
    one: &str,
    many: &str,
) -> String {
    let verb = if count == N::from(1) { one } else { many };
    format!("{count} {verb}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Closes the item of C: a count of one is singular.
    #[test]
    fn one_is_singular_and_every_other_count_plural() {
        let counts = [0_u64, 1, 2].map(|count| count_noun(count, "error"));
        assert_eq!(counts, ["0 errors", "1 error", "2 errors"]);
        let verbs = [0_usize, 1, 2].map(|count| count_verb(count, "is done", "are done"));
        assert_eq!(verbs, ["0 are done", "1 is done", "2 are done"]);
    }
}
