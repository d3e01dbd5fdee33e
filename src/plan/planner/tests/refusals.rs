//! A refused effect is not sent again, and one that may have happened before a restore is on hold.

use crate::api::rules::ProblemMessage;
use crate::base::hash::sha256;
use crate::plan::planner::tests::facts::*;
use crate::plan::planner::tests::*;

/// Returns the step of a contact that does not exist yet, after a refusal of the effect with this
/// digest.
fn after(rig: &mut Rig, digest: Digest) -> String {
    rig.know("Contact/jane", |known| known.refusal = Some(refusal(digest)));
    rig.step("Contact/jane")
}

#[test]
fn the_same_is_not_sent_again_and_something_else_is() {
    let mut rig = Rig::applied(vec![acme()]);
    let jane = contact("jane", "Jane");
    rig.write(vec![jane.clone()]);
    assert_eq!(after(&mut rig, jane.digest), "Blocked Refused");
    let whole = rig.whole("Contact/jane");
    assert!(whole.work.is_none() && !whole.changes.is_empty());
    assert_eq!(after(&mut rig, sha256(b"other")), "Create NotCreated");
    rig.unmade("Merchant/acme");
    assert_eq!(rig.step("Contact/jane"), "Create WaitsFor");
    assert_eq!(after(&mut rig, jane.digest), "Blocked Refused", "there is no effect to compare");
}

#[test]
fn what_is_there_or_offered_minds_a_refusal_only_if_it_asks_for_something() {
    let jane = contact("jane", "Jane");
    let mut rig = Rig::applied(vec![acme(), jane.clone()]);
    assert_eq!(after(&mut rig, jane.digest), "Settled InSync ready");
    rig.write(vec![application()]);
    let digest = application().digest;
    rig.know("MerchantApplication/jo", |known| known.refusal = Some(refusal(digest)));
    assert_eq!(rig.step("MerchantApplication/jo"), "Blocked Refused");
    assert!(rig.whole("MerchantApplication/jo").on_demand.is_none());
}

#[test]
fn a_refusal_is_told_in_the_service_s_words_with_its_class() {
    let mut rig = Rig::applied(vec![acme()]);
    let jane = contact("jane", "Jane");
    rig.write(vec![jane.clone()]);
    let bare = ProblemMessage { code: "strange".to_owned(), ..ProblemMessage::default() };
    let named = ProblemMessage::new("invalid_data", "is bad").with_context("email");
    let plain = ProblemMessage::new("other", "no").with_context("");
    rig.know("Contact/jane", |known| {
        let problem = ServiceProblem::from_messages(vec![named, bare, plain]);
        known.refusal = Some(ServiceRefusal { problem, ..refusal(jane.digest) });
    });
    let words = "email: is bad; strange; no (HTTP 422); \
                 invalid: not sent again until the document changes";
    assert_eq!(rig.reason("Contact/jane"), Reason::Refused(words.to_owned()));
}

#[test]
fn what_nothing_can_find_is_held_after_a_restore_and_the_rest_goes_on() {
    let mut rig = Rig::applied(vec![acme(), contact("joe", "Joe")]);
    rig.known.unsure = Some("a backup was restored".to_owned());
    rig.write(vec![contact("jane", "Jane"), card("card")]);
    rig.touch(&["Contact/joe"]);
    assert_eq!(rig.reason("Contact/jane"), Reason::OnHold("a backup was restored".to_owned()));
    let whole = rig.whole("Contact/jane");
    assert!(whole.work.is_none() && !whole.changes.is_empty());
    assert_eq!(rig.step("Contact/jane"), "Blocked Held");
    assert_eq!(rig.step("SavedMethod/card"), "Create NotCreated", "its mark is looked for");
    assert_eq!(rig.step("Contact/joe"), "Settled InSync ready");
    rig.known.unsure = None;
    rig.touch(&["Contact/jane"]);
    assert_eq!(rig.step("Contact/jane"), "Create NotCreated");
}
