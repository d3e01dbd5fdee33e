use super::*;
use crate::engine::queries::plan::step_view;
use crate::engine::tests::fixture::StateFixture;
use crate::engine::tests::records::{card, contact, key, recurring_charge};

fn money(meaning: &str, amount: i64) -> MoneyView {
    let (currency, meaning) = ("USD".to_owned(), meaning.to_owned());
    MoneyView { currency, mode: Mode::Test, meaning, amount }
}

/// Returns a step that changes something and moves 5.00 USD.
fn step(name: &str, waits_for: &[&str]) -> StepView {
    let reason = Reason::WaitsFor(waits_for.iter().map(|name| key(name)).collect());
    let step = Step::idle(key(name), PlannedAction::Create, reason);
    StepView { money: vec![money("invoiced", 500)], ..step_view(&step) }
}

fn plan(steps: Vec<StepView>) -> PlanView {
    PlanView { steps, ..StateFixture::new().view().plan_view() }
}

fn target(names: &[&str]) -> StepSelection {
    StepSelection {
        target: names.iter().map(|name| key(name)).collect(),
        ..StepSelection::default()
    }
}

#[test]
fn sums_keep_meanings_and_modes_apart_and_never_wrap() {
    let live = MoneyView { mode: Mode::Live, ..money("invoiced", 3) };
    let all = [money("invoiced", i64::MAX), money("refunded", 7), money("invoiced", 1), live];
    let sums: Vec<(String, Mode, i64)> =
        sum_money(all.iter()).into_iter().map(|sum| (sum.meaning, sum.mode, sum.amount)).collect();
    assert_eq!(sums.len(), 3);
    assert!(sums.contains(&("invoiced".to_owned(), Mode::Test, i64::MAX)));
    assert!(sums.contains(&("invoiced".to_owned(), Mode::Live, 3)));
}

#[test]
fn a_blocked_step_adds_nothing_to_the_sums() {
    let blocked = StepView { verdict: PlannedAction::Blocked, ..step("Invoice/a", &[]) };
    assert_eq!(step_sums(&[blocked, step("Invoice/b", &[])]), [money("invoiced", 500)]);
}

#[test]
fn a_step_that_needs_an_unselected_one_waits_and_moves_no_money() {
    let whole = plan(vec![step("Contact/a", &[]), step("Invoice/b", &["Contact/a"])]);
    let selected = whole.clone().select(&target(&["Invoice/b"]));
    let [waits] = &selected.steps[..] else { panic!("{:?}", selected.steps) };
    assert_eq!(waits.verdict, PlannedAction::Wait);
    assert_eq!(waits.message, "waits for Contact/a, which is not selected");
    assert!(selected.totals.is_empty());
    let both = whole.select(&target(&["Invoice/b", "Contact/a"]));
    assert!(both.steps.iter().all(|step| step.verdict == PlannedAction::Create));
    assert_eq!(both.totals, [money("invoiced", 1000)]);
}

#[test]
fn waiting_spreads_to_every_step_behind() {
    let steps = vec![
        step("Contact/a", &[]),
        step("Invoice/b", &["Contact/a"]),
        step("Invoice/c", &["Invoice/b"]),
    ];
    let exclude = vec![key("Contact/a")];
    let scope = StepSelection { exclude, ..StepSelection::default() };
    let messages: Vec<String> =
        plan(steps).select(&scope).steps.into_iter().map(|step| step.message).collect();
    assert_eq!(
        messages,
        ["waits for Contact/a, which is excluded", "waits for Invoice/b, which also waits",]
    );
}

#[test]
fn money_due_adds_up_by_month_and_leaves_out_months_without_a_difference() {
    let month = |text: &str| text.parse::<NaiveDate>().unwrap();
    let due_in = |text: &str, before: i64, after: i64| crate::model::change::MonthlyDue {
        month: month(text),
        currency: Currency::USD,
        mode: Mode::Test,
        before,
        after,
    };
    let first = StepView {
        due: vec![due_in("2030-01-01", 100, 0), due_in("2030-02-01", 0, 70)],
        ..step("Invoice/a", &[])
    };
    let second = StepView { due: vec![due_in("2030-01-01", 0, 100)], ..step("Invoice/b", &[]) };
    let views = due(&[first, second]);
    let [february] = &views[..] else { panic!("{views:?}") };
    assert_eq!((february.month.as_str(), february.difference), ("2030-02", 70));
}

#[test]
fn a_selected_name_that_nothing_has_is_refused_with_the_nearest_one() {
    let fixture = StateFixture::with_documents(&[&contact("jane")]);
    let unknown = fixture.view().plan_within(&target(&["Contact/jnae"])).unwrap_err();
    let nearest = Some("Contact/jane".to_owned());
    assert_eq!(unknown, [UnknownName { key: key("Contact/jnae"), nearest }]);
}

#[test]
fn the_checksum_of_a_scoped_plan_covers_its_own_steps_alone() {
    let documents = [contact("jane"), contact("joe")];
    let fixture = StateFixture::with_documents(&[&documents[0], &documents[1]]);
    let alone = StateFixture::with_documents(&[&documents[0]]);
    let scoped = fixture.view().plan_within(&target(&["Contact/jane"])).unwrap();
    assert_eq!(scoped.checksum, alone.view().plan_view().checksum);
    assert_ne!(scoped.checksum, fixture.view().plan_view().checksum);
}

#[test]
fn a_selection_takes_settled_resources_too() {
    let fixture = StateFixture::with_documents(&[&card("card"), &recurring_charge("club", "card")]);
    let names = fixture.view().selected(&target(&["Merchant/acme", "SavedMethod/card"]));
    assert_eq!(Vec::from_iter(names), [key("Merchant/acme"), key("SavedMethod/card")]);
}
