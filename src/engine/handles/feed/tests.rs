//! Tests of the log of effects, and of those that follow it.

use serde_json::json;

use crate::engine::handles::feed::*;

fn effect(position: u64) -> EffectReport {
    let report = json!({
        "position": position, "at": "2026-11-20T12:34:56.000Z", "verb": "created",
        "intent": "i-000002", "key": "Contact/default/jane", "effect": "contact.create",
        "cause": {"file": null, "line": null, "commit": null},
    });
    serde_json::from_value(report).unwrap()
}

fn positions(log: &EffectLog, since: u64) -> Vec<u64> {
    log.since(since).iter().map(|one| one.position).collect()
}

#[test]
fn effects_are_read_back_from_behind_a_position_oldest_first() {
    let log = EffectLog::default();
    (1..=3).for_each(|position| log.push(effect(position)));
    assert_eq!(positions(&log, 0), [1, 2, 3]);
    assert_eq!(positions(&log, 1), [2, 3]);
    assert_eq!(positions(&log, 3), [0; 0]);
}

#[test]
fn only_the_newest_effects_are_kept() {
    let log = EffectLog::default();
    let last = u64::try_from(EFFECTS_KEPT_MAX).unwrap() + 2;
    (1..=last).for_each(|position| log.push(effect(position)));
    let kept = positions(&log, 0);
    assert_eq!((kept.len(), kept[0], kept[kept.len() - 1]), (EFFECTS_KEPT_MAX, 3, last));
}

#[test]
fn a_listener_hears_effects_until_it_is_replaced_or_ends() {
    let log = EffectLog::default();
    let mut first = log.subscribe();
    log.push(effect(1));
    let mut second = log.subscribe();
    log.push(effect(2));
    log.unsubscribe();
    log.push(effect(3));
    let heard = |listener: &mut mpsc::UnboundedReceiver<EffectReport>| {
        std::iter::from_fn(|| listener.try_recv().ok().map(|one| one.position)).collect::<Vec<_>>()
    };
    assert_eq!((heard(&mut first), heard(&mut second)), (vec![1], vec![2]));
    assert_eq!(positions(&log, 0), [1, 2, 3], "the log keeps them all");
}

fn feed(log: &Arc<EffectLog>) -> (watch::Sender<Overview>, EngineFeed) {
    let (overview, overviews) = watch::channel(Overview { position: 1, ..Overview::default() });
    (overview, EngineFeed { overviews, effects: log.clone() })
}

/// Returns the next event in short: `overview POSITION`, `effect POSITION` or `lagged COUNT`.
async fn next(followed: &mut FollowedFeed) -> Option<String> {
    Some(match followed.next(true).await? {
        FeedEvent::Overview(overview) => format!("overview {}", overview.position),
        FeedEvent::Effect(effect) => format!("effect {}", effect.position),
        FeedEvent::Lagged(count) => format!("lagged {count}"),
    })
}

#[tokio::test]
async fn every_watcher_gets_the_present_overview_and_each_effect_behind_its_position() {
    let log = Arc::new(EffectLog::default());
    let (overview, feed) = feed(&log);
    (1..=3).for_each(|position| log.push(effect(position)));
    let (mut new, mut back) = (feed.follow(None), feed.follow(Some(1)));
    log.push(effect(4));
    for wanted in ["effect 4", "overview 1"] {
        assert_eq!(next(&mut new).await.as_deref(), Some(wanted));
    }
    for wanted in ["effect 2", "effect 3", "effect 4", "overview 1"] {
        assert_eq!(next(&mut back).await.as_deref(), Some(wanted));
    }
    overview.send_modify(|now| now.position = 8);
    overview.send_modify(|now| now.position = 9);
    assert_eq!(next(&mut new).await.as_deref(), Some("overview 9"), "only the newest");
    drop(overview);
    assert_eq!(next(&mut new).await, None, "the engine has ended");
}

#[tokio::test]
async fn a_slow_watcher_misses_the_oldest_effects_and_is_told_how_many() {
    let log = Arc::new(EffectLog::default());
    let (_overview, feed) = feed(&log);
    let mut slow = feed.follow(None);
    let sent = u64::try_from(EFFECTS_AHEAD_MAX).unwrap() + 2;
    (1..=sent).for_each(|position| log.push(effect(position)));
    assert_eq!(next(&mut slow).await.as_deref(), Some("lagged 2"));
    assert_eq!(next(&mut slow).await.as_deref(), Some("effect 3"));
}
