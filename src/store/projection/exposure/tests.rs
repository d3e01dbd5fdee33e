//! Properties of the tallies.

use serde_json::json;

use crate::base::money::{Currency, Money};
use crate::model::effect::{ExposureCounts, MoneyMove};
use crate::model::intent::EffectProof;
use crate::model::record::Record;
use crate::model::state::observed::{FactSource, Observation};
use crate::store::index::ordered::{Batch, Index as _, MemoryIndex};
use crate::store::projection::exposure::*;
use crate::store::tests::support::fold;
use crate::store::tests::support::old_intent;

const RUN: &str = "tree@2026-11-22";

fn intent(id: u64, name: &str, merchant: &str, mode: Mode, minor: i64) -> Intent {
    let amount = Money::new(minor, Currency::USD);
    let money = MoneyMove { amount, mode, meaning: "invoiced" };
    let stake = Exposure::new(&[money], ExposureCounts { deletes: 0, emails: 1 });
    let stake = Exposure { run: Some(RUN.to_owned()), ..stake };
    Intent { exposure: stake, ..old_intent(id, name, merchant, mode) }
}

fn promise(index: &MemoryIndex, intent: &Intent) {
    record(index, &Record::Intent(Box::new(intent.clone())));
}

fn done(index: &MemoryIndex, intent: &Intent) {
    let observation = Observation {
        key: intent.key.clone(),
        merchant: intent.merchant.clone(),
        at: intent.at,
        source: FactSource::Answer,
        remote_id: None,
        exists: Some(true),
        applied: None,
        facts: json!({}),
    };
    let progress =
        IntentProgress::Done { observation: Box::new(observation), proof: EffectProof::Answer };
    record(index, &Record::Progress { intent: intent.id, at: intent.at, progress });
}

fn record(index: &MemoryIndex, record: &Record) {
    let mut batch = Batch::new();
    fold(index, &mut batch, record).unwrap();
    index.apply(batch).unwrap();
}

fn facts(index: &std::sync::Arc<MemoryIndex>) -> ReadModel {
    ReadModel::new(index.clone())
}

#[test]
fn sums_are_kept_by_day_run_mode_and_merchant() {
    let index = std::sync::Arc::new(MemoryIndex::new());
    promise(&index, &intent(1, "a", "acme", Mode::Test, 100));
    promise(&index, &intent(2, "b", "other", Mode::Test, 10));
    promise(&index, &intent(3, "c", "acme", Mode::Live, 1));
    let facts = facts(&index);
    let acme: Key = "Merchant/acme".parse().unwrap();
    let of = |span: (LimitPeriod, &str), mode, merchant| {
        let tally = facts.tally(span, mode, merchant).unwrap();
        (tally.sum(Currency::USD), tally.emails)
    };
    for span in [(LimitPeriod::Day, "2026-11-22"), (LimitPeriod::Run, RUN)] {
        assert_eq!(of(span, Mode::Test, None), (110, 2));
        assert_eq!(of(span, Mode::Test, Some(&acme)), (100, 1));
        assert_eq!(of(span, Mode::Live, None), (1, 1));
    }
    assert_eq!(of((LimitPeriod::Day, "2026-11-23"), Mode::Test, None), (0, 0));
    assert_eq!(of((LimitPeriod::Run, "tree"), Mode::Test, None), (0, 0));
}

#[test]
fn an_intent_of_an_older_journal_counts_nothing() {
    let index = std::sync::Arc::new(MemoryIndex::new());
    let before = old_intent(1, "a", "acme", Mode::Test);
    assert!(before.exposure.is_empty());
    promise(&index, &before);
    done(&index, &before);
    let tally = facts(&index).tally((LimitPeriod::Day, "2026-11-22"), Mode::Test, None).unwrap();
    assert_eq!(tally, RunningTotals::default());
}

#[test]
fn usual_are_the_last_amounts_that_were_done_and_no_others() {
    let index = std::sync::Arc::new(MemoryIndex::new());
    for id in 1..=30 {
        let minor = i64::try_from(id).unwrap();
        let one = intent(id, &format!("i{id}"), "acme", Mode::Test, minor);
        promise(&index, &one);
        done(&index, &one);
    }
    promise(&index, &intent(31, "open", "acme", Mode::Test, 9999));
    let moved = RecordedMove { amount: Money::zero(Currency::USD), meaning: "invoiced".to_owned() };
    let usual = |name: &str, merchant: &str, mode| {
        let (key, merchant) = (format!("Invoice/{name}"), format!("Merchant/{merchant}"));
        let known = facts(&index);
        known
            .usual_amounts(mode, &merchant.parse().unwrap(), &key.parse().unwrap(), &moved)
            .unwrap()
    };
    let recent: Vec<i64> = (6..=30).collect();
    assert_eq!(
        usual("i7", "acme", Mode::Test),
        TypicalAmounts { own: Some(7), recent: recent.clone() }
    );
    assert_eq!(usual("open", "acme", Mode::Test), TypicalAmounts { own: None, recent });
    assert_eq!(usual("new", "other", Mode::Test), TypicalAmounts::default());
    assert_eq!(usual("i7", "acme", Mode::Live), TypicalAmounts::default());
}
