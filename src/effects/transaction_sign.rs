//! Signs a transaction (gateway-api, POST /v1/transactions/{transactionId}/sign).
//!
//! A transaction takes one signature, so sending it again cannot double it; a refusal of a later
//! send settles it. The strokes were drawn by a person and are secret.

use serde_json::{Value, json};

use super::register::{Absent, Answer, Doubt, EffectRow, Finding, Lane, Query, Search, nothing};
use super::transactions::{BEFORE, learn, target};
use super::{Obligation, Shaped};
use crate::api::transaction::actions::SignTransaction;
use crate::base::id::RemoteId;
use crate::model::effect::Effect;
use crate::model::intent::Intent;

/// Stores a signature of a transaction; `data` is the reference to its sealed or stored strokes,
/// never the strokes.
pub fn sign(
    obligation: Obligation,
    transaction: &RemoteId,
    mime_type: &str,
    data: &Value,
) -> Effect {
    let body = json!({"mime_type": mime_type, "data": data});
    obligation
        .effect::<SignTransaction>(ROW.name, &[transaction.as_str()], body)
        .on(transaction)
        .sealed()
}

fn queries(intent: &Intent) -> Vec<Query> {
    vec![target(intent.target.as_ref())]
}

fn judge(intent: &Intent, answers: &[Answer]) -> Finding {
    let signature = |one: &Value| one.get("signature_id").cloned().unwrap_or_default();
    let before = intent.baseline.get("target").map(signature).unwrap_or_default();
    match answers.first() {
        Some(Answer::Body(now)) if !signature(now).is_null() && signature(now) != before => {
            Finding::Happened(now.clone())
        }
        Some(Answer::Body(_)) => Finding::Absent,
        Some(answer @ Answer::Missing(_)) if answer.unknown_path() => Finding::Absent,
        Some(Answer::Missing(_) | Answer::Items(_)) | None => {
            Finding::Unknown("the transaction cannot be found any more".to_owned())
        }
    }
}

pub(super) const ROW: EffectRow = EffectRow {
    name: "transaction.sign",
    doubt: Doubt::Search(Search { queries, judge, absent: Absent::Again }),
    baseline: Some(BEFORE),
    lane: Lane::Target,
    learn,
    proves: nothing,
};
