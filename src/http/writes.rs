//! Writes for programs that do not know this program's own requests (design.md part 4): suspend,
//! resume, approve, resolve, reconcile. Each is a control request in JSON of its own, which stays
//! as it is.
//!
//! 200 means done; 404 that nothing has this name; 409 that it was not done, with the reason.

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::post;
use axum::{Extension, Router};
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Door;
use super::answer::{self, error, instead, ok};
use super::carry::waited;
use super::tokens::Caller;
use crate::base::clock::{Clock, SystemClock};
use crate::base::id::{IntentId, Key};
use crate::base::money::Money;
use crate::control::{ControlError, Request};
use crate::engine::{ApprovingPlan, PlanAnswer, Question, Reply, Resolved, Said, StateReply};
use crate::model::bound::LiveBinding;
use crate::model::epoch::Releasing;
use crate::model::suspension::{Pause, Paused, REASON_LENGTH_MAX};

/// Returns the routes of the writes.
pub(super) fn paths() -> Router<Door> {
    Router::new()
        .route("/api/v1/suspend", post(suspend))
        .route("/api/v1/resume", post(resume))
        .route("/api/v1/approve", post(approve))
        .route("/api/v1/reconcile", post(reconcile))
        .route("/api/v1/intents/{id}/resolve", post(resolve))
}

/// The response to a write that is not done.
struct Refusal(Box<Response>);

impl From<Response> for Refusal {
    fn from(answer: Response) -> Self {
        Self(Box::new(answer))
    }
}

/// The caller, where there is a token.
type Who = Option<Extension<Caller>>;

/// Returns the actor of a caller that may write.
fn writer(who: Who) -> Result<String, Refusal> {
    match who {
        None => Err(answer::no_token().into()),
        Some(Extension(caller)) if !caller.may_write => Err(answer::read_only().into()),
        Some(Extension(caller)) => Ok(caller.actor),
    }
}

/// Parses a body; an absent body is an empty object.
fn read<T: DeserializeOwned>(body: &Bytes, help: &str) -> Result<T, Refusal> {
    let body: &[u8] = if body.is_empty() { b"{}" } else { body };
    serde_json::from_slice(body).map_err(|error| answer::bad_body(&error, help).into())
}

/// Refuses an invalid value.
fn wrong(message: &str, help: &str) -> Refusal {
    let error = ControlError::new(ControlError::BAD_REQUEST, message, help);
    answer::error(StatusCode::BAD_REQUEST, &error).into()
}

impl Door {
    /// Sends a write to the engine, and returns its reply.
    async fn write(&self, request: Request, actor: String) -> Result<Reply, Refusal> {
        let reply = self.control.handle(request, actor).await;
        reply.map_err(|why| stopped(&why))
    }
}

/// Refuses a request that the engine does not answer.
fn stopped(why: &ControlError) -> Refusal {
    error(StatusCode::SERVICE_UNAVAILABLE, why).into()
}

/// Returns the response of either outcome.
fn either(answer: Result<Response, Refusal>) -> Response {
    answer.unwrap_or_else(|Refusal(refusal)| *refusal)
}

/// Body of `suspend`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suspending {
    resource: Key,
    reason: String,
    until: Option<DateTime<Utc>>,
}

async fn suspend(State(door): State<Door>, who: Who, body: Bytes) -> Response {
    let help = r#"send {"resource": "KIND/NAME", "reason": TEXT, "until": MOMENT}; without `until` it lasts"#;
    let done = async {
        let actor = writer(who)?;
        let Suspending { resource: key, reason, until } = read(&body, help)?;
        let reason = reason.trim().to_owned();
        if reason.is_empty() || reason.chars().count() > REASON_LENGTH_MAX {
            return Err(wrong("a reason has 1 to 500 characters", "say why"));
        }
        if until.is_some_and(|until| until <= SystemClock.now()) {
            return Err(wrong("`until` is over already", "name a moment that is to come"));
        }
        let request = Request::Pause(Box::new(Pause::Suspend { key, reason, until }));
        Ok(paused(&door.write(request, actor).await?))
    };
    either(done.await)
}

/// Body of `resume`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Resuming {
    resource: Key,
}

async fn resume(State(door): State<Door>, who: Who, body: Bytes) -> Response {
    let done = async {
        let actor = writer(who)?;
        let Resuming { resource: key } = read(&body, r#"send {"resource": "KIND/NAME"}"#)?;
        let request = Request::Pause(Box::new(Pause::Resume { key }));
        Ok(paused(&door.write(request, actor).await?))
    };
    either(done.await)
}

fn paused(reply: &Reply) -> Response {
    let Reply::Paused(paused) = reply else { return answer::mixed_up() };
    let status = match **paused {
        Paused::Suspended(_) | Paused::Resumed { .. } => return ok(paused),
        Paused::Unknown { .. } => StatusCode::NOT_FOUND,
        Paused::NotSuspended { .. } => StatusCode::CONFLICT,
    };
    instead(status, paused)
}

/// Body of `approve`: a plan, a live binding as it waits, or a live application.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Approval {
    plan: Option<String>,
    #[serde(default)]
    ceilings: Vec<Money>,
    binding: Option<LiveBinding>,
    merchant: Option<Key>,
    application: Option<Key>,
}

async fn approve(State(door): State<Door>, who: Who, body: Bytes) -> Response {
    let help = r#"send {"plan": CHECKSUM, "ceilings": [AMOUNT]}, or {"binding": …} as it waits: {"merchant": "Merchant/NAME"} tells it; or {"application": "MerchantApplication/NAME"}"#;
    let done = async {
        let actor = writer(who)?;
        match read(&body, help)? {
            Approval {
                plan: Some(checksum),
                ceilings,
                binding: None,
                merchant: None,
                application: None,
            } => {
                let plan = ApprovingPlan { checksum, ceilings, actor: String::new() };
                let request = Request::ApprovePlan(Box::new(plan));
                Ok(plan_approved(&door.write(request, actor).await?))
            }
            Approval {
                plan: None,
                binding: Some(binding),
                merchant: None,
                application: None,
                ..
            } => {
                let merchant = binding.merchant.clone();
                let request = Request::Approve(Box::new(binding));
                let reply = door.write(request, actor).await?;
                let Reply::Approved(Some(approval)) = reply else {
                    return door.waiting(&merchant).await;
                };
                Ok(ok(&approval))
            }
            Approval {
                plan: None,
                binding: None,
                merchant: Some(merchant),
                application: None,
                ..
            } => door.waiting(&merchant).await,
            Approval {
                plan: None, binding: None, merchant: None, application: Some(key), ..
            } => door.submission(key, actor).await,
            Approval { .. } => Err(wrong("one thing is approved at a time", help)),
        }
    };
    either(done.await)
}

impl Door {
    /// Approves a live application that waits for it.
    async fn submission(&self, key: Key, actor: String) -> Result<Response, Refusal> {
        let said = Releasing { keys: vec![key.clone()], done: false };
        let reply = self.write(Request::Release(said), actor).await?;
        let Reply::State(StateReply::Released(done)) = reply else {
            return Err(answer::mixed_up().into());
        };
        let told = json!({ "approved": done, "application": key });
        Ok(if done { ok(&told) } else { instead(StatusCode::NOT_FOUND, &told) })
    }

    /// Responds with the waiting live binding of a merchant, to be sent back unchanged.
    async fn waiting(&self, merchant: &Key) -> Result<Response, Refusal> {
        let asked = self.control.ask(Question::Approvals).await;
        let reply = asked.map_err(|why| stopped(&why))?;
        let Reply::Approvals(waiting) = reply else { return Err(answer::mixed_up().into()) };
        let binding = waiting.into_iter().find(|binding| binding.merchant == *merchant);
        let status = if binding.is_some() { StatusCode::CONFLICT } else { StatusCode::NOT_FOUND };
        Ok(instead(status, &json!({ "approved": false, "waits": binding })))
    }
}

fn plan_approved(reply: &Reply) -> Response {
    let Reply::PlanApproved(answer) = reply else { return answer::mixed_up() };
    match **answer {
        PlanAnswer::Approved { .. } => ok(answer),
        PlanAnswer::Changed { .. } | PlanAnswer::Nothing | PlanAnswer::Beyond { .. } => {
            instead(StatusCode::CONFLICT, answer)
        }
    }
}

/// Body of `resolve`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Resolution {
    r#as: String,
}

async fn resolve(
    State(door): State<Door>,
    Path(id): Path<String>,
    who: Who,
    body: Bytes,
) -> Response {
    let done = async {
        let actor = writer(who)?;
        let help = r#"send {"as": "done:REMOTE_ID"}, {"as": "unverified:REMOTE_ID"}, {"as": "not-done"} or {"as": "retry"}"#;
        let Resolution { r#as: word } = read(&body, help)?;
        let said: Said = word.parse().map_err(|why: String| wrong(&why, help))?;
        let id: IntentId = id
            .parse()
            .map_err(|_| wrong("this is no intent", "name one as /api/v1/intents does"))?;
        Ok(resolved(&door.write(Request::Resolve(id, said), actor).await?))
    };
    either(done.await)
}

fn resolved(reply: &Reply) -> Response {
    let Reply::Resolved(resolved) = reply else { return answer::mixed_up() };
    match resolved {
        Resolved::Settled(_) => ok(resolved),
        Resolved::Unknown => instead(StatusCode::NOT_FOUND, resolved),
        Resolved::Busy(_)
        | Resolved::Unsettled(..)
        | Resolved::Differs(..)
        | Resolved::Unverified(..) => instead(StatusCode::CONFLICT, resolved),
    }
}

/// Body of `reconcile`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reconciling {
    #[serde(default)]
    wait: bool,
}

/// Reloads the tree now. With `wait`, the answer is sent once only outside events remain, and
/// spaces come before it: such an answer is always 200.
async fn reconcile(State(door): State<Door>, who: Who, body: Bytes) -> Response {
    let done = async {
        writer(who)?;
        let help = r#"send nothing, or {"wait": true} for an answer once it is done"#;
        let Reconciling { wait } = read(&body, help)?;
        if wait {
            return Ok(waited(async move { settled(&door).await }));
        }
        let told = door.control.reconcile().await;
        told.map_err(|why| stopped(&why))?;
        Ok(instead(StatusCode::ACCEPTED, &json!({ "reconciling": true })))
    };
    either(done.await)
}

/// Returns the status once only outside events remain.
async fn settled(door: &Door) -> Value {
    let settled = match door.control.ask(Question::Settle).await {
        Ok(_) => door.control.ask(Question::Overview).await,
        Err(error) => Err(error),
    };
    match settled {
        Ok(Reply::Overview(overview)) => json!({ "reconciled": true, "status": overview }),
        Ok(_) => json!({ "reconciled": true }),
        Err(error) => json!({ "error": error }),
    }
}
