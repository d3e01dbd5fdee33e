//! The parts of its steps that a planner stores, and those that it recomputes on request.

use crate::model::effect::StepWork;
use crate::model::state::credentials::RefusedCredentials;
use crate::plan::planner::tests::facts::*;
use crate::plan::planner::tests::*;

fn stalled(rig: &Rig) -> Vec<String> {
    let merchants = rig.planner.steps().filter(|step| rig.planner.is_account_blocked(&step.key));
    merchants.map(|step| step.key.short()).collect()
}

fn dated(rig: &Rig) -> Vec<String> {
    rig.planner.date_dependent.iter().map(Key::short).collect()
}

#[test]
fn what_is_kept_of_a_step_is_small_and_the_rest_is_made_when_asked_for() {
    let raised = saying(invoice("first", ""), |said| said.generation = 1);
    let mut rig = Rig::applied(vec![acme(), contact("jane", "Jane"), invoice("first", "")]);
    rig.write(vec![raised]);
    let kept = rig.planner.step(&key("Invoice/first")).unwrap();
    assert!(kept.changes.is_empty() && kept.work.is_none() && kept.replaces.is_none());
    assert_eq!((line(kept).as_str(), kept.money.len()), ("Create Replaced", 1));
    let whole = rig.whole("Invoice/first");
    assert!(!whole.changes.is_empty() && whole.work.is_some() && whole.replaces.is_some());
    let kept: Vec<String> = rig.planner.steps().map(|step| step.key.short()).collect();
    assert_eq!(kept, ["Contact/jane", "Invoice/first", "Merchant/acme"]);
}

#[test]
fn a_plan_has_everything_of_what_is_not_settled_and_ready() {
    let mut rig = Rig::applied(vec![acme(), card("card"), charge("club", "card", 20)]);
    rig.write(vec![contact("new", "New"), deleted(card("card"))]);
    rig.write(vec![deleted(charge("club", "card", 20))]);
    rig.know("RecurringCharge/club", |known| known.facts["status"] = json!("PAUSED"));
    let plan = rig.planner.plan(&rig.known);
    let told: Vec<(String, bool)> = plan
        .steps
        .iter()
        .map(|step| (format!("{} {}", step.key.name, line(step)), step.work.is_some()))
        .collect();
    let told: Vec<(&str, bool)> = told.iter().map(|(text, work)| (text.as_str(), *work)).collect();
    let (new, club) = ("new Create NotCreated", "club Settled Unfit");
    let (acme, card) = ("acme Settled InSync ready", "card Settled InSync ready");
    assert_eq!(told, [(acme, false), (new, true), (card, false), (club, true)]);
    assert!(matches!(rig.whole("SavedMethod/card").work.as_deref(), Some(StepWork::Record(_))));
}

#[test]
fn a_plan_has_the_sums_of_its_steps() {
    let mut rig = Rig::applied(vec![acme(), card("card")]);
    rig.write(vec![charge("club", "card", 20), charge("gym", "card", 30)]);
    let sums: Vec<String> = rig
        .planner
        .plan(&rig.known)
        .totals
        .iter()
        .map(|((currency, _, meaning), sum)| format!("{sum} {currency} {meaning}"))
        .collect();
    assert_eq!(sums, ["5000 USD collected_per_occurrence"]);
    assert_eq!((rig.planner.totals.changes(), rig.planner.totals.unready), (2, 2));
    rig.remove(&["RecurringCharge/gym"]);
    let left: Vec<i64> = rig.planner.totals.money.values().copied().collect();
    assert_eq!((left, rig.planner.totals.changes()), (vec![2000], 1));
}

#[test]
fn what_can_be_done_now_is_known_without_making_it() {
    let mut rig = Rig::applied(vec![acme()]);
    let jane = key("Contact/jane");
    assert!(!rig.planner.has_work(&jane) && !rig.planner.has_work(&key("Merchant/acme")));
    rig.write(vec![contact("jane", "Jane")]);
    assert!(rig.planner.has_work(&jane));
    rig.known.open.insert(jane.clone(), intent("Contact/jane", IntentState::Open { attempt: 1 }));
    rig.touch(&["Contact/jane"]);
    assert!(!rig.planner.has_work(&jane), "it is being done");
}

#[test]
fn what_another_day_may_change_is_known_until_it_changed() {
    let mut rig = Rig::applied(vec![acme(), card("card")]);
    rig.write(vec![starting("club", "card", 20, "2026-11-21"), charge("gym", "card", 30)]);
    assert_eq!(rig.step("RecurringCharge/club"), "Blocked DueToday");
    assert_eq!(dated(&rig), ["RecurringCharge/club"]);
    rig.known.now = at("2026-11-23T03:00:00Z");
    rig.touch(&["RecurringCharge/club"]);
    assert_eq!(dated(&rig), Vec::<String>::new());
    rig.known.over = Some(over());
    rig.touch(&["RecurringCharge/gym"]);
    assert_eq!(dated(&rig), ["RecurringCharge/gym"]);
    rig.remove(&["RecurringCharge/gym"]);
    assert_eq!(dated(&rig), Vec::<String>::new());
}

#[test]
fn a_merchant_stalls_whom_its_accounts_stand_in_the_way() {
    let mut rig = Rig::applied(vec![acme(), card("card")]);
    let good = charge("club", "card", 20);
    let bad = document(
        "RecurringCharge",
        "club",
        "merchant: acme\nmethod: card\namount: 20.00 USD\naccount: Nowhere\n\
         schedule: {start: 2030-02-01, interval_unit: MONTH, interval_delay: 1}",
    );
    rig.write(vec![good.clone()]);
    assert_eq!(stalled(&rig), Vec::<String>::new());
    rig.write(vec![bad]);
    assert_eq!(rig.step("RecurringCharge/club"), "Blocked AccountUnfit");
    assert_eq!(stalled(&rig), ["Merchant/acme"]);
    rig.write(vec![good]);
    assert_eq!(stalled(&rig), Vec::<String>::new());
}

#[test]
fn a_merchant_without_a_document_stalls_itself_once_its_credentials_are_refused() {
    let mut rig = Rig::applied(vec![deleted(acme()), deleted(card("card"))]);
    rig.remove(&["Merchant/acme", "SavedMethod/card"]);
    rig.know("Merchant/acme", |known| {
        known.facts["public_key"] = json!("pk_0123456789abcdefghij");
        let spec = known.applied.as_ref().unwrap().spec.clone();
        known.unauthorised = Some(Box::new(RefusedCredentials::new(&spec, 0, at(NOW))));
    });
    assert_eq!(rig.step("Merchant/acme"), "Blocked AwaitsAuthorization");
    assert_eq!(stalled(&rig), ["Merchant/acme"]);
    rig.know("Merchant/acme", |known| known.exists = false);
    assert_eq!(stalled(&rig), Vec::<String>::new());
}

#[test]
fn settings_show_whose_they_are_and_no_key() {
    assert_eq!(format!("{:?}", settings(PruneGuards::without_guards())), "Settings(acme)");
}
