//! Writes about one thing: suspend and resume a resource, settle an intent in doubt, and approve the
//! live accounts that an application's code opened.

use axum::Extension;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::StatusCode;
use axum::response::Response;
use chrono::{DateTime, NaiveDateTime, Utc};

use crate::base::clock::{Clock, SystemClock};
use crate::base::id::{IntentId, Key, RemoteId};
use crate::control::requests::{Approve, Resolve, Suspend};
use crate::engine::protocol::actions::{ManualResolution, ResolveResult};
use crate::engine::protocol::query::{ApprovalsQuery, IntentsQuery, ResourceQuery};
use crate::http::page::guard::FormFields;
use crate::http::page::respond::{PageRefusal, PageResult, ask};
use crate::http::page::visit::{PageVisit, form_status, not_found, show_with};
use crate::model::operator::{SuspensionRequest, SuspensionResult, reason_of};
use crate::model::state::credentials::LiveBinding;
use crate::render::actions::suspension_result;
use crate::render::approvals::approval_result;
use crate::render::intents::resolve_result;
use crate::render::page::forms::{CONFIRM, RESUME, SETTLE, SUSPEND};
use crate::render::page::frame::PageSection;
use crate::render::page::orders::REASON_PROBLEM;
use crate::render::page::resource_orders::{self, UNTIL_PROBLEM, binding_digest, resource_page};

/// A moment as a field of a form has it, in UTC.
const MOMENT_FORMS: [&str; 2] = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"];

/// The three parts of a resource's name in an address.
type KeyPath = Result<Path<(String, String, String)>, PathRejection>;

fn key_of(parts: KeyPath) -> Option<Key> {
    let Path((kind, namespace, name)) = parts.ok()?;
    format!("{kind}/{namespace}/{name}").parse().ok()
}

fn no_resource(visit: &PageVisit) -> Response {
    not_found(visit, PageSection::Resources, "There is no such resource.")
}

pub(super) async fn ask_suspend(visit: PageVisit, parts: KeyPath) -> PageResult {
    match key_of(parts) {
        Some(key) => suspend_form(&visit, &key, None).await,
        None => Ok(no_resource(&visit)),
    }
}

async fn suspend_form(visit: &PageVisit, key: &Key, problem: Option<&str>) -> PageResult {
    if ask(&visit.control, ResourceQuery(key.clone())).await?.is_none() {
        return Ok(no_resource(visit));
    }
    let inner = resource_orders::suspend(visit.session()?, key, problem);
    Ok(show_with(visit, form_status(problem), (SUSPEND.1, PageSection::Resources), inner))
}

pub(super) async fn suspend(
    visit: PageVisit,
    parts: KeyPath,
    Extension(sent): Extension<FormFields>,
) -> PageResult {
    let Some(key) = key_of(parts) else { return Ok(no_resource(&visit)) };
    let Some(reason) = reason_of(sent.text("reason")) else {
        return suspend_form(&visit, &key, Some(REASON_PROBLEM)).await;
    };
    let Ok(until) = moment(sent.text(resource_orders::UNTIL)) else {
        return suspend_form(&visit, &key, Some(UNTIL_PROBLEM)).await;
    };
    let request = SuspensionRequest::Suspend { key: key.clone(), reason, until };
    let result = visit.write(Suspend(request)).await?;
    Ok(suspended(&visit, &key, &result))
}

/// Parses the end of a suspension; an empty text is no end.
fn moment(text: &str) -> Result<Option<DateTime<Utc>>, ()> {
    if text.is_empty() {
        return Ok(None);
    }
    let parse = |form: &&str| NaiveDateTime::parse_from_str(text, form).ok();
    let moment = MOMENT_FORMS.iter().find_map(parse).ok_or(())?.and_utc();
    if moment > SystemClock.now() { Ok(Some(moment)) } else { Err(()) }
}

fn suspended(visit: &PageVisit, key: &Key, result: &SuspensionResult) -> Response {
    visit.respond_done(&suspension_result(result), &resource_page(key))
}

pub(super) async fn ask_resume(visit: PageVisit, parts: KeyPath) -> PageResult {
    let Some(key) = key_of(parts) else { return Ok(no_resource(&visit)) };
    if ask(&visit.control, ResourceQuery(key.clone())).await?.is_none() {
        return Ok(no_resource(&visit));
    }
    let inner = resource_orders::resume(visit.session()?, &key);
    Ok(show_with(&visit, StatusCode::OK, (RESUME.1, PageSection::Resources), inner))
}

pub(super) async fn resume(visit: PageVisit, parts: KeyPath) -> PageResult {
    let Some(key) = key_of(parts) else { return Ok(no_resource(&visit)) };
    let result = visit.write(Suspend(SuspensionRequest::Resume { key: key.clone() })).await?;
    Ok(suspended(&visit, &key, &result))
}

/// The number of an intent in an address.
type IntentPart = Result<Path<String>, PathRejection>;

pub(super) async fn ask_settle(visit: PageVisit, part: IntentPart) -> PageResult {
    let id = part.ok().and_then(|Path(id)| id.parse::<IntentId>().ok());
    match id {
        Some(id) => settle_form(&visit, id, None).await,
        None => Ok(no_intent(&visit)),
    }
}

fn no_intent(visit: &PageVisit) -> Response {
    not_found(visit, PageSection::Intents, "There is no such intent, or it is settled.")
}

async fn settle_form(visit: &PageVisit, id: IntentId, problem: Option<&str>) -> PageResult {
    let open = ask(&visit.control, IntentsQuery).await?;
    let item = open.items.iter().find(|item| item.id.parse() == Ok(id));
    let Some(item) = item else { return Ok(no_intent(visit)) };
    let inner = resource_orders::settle(visit.session()?, item, problem);
    Ok(show_with(visit, form_status(problem), (SETTLE.1, PageSection::Intents), inner))
}

pub(super) async fn settle(
    visit: PageVisit,
    part: IntentPart,
    Extension(sent): Extension<FormFields>,
) -> PageResult {
    let id = part.ok().and_then(|Path(id)| id.parse::<IntentId>().ok());
    let Some(id) = id else { return Ok(no_intent(&visit)) };
    let said = match resolution(&sent) {
        Ok(said) => said,
        Err(why) => return settle_form(&visit, id, Some(&why)).await,
    };
    let result = visit.write(Resolve(id, said)).await?;
    match &result {
        ResolveResult::Settled(_) => Ok(visit.respond_done(&resolve_result(&result), "/intents")),
        ResolveResult::Unknown => Ok(no_intent(&visit)),
        ResolveResult::Busy(_)
        | ResolveResult::Unsettled(..)
        | ResolveResult::Differs(..)
        | ResolveResult::Unverified(..) => {
            settle_form(&visit, id, Some(&resource_orders::unsettled(&result))).await
        }
    }
}

/// Returns the outcome that a person chose, or the reason why it is none.
fn resolution(sent: &FormFields) -> Result<ManualResolution, String> {
    let id = || {
        let text = sent.text(resource_orders::OBJECT);
        RemoteId::new(text).map_err(|why| format!("The id of the object is not valid: {why}"))
    };
    match sent.text(resource_orders::OUTCOME) {
        "done" => Ok(ManualResolution::Done(id()?)),
        "unverified" => Ok(ManualResolution::Unverified(id()?)),
        "not-done" => Ok(ManualResolution::NotDone),
        "retry" => Ok(ManualResolution::Retry),
        _ => Err("Choose what happened.".to_owned()),
    }
}

/// The answer to an approval of accounts that are not the present ones.
const OTHER_ACCOUNTS: &str = "The accounts changed since you saw them, so nothing was recorded. These are the present ones: read them again.";

pub(super) async fn ask_confirm(visit: PageVisit, parts: KeyPath) -> PageResult {
    match waiting_binding(&visit, parts).await? {
        Some(binding) => confirm_form(&visit, &binding, None),
        None => Ok(nothing_waits(&visit)),
    }
}

/// Returns the accounts of this merchant that wait for an approval.
async fn waiting_binding(
    visit: &PageVisit,
    parts: KeyPath,
) -> Result<Option<LiveBinding>, PageRefusal> {
    let Some(key) = key_of(parts) else { return Ok(None) };
    let waiting = ask(&visit.control, ApprovalsQuery).await?;
    Ok(waiting.into_iter().find(|binding| binding.merchant == key))
}

fn nothing_waits(visit: &PageVisit) -> Response {
    let text = "No accounts of this merchant wait for an approval.";
    not_found(visit, PageSection::Resources, text)
}

fn confirm_form(visit: &PageVisit, binding: &LiveBinding, problem: Option<&str>) -> PageResult {
    let inner = resource_orders::confirm(visit.session()?, binding, problem);
    Ok(show_with(visit, form_status(problem), (CONFIRM.1, PageSection::Resources), inner))
}

/// Records the approval of the accounts that the form showed.
pub(super) async fn confirm(
    visit: PageVisit,
    parts: KeyPath,
    Extension(sent): Extension<FormFields>,
) -> PageResult {
    let Some(binding) = waiting_binding(&visit, parts).await? else {
        return Ok(nothing_waits(&visit));
    };
    if sent.text(resource_orders::BINDING) != binding_digest(&binding) {
        return confirm_form(&visit, &binding, Some(OTHER_ACCOUNTS));
    }
    let key = binding.merchant.clone();
    match visit.write(Approve(binding)).await? {
        Some(approval) => {
            Ok(visit.respond_done(&approval_result(&approval, true), &resource_page(&key)))
        }
        None => Ok(nothing_waits(&visit)),
    }
}
