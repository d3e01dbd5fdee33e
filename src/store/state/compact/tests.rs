use super::*;
use crate::model::record::StateOwner;
use crate::store::disk::directory::LockOwner;
use crate::store::read_model::model::ReadModel;
use crate::store::state::open::{OpenState, StateOptions};
use crate::store::tests::support::seeded_rng;
use crate::store::vault::key::MasterKey;

fn opening(dir: &std::path::Path) -> StateOptions {
    let owner = LockOwner { pid: 1, host: "here".into(), started: "now".into() };
    StateOptions { dir: dir.to_owned(), owner, boot: "b".into(), rebuild: false, marking: None }
}

fn key() -> MasterKey {
    MasterKey::new([3; 32])
}

fn at() -> DateTime<Utc> {
    "2026-11-22T12:00:00Z".parse().unwrap()
}

fn wanted(history: ArchivePolicy) -> CompactionRequest {
    CompactionRequest { history, at: at(), actor: "uid 1".into() }
}

fn hold(name: &str, reason: &str) -> Record {
    let key = format!("Contact/{name}").parse().unwrap();
    Record::OnHold { key, reason: reason.into(), at: at() }
}

async fn bound(dir: &std::path::Path) -> OpenState {
    let (client, partner) = ("c".into(), "acme".into());
    let binding = StateOwner { partner, client, key: key().fingerprint(), epoch: 0, began: None };
    let state = OpenState::open(&opening(dir), &key()).unwrap();
    state.check_owner(&binding).await.unwrap();
    state
}

#[tokio::test]
async fn a_compacted_state_says_where_its_journal_begins() {
    let folder = tempfile::tempdir().unwrap();
    let state = bound(folder.path()).await;
    assert_eq!(state.base_sequence().unwrap(), 0);
    state.writer.append(Commit::of(vec![hold("a", "x"), hold("b", "x")])).await.unwrap();
    let head = state.close().await.unwrap();
    let state = OpenState::open(&opening(folder.path()), &key()).unwrap();
    let compacted = state.compact(&wanted(ArchivePolicy::Drop)).await.unwrap().compacted.unwrap();
    let again = OpenState::open(&opening(folder.path()), &key()).unwrap();
    assert_eq!(again.base_sequence().unwrap(), compacted.sequence);
    assert!(compacted.sequence >= head.sequence && head.sequence > 0);
}

/// Closes K11: a state in use shrinks on the disk, its index included, and its content stays the
/// same.
#[tokio::test]
async fn a_state_in_use_shrinks_and_is_the_same_state() {
    let folder = tempfile::tempdir().unwrap();
    let state = bound(folder.path()).await;
    let compactor = state.compactor();
    let mut now = Sizes::default();
    for round in 0..3 {
        for number in 0..60 {
            let reason = format!("{round} {number} {}", "reason ".repeat(1000));
            let sealed = state.vault.seal("jane", &[7; 9000], &mut seeded_rng(number)).unwrap();
            let records = (0..40).map(|one| hold(&format!("c{one}"), &reason)).collect();
            state.writer.append(Commit { blobs: vec![sealed], records }).await.unwrap();
            state.index().flush().unwrap();
        }
        let known = state.facts.digest().unwrap();
        let shorter = compactor.compact(&wanted(ArchivePolicy::KeepFor(-1))).await.unwrap();
        let CompactionResult { before, after, .. } = shorter;
        assert!(after.total() < before.total() / 3, "{before:?} {after:?}");
        assert!(after.vault < before.vault / 10 && after.archive == 0, "{before:?} {after:?}");
        assert!(after.index < before.index / 2, "{before:?} {after:?}");
        assert!(round == 0 || after.total() < now.total() * 3 / 2, "{now:?} {after:?}");
        assert_eq!(state.facts.digest().unwrap(), known);
        now = after;
    }
    state.writer.append(Commit::of(vec![hold("late", "x")])).await.unwrap();
    let known = state.facts.digest().unwrap();
    drop(compactor);
    state.close().await.unwrap();
    let again = OpenState::open(&opening(folder.path()), &key()).unwrap();
    assert_eq!((again.found.folded, again.found.rebuilt.clone()), (0, None));
    assert_eq!(again.facts.digest().unwrap(), known);
    assert_eq!(again.verify().unwrap(), again.writer.head());
    again.close().await.unwrap();
    let rebuilt =
        OpenState::open(&StateOptions { rebuild: true, ..opening(folder.path()) }, &key());
    assert_eq!(ReadModel::new(rebuilt.unwrap().index().clone()).digest().unwrap(), known);
}

mod archive {
    use super::super::*;
    use crate::base::id::Mode;
    use crate::base::money::{Currency, Money};
    use crate::model::effect::{Exposure, RecordedMove};
    use crate::model::intent::Intent;
    use crate::store::tests::support::old_intent;

    fn day(days: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH.checked_add_signed(TimeDelta::days(days)).unwrap()
    }

    /// Closes K11: records of moved money stay for six months, all others for the given time.
    #[test]
    fn money_is_kept_for_six_months_whatever_is_said() {
        let over = |records: &[Record], keep: i64, now: i64| {
            let (mut age, mut money) = (SegmentAge::default(), BTreeSet::new());
            for record in records {
                age.note(record, &mut money);
            }
            age.is_expired(TimeDelta::days(keep), day(now))
        };
        let hold = |at| Record::OnHold {
            key: "Contact/jane".parse().unwrap(),
            reason: "x".into(),
            at: day(at),
        };
        assert!(!over(&[], 1, 1000), "no time is known");
        assert!(over(&[hold(1), hold(5)], 10, 16) && !over(&[hold(1), hold(5)], 10, 15));
        let still =
            Record::Intent(Box::new(Intent { at: day(0), ..old_intent(1, "a", "m", Mode::Test) }));
        assert!(over(&[still, hold(0)], 10, 20), "it moves nothing");
        let moved = RecordedMove { amount: Money::new(100, Currency::USD), meaning: "paid".into() };
        let stake = Exposure { moves: vec![moved], ..Exposure::default() };
        let intent = Intent { at: day(0), exposure: stake, ..old_intent(1, "a", "m", Mode::Test) };
        let money = [Record::Intent(Box::new(intent)), hold(0)];
        assert!(!over(&money, 10, 184) && over(&money, 10, 185) && !over(&money, 400, 300));
    }
}
