//! Spelling suggestions: the candidate most similar to a given word.

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

/// Returns `did you mean …?` where a candidate resembles `word`, else the list of all.
pub fn suggestion_help<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    if let Some(meant) = nearest(word, candidates.clone()) {
        return format!("did you mean `{meant}`?");
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
