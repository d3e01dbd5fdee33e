//! Sums over steps: each amount counted in is counted out again.

use crate::base::id::Mode;
use crate::base::money::Money;
use crate::model::change::PlannedAction;
use crate::model::effect::MoneyMove;
use crate::plan::incremental::PlanTotals;
use crate::plan::planner::tests::*;

fn money(amount: &str, mode: Mode, meaning: &'static str) -> MoneyMove {
    MoneyMove { amount: amount.parse::<Money>().unwrap(), mode, meaning }
}

/// A changing step with its money; ready or not.
fn step(verdict: PlannedAction, ready: bool, money: Vec<MoneyMove>) -> Step {
    Step { money, ready, ..Step::idle(key("Invoice/a"), verdict, Reason::NotCreated) }
}

fn held() -> Step {
    Step::idle(key("Invoice/a"), PlannedAction::Blocked, Reason::OnHold("look".to_owned()))
}

/// Formats each sum: amount, currency, mode, meaning.
fn sums(totals: &PlanTotals) -> Vec<String> {
    let sums = totals.money.iter();
    sums.map(|((currency, mode, meaning), sum)| format!("{sum} {currency} {mode:?} {meaning}"))
        .collect()
}

fn counted(steps: &[Step]) -> PlanTotals {
    let mut totals = PlanTotals::default();
    for step in steps {
        totals.replace(None, Some(step));
    }
    totals
}

#[test]
fn money_is_kept_apart_by_currency_mode_and_meaning() {
    let one = |text| step(PlannedAction::Create, false, vec![money(text, Mode::Test, "invoiced")]);
    let live = vec![
        money("3.00 USD", Mode::Live, "invoiced"),
        money("4.00 USD", Mode::Live, "charged_now"),
        money("5.00 USD", Mode::Live, "charged_now"),
    ];
    let live = step(PlannedAction::Update, false, live);
    let mut totals = counted(&[one("1.00 USD"), one("2.00 USD"), one("7.00 EUR"), live.clone()]);
    let test = ["700 EUR Test invoiced", "300 USD Test invoiced"];
    let live_sums = ["900 USD Live charged_now", "300 USD Live invoiced"];
    assert_eq!(sums(&totals), [test[0], test[1], live_sums[0], live_sums[1]]);
    totals.replace(Some(&live), Some(&one("1.00 USD")));
    assert_eq!(sums(&totals), ["700 EUR Test invoiced", "400 USD Test invoiced"]);
    totals.replace(Some(&one("7.00 EUR")), None);
    assert_eq!(sums(&totals), ["400 USD Test invoiced"], "a sum of nothing is none");
}

#[test]
fn the_money_of_what_is_blocked_is_no_part_of_a_sum() {
    let wanted = vec![money("1.00 USD", Mode::Test, "invoiced")];
    let blocked = step(PlannedAction::Blocked, false, wanted.clone());
    let mut totals = counted(std::slice::from_ref(&blocked));
    assert_eq!(sums(&totals), Vec::<String>::new());
    totals.replace(Some(&blocked), Some(&step(PlannedAction::Create, false, wanted.clone())));
    assert_eq!(sums(&totals), ["100 USD Test invoiced"]);
    totals.replace(Some(&step(PlannedAction::Create, false, wanted)), Some(&blocked));
    assert_eq!(sums(&totals), Vec::<String>::new());
}

#[test]
fn verdicts_are_counted_in_and_out() {
    use crate::model::change::PlannedAction::{
        Blocked, Create, Delete, Orphan, Read, Settled, Update, Wait,
    };
    let each = [Create, Create, Update, Delete, Read, Settled, Orphan, Wait, Blocked]
        .map(|verdict| step(verdict, false, Vec::new()));
    let mut totals = counted(&each);
    assert_eq!(totals.changes(), 5);
    let of =
        |totals: &PlanTotals| [Create, Update, Settled, Blocked].map(|one| totals.count_of(one));
    assert_eq!(of(&totals), [2, 1, 1, 1]);
    totals.replace(Some(&each[0]), Some(&each[5]));
    assert_eq!((totals.changes(), of(&totals)), (4, [1, 1, 2, 1]));
    totals.replace(Some(&each[2]), None);
    assert_eq!((totals.changes(), of(&totals)), (3, [1, 0, 2, 1]));
    assert_eq!(PlanTotals::default().count_of(Create), 0);
}

#[test]
fn what_is_not_ready_and_what_waits_for_a_person_are_counted_in_and_out() {
    let (ready, unready) = (
        step(PlannedAction::Settled, true, Vec::new()),
        step(PlannedAction::Create, false, Vec::new()),
    );
    let mut totals = counted(&[ready.clone(), ready.clone(), unready.clone(), held(), held()]);
    assert_eq!((totals.unready, totals.needing_attention), (3, 2));
    totals.replace(Some(&unready), Some(&ready));
    assert_eq!((totals.unready, totals.needing_attention), (2, 2));
    totals.replace(Some(&held()), Some(&unready));
    assert_eq!((totals.unready, totals.needing_attention), (2, 1));
    totals.replace(Some(&held()), None);
    totals.replace(Some(&ready), None);
    assert_eq!((totals.unready, totals.needing_attention), (1, 0));
}
