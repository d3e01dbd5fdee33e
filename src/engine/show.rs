//! A look at the service itself, as it answers now. Nothing is written down of it.

use serde_json::Value;
use tokio::sync::oneshot;

use super::access::{NoAccess, Wallet};
use super::question::Reply;
use super::read::{self, Unread};
use super::shared::{EngineError, Shared};
use super::tasks::Finished;
use super::{Engine, World};
use crate::api::reads::Read;
use crate::client::Urgency;
use crate::effects::{Answer, Query};
use crate::kinds::step::MERCHANT;
use crate::model::showing::Showing;

/// What stands in the place of a secret.
const HIDDEN: &str = "***";
/// Fields of answers that are secrets.
const SECRETS: [&str; 1] = ["secret_key"];

impl Engine {
    /// Reads what a person wants to see, and answers it, its secrets hidden.
    pub(super) fn show(&mut self, asked: &Showing, reply: oneshot::Sender<Reply>) {
        let (query, wallet) = match self.look_for(asked) {
            Ok(ready) => ready,
            Err(why) => return reply.send(Reply::Shown(Err(why))).unwrap_or_default(),
        };
        let shared = self.shared.clone();
        self.tasks.spawn(async move {
            match shown(&shared, query, &wallet).await {
                Ok(told) => {
                    // Whoever asked may have gone away: nothing was written.
                    drop(reply.send(Reply::Shown(told)));
                    Finished::Heard(None)
                }
                Err(error) => Finished::Broken(error),
            }
        });
    }

    fn look_for(&self, asked: &Showing) -> Result<(Query, Wallet), String> {
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
        Ok((Query::one(call), wallet))
    }
}

async fn shown(
    shared: &Shared,
    query: Query,
    wallet: &Wallet,
) -> Result<Result<Value, String>, EngineError> {
    let answers = match read::answers(shared, &[query], wallet).await {
        Ok(answers) => answers,
        Err(Unread::Access(NoAccess::Engine(error))) => return Err(error),
        Err(Unread::Access(NoAccess::Secret(error))) => return Ok(Err(error.message)),
        Err(Unread::Read(error)) => return Ok(Err(error.to_string())),
    };
    Ok(match answers.into_iter().next() {
        Some(Answer::Body(body)) => Ok(hidden(body)),
        Some(Answer::Missing(problem)) => Err(format!("it is not there ({})", problem.code())),
        Some(Answer::Items(_)) | None => Err("the service answered nothing".to_owned()),
    })
}

/// An answer whose secrets cannot be read.
fn hidden(body: Value) -> Value {
    match body {
        Value::Object(map) => {
            let each = map.into_iter().map(|(name, value)| {
                let secret = SECRETS.contains(&name.as_str());
                let value = if secret { Value::from(HIDDEN) } else { hidden(value) };
                (name, value)
            });
            Value::Object(each.collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(hidden).collect()),
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
        assert_eq!(hidden(answer), json!({"test_accounts": [{"id": "a", "secret_key": "***"}]}));
    }
}
