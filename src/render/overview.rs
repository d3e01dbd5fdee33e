//! Renders the overall state in a line or two, and the causes for which calls to the service wait.

use crate::base::wording::count_noun;
use crate::engine::protocol::views::{Overview, TrafficView};
use crate::model::manifest::TreeState;
use crate::render::resource::standing;
use crate::render::words::{clean, clock_difference, low_disk, push_line, short_hash};

/// Renders the counts of all resources, and what hinders them: a line, and one for each hindrance.
pub fn overview(overview: &Overview) -> String {
    let open = if_any(overview.open_intents, |count| {
        format!("; {} not settled", count_noun(count, "intent"))
    });
    let (all, counts) =
        (count_noun(overview.resources, "resource"), standing::counts(&overview.standings));
    let counts = if counts.is_empty() { String::new() } else { format!(": {counts}") };
    let (position, head) = (overview.position, short_hash(&overview.head));
    let mut out = format!("{all}{counts}{open} (record {position}, head {head})\n");
    for line in hindrances(overview) {
        push_line!(out, "{line}");
    }
    out
}

/// Renders what hinders the work: documents, objects left behind, and the service.
pub(super) fn hindrances(overview: &Overview) -> Vec<String> {
    let mut lines = Vec::new();
    if overview.coverage == TreeState::Incomplete {
        let documents = count_noun(overview.broken, "document");
        let verb = if overview.broken == 1 { "is" } else { "are" };
        lines.push(format!(
            "{documents} {verb} invalid: nothing is removed until `reckon validate` passes."
        ));
    }
    if overview.orphaned > 0 {
        let (object, theirs) = (count_noun(overview.orphaned, "object"), overview.orphaned == 1);
        let (verb, document) =
            if theirs { ("is", "its document is") } else { ("are", "their documents are") };
        lines.push(format!(
            "{object} {verb} left at the service: {document} gone (reckon.dev/deletion: orphan)."
        ));
    }
    lines.extend(overview.disk_low_bytes.map(|free| format!("Disk: {}.", low_disk(free))));
    lines.extend(traffic_lines(&overview.traffic).lines().map(str::to_owned));
    lines
}

/// Returns words about a count, or an empty text for 0.
fn if_any(count: usize, words: impl FnOnce(usize) -> String) -> String {
    if count == 0 { String::new() } else { words(count) }
}

/// Renders hosts that do not answer, and merchants that are throttled.
pub(super) fn traffic_lines(traffic: &TrafficView) -> String {
    let TrafficView { slowed, throttled, silent, clock_ahead_seconds } = traffic;
    let mut out = String::new();
    for silent in silent {
        let (host, since, next) = (clean(&silent.host), &silent.since, &silent.next);
        push_line!(
            out,
            "The service at {host} has been failing since {since}: calls pause; the next try is \
            at {next}."
        );
    }
    if let Some(difference) = clock_difference(*clock_ahead_seconds) {
        push_line!(out, "This machine's clock is {difference}.");
    }
    if *slowed > 0 {
        let (who, answers) = (count_noun(*slowed, "merchant"), count_noun(*throttled, "time"));
        push_line!(out, "The service throttles {who} ({answers} so far): calls wait.");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing;
    use crate::engine::protocol::views::{DownHostView, StandingCounts};

    #[test]
    fn things_are_counted_and_what_is_missing_is_left_out() {
        let mut some = testing::overview();
        insta::assert_snapshot!(overview(&some), @r"5 resources: 3 ready, 1 to change, 1 needs attention; 2 intents not settled (record 42, head 9f86d081884c)");
        let standings = StandingCounts { ready: 1, ..StandingCounts::default() };
        some = Overview { standings, open_intents: 0, resources: 1, ready: 1, ..some };
        insta::assert_snapshot!(overview(&some), @r"1 resource: 1 ready (record 42, head 9f86d081884c)");
        some = Overview { orphaned: 1, ..some };
        insta::assert_snapshot!(overview(&some), @r"
        1 resource: 1 ready (record 42, head 9f86d081884c)
        1 object is left at the service: its document is gone (reckon.dev/deletion: orphan).
        ");
        some = Overview { broken: 1, orphaned: 0, coverage: TreeState::Incomplete, ..some };
        insta::assert_snapshot!(overview(&some), @r"
        1 resource: 1 ready (record 42, head 9f86d081884c)
        1 document is invalid: nothing is removed until `reckon validate` passes.
        ");
    }

    #[test]
    fn what_calls_wait_for_is_told_and_nothing_else() {
        let mut traffic = TrafficView { throttled: 3, ..TrafficView::default() };
        assert_eq!(traffic_lines(&traffic), "");
        traffic.slowed = 1;
        traffic.silent.push(DownHostView {
            host: "pay.example:443".to_owned(),
            since: "2026-11-22T01:00:00.000Z".to_owned(),
            next: "2026-11-22T01:00:30.000Z".to_owned(),
        });
        insta::assert_snapshot!(traffic_lines(&traffic), @r"
        The service at pay.example:443 has been failing since 2026-11-22T01:00:00.000Z: calls pause; the next try is at 2026-11-22T01:00:30.000Z.
        The service throttles 1 merchant (3 times so far): calls wait.
        ");
    }
}
