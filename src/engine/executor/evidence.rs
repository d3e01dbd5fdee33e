//! Evidence about an effect in doubt: the one-time token that it uses, and an object that is found after
//! a restore (design.md part 3).
//!
//! A token is used at most once, and expires five minutes after it was made. While it can be read,
//! nothing has used it, whatever the state of an object that others may have changed meanwhile. If
//! it cannot be read before its expiry, it was used: the effect itself is then looked up, since it
//! may have been declined. If it cannot be read later, that proves nothing.
//!
//! A lost state may have changed a found object: its visible fields are taken as the applied state, and
//! its masked fields as unknown.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::api::call::Call;
use crate::api::method_token::GetToken;
use crate::base::fault_injection;
use crate::client::read::ReadError;
use crate::effects::core::evidence::LOOKED_UP_FIRST;
use crate::effects::core::row::{LookupResult, RemoteAnswer, RemoteQuery};
use crate::effects::methods::save::TOKEN_RESERVE_MINUTES;
use crate::engine::executor::request;
use crate::engine::handles::access::CredentialSource;
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::readers::read;
use crate::kinds::register;
use crate::kinds::remote::readback::{ReadBack, WireForm, detect_drift};
use crate::model::effect::is_action;
use crate::model::intent::{Intent, StoredBody};
use crate::model::state::drift;
use crate::model::state::observed::{AppliedSpec, Observed};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenState {
    /// It exists: nothing used it.
    Unused,
    /// It is gone before its expiry: it was used.
    Used,
    /// It is gone, and may have expired.
    Missing,
}

pub(crate) async fn weigh_token(
    shared: &EngineShared,
    intent: &Intent,
    wallet: &CredentialSource,
    (finding, answers): (LookupResult, &[RemoteAnswer]),
) -> Result<LookupResult, read::ReadFailure> {
    let Some(token) = token_of(shared, intent) else { return Ok(finding) };
    let query = RemoteQuery::one(Call::to::<GetToken>(&[&token]));
    let answer = match read::answers(shared, &[query], wallet).await {
        Ok(answers) => answers.into_iter().next(),
        Err(read::ReadFailure::Read(ReadError::Refused(..))) => None,
        Err(unread) => return Err(unread),
    };
    let in_time = TimeDelta::minutes(TOKEN_RESERVE_MINUTES);
    let early = intent.at.checked_add_signed(in_time).is_some_and(|end| shared.now() < end);
    let Some(standing) = answer.and_then(|answer| token_state(&answer, early && is_fresh(intent)))
    else {
        return Ok(finding);
    };
    tracing::debug!(intent = %intent.id, ?standing, "token checked");
    // An object that a token saves carries the mark; one that a token changes shows none.
    let changes = is_fresh(intent) && intent.target.is_some();
    Ok(apply_token_state(standing, changes, (finding, answers)))
}

/// Returns the token that an effect uses, or a value that may be one.
fn token_of(shared: &EngineShared, intent: &Intent) -> Option<String> {
    let sent: Value =
        serde_json::from_slice(&request::stored_call(shared, intent).ok()?.body?).ok()?;
    let word = ["token_id", "one_time_token", "method"].iter().find_map(|name| sent.get(name))?;
    word.as_str().map(str::to_owned)
}

/// Returns true if the token was made for exactly this effect: it was then valid for some minutes
/// more when the effect was sent. A token that a person submits may have any age.
fn is_fresh(intent: &Intent) -> bool {
    matches!(intent.request.body, StoredBody::Sealed { .. }) && !is_action(&intent.key)
}

/// Returns a token's state from the answer of its own path; `early` is surely before its expiry.
fn token_state(answer: &RemoteAnswer, early: bool) -> Option<TokenState> {
    match answer {
        RemoteAnswer::Body(_) => Some(TokenState::Unused),
        RemoteAnswer::Missing(_) if answer.is_unknown_path() => None,
        RemoteAnswer::Missing(_) if early => Some(TokenState::Used),
        RemoteAnswer::Missing(_) => Some(TokenState::Missing),
        RemoteAnswer::Items(_) => None,
    }
}

/// Applies the token's state to the finding. A found mark is proof, whatever the token's state; a
/// change by a fresh token shows no mark.
fn apply_token_state(
    standing: TokenState,
    fresh: bool,
    (finding, answers): (LookupResult, &[RemoteAnswer]),
) -> LookupResult {
    match (standing, finding) {
        (TokenState::Unused, LookupResult::Applied(_)) if fresh => LookupResult::NotFound,
        (
            TokenState::Unused,
            LookupResult::NotVisibleYet { .. }
            | LookupResult::Inconclusive(_)
            | LookupResult::Superseded(_),
        ) => LookupResult::NotFound,
        (TokenState::Used | TokenState::Missing, LookupResult::NotFound)
            if fresh && fault_injection::is_active("token-404-is-done") =>
        {
            match answers.first() {
                Some(RemoteAnswer::Body(object)) => LookupResult::Applied(object.clone()),
                _ => LookupResult::NotFound,
            }
        }
        (_, finding) => finding,
    }
}

/// Returns the baseline of an effect that is looked up first.
pub(crate) fn lookup_baseline() -> Value {
    json!({ LOOKED_UP_FIRST: true })
}

/// Returns true if an intent is looked up before it is sent: this state has not sent it.
pub(crate) fn is_looked_up_first(intent: &Intent) -> bool {
    intent.baseline.get(LOOKED_UP_FIRST).is_some()
}

/// The comparison of a found object, and its applied state.
pub(crate) struct FoundState {
    /// Fields that must equal the request, since nothing could change them since.
    pub(crate) expect: BTreeMap<String, Value>,
    pub(crate) applied: AppliedSpec,
}

/// Interprets an object that another state may have created and changed; `None` if none can have.
pub(crate) fn found_state(
    shared: &EngineShared,
    intent: &Intent,
    item: &Value,
) -> EngineResult<Option<FoundState>> {
    let looked_first = is_looked_up_first(intent);
    let epoch = shared.facts.epoch()?.filter(|epoch| epoch.looks_up_first);
    let shared_past = epoch.is_some_and(|epoch| looked_first || epoch.is_older(intent.id));
    let row = register::find(intent.key.kind.as_str()).filter(|_| shared_past);
    let back = row.and_then(|row| (row.read_back)(&intent.applied.spec));
    let Some((row, back)) = row.zip(back) else { return Ok(None) };
    let known = Observed::unknown(intent.merchant.clone(), intent.at);
    let known = Observed { applied: Some(intent.applied.clone()), ..known };
    let key = &shared.settings.planning.digest_key;
    let shown = detect_drift(back, row.fields, key, &known, item).map(|(applied, _)| applied);
    let mut applied = shown.unwrap_or_else(|| intent.applied.clone());
    // The service only masks these fields: they may have changed.
    for shown in back.fields.iter().filter(|shown| shown.form == WireForm::Fingerprint) {
        drift::mark_unknown(&mut applied.spec, shown.path);
    }
    Ok(Some(FoundState { expect: immutable_fields(back, &intent.expect), applied }))
}

/// Keeps the expected fields, except those that can change and are visible.
fn immutable_fields(back: &ReadBack, expect: &BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    let first = |path: &str| path.split('.').next().unwrap_or_default().to_owned();
    let changes = |path: &str| back.fields.iter().any(|shown| first(shown.at) == first(path));
    let fixed = expect.iter().filter(|(path, _)| !changes(path));
    fixed.map(|(path, value)| (path.clone(), value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::rules::ProblemMessage;
    use crate::model::outcome::ServiceProblem;

    fn missing(context: Option<&str>) -> RemoteAnswer {
        let context = context.map(str::to_owned);
        let message = ProblemMessage { context, ..ProblemMessage::default() };
        RemoteAnswer::Missing(ServiceProblem::from_messages(vec![message]))
    }

    #[test]
    fn a_token_that_is_gone_tells_something_only_before_its_end() {
        let gone = missing(Some("Token[1]"));
        assert_eq!(token_state(&RemoteAnswer::Body(json!({})), false), Some(TokenState::Unused));
        assert_eq!(token_state(&gone, true), Some(TokenState::Used));
        assert_eq!(token_state(&gone, false), Some(TokenState::Missing));
        assert_eq!(token_state(&missing(None), true), None, "the service has no such path");
    }

    #[test]
    fn an_unused_token_changed_nothing_and_a_used_one_may_have_been_declined() {
        let object = [RemoteAnswer::Body(json!({"id": "c1"}))];
        let told = |standing, fresh, finding| {
            let found = apply_token_state(standing, fresh, (finding, &object));
            match found {
                LookupResult::Applied(_) => "happened",
                LookupResult::NotFound => "absent",
                LookupResult::Inconclusive(_) => "unknown",
                LookupResult::Refused(_)
                | LookupResult::NotVisibleYet { .. }
                | LookupResult::Superseded(_) => "other",
            }
        };
        let happened = || LookupResult::Applied(json!({"id": "c1"}));
        let unseen = || LookupResult::NotVisibleYet { newest: None, why: String::new() };
        assert_eq!(told(TokenState::Unused, true, happened()), "absent");
        assert_eq!(told(TokenState::Unused, false, happened()), "happened", "it carries the mark");
        assert_eq!(told(TokenState::Unused, false, unseen()), "absent");
        assert_eq!(
            told(TokenState::Unused, false, LookupResult::Inconclusive(String::new())),
            "absent"
        );
        for standing in [TokenState::Used, TokenState::Missing] {
            assert_eq!(told(standing, true, LookupResult::NotFound), "absent");
            assert_eq!(told(standing, true, happened()), "happened");
            assert_eq!(told(standing, false, unseen()), "other");
        }
    }

    use crate::engine::tests::fixture::StateFixture;
    use crate::engine::tests::records::{self, restore_record};

    /// Returns the intent of a card with these expected values.
    fn card_intent(expect: &[(&str, Value)]) -> Intent {
        let mut intent = records::intent(1, "SavedMethod/card", "card.save");
        intent.applied.spec = json!({"type": "card", "description": "mine",
            "source": {"card": {"number": {"digest": "x"}}}});
        let own = |(path, value): &(&str, Value)| ((*path).to_owned(), value.clone());
        Intent { expect: expect.iter().map(own).collect(), ..intent }
    }

    #[test]
    fn an_intent_is_looked_up_first_only_if_its_baseline_says_so() {
        let mut intent = card_intent(&[]);
        assert!(!is_looked_up_first(&intent));
        intent.baseline = json!({"newest": "card_1"});
        assert!(!is_looked_up_first(&intent));
        intent.baseline = lookup_baseline();
        assert!(is_looked_up_first(&intent));
    }

    #[test]
    fn only_an_object_from_before_a_restore_may_have_been_changed_by_another_state() {
        let mut fixture = StateFixture::new();
        let item = json!({"id": "card_1", "description": "theirs"});
        let found = |fixture: &StateFixture, intent: &Intent| {
            found_state(&fixture.shared, intent, &item).unwrap()
        };
        let older = card_intent(&[]);
        assert!(found(&fixture, &older).is_none(), "there was no restore");
        fixture.record(records::open_intent(5, "Contact/jane", "contact.create"));
        fixture.record(restore_record(1));
        assert!(found(&fixture, &older).is_some());
        let newer = Intent { id: crate::base::id::IntentId::new(9), ..card_intent(&[]) };
        assert!(found(&fixture, &newer).is_none());
        let looked_up = Intent { baseline: lookup_baseline(), ..newer };
        assert!(found(&fixture, &looked_up).is_some());
    }

    #[test]
    fn of_a_found_object_fixed_fields_must_fit_and_visible_ones_are_taken_as_they_are() {
        let mut fixture = StateFixture::new();
        fixture.record(restore_record(1));
        let expect = [("description", json!("mine")), ("reference", json!("rk1"))];
        let intent = Intent { baseline: lookup_baseline(), ..card_intent(&expect) };
        let item = json!({"id": "card_1", "description": "theirs", "reference": "rk1"});
        let found = found_state(&fixture.shared, &intent, &item).unwrap().unwrap();
        assert_eq!(found.expect.keys().collect::<Vec<_>>(), ["reference"]);
        let number = &found.applied.spec["source"]["card"]["number"];
        assert!(drift::is_unknown(number), "the service only masks it: {number}");
    }
}
