//! The measurement of growth on a small scale: it runs, and settled old data leaves the state.

use chrono::TimeDelta;

#[path = "../../benches/growth/course.rs"]
mod course;
#[path = "../../benches/growth/failed.rs"]
mod failed;
#[path = "../../benches/growth/sizes.rs"]
mod sizes;
#[path = "../../benches/growth/stand.rs"]
mod stand;
#[path = "../../benches/growth/table.rs"]
mod table;

use course::{Hook, Wanted, measure};

/// Closes K11: 100 events, half of them with a notification of a hook, arrive and are dropped.
#[tokio::test(start_paused = true)]
async fn events_come_are_answered_and_go() {
    let folder = tempfile::tempdir().unwrap();
    let keep = TimeDelta::days(1);
    let wanted = Wanted { events: 100, days: 0, keep, hook: Hook::Notify };
    let measured = measure(folder.path(), &wanted).await.unwrap();
    let rows = &measured.rows;
    assert_eq!(rows.len(), 4);
    assert!(rows[0].verified >= 100 && rows[0].held == rows[0].verified, "{rows:?}");
    assert!(rows[3].held < rows[0].held / 4, "{rows:?}");
    assert!(rows[3].sizes.journal < rows[1].sizes.journal / 4, "{rows:?}");
    let text = table::for_each_event(&measured);
    assert_eq!(text.lines().filter(|line| line.starts_with("| a")).count(), 4, "{text}");
}

/// Closes K11: the same, day by day.
#[tokio::test(start_paused = true)]
async fn days_follow_one_another_and_the_state_stops_growing() {
    let folder = tempfile::tempdir().unwrap();
    let keep = TimeDelta::days(1);
    let wanted = Wanted { events: 20, days: 3, keep, hook: Hook::Refund };
    let measured = measure(folder.path(), &wanted).await.unwrap();
    let rows = &measured.rows;
    assert_eq!(rows.len(), 3);
    assert!(rows[2].held <= rows[1].held + 30, "{rows:?}");
    assert!(table::in_all(&measured).contains("| day 3 |"));
}
