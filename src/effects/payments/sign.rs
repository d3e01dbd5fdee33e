//! Signs a transaction (gateway-api, POST /v1/transactions/{transactionId}/sign).
//!
//! A transaction takes one signature, so sending it again cannot double it; a refusal of a later
//! send settles it. The strokes were drawn by a person and are secret.

use serde_json::{Value, json};

use super::transactions::{TRANSACTION_BASELINE, learn, transaction_query};
use crate::api::payments::actions::SignTransaction;
use crate::base::id::RemoteId;
use crate::effects::core::context::{EffectBuilder, EffectContext};
use crate::effects::core::row::{EffectRow, Isolation, LookupResult, RemoteAnswer, RemoteQuery};
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Intent;

/// Stores a signature of a transaction; `data` is the reference to its sealed or stored strokes,
/// never the strokes.
pub fn sign(
    obligation: EffectContext,
    transaction: &RemoteId,
    mime_type: &str,
    data: &Value,
) -> Effect {
    let body = json!({"mime_type": mime_type, "data": data});
    obligation
        .effect::<SignTransaction>(ROW.name, &[transaction.as_str()], body)
        .targeting(transaction)
        .with_sealed_body()
}

fn queries(intent: &Intent) -> Vec<RemoteQuery> {
    vec![transaction_query(intent.target.as_ref())]
}

fn judge(intent: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    let signature = |one: &Value| one.get("signature_id").cloned().unwrap_or_default();
    let before = intent.baseline.get("target").map(signature).unwrap_or_default();
    match answers.first() {
        Some(RemoteAnswer::Body(now)) if !signature(now).is_null() && signature(now) != before => {
            LookupResult::Applied(now.clone())
        }
        Some(RemoteAnswer::Body(_)) => LookupResult::NotFound,
        Some(answer @ RemoteAnswer::Missing(_)) if answer.is_unknown_path() => {
            LookupResult::NotFound
        }
        Some(RemoteAnswer::Missing(_) | RemoteAnswer::Items(_)) | None => {
            LookupResult::Inconclusive("the transaction cannot be found any more".to_owned())
        }
    }
}

pub(crate) const ROW: EffectRow =
    EffectRow::looked_up("transaction.sign", Isolation::PerObject, queries, judge, learn)
        .with_baseline(TRANSACTION_BASELINE);
