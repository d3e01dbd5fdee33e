//! Partner webhooks: each is stored and synced first, then matched to a submitted application.
//!
//! A webhook proves nothing (law 3). It is accepted only for an application whose mark it carries,
//! and an equal one changes nothing. Provisioned overrides declined. A webhook about an older
//! submission changes nothing once the newest was decided.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::perform::answered;
use super::read::sealed_facts;
use super::settle::held;
use super::shared::{EngineError, Shared};
use super::tasks::Finished;
use crate::api::partner_event::{Notification, PartnerEvent, PartnerEventType};
use crate::base::hash::{Digest, SourceId, canonical, keyed};
use crate::base::id::Key;
use crate::base::outside::{Known, ServiceCode};
use crate::base::planted;
use crate::base::secret::Secret;
use crate::effects::EffectRow;
use crate::model::event::{self, Via};
use crate::model::inbox::InboxEvent;
use crate::model::intent::{Intent, IntentState, OpenIntent, Progress, Proof};
use crate::model::observed::{Observation, Source};
use crate::model::record::Record;
use crate::model::remote_object::Standing;
use crate::store::vault::Sealed;

/// Subject whose key seals a body that matches nothing.
const STRANGERS: &str = "inbox";
/// Interval of the checks for a webhook while an answer is in doubt.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(500);

/// A webhook of the partner interface as it arrived.
#[derive(Clone, PartialEq, Eq)]
pub struct Notice {
    /// The generation of the address at which it arrived.
    pub generation: u32,
    /// The reference at the end of the path.
    pub reference: String,
    pub body: Vec<u8>,
}

impl std::fmt::Debug for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Notice({} bytes)", self.body.len())
    }
}

/// The results for a resource, to be written with the webhook.
#[derive(Default)]
struct News {
    blobs: Vec<Sealed>,
    records: Vec<Record>,
}

/// Stores a webhook and its results in one commit; returns its resource. A known webhook changes
/// nothing.
pub(super) async fn receive(shared: &Shared, notice: &Notice) -> Result<Option<Key>, EngineError> {
    let _one_by_one = shared.notices().lock().await;
    let id = identity(shared, notice);
    if shared.facts.knows_notice(&id)? {
        return Ok(None);
    }
    let matched = shared.facts.marked(&notice.reference)?;
    let subject = matched.as_ref().map_or_else(|| STRANGERS.to_owned(), Key::to_string);
    let body = shared.random(|rng| shared.vault.seal(&subject, &notice.body, rng))?;
    let event = InboxEvent {
        id,
        at: shared.now(),
        reference: notice.reference.clone(),
        body: body.reference().to_string(),
        ignored: ignored(matched.as_ref(), notice),
        matched: matched.clone(),
    };
    let mut news = News { blobs: vec![body], records: Vec::new() };
    if let Some(key) = &matched {
        learn(shared, notice, key, &mut news)?;
    }
    if let Some(reason) = &event.ignored {
        tracing::warn!(%reason, "a notification is ignored (`reckon events list`)");
    } else {
        tracing::info!(?matched, "a notification was stored");
    }
    // Last: a crash may keep only the first records, and with this one among them the results would
    // be skipped when the webhook is sent again.
    news.records.push(Record::Inbox(Box::new(event)));
    shared.write(news.blobs, news.records).await?;
    Ok(matched)
}

/// Returns the reason why a webhook is ignored: it matches no submission of ours, or has no event
/// about it.
fn ignored(matched: Option<&Key>, notice: &Notice) -> Option<String> {
    let reference = &notice.reference;
    let said: Option<Notification> = serde_json::from_slice(&notice.body).ok();
    let ours = |event: &PartnerEvent| event.data.reference.as_ref() == Some(reference);
    let why = match (matched, said) {
        (None, _) => "no application that was submitted here has its reference",
        (Some(_), None) => "its body is no notification",
        (Some(_), Some(said)) if !said.events.iter().any(ours) => {
            "its events have another reference"
        }
        (Some(_), Some(_)) => return None,
    };
    Some(why.to_owned())
}

/// Returns the identity of a webhook: its reference and its body.
fn identity(shared: &Shared, notice: &Notice) -> Digest {
    let said = [notice.reference.as_bytes(), b"\0", &notice.body].concat();
    keyed(&shared.settings.planning.digest_key, "partner-notice", &said)
}

/// Applies a webhook's events to its resource. Unreadable events, and those of another reference,
/// are ignored.
fn learn(shared: &Shared, notice: &Notice, key: &Key, news: &mut News) -> Result<(), EngineError> {
    if is_older(shared, key, &notice.reference)? {
        return Ok(());
    }
    let said: Notification = serde_json::from_slice(&notice.body).unwrap_or_default();
    let ours = |event: &&PartnerEvent| event.data.reference.as_deref() == Some(&notice.reference);
    let is_test = is_test(shared, key)?;
    let mut held = held_submission(shared, key, &notice.reference)?;
    for event in said.events.iter().filter(ours) {
        told(shared, key, event, news)?;
        let Some((facts, secrets)) = decision(event, is_test, &notice.reference) else {
            continue;
        };
        let (facts, blobs) = sealed_facts(shared, key, facts, &secrets)?;
        let fact = fact(shared, key, facts);
        news.blobs.extend(blobs);
        news.records.extend(held.take().map(|open| settled(open, &fact)));
        news.records.push(Record::Observation(Box::new(fact)));
    }
    Ok(())
}

/// Adds an event of our application for hooks: without its code, and each once.
fn told(
    shared: &Shared,
    key: &Key,
    event: &PartnerEvent,
    news: &mut News,
) -> Result<(), EngineError> {
    let mut data = serde_json::to_value(&event.data).unwrap_or_default();
    if let Some(data) = data.as_object_mut() {
        data.remove("auth_code");
    }
    let kind = event.kind.as_str().to_owned();
    let shown = json!({"type": kind, "data": data, "reason": event.reason});
    let bytes = canonical(&shown);
    let id = keyed(&shared.settings.planning.digest_key, "partner-event", &bytes).to_string();
    let same = |one: &Record| matches!(one, Record::Told(told) if told.event == id);
    if news.records.iter().any(same) || shared.facts.event(key, &id)?.is_some() {
        return Ok(());
    }
    let sealed = shared.random(|rng| shared.vault.seal(&key.to_string(), &bytes, rng))?;
    let at = shared.now();
    news.records.push(Record::Told(Box::new(event::Told {
        merchant: key.clone(),
        event: id,
        kind,
        created: at,
        via: Via::Post,
        body: sealed.reference().to_string(),
        object: None,
        standing: Standing::News,
        previous: None,
        about: vec![key.clone()],
        quiet: false,
        at,
    })));
    news.blobs.push(sealed);
    Ok(())
}

/// Returns true if a mark belongs to an older submission while the known decision is that of the
/// newest one.
fn is_older(shared: &Shared, key: &Key, mark: &str) -> Result<bool, EngineError> {
    let known = shared.facts.observed(key)?;
    let told = known.as_ref().and_then(|known| known.text("mark"));
    let Some(told) = told.filter(|told| *told != mark && !planted::is("older-event-wins")) else {
        return Ok(false);
    };
    let newest = match shared.facts.open(key)? {
        Some(open) => Some(open.intent.mark),
        None => known.as_ref().and_then(|known| {
            let name = known.origin().unwrap_or(key);
            let generation = known.applied.as_ref()?.generation;
            Some(SourceId::new(&shared.settings.planning.partner, name, generation).mark())
        }),
    };
    Ok(newest.is_some_and(|newest| newest.as_str() == told))
}

type Told = (Value, Vec<(&'static str, Secret)>);

/// Returns true if a test was submitted; the webhook may arrive before our answer is known.
fn is_test(shared: &Shared, key: &Key) -> Result<bool, EngineError> {
    let open = shared.facts.open(key)?.map(|open| open.intent.applied);
    let known = shared.facts.observed(key)?.and_then(|known| known.applied);
    Ok(open.or(known).is_some_and(|applied| applied.spec.get("test").is_some()))
}

/// Returns the decision of underwriting as facts. A test's code is a fake, and is not stored.
fn decision(event: &PartnerEvent, is_test: bool, mark: &str) -> Option<Told> {
    match &event.kind {
        PartnerEventType::Provisioned => {
            let code = event.data.auth_code.clone().filter(|_| !is_test);
            let secrets = code.map(|code| ("code", code)).into_iter().collect();
            Some((json!({"state": "provisioned", "mark": mark, "reason": null}), secrets))
        }
        PartnerEventType::Declined => {
            let reason = event.reason.as_ref().map_or("other", |reason| reason.as_str());
            let reason = ServiceCode::checked(reason, &Known::default());
            Some((json!({"state": "declined", "mark": mark, "reason": reason}), Vec::new()))
        }
        PartnerEventType::Other(_) => None,
    }
}

fn fact(shared: &Shared, key: &Key, facts: Value) -> Observation {
    Observation {
        key: key.clone(),
        merchant: key.clone(),
        at: shared.now(),
        source: Source::Notice,
        remote_id: None,
        exists: None,
        applied: None,
        facts,
    }
}

/// Returns a submission of this mark that is on hold because its answer was lost.
fn held_submission(
    shared: &Shared,
    key: &Key,
    mark: &str,
) -> Result<Option<OpenIntent>, EngineError> {
    let open = shared.facts.open(key)?;
    let held = open.filter(|open| matches!(open.state, IntentState::Held { .. }));
    Ok(held.filter(|open| open.intent.mark.as_str() == mark))
}

/// Settles a submission: a decision proves that it happened.
fn settled(open: OpenIntent, fact: &Observation) -> Record {
    let applied = Some(open.intent.applied);
    let observation = Observation { exists: Some(true), applied, ..fact.clone() };
    let progress = Progress::Done { observation: Box::new(observation), proof: Proof::Found };
    Record::Progress { intent: open.intent.id, at: fact.at, progress }
}

/// Waits for the webhook that proves a submission whose answer was lost; without one in time, the
/// submission is on hold for a person.
pub(super) async fn awaited(
    shared: &Shared,
    row: &EffectRow,
    intent: &Intent,
) -> Result<Finished, EngineError> {
    let most = shared.settings.timeout.saturating_add(shared.settings.grace);
    let now = Instant::now();
    let after = now.checked_add(most).unwrap_or(now);
    loop {
        // A webhook that is being stored now takes precedence over this decision.
        let one_by_one = shared.notices().lock().await;
        if is_decided(shared, intent)? {
            return answered(shared, row, intent, &Value::Null, Proof::Found).await;
        }
        if Instant::now() >= after {
            let why = "the answer was lost, and no notification that carries its mark has come";
            return held(shared, intent, why.to_owned()).await;
        }
        drop(one_by_one);
        if !shared.rest(LOOK_EVERY).await {
            return Ok(Finished::Stopped(intent.key.clone()));
        }
    }
}

fn is_decided(shared: &Shared, intent: &Intent) -> Result<bool, EngineError> {
    let known = shared.facts.observed(&intent.key)?;
    Ok(known.is_some_and(|known| known.text("mark") == Some(intent.mark.as_str())))
}
