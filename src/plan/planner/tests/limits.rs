//! The requests that limits receive, and the step that a limit stops.

use crate::base::id::Mode;
use crate::model::change::PlannedAction;
use crate::model::effect::ExposureCounts;
use crate::model::state::observed::AppliedSpec;
use crate::plan::blocks::generation_of;
use crate::plan::planner::tests::facts::*;
use crate::plan::planner::tests::*;

const CLUB: &str = "RecurringCharge/club";

/// Returns the requests that limits receive while this step is computed.
fn asked(rig: &mut Rig, name: &str) -> Vec<(SpendRequest, Digest)> {
    rig.known.asked.lock().clear();
    rig.touch(&[name]);
    std::mem::take(&mut *rig.known.asked.lock())
}

/// Returns a rig in which the charge is not on the service yet.
fn new(charge: Manifest) -> Rig {
    let mut rig = Rig::applied(vec![acme(), card("card"), card("gold"), charge]);
    rig.unmade(CLUB);
    rig
}

#[test]
fn limits_are_asked_about_what_moves_money_mails_or_removes_and_nothing_else() {
    let mut rig = new(charge("club", "card", 20));
    let mailed = "invoice_messages: [{email_addresses: [a@example.com, b@example.com], subject: A, message: B}]";
    rig.write(vec![contact("jane", "Jane")]);
    assert_eq!(asked(&mut rig, "Contact/jane"), Vec::new(), "a contact costs nothing");
    rig.write(vec![invoice("first", mailed)]);
    assert_eq!(asked(&mut rig, "Merchant/acme").len(), 2, "the charge and the invoice");
    let invoice = asked(&mut rig, "Invoice/first").remove(0).0;
    assert_eq!(invoice.exposure.counts, ExposureCounts { deletes: 0, emails: 2 });
    assert_eq!(invoice.exposure.moves.len(), 1);
    rig.know(CLUB, |known| known.on_hold = Some(steps::held()));
    assert_eq!(asked(&mut rig, CLUB), Vec::new(), "it is stopped anyway");
}

#[test]
fn a_wish_says_what_is_done_for_whom() {
    let raised = saying(charge("club", "card", 20), |said| said.generation = 3);
    let (wish, _) = asked(&mut new(raised), CLUB).remove(0);
    assert_eq!((wish.key, wish.merchant), (key(CLUB), key("Merchant/acme")));
    assert_eq!((wish.mode, wish.generation, wish.amountless_digest), (Mode::Test, 3, None));
    let moved = &wish.exposure.moves[0];
    assert_eq!(moved.meaning, "collected_per_occurrence");
    assert_eq!(moved.amount.to_string(), "20.00 USD");
    assert_eq!(wish.exposure.counts, ExposureCounts::default());
}

#[test]
fn the_rest_of_a_document_is_the_same_under_another_amount_and_none_else() {
    let rest = |charge: Manifest| asked(&mut new(charge), CLUB).remove(0).1;
    let digest = rest(charge("club", "card", 20));
    assert_eq!(rest(charge("club", "card", 25)), digest);
    assert_ne!(rest(charge("club", "gold", 20)), digest);
    assert_ne!(rest(starting("club", "card", 20, "2030-03-01")), digest);
}

#[test]
fn a_removal_counts_as_one_under_the_generation_that_was_made() {
    let mut rig = Rig::applied(vec![acme(), deleted(card("card"))]);
    rig.know("SavedMethod/card", |known| known.applied.as_mut().unwrap().generation = 4);
    rig.remove(&["SavedMethod/card"]);
    let (wish, _) = asked(&mut rig, "SavedMethod/card").remove(0);
    assert_eq!((wish.merchant, wish.generation), (key("Merchant/acme"), 4));
    assert_eq!(wish.exposure.counts, ExposureCounts { deletes: 1, emails: 0 });
    assert_eq!(rig.whole("SavedMethod/card").counts, ExposureCounts { deletes: 1, emails: 0 });
    rig.known.over = Some(over());
    rig.touch(&["SavedMethod/card"]);
    assert_eq!(rig.step("SavedMethod/card"), "Blocked OverLimit");
}

#[test]
fn without_a_mode_nothing_is_asked_since_nothing_can_be_done() {
    let mailed = "invoice_messages: [{email_addresses: [a@example.com], subject: A, message: B}]";
    let mut rig = Rig::applied(vec![acme(), contact("jane", "Jane"), invoice("first", mailed)]);
    rig.known.over = Some(over());
    rig.unmade("Invoice/first");
    assert_eq!(rig.step("Invoice/first"), "Blocked OverLimit");
    rig.known.desired.manifests.remove(&key("Merchant/acme"));
    rig.known.observed.remove(&key("Merchant/acme"));
    rig.touch(&["Merchant/acme"]);
    assert_eq!(asked(&mut rig, "Invoice/first"), Vec::new());
    assert_eq!(rig.step("Invoice/first"), "Create WaitsFor");
}

#[test]
fn what_a_limit_stops_shows_what_it_wants_and_does_nothing() {
    let mut rig = new(charge("club", "card", 20));
    rig.known.over = Some(over());
    rig.touch(&[CLUB]);
    let wanted = LimitExceeded { intended: PlannedAction::Create, ..over() };
    assert_eq!(rig.reason(CLUB), Reason::OverLimit(Box::new(wanted)));
    let whole = rig.whole(CLUB);
    assert_eq!((line(&whole).as_str(), whole.money.len()), ("Blocked OverLimit", 1));
    assert!(whole.work.is_none() && !whole.changes.is_empty());
    let mut going = Rig::applied(vec![acme(), card("card"), deleted(charge("club", "card", 20))]);
    going.remove(&[CLUB]);
    assert_eq!(going.step(CLUB), "Delete Neutralised ready");
    going.known.over = Some(over());
    going.touch(&[CLUB]);
    assert_eq!(going.step(CLUB), "Blocked OverLimit", "and it is not ready");
    assert_eq!(going.whole(CLUB).counts, ExposureCounts { deletes: 1, emails: 0 });
}

#[test]
fn a_generation_is_what_the_document_says_else_what_was_made() {
    let unknown = Observed::unknown(key("Merchant/acme"), at(NOW));
    let (spec, digest, deletion) = (json!({}), card("card").digest, Deletion::Orphan);
    let applied = Some(AppliedSpec { spec, digest, generation: 3, deletion });
    let made = Observed { applied, ..unknown.clone() };
    for (said, known, expected) in [
        (Some(2), Some(&made), 2),
        (Some(0), Some(&made), 0),
        (None, Some(&made), 3),
        (None, Some(&unknown), 0),
        (None, None, 0),
    ] {
        assert_eq!(generation_of(said, known), expected);
    }
}
