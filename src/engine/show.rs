//! A pass-through read of the service. Nothing of it is recorded.

use serde_json::Value;
use tokio::sync::oneshot;

use super::access::Wallet;
use super::question::Reply;
use super::read;
use super::shared::{EngineError, Shared};
use super::tasks::Finished;
use super::{Engine, World};
use crate::api::reads::Read;
use crate::client::Urgency;
use crate::effects::{Answer, Query};
use crate::kinds::step::MERCHANT;
use crate::model::showing::Showing;

/// Replaces a secret.
const HIDDEN: &str = "***";

impl Engine {
    /// Performs a read for a person, and answers it with its secrets hidden.
    pub(super) fn show(&mut self, asked: &Showing, reply: oneshot::Sender<Reply>) {
        let (query, secret, wallet) = match self.look_for(asked) {
            Ok(ready) => ready,
            Err(why) => return reply.send(Reply::Shown(Err(why))).unwrap_or_default(),
        };
        let shared = self.shared.clone();
        self.tasks.spawn(async move {
            match shown(&shared, query, secret, &wallet).await {
                Ok(told) => {
                    // The asker may have gone away; nothing was written.
                    drop(reply.send(Reply::Shown(told)));
                    Finished::Heard(None)
                }
                Err(error) => Finished::Broken(error),
            }
        });
    }

    fn look_for(&self, asked: &Showing) -> Result<(Query, Option<&'static str>, Wallet), String> {
        let Showing { merchant, read, parameters, query, body } = asked;
        let read = Read::named(read).ok_or_else(|| format!("there is no read called {read}"))?;
        if merchant.kind.as_str() != MERCHANT || self.world.observed(merchant).is_none() {
            let name = merchant.short();
            return Err(format!(
                "nothing is known of {name}: `reckon apply --target {name}` first"
            ));
        }
        let parameters: Vec<&str> = parameters.iter().map(String::as_str).collect();
        let mut call = read.call(&parameters, query);
        if let Some(body) = body.as_ref().filter(|_| read.body) {
            call = call.body(body.to_string().into_bytes());
        }
        let wallet = Wallet { urgency: Urgency::Poll, ..self.wallet(merchant) };
        Ok((Query::one(call), read.secret, wallet))
    }
}

async fn shown(
    shared: &Shared,
    query: Query,
    secret: Option<&str>,
    wallet: &Wallet,
) -> Result<Result<Value, String>, EngineError> {
    let answer = read::one(shared, query, wallet).await?;
    Ok(answer.and_then(|answer| match answer {
        Some(Answer::Body(body)) => Ok(hidden(body, secret)),
        Some(Answer::Missing(problem)) => Err(format!("it is not there ({})", problem.code())),
        Some(Answer::Items(_)) | None => Err("the service answered nothing".to_owned()),
    }))
}

/// Replaces the secret values of an answer.
fn hidden(body: Value, secret: Option<&str>) -> Value {
    match body {
        Value::Object(map) => {
            let each = map.into_iter().map(|(name, value)| {
                let hides = secret == Some(name.as_str());
                let value = if hides { Value::from(HIDDEN) } else { hidden(value, secret) };
                (name, value)
            });
            Value::Object(each.collect())
        }
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| hidden(item, secret)).collect())
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => other,
    }
}

#[cfg(test)]
mod tests {
    use super::hidden;
    use serde_json::json;

    #[test]
    fn no_secret_of_an_answer_is_shown() {
        let answer = json!({"test_accounts": [{"id": "a", "secret_key": "canary"}]});
        assert_eq!(
            hidden(answer, Some("secret_key")),
            json!({"test_accounts": [{"id": "a", "secret_key": "***"}]})
        );
    }
}
