//! Reads: repeated after transient failures, and lists read to their end.
//!
//! A read has no effect, so doubt about it is settled by reading again. An incomplete list is an
//! error, never a shorter list, because absence is proved by the results of these functions.

use std::ops::ControlFlow;
use std::time::Duration;

use rand_core::Rng;
use serde_json::Value;

use crate::api::call::{Call, Method, PAGE_SIZE_MAX, Page};
use crate::base::outside_text::ServiceText;
use crate::client::classify::CallVerdict;
use crate::client::request::{Access, AccessDenied};
use crate::client::service_client::Client;
use crate::model::outcome::{Outcome, ServiceProblem};

/// The number of attempts of a read.
const TRIES_MAX: u32 = 4;
/// The longest wait before the second attempt; it doubles with each further one.
const BACKOFF_FIRST_MS_MAX: u64 = 250;
/// The longest wait before any attempt.
const BACKOFF_MS_MAX: u64 = 5_000;
/// The longest wait that the service may request; a longer one fails the read.
const RETRY_AFTER_S_MAX: u64 = 60;
/// Pages of one list: a million entries.
const PAGES_MAX: u64 = 10_000;
/// The number of passes over a list that shrinks under the reader.
const PASSES_MAX: u32 = 3;

/// The reason why a read gave no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// 404: the item, or the path, does not exist.
    #[error("the service does not have the object")]
    NotFound(ServiceProblem),
    /// Another 4xx.
    #[error("the service refuses to show the object (HTTP {0})")]
    Refused(u16, ServiceProblem),
    /// 401, or a missing credential.
    #[error("the service refuses the credential, or there is none")]
    Unauthorised,
    #[error("no usable answer from the service: {reason}")]
    Unreachable { reason: ServiceText },
    /// The call is not a GET, so it might change something and was not sent.
    #[error("internal error: {endpoint} is not a read")]
    NotARead { endpoint: String },
}

impl Client {
    /// Reads once, and again after failures that may pass.
    pub async fn read(&self, call: &Call, access: &Access) -> Result<Value, ReadError> {
        if call.method != Method::Get {
            return Err(ReadError::NotARead { endpoint: call.endpoint.clone() });
        }
        let mut tries = 1;
        loop {
            let attempt = classify_attempt(self.exchange(call, access).await);
            let (reason, retry_after_s) = match attempt {
                ControlFlow::Break(result) => return result,
                ControlFlow::Continue(passing) => passing,
            };
            let wait = self.backoff(tries, retry_after_s);
            let Some(wait) = wait.filter(|_| tries < TRIES_MAX) else {
                return Err(ReadError::Unreachable { reason });
            };
            tries = tries.saturating_add(1);
            tokio::time::sleep(wait).await;
        }
    }

    /// Reads a list to its end. A list that shrank meanwhile may have moved an entry past the
    /// reader, so the list is read from its start.
    pub async fn pages(&self, call: &Call, access: &Access) -> Result<Vec<Value>, ReadError> {
        for _ in 0..PASSES_MAX {
            if let Some(entries) = self.read_pass(call, access).await? {
                return Ok(entries);
            }
        }
        Err(unreadable("the list kept shrinking while it was read"))
    }

    /// Reads a list once; `None` if it shrank.
    async fn read_pass(
        &self,
        call: &Call,
        access: &Access,
    ) -> Result<Option<Vec<Value>>, ReadError> {
        let mut entries = Vec::new();
        let mut total_before = 0;
        for number in 1..=PAGES_MAX {
            let page = self.page(call, access, number).await?;
            if page.total_entries < total_before {
                return Ok(None);
            }
            total_before = page.total_entries;
            let is_empty = page.results.is_empty();
            entries.extend(page.results);
            let count = u64::try_from(entries.len()).unwrap_or(u64::MAX);
            if is_empty || count >= total_before {
                return Ok(Some(entries));
            }
        }
        Err(unreadable("the list does not end"))
    }

    async fn page(
        &self,
        call: &Call,
        access: &Access,
        number: u64,
    ) -> Result<Page<Value>, ReadError> {
        let mut asked = call.clone();
        asked.query.retain(|(name, _)| name != "page" && name != "page_size");
        let asked = asked.query("page", number).query("page_size", PAGE_SIZE_MAX);
        let answer = self.read(&asked, access).await?;
        serde_json::from_value(answer)
            .map_err(|_unlike| unreadable("the answer is not a page of a list"))
    }

    /// Returns the wait after attempt number `tries`: full jitter below a doubling limit, on top of
    /// the service's requested wait. `None` if the requested wait is too long.
    pub(crate) fn backoff(&self, tries: u32, retry_after_s: Option<u64>) -> Option<Duration> {
        let asked_s = retry_after_s.unwrap_or(0);
        if asked_s > RETRY_AFTER_S_MAX {
            return None;
        }
        let doublings = tries.saturating_sub(1);
        let limit_ms = BACKOFF_FIRST_MS_MAX
            .saturating_mul(2_u64.saturating_pow(doublings))
            .min(BACKOFF_MS_MAX);
        let random = self.jitter.lock().next_u64();
        let jitter_ms = random.checked_rem(limit_ms.saturating_add(1)).unwrap_or(0);
        Some(Duration::from_secs(asked_s).saturating_add(Duration::from_millis(jitter_ms)))
    }
}

/// Returns an attempt's result, or to continue: a passing failure and the service's requested wait.
fn classify_attempt(
    exchanged: Result<CallVerdict, AccessDenied>,
) -> ControlFlow<Result<Value, ReadError>, (ServiceText, Option<u64>)> {
    let Ok(CallVerdict { outcome, retry_after_s, is_withheld, .. }) = exchanged else {
        return ControlFlow::Break(Err(ReadError::Unauthorised));
    };
    ControlFlow::Break(match outcome {
        Outcome::Done { reply } => Ok(reply),
        Outcome::Refused { status: 401, problem: _ } => Err(ReadError::Unauthorised),
        Outcome::Refused { status: 404, problem } => Err(ReadError::NotFound(problem)),
        Outcome::Refused { status, problem } => Err(ReadError::Refused(status, problem)),
        Outcome::NotSent { reason, retry_after_s: _ } if is_withheld => {
            Err(ReadError::Unreachable { reason })
        }
        Outcome::NotSent { reason, retry_after_s: _ } | Outcome::InDoubt { reason } => {
            return ControlFlow::Continue((reason, retry_after_s));
        }
    })
}

fn unreadable(reason: &'static str) -> ReadError {
    ReadError::Unreachable { reason: reason.into() }
}
