//! Words of sentences: counts, chains of causes, and suggestions for a mistyped word.

use std::error::Error;
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

const CAUSES_MAX: usize = 8;

/// Returns an error and its causes, in one line.
pub fn causes(error: &dyn Error) -> String {
    let texts = chain(error).map(ToString::to_string);
    [error.to_string()].into_iter().chain(texts).collect::<Vec<_>>().join(": ")
}

fn chain<'e>(error: &'e dyn Error) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(error.source(), |&cause| cause.source()).take(CAUSES_MAX)
}

/// Returns the message of the innermost cause, where a library only passes an error on.
pub fn root_cause(error: &dyn Error) -> String {
    chain(error).last().map_or_else(|| error.to_string(), ToString::to_string)
}

/// Returns the candidate most similar to `word`; `None` where no candidate is similar.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let allowed = word.chars().count().checked_div(3).unwrap_or_default().max(1);
    let length = lower.chars().count();
    // The edit distance is at least the difference of the lengths, so most candidates need no
    // closer comparison.
    let comparable = |candidate: &&str| candidate.chars().count().abs_diff(length) <= allowed;
    candidates
        .into_iter()
        .filter(comparable)
        .map(|candidate| {
            let distance = strsim::damerau_levenshtein(&lower, &candidate.to_lowercase());
            (distance, candidate)
        })
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Asks for the candidate most similar to `word`; `None` where no candidate is similar.
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(word, candidates).map(|meant| format!("did you mean `{meant}`?"))
}

/// Returns `did you mean …?` where a candidate resembles `word`, else the list of all.
pub fn suggestion_help<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    if let Some(question) = did_you_mean(word, candidates.clone()) {
        return question;
    }
    let all: Vec<_> = candidates.into_iter().map(|candidate| format!("`{candidate}`")).collect();
    match all.split_last() {
        None => "remove it".to_owned(),
        Some((only, [])) => format!("write {only}"),
        Some((last, others)) => format!("write one of {} or {last}", others.join(", ")),
    }
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

    #[test]
    fn only_what_looks_alike_is_near() {
        let kinds = ["Invoice", "Contact", "SavedMethod"];
        assert_eq!(nearest("Invocie", kinds), Some("Invoice"));
        assert_eq!(nearest("savedmethod", kinds), Some("SavedMethod"));
        assert_eq!(nearest("Deployment", kinds), None);
        assert_eq!(
            suggestion_help("x", kinds),
            "write one of `Invoice`, `Contact` or `SavedMethod`"
        );
        assert_eq!(suggestion_help("contcat", kinds), "did you mean `Contact`?");
    }
}
