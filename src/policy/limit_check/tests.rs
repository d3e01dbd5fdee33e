//! Laws of the meter's arithmetic.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use crate::base::id::Mode;
use crate::model::effect::{Exposure, ExposureCounts, MoneyMove};
use crate::policy::limit_check::*;

fn amounts(name: &str, usd: i64) -> AmountLimit {
    let listed = BTreeMap::from([(Currency::USD, (usd, Arc::from("reckon.yaml:7")))]);
    AmountLimit { name: Arc::from(name), place: Arc::from("reckon.yaml:6"), listed }
}

fn most(name: &str, most: u32) -> CountLimit {
    CountLimit { name: Arc::from(name), place: Arc::from("reckon.yaml:9"), maximum: most }
}

fn wish(minor: i64, currency: &str, counts: ExposureCounts) -> SpendRequest {
    let money = MoneyMove {
        amount: Money::new(minor, currency.parse().unwrap()),
        mode: Mode::Live,
        meaning: "charged",
    };
    let moves = if minor == 0 { Vec::new() } else { vec![money] };
    SpendRequest {
        key: "Invoice/jane".parse().unwrap(),
        merchant: "Merchant/acme".parse().unwrap(),
        mode: Mode::Live,
        generation: 0,
        amountless_digest: None,
        exposure: Exposure::new(&moves, counts),
    }
}

/// A past: sums of a run and of a day, and the typical amounts.
#[derive(Default)]
struct Before {
    run: RunningTotals,
    day: RunningTotals,
    of_merchant: RunningTotals,
    usual: TypicalAmounts,
}

impl SpendHistory for Before {
    fn totals(&self, span: LimitPeriod, merchant: Option<&Key>) -> RunningTotals {
        match (span, merchant) {
            (_, Some(_)) => self.of_merchant.clone(),
            (LimitPeriod::Run, None) => self.run.clone(),
            (LimitPeriod::Day, None) => self.day.clone(),
        }
    }

    fn typical_amounts(&self, _: &SpendRequest, _: &RecordedMove) -> TypicalAmounts {
        self.usual.clone()
    }
}

fn usd(minor: i64) -> RunningTotals {
    RunningTotals { money: BTreeMap::from([(Currency::USD, minor)]), ..RunningTotals::default() }
}

fn check(limits: &Limits, wish: &SpendRequest, known: &Before) -> Option<LimitExceeded> {
    check_single(limits, wish, known).or_else(|| check_sums(limits, wish, known))
}

/// Formats the name of the limit, its allowed value and the resulting value, or `within`.
fn told(section: &LimitSet, before: &Before, wish: &SpendRequest) -> String {
    let limits = Limits { live: section.clone(), ..Limits::default() };
    check(&limits, wish, before).map_or_else(
        || "within".to_owned(),
        |over| format!("{}: {} < {} at {}", over.limit, over.allowed, over.resulting, over.place),
    )
}

#[test]
fn each_limit_names_itself_its_value_and_its_line() {
    let none = ExposureCounts::default();
    let before = Before { run: usd(900), day: usd(1900), ..Before::default() };
    let check = |section: &LimitSet, minor| told(section, &before, &wish(minor, "USD", none));
    let object = LimitSet { per_object: Some(amounts("per_object", 500)), ..LimitSet::default() };
    assert_eq!(check(&object, 500), "within");
    assert_eq!(check(&object, 501), "per_object: 5.00 USD < 5.01 USD at reckon.yaml:7");
    assert_eq!(check(&object, -501), "per_object: 5.00 USD < 5.01 USD at reckon.yaml:7");
    let run = LimitSet { per_run: Some(amounts("per_run", 1000)), ..LimitSet::default() };
    assert_eq!(check(&run, 100), "within");
    assert_eq!(check(&run, 101), "per_run: 10.00 USD < 10.01 USD at reckon.yaml:7");
    let day = LimitSet { per_day: Some(amounts("per_day", 2000)), ..LimitSet::default() };
    assert_eq!(check(&day, 101), "per_day: 20.00 USD < 20.01 USD at reckon.yaml:7");
}

#[test]
fn a_currency_that_a_list_does_not_name_does_not_move() {
    let euro = wish(1, "EUR", ExposureCounts::default());
    for section in [
        LimitSet { per_object: Some(amounts("per_object", 500)), ..LimitSet::default() },
        LimitSet { per_day: Some(amounts("per_day", 500)), ..LimitSet::default() },
    ] {
        assert!(told(&section, &Before::default(), &euro).contains("0.00 EUR < 0.01 EUR"));
        let lifted = |amounts: Option<AmountLimit>| {
            amounts.map(|amounts| AmountLimit { listed: BTreeMap::new(), ..amounts })
        };
        let LimitSet { per_object, per_day, .. } = section;
        let section = LimitSet {
            per_object: lifted(per_object),
            per_day: lifted(per_day),
            ..LimitSet::default()
        };
        assert_eq!(told(&section, &Before::default(), &euro), "within", "an empty list lifts it");
    }
}

#[test]
fn counts_are_limited_and_what_puts_nothing_at_stake_passes_whatever_was_counted() {
    let counted = RunningTotals { deletes: 2, emails: 5, money: usd(9000).money };
    let before = Before { run: counted.clone(), day: counted, ..Before::default() };
    let section = LimitSet {
        per_day: Some(amounts("per_day", 100)),
        deletes_per_run: Some(most("deletes_per_run", 2)),
        emails_per_day: Some(most("emails_per_day", 6)),
        ..LimitSet::default()
    };
    let counts = |deletes, emails| wish(0, "USD", ExposureCounts { deletes, emails });
    let check = |wish: &SpendRequest| told(&section, &before, wish);
    assert_eq!(check(&counts(0, 1)), "within");
    assert_eq!(check(&counts(0, 2)), "emails_per_day: 6 e-mails < 7 at reckon.yaml:9");
    assert_eq!(check(&counts(1, 0)), "deletes_per_run: 2 deletes < 3 at reckon.yaml:9");
    assert_eq!(check(&counts(0, 0)), "within");
}

#[test]
fn what_is_usual_is_compared_with_the_same_resource_first() {
    let section =
        LimitSet { typical_percent: Some(most("usual_percent", 300)), ..LimitSet::default() };
    let usual = TypicalAmounts { own: Some(100), recent: vec![1000; 9] };
    let before = Before { usual, ..Before::default() };
    let check = |minor| told(&section, &before, &wish(minor, "USD", ExposureCounts::default()));
    assert_eq!(check(300), "within");
    assert!(check(10_000).contains("300 % of the usual 1.00 USD < 100.00 USD, 10000 %"));
}

#[test]
fn a_merchant_s_own_limits_stand_in_place_of_single_ones_and_beside_sums() {
    let own = LimitSet {
        per_object: Some(amounts("own.per_object", 900)),
        per_day: Some(amounts("own.per_day", 1000)),
        ..LimitSet::default()
    };
    let general = LimitSet {
        per_object: Some(amounts("per_object", 500)),
        per_day: Some(amounts("per_day", 5000)),
        ..LimitSet::default()
    };
    let mut limits = Limits { live: general, ..Limits::default() };
    let wish = wish(600, "USD", ExposureCounts::default());
    let over =
        |limits: &Limits, before: &Before| check(limits, &wish, before).map(|over| over.limit);
    assert_eq!(over(&limits, &Before::default()).as_deref(), Some("per_object"));
    limits.merchants.insert(wish.merchant.clone(), own);
    assert_eq!(over(&limits, &Before::default()), None);
    let day = Before { day: usd(4500), ..Before::default() };
    assert_eq!(over(&limits, &day).as_deref(), Some("per_day"));
    let merchant = Before { of_merchant: usd(500), ..Before::default() };
    assert_eq!(over(&limits, &merchant).as_deref(), Some("own.per_day"));
    let other = Limits { test: limits.live.clone(), ..Limits::default() };
    assert_eq!(over(&other, &day), None, "test limits say nothing about live money");
}

#[test]
fn a_whole_plan_is_held_to_sums_and_counts_of_what_it_adds() {
    let section = LimitSet {
        per_run: Some(amounts("per_run", 500)),
        per_day: Some(amounts("per_day", 900)),
        deletes_per_run: Some(most("deletes_per_run", 1)),
        deletes_per_day: Some(most("deletes_per_day", 2)),
        emails_per_run: Some(most("emails_per_run", 3)),
        emails_per_day: Some(most("emails_per_day", 4)),
        ..LimitSet::default()
    };
    let tally = |minor, deletes, emails| RunningTotals { money: usd(minor).money, deletes, emails };
    let over = |run: &RunningTotals, day: &RunningTotals| {
        let found = check_plan(&section, run, day).into_iter();
        found.map(|(_, over)| format!("{} {}", over.limit, over.resulting)).collect::<Vec<_>>()
    };
    assert_eq!(over(&tally(500, 1, 3), &tally(900, 2, 4)), Vec::<String>::new());
    let money = ["per_run 5.01 USD", "per_day 9.01 USD"];
    assert_eq!(over(&tally(501, 0, 0), &tally(901, 0, 0)), money);
    let counts = ["deletes_per_run 2", "deletes_per_day 3", "emails_per_run 4", "emails_per_day 5"];
    assert_eq!(over(&tally(0, 2, 4), &tally(0, 3, 5)), counts);
}

#[test]
fn a_limit_of_a_whole_plan_concerns_what_adds_to_it() {
    let money = LimitSubject::Money(Currency::USD);
    let all = [money, LimitSubject::Deletes, LimitSubject::Emails];
    let is_in = |tally: &RunningTotals| all.map(|one| one.is_in(tally));
    assert_eq!(is_in(&RunningTotals::default()), [false; 3]);
    assert_eq!(is_in(&usd(1)), [true, false, false]);
    assert_eq!(
        is_in(&RunningTotals { deletes: 1, ..RunningTotals::default() }),
        [false, true, false]
    );
    assert_eq!(
        is_in(&RunningTotals { emails: 1, ..RunningTotals::default() }),
        [false, false, true]
    );
    let concerns = |minor, deletes, emails| {
        let wish = wish(minor, "USD", ExposureCounts { deletes, emails });
        all.map(|one| one.concerns(&wish))
    };
    assert_eq!(concerns(0, 0, 0), [false; 3]);
    assert_eq!(concerns(5, 0, 0), [true, false, false]);
    assert_eq!(concerns(0, 1, 0), [false, true, false]);
    assert_eq!(concerns(0, 0, 1), [false, false, true]);
}

proptest! {
    /// For any sequence of requests: the accepted ones together never exceed a limit, and every
    /// refused one would have.
    #[test]
    fn what_passes_never_adds_up_to_more_than_the_limit(
        wanted in prop::collection::vec((-2000_i64..2000, 0_u32..3), 0..40),
        limit in 0_i64..8000,
        deletes in 0_u32..9,
    ) {
        let section = LimitSet {
            per_day: Some(amounts("per_day", limit)),
            deletes_per_day: Some(most("deletes_per_day", deletes)),
            ..LimitSet::default()
        };
        let limits = Limits { live: section, ..Limits::default() };
        let mut before = Before::default();
        for (minor, removed) in wanted {
            let wish = wish(minor, "USD", ExposureCounts { deletes: removed, emails: 0 });
            let after = with_exposure(before.day.clone(), &wish);
            let fits = after.sum(Currency::USD) <= limit && after.deletes <= deletes;
            let touches = !wish.exposure.is_empty();
            let passes = check(&limits, &wish, &before).is_none();
            prop_assert_eq!(passes, fits || !touches);
            if passes {
                before.day = after;
            }
            prop_assert!(before.day.sum(Currency::USD) <= limit && before.day.deletes <= deletes);
        }
    }
}
