//! Renders the overall state in a line or two.

use super::traffic;
use super::words::short_hash;
use crate::base::wording::{count_noun, count_verb};
use crate::engine::protocol::queries::views::Overview;
use crate::model::manifest::TreeState;

/// Renders the overall state.
pub fn overview(overview: &Overview) -> String {
    let left = if_any(overview.changes, |count| format!(", {count} to change"));
    let stuck = if_any(overview.stuck, |count| {
        format!(", {}", count_verb(count, "needs attention", "need attention"))
    });
    let open = if_any(overview.open_intents, |count| {
        format!("; {} not settled", count_noun(count, "intent"))
    });
    let suspended = if_any(overview.suspended, |count| format!("; {count} suspended"));
    let broken =
        if_any(overview.broken, |count| format!("; {} invalid", count_noun(count, "document")));
    let orphaned = if_any(overview.orphaned, |count| {
        format!(
            "{} left as {} at the service: {} gone (reckon.dev/deletion: orphan)\n",
            count_noun(count, "object"),
            if count == 1 { "it is" } else { "they are" },
            if count == 1 { "its document is" } else { "their documents are" }
        )
    });
    let (all, ready) = (count_noun(overview.resources, "resource"), overview.ready);
    let (position, head) = (overview.position, short_hash(&overview.head));
    let partial = match overview.coverage {
        TreeState::Complete => "",
        TreeState::Incomplete => {
            "Some files are invalid: nothing is removed until `reckon validate` passes.\n"
        }
    };
    format!(
        "{all}: {ready} ready{left}{stuck}{open}{suspended}{broken} (position {position}, head {head})\n\
         {orphaned}{partial}{}",
        traffic::text(&overview.traffic)
    )
}

/// Returns words about a count, or an empty text for 0.
fn if_any(count: usize, words: impl FnOnce(usize) -> String) -> String {
    if count == 0 { String::new() } else { words(count) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing;

    #[test]
    fn things_are_counted_and_what_is_missing_is_left_out() {
        let mut some = testing::overview();
        insta::assert_snapshot!(overview(&some), @"5 resources: 3 ready, 1 to change, 1 needs attention; 2 intents not settled (position 42, head 9f86d081884c)");
        some = Overview { changes: 0, stuck: 0, open_intents: 0, resources: 1, ready: 1, ..some };
        insta::assert_snapshot!(overview(&some), @"1 resource: 1 ready (position 42, head 9f86d081884c)");
        some = Overview { orphaned: 1, ..some };
        insta::assert_snapshot!(overview(&some), @r"
        1 resource: 1 ready (position 42, head 9f86d081884c)
        1 object left as it is at the service: its document is gone (reckon.dev/deletion: orphan)
        ");
        some = Overview { broken: 1, orphaned: 0, coverage: TreeState::Incomplete, ..some };
        insta::assert_snapshot!(overview(&some), @r#"
        1 resource: 1 ready; 1 document invalid (position 42, head 9f86d081884c)
        Some files are invalid: nothing is removed until `reckon validate` passes.
        "#);
    }
}
