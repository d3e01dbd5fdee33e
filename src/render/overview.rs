//! How things stand, in a line or two.

use super::words::{counted, short};
use crate::engine::Overview;
use crate::model::desired::Coverage;

/// How things stand as a whole.
pub fn overview(overview: &Overview) -> String {
    let mut parts = vec![format!("{} ready", overview.ready)];
    let mut add = |count: usize, what: &str| {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    };
    add(overview.changes, "to change");
    add(overview.stuck, if overview.stuck == 1 { "needs a person" } else { "need a person" });
    let mut text =
        format!("{}: {}", counted(overview.resources, "resource"), parts.join(", "));
    if overview.open_intents > 0 {
        text.push_str(&format!("; {} not settled", counted(overview.open_intents, "intent")));
    }
    if overview.broken > 0 {
        text.push_str(&format!("; {} broken", counted(overview.broken, "document")));
    }
    let (position, head) = (overview.position, short(&overview.head));
    text.push_str(&format!(" (position {position}, head {head})\n"));
    if overview.coverage == Coverage::Partial {
        text.push_str("Some file is broken: nothing is removed until every file reads well.\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing;

    #[test]
    fn things_are_counted_and_what_is_missing_is_left_out() {
        let mut some = testing::overview();
        insta::assert_snapshot!(overview(&some), @r#"
        5 resources: 3 ready, 1 to change, 1 needs a person; 2 intents not settled (position 42, head 9f86d081884c)
        "#);
        some = Overview { changes: 0, stuck: 0, open_intents: 0, resources: 1, ready: 1, ..some };
        insta::assert_snapshot!(overview(&some), @r#"
        1 resource: 1 ready (position 42, head 9f86d081884c)
        "#);
        some = Overview { broken: 1, coverage: Coverage::Partial, ..some };
        insta::assert_snapshot!(overview(&some), @r#"
        1 resource: 1 ready; 1 document broken (position 42, head 9f86d081884c)
        Some file is broken: nothing is removed until every file reads well.
        "#);
    }
}
