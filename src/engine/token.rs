//! Evidence from a one-time token about an effect in doubt that uses it (design.md part 3).
//!
//! A token is used at most once, and expires five minutes after it was made. While it can be read,
//! nothing has used it, whatever the state of an object that others may have changed meanwhile. If
//! it cannot be read before its expiry, it was used: the effect itself is then looked up, since it
//! may have been declined. If it cannot be read later, that proves nothing.

use chrono::TimeDelta;
use serde_json::Value;

use super::access::Wallet;
use super::shared::Shared;
use super::{body, read};
use crate::api::Call;
use crate::api::one_time_token::GetToken;
use crate::base::planted;
use crate::client::ReadError;
use crate::effects::{Answer, Finding, Query, TOKEN_SPARED_MINUTES};
use crate::model::action::is_action;
use crate::model::intent::{Intent, StoredBody};

/// The state of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It exists: nothing used it.
    Unused,
    /// It is gone before its expiry: it was used.
    Used,
    /// It is gone, and may have expired.
    Gone,
}

/// Combines the evidence with that of the effect's token.
pub(super) async fn weighed(
    shared: &Shared,
    intent: &Intent,
    wallet: &Wallet,
    (finding, answers): (Finding, &[Answer]),
) -> Result<Finding, read::Unread> {
    let Some(token) = token(shared, intent) else { return Ok(finding) };
    let query = Query::one(Call::to::<GetToken>(&[&token]));
    let answer = match read::answers(shared, &[query], wallet).await {
        Ok(answers) => answers.into_iter().next(),
        Err(read::Unread::Read(ReadError::Refused(..))) => None,
        Err(unread) => return Err(unread),
    };
    let in_time = TimeDelta::minutes(TOKEN_SPARED_MINUTES);
    let early = intent.at.checked_add_signed(in_time).is_some_and(|end| shared.now() < end);
    let Some(standing) = answer.and_then(|answer| standing(&answer, early && is_fresh(intent)))
    else {
        return Ok(finding);
    };
    tracing::debug!(intent = %intent.id, ?standing, "its token was looked at");
    // An object that a token saves carries the mark; one that a token changes shows none.
    let changes = is_fresh(intent) && intent.target.is_some();
    Ok(means(standing, changes, (finding, answers)))
}

/// Returns the token that an effect uses, or a value that may be one.
fn token(shared: &Shared, intent: &Intent) -> Option<String> {
    let sent: Value = serde_json::from_slice(&body::call(shared, intent).ok()?.body?).ok()?;
    let word = ["token_id", "one_time_token", "method"].iter().find_map(|name| sent.get(name))?;
    word.as_str().map(str::to_owned)
}

/// Returns true if the token was made for exactly this effect: it was then valid for some minutes
/// more when the effect was sent. A token that a person submits may have any age.
fn is_fresh(intent: &Intent) -> bool {
    matches!(intent.request.body, StoredBody::Sealed { .. }) && !is_action(&intent.key)
}

/// Returns the state of a token from the answer of its own path; `early` is certainly before its
/// expiry.
fn standing(answer: &Answer, early: bool) -> Option<Standing> {
    match answer {
        Answer::Body(_) => Some(Standing::Unused),
        Answer::Missing(_) if answer.unknown_path() => None,
        Answer::Missing(_) if early => Some(Standing::Used),
        Answer::Missing(_) => Some(Standing::Gone),
        Answer::Items(_) => None,
    }
}

/// Applies the token's state to the finding. A found mark is proof, whatever the token's state; a
/// change by a fresh token shows no mark.
fn means(standing: Standing, fresh: bool, (finding, answers): (Finding, &[Answer])) -> Finding {
    match (standing, finding) {
        (Standing::Unused, Finding::Happened(_)) if fresh => Finding::Absent,
        (
            Standing::Unused,
            Finding::Unseen { .. } | Finding::Unknown(_) | Finding::Overwritten(_),
        ) => Finding::Absent,
        (Standing::Used | Standing::Gone, Finding::Absent)
            if fresh && planted::is("token-404-is-done") =>
        {
            match answers.first() {
                Some(Answer::Body(object)) => Finding::Happened(object.clone()),
                _ => Finding::Absent,
            }
        }
        (_, finding) => finding,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::Message;
    use crate::model::service_problem::ServiceProblem;

    fn missing(context: Option<&str>) -> Answer {
        let context = context.map(str::to_owned);
        let message = Message { context, ..Message::default() };
        Answer::Missing(ServiceProblem::told(vec![message]))
    }

    #[test]
    fn a_token_that_is_gone_tells_something_only_before_its_end() {
        let gone = missing(Some("Token[1]"));
        assert_eq!(standing(&Answer::Body(json!({})), false), Some(Standing::Unused));
        assert_eq!(standing(&gone, true), Some(Standing::Used));
        assert_eq!(standing(&gone, false), Some(Standing::Gone));
        assert_eq!(standing(&missing(None), true), None, "the service has no such path");
    }

    #[test]
    fn an_unused_token_changed_nothing_and_a_used_one_may_have_been_declined() {
        let object = [Answer::Body(json!({"id": "c1"}))];
        let told = |standing, fresh, finding| {
            let found = means(standing, fresh, (finding, &object));
            match found {
                Finding::Happened(_) => "happened",
                Finding::Absent => "absent",
                Finding::Unknown(_) => "unknown",
                Finding::Refused(_) | Finding::Unseen { .. } | Finding::Overwritten(_) => "other",
            }
        };
        let happened = || Finding::Happened(json!({"id": "c1"}));
        let unseen = || Finding::Unseen { newest: None, why: String::new() };
        assert_eq!(told(Standing::Unused, true, happened()), "absent");
        assert_eq!(told(Standing::Unused, false, happened()), "happened", "it carries the mark");
        assert_eq!(told(Standing::Unused, false, unseen()), "absent");
        assert_eq!(told(Standing::Unused, false, Finding::Unknown(String::new())), "absent");
        for standing in [Standing::Used, Standing::Gone] {
            assert_eq!(told(standing, true, Finding::Absent), "absent");
            assert_eq!(told(standing, true, happened()), "happened");
            assert_eq!(told(standing, false, unseen()), "other");
        }
    }
}
