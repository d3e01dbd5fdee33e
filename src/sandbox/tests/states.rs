//! Transition tables of applications and invoices: every state with every change, against the
//! documents (partner-api, States and transitions; service-facts, 86).

use std::fmt::Debug;

use serde_json::{Value, json};

use super::applications::{application as complete, manual, notices, submit};
use super::covers;
use crate::sandbox::answer::Result;
use crate::sandbox::onboarding::record as application;
use crate::sandbox::payments::invoice_payments as invoice;

/// Asserts that every pair gives the table's state, and every other pair a 422.
fn follows<S: Copy + Debug + PartialEq, C: Copy + Debug + PartialEq>(
    states: &[S],
    changes: &[C],
    after: fn(S, C) -> Result<S>,
    table: &[(S, C, S)],
) {
    for state in states {
        for change in changes {
            let row = table.iter().find(|(from, by, _)| from == state && by == change);
            let pair = (state, change);
            match (after(*state, *change), row) {
                (Ok(next), Some((_, _, expect))) => assert_eq!(next, *expect, "{pair:?}"),
                (Err(refusal), None) => {
                    let code = refusal.problem.messages[0].code.clone();
                    assert_eq!(refusal.status, 422, "{pair:?}");
                    assert_eq!(code, "unavailable_for_current_status", "{pair:?}");
                }
                (found, row) => panic!("{pair:?}: {found:?}, and the table says {row:?}"),
            }
        }
    }
}

#[test]
fn an_application_moves_along_its_table_only() {
    use application::{ApplicationState as S, ApplicationTransition as C};
    follows(
        &[S::Started, S::Submitted, S::Provisioned, S::Declined],
        &[C::Submit, C::Approve, C::Decline, C::Reconsider],
        application::after,
        &[
            // The applicant completes a sign-up and submits it.
            (S::Started, C::Submit, S::Submitted),
            // submitted | underwriting completes | approved | provisioned
            (S::Submitted, C::Approve, S::Provisioned),
            (S::Submitted, C::Reconsider, S::Provisioned),
            // submitted | underwriting completes | denied | declined
            (S::Submitted, C::Decline, S::Declined),
            // Not in the documents: support reconsiders (docs/reference/service.md, 13.3).
            (S::Declined, C::Reconsider, S::Provisioned),
        ],
    );
    covers(&["13.3"]);
}

#[tokio::test]
async fn an_outcome_is_final_and_people_alone_may_reconsider_a_decline() {
    let house = manual();
    let id = submit(&house, &complete("usr_1", "Doe LLC", "1")).await;
    let path = format!("/_sandbox/applications/{id}/decision");
    let decide = async |order: &Value| house.call("POST", &path, None, order).await;
    let (approve, decline) = (json!({"decision": "approve"}), json!({"decision": "decline"}));
    let again = json!({"decision": "approve", "reconsidered": true});
    for (order, state, refused) in [
        (&decline, "declined", vec![&approve, &decline]),
        (&again, "provisioned", vec![&approve, &decline, &again]),
    ] {
        assert_eq!(decide(order).await.ok()["state"], state);
        for late in refused {
            let (status, code, _) = decide(late).await.refusal();
            assert_eq!((status, code.as_str()), (422, "unavailable_for_current_status"), "{late}");
        }
    }
    let sent = notices(&house).await;
    let kinds: Vec<_> = sent.iter().map(|(_, body)| &body["events"][0]["type"]).collect();
    assert_eq!(kinds, ["merchant_application.declined", "merchant.provisioned"]);
    covers(&["13.3"]);
}

#[test]
fn an_invoice_moves_along_its_table_only() {
    use invoice::{InvoiceState as S, InvoiceTransition as C};
    follows(
        &[S::Pending, S::PartiallyPaid, S::Paid],
        &[C::Pay, C::NonePaid, C::PartPaid, C::FullyPaid],
        invoice::after,
        // "pending on creation; transitions not shown": the state follows its payments
        // (docs/design/assumptions.md).
        &[
            (S::Pending, C::Pay, S::Paid),
            (S::Pending, C::NonePaid, S::Pending),
            (S::Pending, C::PartPaid, S::PartiallyPaid),
            (S::Pending, C::FullyPaid, S::Paid),
            (S::PartiallyPaid, C::Pay, S::Paid),
            (S::PartiallyPaid, C::NonePaid, S::Pending),
            (S::PartiallyPaid, C::PartPaid, S::PartiallyPaid),
            (S::PartiallyPaid, C::FullyPaid, S::Paid),
            (S::Paid, C::NonePaid, S::Pending),
            (S::Paid, C::PartPaid, S::PartiallyPaid),
            (S::Paid, C::FullyPaid, S::Paid),
        ],
    );
    covers(&["24.4", "24.5"]);
}
