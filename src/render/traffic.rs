//! Renders the causes for which calls wait, one line each; empty if no call waits.

use super::words::{clean, push_line};
use crate::base::wording::count_noun;
use crate::engine::protocol::queries::traffic::TrafficView;

/// Renders hosts that do not answer, and merchants that are throttled.
pub(super) fn text(traffic: &TrafficView) -> String {
    let TrafficView { slowed, throttled, silent } = traffic;
    let mut out = String::new();
    for silent in silent {
        let (host, since, next) = (clean(&silent.host), &silent.since, &silent.next);
        let told = format!(
            "The service at {host} has been failing since {since}: calls pause; the next try is \
            at {next}."
        );
        push_line(&mut out, &told);
    }
    if *slowed > 0 {
        let (who, answers) = (count_noun(*slowed, "merchant"), count_noun(*throttled, "time"));
        let told = format!("The service throttles {who} ({answers} so far): calls wait.");
        push_line(&mut out, &told);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::protocol::queries::traffic::DownHostView;

    #[test]
    fn what_calls_wait_for_is_told_and_nothing_else() {
        let mut traffic = TrafficView { throttled: 3, ..TrafficView::default() };
        assert_eq!(text(&traffic), "");
        traffic.slowed = 1;
        traffic.silent.push(DownHostView {
            host: "pay.example:443".to_owned(),
            since: "2026-11-22T01:00:00.000Z".to_owned(),
            next: "2026-11-22T01:00:30.000Z".to_owned(),
        });
        insta::assert_snapshot!(text(&traffic), @r"
        The service at pay.example:443 has been failing since 2026-11-22T01:00:00.000Z: calls pause; the next try is at 2026-11-22T01:00:30.000Z.
        The service throttles 1 merchant (3 times so far): calls wait.
        ");
    }
}
