//! Writes for programs that do not know this program's own requests (design.md part 4): suspend,
//! resume, freeze, thaw, sync, approve, resolve, reconcile. Each is a control request in JSON of its own, which stays
//! as it is.
//!
//! 200 means done; 404 that nothing has this name; 409 that it was not done, with the reason.

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Extension, Router};
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::base::clock::{Clock, SystemClock};
use crate::base::id::{IntentId, Key};
use crate::base::money::Money;
use crate::control::protocol::ControlError;
use crate::control::requests::{Approve, ApprovePlan, FreezeAll, Release, Resolve, Suspend, Sync};
use crate::engine::protocol::actions::{ManualResolution, ResolveResult};
use crate::engine::protocol::approvals::{ApprovingPlan, PlanApprovalResult};
use crate::engine::protocol::query::{ApprovalsQuery, OverviewQuery, SettleQuery};
use crate::http::private::answer::{self, AppState, json, ok, respond_when_ready};
use crate::http::private::auth::ApiCaller;
use crate::model::holds::{FreezeRequest, FreezeResult, SyncResult};
use crate::model::operator::{SuspensionRequest, SuspensionResult, reason_of};
use crate::model::state::credentials::LiveBinding;
use crate::model::state::lifecycle::ReleaseRequest;

pub(crate) fn routes() -> Router<AppState> {
    Router::new()
        .route("/api/v1/suspend", post(suspend))
        .route("/api/v1/resume", post(resume))
        .route("/api/v1/freeze", post(freeze))
        .route("/api/v1/thaw", post(thaw))
        .route("/api/v1/sync", post(sync))
        .route("/api/v1/approve", post(approve))
        .route("/api/v1/reconcile", post(reconcile))
        .route("/api/v1/intents/{id}/resolve", post(resolve))
}

/// The response to a write that is not done.
struct WriteRefusal(Box<Response>);

impl From<Response> for WriteRefusal {
    fn from(answer: Response) -> Self {
        Self(Box::new(answer))
    }
}

type WriteResult = Result<Response, WriteRefusal>;

/// The caller, where there is a token.
type MaybeCaller = Option<Extension<ApiCaller>>;

/// Returns the actor of a caller that may write.
fn writer(who: MaybeCaller) -> Result<String, WriteRefusal> {
    match who {
        None => Err(answer::no_token().into()),
        Some(Extension(caller)) if !caller.may_write => Err(answer::read_only().into()),
        Some(Extension(caller)) => Ok(caller.actor),
    }
}

/// Parses a body; an absent body is an empty object.
fn read<T: DeserializeOwned>(body: &Bytes, help: &str) -> Result<T, WriteRefusal> {
    let body: &[u8] = if body.is_empty() { b"{}" } else { body };
    serde_json::from_slice(body).map_err(|error| answer::bad_body(&error, help).into())
}

fn invalid_value(message: &str, help: &str) -> WriteRefusal {
    answer::bad_request(message, help).into()
}

impl IntoResponse for WriteRefusal {
    fn into_response(self) -> Response {
        *self.0
    }
}

impl From<ControlError> for WriteRefusal {
    fn from(why: ControlError) -> Self {
        answer::no_answer(&why).into()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SuspendBody {
    resource: Key,
    reason: String,
    until: Option<DateTime<Utc>>,
}

async fn suspend(State(door): State<AppState>, who: MaybeCaller, body: Bytes) -> WriteResult {
    let help = r#"send {"resource": "KIND/NAME", "reason": TEXT, "until": MOMENT}; without `until` it does not end"#;
    let actor = writer(who)?;
    let SuspendBody { resource: key, reason, until } = read(&body, help)?;
    let reason = checked_reason(&reason)?;
    if until.is_some_and(|until| until <= SystemClock.now()) {
        return Err(invalid_value("`until` is in the past", "write a moment in the future"));
    }
    let request = Suspend(SuspensionRequest::Suspend { key, reason, until });
    Ok(suspend_response(&door.control.send(request, actor).await?))
}

fn checked_reason(reason: &str) -> Result<String, WriteRefusal> {
    let message = "`reason` is empty or too long: 1 to 500 characters";
    let help = "write the reason, for others to read";
    reason_of(reason).ok_or_else(|| invalid_value(message, help))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FreezeBody {
    reason: String,
}

async fn freeze(State(door): State<AppState>, who: MaybeCaller, body: Bytes) -> WriteResult {
    let actor = writer(who)?;
    let FreezeBody { reason } = read(&body, r#"send {"reason": TEXT}"#)?;
    let request = FreezeAll(FreezeRequest::Freeze { reason: checked_reason(&reason)? });
    Ok(freeze_response(&door.control.send(request, actor).await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ThawBody {}

async fn thaw(State(door): State<AppState>, who: MaybeCaller, body: Bytes) -> WriteResult {
    let actor = writer(who)?;
    let ThawBody {} = read(&body, "send {}")?;
    Ok(freeze_response(&door.control.send(FreezeAll(FreezeRequest::Thaw), actor).await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SyncBody {
    checksum: String,
}

async fn sync(State(door): State<AppState>, who: MaybeCaller, body: Bytes) -> WriteResult {
    let actor = writer(who)?;
    let SyncBody { checksum } = read(&body, r#"send {"checksum": CHECKSUM_OF_THE_PLAN}"#)?;
    let result = door.control.send(Sync(checksum), actor).await?;
    Ok(match result {
        SyncResult::Synced(_) => ok(&result),
        SyncResult::Changed(_) | SyncResult::Automatic => json(StatusCode::CONFLICT, &result),
    })
}

fn freeze_response(result: &FreezeResult) -> Response {
    match result {
        FreezeResult::Frozen(_) | FreezeResult::Thawed(_) => ok(result),
        FreezeResult::AlreadyFrozen(_) | FreezeResult::NotFrozen => {
            json(StatusCode::CONFLICT, result)
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResumeBody {
    resource: Key,
}

async fn resume(State(door): State<AppState>, who: MaybeCaller, body: Bytes) -> WriteResult {
    let actor = writer(who)?;
    let ResumeBody { resource: key } = read(&body, r#"send {"resource": "KIND/NAME"}"#)?;
    let request = Suspend(SuspensionRequest::Resume { key });
    Ok(suspend_response(&door.control.send(request, actor).await?))
}

fn suspend_response(paused: &SuspensionResult) -> Response {
    let status = match paused {
        SuspensionResult::Suspended(_) | SuspensionResult::Resumed { .. } => return ok(paused),
        SuspensionResult::Unknown { .. } => StatusCode::NOT_FOUND,
        SuspensionResult::NotSuspended { .. } => StatusCode::CONFLICT,
    };
    json(status, paused)
}

/// Body of `approve`: a plan, a live binding as it waits, or a live application.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ApproveBody {
    plan: Option<String>,
    #[serde(default)]
    ceilings: Vec<Money>,
    binding: Option<LiveBinding>,
    merchant: Option<Key>,
    application: Option<Key>,
}

async fn approve(State(door): State<AppState>, who: MaybeCaller, body: Bytes) -> WriteResult {
    let help = r#"send {"plan": CHECKSUM, "ceilings": [AMOUNT]}, {"binding": …} as {"merchant": "Merchant/NAME"} returns it, or {"application": "MerchantApplication/NAME"}"#;
    let actor = writer(who)?;
    let ApproveBody { plan, ceilings, binding, merchant, application } = read(&body, help)?;
    match (plan, binding, merchant, application) {
        (Some(checksum), None, None, None) => {
            let plan = ApprovingPlan { checksum, ceilings, actor: String::new() };
            Ok(plan_approved(&door.control.send(ApprovePlan(plan), actor).await?))
        }
        (None, Some(binding), None, None) => {
            let merchant = binding.merchant.clone();
            match door.control.send(Approve(binding), actor).await? {
                Some(approval) => Ok(ok(&approval)),
                None => door.waiting_binding(&merchant).await,
            }
        }
        (None, None, Some(merchant), None) => door.waiting_binding(&merchant).await,
        (None, None, None, Some(key)) => door.approve_submission(key, actor).await,
        _ => Err(invalid_value("more than one approval in a request", help)),
    }
}

impl AppState {
    async fn approve_submission(&self, key: Key, actor: String) -> WriteResult {
        let said = ReleaseRequest { keys: vec![key.clone()], done: false };
        let done = self.control.send(Release(said), actor).await?;
        let told = json!({ "approved": done, "application": key });
        Ok(if done { ok(&told) } else { json(StatusCode::NOT_FOUND, &told) })
    }

    /// Responds with the waiting live binding of a merchant, to be sent back unchanged.
    async fn waiting_binding(&self, merchant: &Key) -> WriteResult {
        let waiting = self.control.ask(ApprovalsQuery).await?;
        let binding = waiting.into_iter().find(|binding| binding.merchant == *merchant);
        let status = if binding.is_some() { StatusCode::CONFLICT } else { StatusCode::NOT_FOUND };
        Ok(json(status, &json!({ "approved": false, "waits": binding })))
    }
}

fn plan_approved(answer: &PlanApprovalResult) -> Response {
    match answer {
        PlanApprovalResult::Approved { .. } => ok(answer),
        PlanApprovalResult::Changed { .. }
        | PlanApprovalResult::Nothing
        | PlanApprovalResult::Beyond { .. } => json(StatusCode::CONFLICT, answer),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResolveBody {
    r#as: String,
}

async fn resolve(
    State(door): State<AppState>,
    Path(id): Path<String>,
    who: MaybeCaller,
    body: Bytes,
) -> WriteResult {
    let actor = writer(who)?;
    let help = r#"send {"as": "done:REMOTE_ID"}, {"as": "unverified:REMOTE_ID"}, {"as": "not-done"} or {"as": "retry"}"#;
    let ResolveBody { r#as: word } = read(&body, help)?;
    let said: ManualResolution = word.parse().map_err(|why: String| invalid_value(&why, help))?;
    let wrong = |_| invalid_value("invalid intent", "write an intent as in /api/v1/intents");
    let id: IntentId = id.parse().map_err(wrong)?;
    Ok(resolve_response(&door.control.send(Resolve(id, said), actor).await?))
}

fn resolve_response(resolved: &ResolveResult) -> Response {
    match resolved {
        ResolveResult::Settled(_) => ok(resolved),
        ResolveResult::Unknown => json(StatusCode::NOT_FOUND, resolved),
        ResolveResult::Busy(_)
        | ResolveResult::Unsettled(..)
        | ResolveResult::Differs(..)
        | ResolveResult::Unverified(..) => json(StatusCode::CONFLICT, resolved),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReconcileBody {
    #[serde(default)]
    wait: bool,
}

/// Reloads the tree now. With `wait`, the answer is sent once only outside events remain, and
/// spaces come before it: such an answer is always 200.
async fn reconcile(State(door): State<AppState>, who: MaybeCaller, body: Bytes) -> WriteResult {
    writer(who)?;
    let help = r#"send no body, or {"wait": true} to wait until it is done"#;
    let ReconcileBody { wait } = read(&body, help)?;
    if wait {
        return Ok(respond_when_ready(async move { settled_status(&door).await }));
    }
    door.control.reconcile().await?;
    Ok(json(StatusCode::ACCEPTED, &json!({ "reconciling": true })))
}

/// Returns the status once only outside events remain.
async fn settled_status(door: &AppState) -> Value {
    let settled = match door.control.ask(SettleQuery).await {
        Ok(()) => door.control.ask(OverviewQuery).await,
        Err(error) => Err(error),
    };
    match settled {
        Ok(overview) => json!({ "reconciled": true, "status": overview }),
        Err(error) => json!({ "error": error }),
    }
}
