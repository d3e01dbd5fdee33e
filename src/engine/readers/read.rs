//! Readings: queries of the service that change nothing, and the interpretation of their answers.

use std::time::Duration;

use chrono::{DateTime, Utc};
use futures::future::join_all;
use serde_json::{Value, json};

use crate::base::id::Key;
use crate::base::secret::Secret;
use crate::client::read::ReadError;
use crate::effects::core::context::set_field;
use crate::effects::core::row::{
    Learned, ReadingCx, ReadingError, ReadingRow, RemoteAnswer, RemoteQuery,
};
use crate::effects::merchants::authorization::APPLICATION;
use crate::effects::merchants::read::SURVEY;
use crate::effects::register::reading_row;
use crate::engine::handles::access::{self, CredentialError, CredentialSource, access};
use crate::engine::handles::shared::{EngineError, EngineResult, EngineShared};
use crate::engine::handles::task_result::{TaskFailure, TaskResult};
use crate::engine::readers::compare;
use crate::model::effect::RemoteReading;
use crate::model::record::Record;
use crate::model::state::observed::{FactSource, Observation, Observed};
use crate::model::state::orphan::UnknownObjectsFound;
use crate::store::read_model::model::ReadModelError;
use crate::store::vault::frame::VaultError;
use crate::store::vault::keys::SealedValue;

/// Shortest wait before a repeated query while the service is still processing.
const WAIT_MIN: Duration = Duration::from_secs(1);

/// The reason why a query has no answer.
#[derive(Debug, derive_more::From)]
pub(crate) enum ReadFailure {
    #[from(CredentialError, EngineError, ReadModelError, VaultError)]
    Access(CredentialError),
    /// The service did not answer.
    Read(ReadError),
}

/// Condition for recording an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordWhen {
    /// In any case: the time of the reading is information, too.
    Always,
    /// Only if it differs from the known state.
    IfChanged,
}

pub(crate) async fn read(
    shared: &EngineShared,
    reading: RemoteReading,
    wallet: &CredentialSource,
    write: RecordWhen,
) -> EngineResult<TaskResult> {
    let finished = run_queries(shared, &reading, wallet, write).await;
    finished.or_else(|unread| unread.into_result(shared, reading.key, wallet))
}

async fn run_queries(
    shared: &EngineShared,
    reading: &RemoteReading,
    wallet: &CredentialSource,
    write: RecordWhen,
) -> Result<TaskResult, ReadFailure> {
    let row = reading_row(reading.name)
        .ok_or_else(|| EngineError::Bug(format!("unknown reading: {}", reading.name)))?;
    let answers = answers_at_once(shared, &(row.queries)(&reading.subject), wallet).await?;
    let key = reading.key.clone();
    let failed = match interpret(shared, row, reading, &answers)? {
        Ok(learned) if write == RecordWhen::IfChanged && knows(shared, reading, &learned)? => {
            tracing::debug!(%key, reading = reading.name, "unchanged");
            return Ok(TaskResult::Changed(key));
        }
        Ok(learned) => return write_reading(shared, reading, wallet, learned).await,
        Err(failed) => failed,
    };
    let (failure, wait) = match failed {
        ReadingError::RetryLater(reason) => (TaskFailure::Blocked(reason), Duration::ZERO),
        ReadingError::Mismatch(reason) => (TaskFailure::Mismatch(reason), Duration::ZERO),
        ReadingError::InProgress(reason) => (TaskFailure::Waiting(reason), WAIT_MIN),
        ReadingError::UnknownObjects(found) => {
            let (merchant, at) = (reading.merchant.clone(), shared.now());
            let found = UnknownObjectsFound { key: key.clone(), merchant, found, at };
            shared.write(Vec::new(), vec![Record::UnknownObjects(Box::new(found))]).await?;
            return Ok(TaskResult::Changed(key));
        }
    };
    Ok(TaskResult::RetryLater(key, failure, wait))
}

/// Returns true if the results of a reading are known already, its secrets included.
fn knows(shared: &EngineShared, reading: &RemoteReading, learned: &Learned) -> EngineResult<bool> {
    let Some(known) = shared.facts.observed_state(&reading.key)? else { return Ok(false) };
    let open = learned.facts.as_object().into_iter().flatten();
    let same = known.exists == learned.exists
        && known.unauthorised.is_none()
        && open.into_iter().all(|(name, value)| known.fact(name) == value);
    let sealed = |name: &str| known.fact(name).get("sealed").and_then(Value::as_str);
    for (name, secret) in &learned.secrets {
        let before = sealed(name).map(|reference| shared.open(reference)).transpose()?;
        if before.is_none_or(|before| before.expose() != secret.expose()) {
            return Ok(false);
        }
    }
    Ok(same)
}

fn interpret(
    shared: &EngineShared,
    row: &ReadingRow,
    reading: &RemoteReading,
    answers: &[RemoteAnswer],
) -> EngineResult<Result<Learned, ReadingError>> {
    let observed = shared.facts.observed_state(&reading.key)?;
    let declared = shared.facts.is_empty_remote()?;
    let knows_mark = |mark: &str| declared || shared.facts.knows_mark(mark).unwrap_or(false);
    let cx = ReadingCx {
        key: &reading.key,
        mode: reading.mode,
        generation: reading.applied.generation,
        observed: observed.as_ref(),
        about: &reading.subject,
        knows_mark: &knows_mark,
    };
    Ok((row.learn)(&cx, answers))
}

/// Records the results of a reading. A token that the spec itself names is sealed with them.
async fn write_reading(
    shared: &EngineShared,
    reading: &RemoteReading,
    wallet: &CredentialSource,
    mut learned: Learned,
) -> Result<TaskResult, ReadFailure> {
    let token = wallet.spec.as_ref().and_then(|spec| spec.get("access_token"));
    if let Some(token) = token.filter(|_| !learned.secrets.is_empty()) {
        let token = shared.secrets.resolve(token, &reading.key).map_err(CredentialError::Secret)?;
        learned.secrets.push(("token", token));
        set_field(&mut learned.facts, APPLICATION, Value::Null);
    }
    let (facts, blobs) = seal_facts(shared, &reading.key, learned.facts, &learned.secrets)?;
    let known = shared.facts.observed_state(&reading.key)?;
    let keys = (&reading.key, &reading.merchant);
    let observation = shared.observation(keys, FactSource::Read, facts);
    let observation = Observation {
        at: not_before_known(observation.at, known.as_ref()),
        remote_id: learned.remote_id,
        exists: Some(learned.exists),
        applied: Some(reading.applied.clone()),
        ..observation
    };
    shared.write(blobs, vec![Record::Observation(Box::new(observation))]).await?;
    if reading.name == SURVEY {
        shared.read_lists.note_all_read(&reading.merchant);
    }
    tracing::info!(key = %reading.key, reading = reading.name, "read");
    Ok(TaskResult::Changed(reading.key.clone()))
}

/// Returns the time of a reading made now; a clock set back makes it no older than the known state.
pub(crate) fn not_before_known(now: DateTime<Utc>, known: Option<&Observed>) -> DateTime<Utc> {
    known.map_or(now, |known| now.max(known.at))
}

/// Replaces every secret in facts by a reference to its sealed value.
pub(crate) fn seal_facts(
    shared: &EngineShared,
    key: &Key,
    mut facts: Value,
    secrets: &[(&'static str, Secret)],
) -> EngineResult<(Value, Vec<SealedValue>)> {
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

/// Returns the answers to these queries, in their order. They are asked one after the other, so that no
/// answer is older than the one before it.
pub(crate) async fn answers(
    shared: &EngineShared,
    queries: &[RemoteQuery],
    wallet: &CredentialSource,
) -> Result<Vec<RemoteAnswer>, ReadFailure> {
    let mut answers = Vec::with_capacity(queries.len());
    for query in queries {
        let asked = ask(shared, query, wallet).await?;
        answers.push(accept(shared, query, wallet, asked).await?);
    }
    Ok(answers)
}

/// Returns the answers to these queries, in their order. They are asked at once: for queries about
/// different things, whose order means nothing.
async fn answers_at_once(
    shared: &EngineShared,
    queries: &[RemoteQuery],
    wallet: &CredentialSource,
) -> Result<Vec<RemoteAnswer>, ReadFailure> {
    let asked = join_all(queries.iter().map(|query| ask(shared, query, wallet))).await;
    let mut answers = Vec::with_capacity(queries.len());
    for (query, asked) in queries.iter().zip(asked) {
        answers.push(accept(shared, query, wallet, asked?).await?);
    }
    Ok(answers)
}

/// Asks the service. Disowned objects are left out of every list: they are evidence of nothing.
async fn ask(
    shared: &EngineShared,
    query: &RemoteQuery,
    wallet: &CredentialSource,
) -> Result<Result<RemoteAnswer, ReadError>, ReadFailure> {
    let access = access(shared, wallet, query.call.auth)?;
    let client = access::client_for(shared, wallet, query.call.auth);
    if !query.pages {
        return Ok(client.read(&query.call, &access).await.map(RemoteAnswer::Body));
    }
    let disowned = shared.facts.disowned_ids()?;
    let items = client.pages(&query.call, &access).await;
    Ok(items.map(|items| RemoteAnswer::Items(compare::without_disowned(items, &disowned))))
}

/// Accepts a 404 as an answer, and notes refused credentials.
async fn accept(
    shared: &EngineShared,
    query: &RemoteQuery,
    wallet: &CredentialSource,
    asked: Result<RemoteAnswer, ReadError>,
) -> Result<RemoteAnswer, ReadFailure> {
    if matches!(asked, Err(ReadError::Unauthorised)) {
        access::note_unauthorised(shared, wallet, query.call.auth).await?;
    }
    match asked {
        Err(ReadError::NotFound(problem)) => Ok(RemoteAnswer::Missing(problem)),
        other => other.map_err(ReadFailure::Read),
    }
}

/// Turns a failure outside the engine into its text.
pub(crate) fn or_reason<T>(read: Result<T, ReadFailure>) -> EngineResult<Result<T, String>> {
    match read {
        Ok(read) => Ok(Ok(read)),
        Err(ReadFailure::Access(CredentialError::Engine(error))) => Err(error),
        Err(ReadFailure::Access(CredentialError::Secret(error))) => Ok(Err(error.message)),
        Err(ReadFailure::Read(error)) => Ok(Err(error.to_string())),
    }
}

/// Returns the answer to one query for a person, or the reason why there is none.
pub(crate) async fn one(
    shared: &EngineShared,
    query: RemoteQuery,
    wallet: &CredentialSource,
) -> EngineResult<Result<Option<RemoteAnswer>, String>> {
    let answers = or_reason(answers(shared, &[query], wallet).await)?;
    Ok(answers.map(|answers| answers.into_iter().next()))
}

/// The service's answer about one object.
pub(crate) enum ObjectAnswer {
    Object(Value),
    /// There is no such object.
    Gone,
    /// No evidence: the service does not show such objects.
    NotShown,
}

pub(crate) async fn object(
    shared: &EngineShared,
    query: RemoteQuery,
    wallet: &CredentialSource,
) -> Result<ObjectAnswer, ReadFailure> {
    let answers = answers(shared, &[query], wallet).await?;
    Ok(match answers.into_iter().next() {
        Some(RemoteAnswer::Body(item)) => ObjectAnswer::Object(item),
        Some(answer @ RemoteAnswer::Missing(_)) if !answer.is_unknown_path() => ObjectAnswer::Gone,
        Some(RemoteAnswer::Missing(_) | RemoteAnswer::Items(_)) | None => ObjectAnswer::NotShown,
    })
}

impl ReadFailure {
    /// Returns the end of a task that cannot continue without an answer.
    pub(crate) fn into_result(
        self,
        shared: &EngineShared,
        key: Key,
        wallet: &CredentialSource,
    ) -> EngineResult<TaskResult> {
        let error = match self {
            Self::Access(error) => return error.into_result(key),
            Self::Read(error) => error,
        };
        if error == ReadError::Unauthorised
            && access::awaits_authorization(shared, &wallet.merchant)?
        {
            return Ok(TaskResult::Unauthorised(key, wallet.merchant.clone()));
        }
        let why = error.to_string();
        let unable = match error {
            ReadError::Unauthorised | ReadError::Refused(..) => TaskFailure::Blocked(why),
            ReadError::NotFound(_) | ReadError::Unreachable { .. } | ReadError::NotARead { .. } => {
                TaskFailure::Unreachable(why)
            }
        };
        Ok(TaskResult::RetryLater(key, unable, shared.limiter.time_until_probe()))
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
            source: FactSource::Read,
            remote_id: None,
            exists: Some(true),
            applied: None,
            facts: json!({"surveyed": true}),
        };
        known.apply(&read);
        assert!(known.fact("surveyed").is_null(), "an older fact changes nothing");
        read.at = not_before_known(morning, Some(&known));
        known.apply(&read);
        assert_eq!(known.fact("surveyed"), true);
    }
}
