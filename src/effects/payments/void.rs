//! Voids a transaction before it settles (gateway-api, POST /v1/transactions/{transactionId}/void).
//!
//! A void is final; the service refuses a second one. Reading the transaction settles a lost
//! answer. A transaction that was captured meanwhile was not voided.

use serde_json::{Value, json};

use super::transactions::{
    StatusMeaning, TRANSACTION_BASELINE, judge as by_status, learn, queries, reference,
};
use crate::api::payments::actions::VoidTransaction;
use crate::base::id::RemoteId;
use crate::effects::core::context::{EffectBuilder, EffectContext};
use crate::effects::core::evidence::text;
use crate::effects::core::row::{EffectRow, Isolation, LookupResult, RemoteAnswer};
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Intent;

/// Voids a charge, refund or credit.
pub fn void(obligation: EffectContext, transaction: &RemoteId, words: Option<&str>) -> Effect {
    let body = json!({"reference": reference(&obligation.source_id.mark(), words)});
    obligation
        .effect::<VoidTransaction>(ROW.name, &[transaction.as_str()], body)
        .targeting(transaction)
        .expecting("id", transaction.as_str())
        .expecting("status", "VOIDED")
}

fn meaning(now: &Value) -> StatusMeaning {
    match text(now, "status") {
        "VOIDED" => StatusMeaning::Applied,
        "COMPLETED" | "FAILED" => StatusMeaning::Impossible,
        _ => StatusMeaning::Possible,
    }
}

fn judge(intent: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    by_status(intent, answers, meaning)
}

pub(crate) const ROW: EffectRow =
    EffectRow::looked_up("transaction.void", Isolation::PerObject, queries, judge, learn)
        .with_baseline(TRANSACTION_BASELINE);
