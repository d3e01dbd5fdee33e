//! Suspensions by a person.

use super::facts::*;
use super::*;

const CARD: &str = "SavedMethod/card";
const PAST: Option<&str> = Some("2026-11-22T02:59:59Z");
const LATER: Option<&str> = Some("2026-11-22T03:00:01Z");

/// Returns the step of a card while these are suspended.
fn step(rig: &mut Rig, suspended: &[(&str, Option<&str>)]) -> String {
    let told = suspended.iter().map(|(name, until)| (key(name), suspension(name, *until)));
    rig.known.suspensions = told.map(|(key, one)| (key, Arc::new(one))).collect();
    rig.touch(&[CARD]);
    rig.step(CARD)
}

#[test]
fn a_resource_is_suspended_by_its_own_name_or_its_merchant_s_until_the_time_that_was_said() {
    let (own, merchant, other) = (CARD, "Merchant/acme", "Merchant/other");
    for (suspended, holds) in [
        (vec![], false),
        (vec![(own, None)], true),
        (vec![(merchant, None)], true),
        (vec![(other, None)], false),
        (vec![(own, PAST)], false),
        (vec![(own, Some(NOW))], false),
        (vec![(own, LATER)], true),
        (vec![(own, PAST), (merchant, LATER)], true),
        (vec![(own, PAST), (merchant, PAST)], false),
    ] {
        let mut rig = Rig::applied(vec![acme(), card("card")]);
        let expected = if holds { "Wait Suspended" } else { "Settled InSync ready" };
        assert_eq!(step(&mut rig, &suspended), expected, "{suspended:?}");
        rig.remove(&[CARD]);
        let expected = if holds { "Wait Suspended" } else { "Orphan Orphaned ready" };
        assert_eq!(step(&mut rig, &suspended), expected, "{suspended:?}, and its document is gone");
    }
}

#[test]
fn the_suspension_that_is_told_is_the_one_that_holds() {
    let mut rig = Rig::applied(vec![acme(), card("card")]);
    step(&mut rig, &[(CARD, PAST), ("Merchant/acme", LATER)]);
    let merchant = suspension("Merchant/acme", LATER);
    assert_eq!(rig.reason(CARD), Reason::SuspendedBy(Box::new(merchant)));
    step(&mut rig, &[(CARD, None), ("Merchant/acme", LATER)]);
    let own = suspension(CARD, None);
    assert_eq!(rig.reason(CARD), Reason::SuspendedBy(Box::new(own)), "its own comes first");
}

#[test]
fn a_merchant_is_suspended_with_all_that_it_has() {
    let mut rig = Rig::applied(vec![acme(), card("card")]);
    rig.unmade(CARD);
    let suspended = Arc::new(suspension("Merchant/acme", None));
    rig.known.suspensions.insert(key("Merchant/acme"), suspended);
    rig.touch(&["Merchant/acme"]);
    let told = ["Merchant/acme: Wait Suspended", "SavedMethod/card: Wait Suspended"];
    assert_eq!(rig.plan(), told);
    assert!(rig.whole(CARD).work.is_none());
}
