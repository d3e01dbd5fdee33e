//! Readings: queries of the service that change nothing, and the interpretation of their answers.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::access::{NoAccess, Wallet, access};
use super::shared::{EngineError, Shared};
use super::tasks::Finished;
use super::unable::Unable;
use super::{pace, sweep, unauthorised};
use crate::base::id::Key;
use crate::base::secret::Secret;
use crate::client::ReadError;
use crate::effects::{
    APPLICATION, Answer, Learned, Query, ReadCx, ReadingRow, SURVEY, Trouble, put, reading_row,
};
use crate::model::adoption::StraysFound;
use crate::model::effect::Reading;
use crate::model::observed::{Observation, Observed, Source};
use crate::model::record::Record;
use crate::store::vault::Sealed;

/// Shortest wait before a repeated query while the service is still processing.
const WAIT_MIN: Duration = Duration::from_secs(1);

/// The reason why a query has no answer.
#[derive(Debug)]
pub(super) enum Unread {
    /// A credential is missing.
    Access(NoAccess),
    /// The service did not answer.
    Read(ReadError),
}

/// Condition for recording an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Write {
    /// In any case: the time of the reading is information, too.
    Always,
    /// Only if it differs from the known state.
    News,
}

/// Runs a reading and records its results.
pub(super) async fn read(
    shared: &Shared,
    reading: Reading,
    wallet: &Wallet,
    write: Write,
) -> Finished {
    match tried(shared, &reading, wallet, write).await {
        Ok(finished) => finished,
        Err(unread) => match unread.finished(shared, reading.key.clone(), wallet) {
            Ok(finished) => finished,
            Err(NoAccess::Engine(error)) => Finished::Broken(error),
            Err(NoAccess::Secret(error)) => {
                Finished::Again(reading.key, Unable::Secret(error.message), Duration::ZERO)
            }
        },
    }
}

/// Runs the queries of a row, and interprets their answers.
async fn tried(
    shared: &Shared,
    reading: &Reading,
    wallet: &Wallet,
    write: Write,
) -> Result<Finished, Unread> {
    let row = reading_row(reading.name)
        .ok_or_else(|| EngineError::Bug(format!("no reading is called {}", reading.name)))?;
    let answers = answers(shared, &(row.queries)(&reading.about), wallet).await?;
    match judged(shared, row, reading, &answers)? {
        Ok(learned) if write == Write::News && is_known(shared, reading, &learned)? => {
            tracing::debug!(key = %reading.key, reading = reading.name, "nothing new");
            Ok(Finished::Moved(reading.key.clone()))
        }
        Ok(learned) => learnt(shared, reading, wallet, learned).await,
        Err(Trouble::Hold(reason)) => {
            let hold = Record::Hold { key: reading.key.clone(), reason, at: shared.now() };
            shared.write(Vec::new(), vec![hold]).await?;
            Ok(Finished::Moved(reading.key.clone()))
        }
        Err(Trouble::Strays(found)) => {
            let (key, merchant) = (reading.key.clone(), reading.merchant.clone());
            let strays = StraysFound { key, merchant, found, at: shared.now() };
            shared.write(Vec::new(), vec![Record::Strays(Box::new(strays))]).await?;
            Ok(Finished::Moved(reading.key.clone()))
        }
        Err(Trouble::Later(reason)) => {
            Ok(Finished::Again(reading.key.clone(), Unable::Blocked(reason), Duration::ZERO))
        }
        Err(Trouble::Mismatch(reason)) => {
            Ok(Finished::Again(reading.key.clone(), Unable::Mismatch(reason), Duration::ZERO))
        }
        Err(Trouble::Wait(reason)) => {
            Ok(Finished::Again(reading.key.clone(), Unable::Waiting(reason), WAIT_MIN))
        }
    }
}

/// Returns true if the results of a reading are known already, its secrets included.
fn is_known(shared: &Shared, reading: &Reading, learned: &Learned) -> Result<bool, EngineError> {
    let Some(known) = shared.facts.observed(&reading.key)? else { return Ok(false) };
    let open = learned.facts.as_object().into_iter().flatten();
    let same = known.exists == learned.exists
        && known.unauthorised.is_none()
        && open.into_iter().all(|(name, value)| known.fact(name) == value);
    let sealed = |name: &str| known.fact(name).get("sealed").and_then(Value::as_str);
    for (name, secret) in &learned.secrets {
        let before = sealed(name).map(|reference| shared.credential(reference)).transpose()?;
        if before.is_none_or(|before| before.expose() != secret.expose()) {
            return Ok(false);
        }
    }
    Ok(same)
}

/// Interprets the answers, given the known state.
fn judged(
    shared: &Shared,
    row: &ReadingRow,
    reading: &Reading,
    answers: &[Answer],
) -> Result<Result<Learned, Trouble>, EngineError> {
    let observed = shared.facts.observed(&reading.key)?;
    let declared = shared.facts.empty_remote_declared()?;
    let knows_mark = |mark: &str| declared || shared.facts.knows_mark(mark).unwrap_or(false);
    let cx = ReadCx {
        key: &reading.key,
        mode: reading.mode,
        generation: reading.applied.generation,
        observed: observed.as_ref(),
        about: &reading.about,
        knows_mark: &knows_mark,
    };
    Ok((row.learn)(&cx, answers))
}

/// Records the results of a reading. A token that the spec itself names is sealed with them.
async fn learnt(
    shared: &Shared,
    reading: &Reading,
    wallet: &Wallet,
    mut learned: Learned,
) -> Result<Finished, Unread> {
    let token = wallet.spec.as_ref().and_then(|spec| spec.get("access_token"));
    if let Some(token) = token.filter(|_| !learned.secrets.is_empty()) {
        let token = shared.secrets.resolve(token, &reading.key).map_err(NoAccess::Secret)?;
        learned.secrets.push(("token", token));
        put(&mut learned.facts, APPLICATION, Value::Null);
    }
    let (facts, blobs) = sealed_facts(shared, &reading.key, learned.facts, &learned.secrets)?;
    let known = shared.facts.observed(&reading.key).map_err(EngineError::from)?;
    let observation = Observation {
        key: reading.key.clone(),
        merchant: reading.merchant.clone(),
        at: since(shared.now(), known.as_ref()),
        source: Source::Read,
        remote_id: learned.remote_id,
        exists: Some(learned.exists),
        applied: Some(reading.applied.clone()),
        facts,
    };
    shared.write(blobs, vec![Record::Observation(Box::new(observation))]).await?;
    if reading.name == SURVEY {
        shared.lists().all_were_read(&reading.merchant);
    }
    tracing::info!(key = %reading.key, reading = reading.name, "read");
    Ok(Finished::Moved(reading.key.clone()))
}

/// Returns the time of a reading made now. A clock that was set back does not make it older than
/// the known state.
pub(super) fn since(now: DateTime<Utc>, known: Option<&Observed>) -> DateTime<Utc> {
    known.map_or(now, |known| now.max(known.at))
}

/// Replaces every secret in facts by a reference to its sealed value.
pub(super) fn sealed_facts(
    shared: &Shared,
    key: &Key,
    mut facts: Value,
    secrets: &[(&'static str, Secret)],
) -> Result<(Value, Vec<Sealed>), EngineError> {
    let subject = key.to_string();
    let mut blobs = Vec::new();
    for (name, secret) in secrets {
        let bytes = secret.expose().as_bytes();
        let sealed = shared.random(|rng| shared.vault.seal(&subject, bytes, rng))?;
        if let Some(facts) = facts.as_object_mut() {
            facts.insert((*name).to_owned(), json!({"sealed": sealed.reference().to_string()}));
        }
        blobs.push(sealed);
    }
    Ok((facts, blobs))
}

/// Returns the answers to these queries, in order; a 404 is an answer. Disowned objects are left
/// out of every list: they are evidence of nothing.
pub(super) async fn answers(
    shared: &Shared,
    queries: &[Query],
    wallet: &Wallet,
) -> Result<Vec<Answer>, Unread> {
    let mut answers = Vec::with_capacity(queries.len());
    let disowned = shared.facts.disowned().map_err(EngineError::from)?;
    for query in queries {
        let access = access(shared, wallet, query.call.auth)?;
        let client = pace::calls(shared, wallet, query.call.auth);
        let answer = if query.pages {
            let items = client.pages(&query.call, &access).await;
            items.map(|items| Answer::Items(sweep::ours(items, &disowned)))
        } else {
            client.read(&query.call, &access).await.map(Answer::Body)
        };
        if matches!(answer, Err(ReadError::Unauthorised)) {
            unauthorised::heard(shared, wallet, query.call.auth).await?;
        }
        answers.push(match answer {
            Err(ReadError::NotFound(problem)) => Answer::Missing(problem),
            other => other.map_err(Unread::Read)?,
        });
    }
    Ok(answers)
}

/// Returns the answer to one query for a person, or the reason why there is none.
pub(super) async fn one(
    shared: &Shared,
    query: Query,
    wallet: &Wallet,
) -> Result<Result<Option<Answer>, String>, EngineError> {
    match answers(shared, &[query], wallet).await {
        Ok(answers) => Ok(Ok(answers.into_iter().next())),
        Err(Unread::Access(NoAccess::Engine(error))) => Err(error),
        Err(Unread::Access(NoAccess::Secret(error))) => Ok(Err(error.message)),
        Err(Unread::Read(error)) => Ok(Err(error.to_string())),
    }
}

impl Unread {
    /// Returns the end of a task that cannot continue without an answer.
    pub(super) fn finished(
        self,
        shared: &Shared,
        key: Key,
        wallet: &Wallet,
    ) -> Result<Finished, NoAccess> {
        let error = match self {
            Self::Access(error) => return Err(error),
            Self::Read(error) => error,
        };
        if error == ReadError::Unauthorised && unauthorised::awaits(shared, &wallet.merchant)? {
            return Ok(Finished::Unauthorised(key, wallet.merchant.clone()));
        }
        let why = error.to_string();
        let unable = match error {
            ReadError::Unauthorised | ReadError::Refused(..) => Unable::Blocked(why),
            ReadError::NotFound(_) | ReadError::Unreachable { .. } | ReadError::NotARead { .. } => {
                Unable::Unreachable(why)
            }
        };
        Ok(Finished::Again(key, unable, shared.gate().shut_for()))
    }
}

impl From<NoAccess> for Unread {
    fn from(error: NoAccess) -> Self {
        Self::Access(error)
    }
}

impl From<EngineError> for Unread {
    fn from(error: EngineError) -> Self {
        Self::Access(NoAccess::Engine(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_read_after_the_clock_went_back_is_learnt_all_the_same() {
        let at = |text: &str| -> DateTime<Utc> { text.parse().unwrap() };
        let merchant: Key = "Merchant/default/acme".parse().unwrap();
        let (noon, morning) = (at("2026-11-21T12:00:00Z"), at("2026-11-21T08:00:00Z"));
        let mut known = Observed::unknown(merchant.clone(), noon);
        let mut read = Observation {
            key: merchant.clone(),
            merchant,
            at: morning,
            source: Source::Read,
            remote_id: None,
            exists: Some(true),
            applied: None,
            facts: json!({"surveyed": true}),
        };
        known.learn(&read);
        assert!(known.fact("surveyed").is_null(), "an older fact changes nothing");
        read.at = since(morning, Some(&known));
        known.learn(&read);
        assert_eq!(known.fact("surveyed"), true);
    }
}
