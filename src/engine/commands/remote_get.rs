//! A pass-through read of the service. Nothing of it is recorded.

use serde_json::Value;

use crate::api::reads::ReadEndpoint;
use crate::effects::core::row::{RemoteAnswer, RemoteQuery};
use crate::engine::commands::decision::Decision;
use crate::engine::handles::access::CredentialSource;
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::query::Reply;
use crate::engine::readers::read;
use crate::engine::view::EngineView;
use crate::kinds::planning::step::MERCHANT;
use crate::model::effect::RemoteGet;
use crate::plan::state_view::StateView;

const HIDDEN: &str = "***";

impl EngineView<'_> {
    /// Decides about a read for a person: answered with its secrets hidden; nothing is written.
    pub(crate) fn remote_get(&self, asked: &RemoteGet) -> Decision {
        let (query, secret, wallet) = match self.prepare_get(asked) {
            Ok(ready) => ready,
            Err(why) => return Decision::answer(Reply::RemoteGet(Err(why))),
        };
        let shared = self.shared.clone();
        Decision::run(async move {
            let told = read_redacted(&shared, query, secret, &wallet).await?;
            Ok((TaskResult::RecordWritten(None), Reply::RemoteGet(told)))
        })
    }

    fn prepare_get(
        &self,
        asked: &RemoteGet,
    ) -> Result<(RemoteQuery, Option<&'static str>, CredentialSource), String> {
        let RemoteGet { merchant, read, parameters, query, body } = asked;
        let read =
            ReadEndpoint::find(read).ok_or_else(|| format!("there is no read called {read}"))?;
        if merchant.kind.as_str() != MERCHANT || self.known_state.observed(merchant).is_none() {
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
        let wallet = self.snapshot().poll_credentials(merchant);
        Ok((RemoteQuery::one(call), read.secret, wallet))
    }
}

async fn read_redacted(
    shared: &EngineShared,
    query: RemoteQuery,
    secret: Option<&str>,
    wallet: &CredentialSource,
) -> EngineResult<Result<Value, String>> {
    let answer = read::one(shared, query, wallet).await?;
    Ok(answer.and_then(|answer| match answer {
        Some(RemoteAnswer::Body(body)) => Ok(redact_secret(body, secret)),
        Some(RemoteAnswer::Missing(gone)) => Err(format!("it is not there ({})", gone.code())),
        Some(RemoteAnswer::Items(_)) | None => Err("the service answered nothing".to_owned()),
    }))
}

fn redact_secret(body: Value, secret: Option<&str>) -> Value {
    match body {
        Value::Object(map) => {
            let each = map.into_iter().map(|(name, value)| {
                let hides = secret == Some(name.as_str());
                let value = if hides { Value::from(HIDDEN) } else { redact_secret(value, secret) };
                (name, value)
            });
            Value::Object(each.collect())
        }
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| redact_secret(item, secret)).collect())
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => other,
    }
}

#[cfg(test)]
#[expect(clippy::wildcard_enum_match_arm, reason = "every other value fails the test")]
mod tests {
    use serde_json::json;

    use super::{redact_secret, *};
    use crate::engine::protocol::input::EngineCommand;
    use crate::engine::tests::fixture::{StateFixture, run_in};
    use crate::engine::tests::records::{key, merchant};

    #[test]
    fn no_secret_of_an_answer_is_shown() {
        let answer = json!({"test_accounts": [{"id": "a", "secret_key": "canary"}]});
        assert_eq!(
            redact_secret(answer, Some("secret_key")),
            json!({"test_accounts": [{"id": "a", "secret_key": "***"}]})
        );
    }

    fn get(read: &str, parameters: &[&str]) -> RemoteGet {
        let parameters = parameters.iter().map(|one| (*one).to_owned()).collect();
        let read = read.to_owned();
        RemoteGet { merchant: merchant(), read, parameters, query: Vec::new(), body: None }
    }

    async fn read(fixture: &StateFixture, get: RemoteGet) -> Result<Value, String> {
        let (_, reply) = run_in(fixture.decide(EngineCommand::RemoteGet(get))).await;
        let Reply::RemoteGet(shown) = reply else { panic!("{reply:?}") };
        shown
    }

    #[test]
    fn only_a_read_of_the_register_at_a_known_merchant_is_passed_on() {
        let fixture = StateFixture::with_documents(&[]);
        let why = |get: RemoteGet| match fixture.answer_to(EngineCommand::RemoteGet(get)) {
            Reply::RemoteGet(Err(why)) => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(why(get("card.delete", &["c1"])), "there is no read called card.delete");
        let other = RemoteGet { merchant: key("Merchant/other"), ..get("card.get", &["c1"]) };
        assert!(why(other).starts_with("nothing is known of Merchant/other"));
        let contact = RemoteGet { merchant: key("Contact/acme"), ..get("card.get", &["c1"]) };
        assert!(why(contact).starts_with("nothing is known of Contact/acme"));
    }

    #[tokio::test]
    async fn an_answer_is_passed_on_and_nothing_of_it_is_recorded() {
        let fixture = StateFixture::with_documents(&[]);
        let before = fixture.length();
        fixture.service.answer("GET /v1/cards/c1", json!({"id": "c1"}));
        assert_eq!(read(&fixture, get("card.get", &["c1"])).await, Ok(json!({"id": "c1"})));
        fixture.service.lacks("/v1/cards/c2");
        let why = read(&fixture, get("card.get", &["c2"])).await.unwrap_err();
        assert!(why.starts_with("it is not there ("), "{why}");
        assert_eq!(fixture.length(), before);
        assert_eq!(fixture.service.requests(), ["GET /v1/cards/c1", "GET /v1/cards/c2"]);
    }
}
