//! Rotation of the addresses to which the service posts.

use super::decision::Decision;
use crate::base::clock::timestamp;
use crate::base::id::Key;
use crate::base::wording::nearest;
use crate::engine::handles::shared::EngineError;
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::query::Reply;
use crate::engine::view::EngineView;
use crate::model::operator::rotation::{
    RotationRecord, RotationRequest, RotationStep, WebhookAddress,
};
use crate::model::record::Record;

impl EngineView<'_> {
    /// Decides about a rotation of addresses.
    pub(crate) fn rotate(
        &self,
        asked: &RotationRequest,
        actor: String,
    ) -> Result<Decision, EngineError> {
        let addresses = match self.to_rotate(asked)? {
            Ok(addresses) => addresses,
            Err(why) => return Ok(Decision::answer(Reply::Rotated(Err(why)))),
        };
        let at = self.shared.now();
        let rotated = RotationRecord { addresses: addresses.clone(), step: asked.step, actor, at };
        let records = vec![Record::Rotated(Box::new(rotated))];
        let answer = Reply::Rotated(Ok(addresses));
        Ok(Decision::append(records, TaskResult::RecordWritten(None), answer))
    }

    /// Returns the addresses that a rotation concerns, or the reason of its refusal.
    fn to_rotate(
        &self,
        asked: &RotationRequest,
    ) -> Result<Result<Vec<WebhookAddress>, String>, EngineError> {
        let merchants = self.snapshot().merchants();
        let all = match &asked.merchant {
            Some(key) if !merchants.contains(key) => {
                return Ok(Err(unknown_merchant(key, &merchants)));
            }
            Some(key) => vec![WebhookAddress::Merchant(key.clone())],
            None => {
                let merchants = merchants.into_iter().map(WebhookAddress::Merchant);
                [WebhookAddress::Partner].into_iter().chain(merchants).collect()
            }
        };
        let mut under_way = Vec::new();
        let mut since = Vec::new();
        for address in &all {
            if let Some(at) = self.shared.facts.rotation(address)?.began {
                since.push(format!("{address} since {}", timestamp(&at)));
                under_way.push(address.clone());
            }
        }
        Ok(match asked.step {
            RotationStep::Begun if !under_way.is_empty() => {
                Err(format!("an exchange is already in progress: {}", since.join(", ")))
            }
            RotationStep::Finished if under_way.is_empty() => {
                Err("no exchange is in progress".to_owned())
            }
            RotationStep::Finished => Ok(under_way),
            RotationStep::Begun | RotationStep::AtOnce => Ok(all),
        })
    }
}

/// Message: there is no such merchant.
fn unknown_merchant(key: &Key, merchants: &[Key]) -> String {
    let names: Vec<String> = merchants.iter().map(Key::short).collect();
    let meant = nearest(&key.short(), names.iter().map(String::as_str));
    let meant = meant.map_or_else(String::new, |meant| format!("; did you mean {meant}?"));
    format!("there is no merchant {}{meant}", key.short())
}
