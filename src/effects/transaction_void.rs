//! Voids a transaction before it settles (gateway-api, POST /v1/transactions/{transactionId}/void).
//!
//! A void is final; the service refuses a second one. Reading the transaction settles a lost
//! answer. A transaction that was captured meanwhile was not voided.

use serde_json::{Value, json};

use super::evidence::text;
use super::register::{Absent, Answer, Doubt, EffectRow, Finding, Lane, Search, nothing};
use super::transactions::{BEFORE, Meaning, judge as by_status, learn, queries, reference};
use super::{Obligation, Shaped};
use crate::api::transaction::actions::VoidTransaction;
use crate::base::id::RemoteId;
use crate::model::effect::Effect;
use crate::model::intent::Intent;

/// Voids a charge, refund or credit.
pub fn void(obligation: Obligation, transaction: &RemoteId, words: Option<&str>) -> Effect {
    let body = json!({"reference": reference(&obligation.source_id.mark(), words)});
    obligation
        .effect::<VoidTransaction>(ROW.name, &[transaction.as_str()], body)
        .on(transaction)
        .expecting("id", transaction.as_str())
        .expecting("status", "VOIDED")
}

fn meaning(now: &Value) -> Meaning {
    match text(now, "status") {
        "VOIDED" => Meaning::Happened,
        "COMPLETED" | "FAILED" => Meaning::Over,
        _ => Meaning::Open,
    }
}

fn judge(intent: &Intent, answers: &[Answer]) -> Finding {
    by_status(intent, answers, meaning)
}

pub(super) const ROW: EffectRow = EffectRow {
    name: "transaction.void",
    doubt: Doubt::Search(Search { queries, judge, absent: Absent::Again }),
    baseline: Some(BEFORE),
    lane: Lane::Target,
    learn,
    proves: nothing,
};
