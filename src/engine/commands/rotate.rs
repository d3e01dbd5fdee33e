//! Rotation of the addresses to which the service posts.

use tokio::sync::oneshot;

use crate::base::clock::timestamp;
use crate::base::id::Key;
use crate::base::wording::nearest;
use crate::engine::core::coordinator::Engine;
use crate::engine::core::handles::EngineError;
use crate::engine::core::task_result::TaskResult;
use crate::engine::queries::protocol::Reply;
use crate::model::operator::rotation::{
    RotationRecord, RotationRequest, RotationStep, WebhookAddress,
};
use crate::model::record::Record;

impl Engine {
    /// Rotates addresses; the reply follows once it is durable.
    pub(crate) fn rotate(
        &mut self,
        asked: &RotationRequest,
        actor: String,
        reply: oneshot::Sender<Reply>,
    ) -> Result<(), EngineError> {
        let addresses = match self.to_rotate(asked)? {
            Ok(addresses) => addresses,
            Err(why) => {
                // The asker may have gone away.
                drop(reply.send(Reply::Rotated(Err(why))));
                return Ok(());
            }
        };
        let (shared, at) = (self.shared.clone(), self.shared.now());
        let rotated = RotationRecord { addresses: addresses.clone(), step: asked.step, actor, at };
        self.tasks.spawn(async move {
            match shared.write(Vec::new(), vec![Record::Rotated(Box::new(rotated))]).await {
                Ok(()) => {
                    TaskResult::RecordWritten(None).with_reply(Reply::Rotated(Ok(addresses)), reply)
                }
                Err(error) => TaskResult::Broken(error),
            }
        });
        Ok(())
    }

    /// Returns the addresses that a rotation concerns, or the reason of its refusal.
    fn to_rotate(
        &self,
        asked: &RotationRequest,
    ) -> Result<Result<Vec<WebhookAddress>, String>, EngineError> {
        let merchants = self.merchants();
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
