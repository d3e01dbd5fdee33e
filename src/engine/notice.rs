//! What the service tells by itself: stored and synced first, then matched to what we submitted.
//!
//! A notification proves nothing (law 3): it is taken only for an application whose mark it carries, an
//! equal one changes nothing, and provisioned beats declined.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::perform::answered;
use super::read::sealed_facts;
use super::settle::held;
use super::shared::{EngineError, Shared};
use super::tasks::Finished;
use crate::api::partner_event::{Notification, PartnerEvent, PartnerEventType};
use crate::base::hash::{Digest, keyed};
use crate::base::id::Key;
use crate::base::secret::Secret;
use crate::effects::EffectRow;
use crate::model::inbox::InboxEvent;
use crate::model::intent::{Intent, IntentState, Progress, Proof};
use crate::model::observed::{Observation, Observed, Source};
use crate::model::record::Record;
use crate::store::vault::Sealed;

/// Whose key seals a body that matches nothing.
const STRANGERS: &str = "inbox";
/// How often it is looked whether a notification has come, while an answer is in doubt.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(500);

/// A notification of the partner interface as it arrived.
#[derive(Clone, PartialEq, Eq)]
pub struct Notice {
    /// The reference at the end of the path.
    pub reference: String,
    /// The body.
    pub body: Vec<u8>,
}

impl std::fmt::Debug for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Notice({} bytes)", self.body.len())
    }
}

/// What was learnt of a resource, to be written with the notification.
#[derive(Default)]
struct News {
    blobs: Vec<Sealed>,
    records: Vec<Record>,
}

/// Stores a notification and what it teaches, as one commit; answers the resource it is about. One that
/// is known changes nothing.
pub(super) async fn receive(shared: &Shared, notice: &Notice) -> Result<Option<Key>, EngineError> {
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
        matched: matched.clone(),
    };
    let mut news = News { blobs: vec![body], records: vec![Record::Inbox(Box::new(event))] };
    if let Some(key) = &matched {
        learn(shared, notice, key, &mut news)?;
    }
    shared.write(news.blobs, news.records).await?;
    tracing::info!(reference = %notice.reference, matched = ?matched, "a notification was stored");
    Ok(matched)
}

/// The name of a notification: where it came to and what it says.
fn identity(shared: &Shared, notice: &Notice) -> Digest {
    let said = [notice.reference.as_bytes(), b"\0", &notice.body].concat();
    keyed(&shared.settings.planning.digest_key, "partner-notice", &said)
}

/// What its events say of the resource. What cannot be read, or speaks of another reference, says nothing.
fn learn(shared: &Shared, notice: &Notice, key: &Key, news: &mut News) -> Result<(), EngineError> {
    let said: Notification = serde_json::from_slice(&notice.body).unwrap_or_default();
    let ours = |event: &&PartnerEvent| event.data.reference.as_deref() == Some(&notice.reference);
    let known = shared.facts.observed(key)?;
    for event in said.events.iter().filter(ours) {
        let Some((facts, secrets)) = decision(event, known.as_ref(), &notice.reference) else {
            continue;
        };
        let (facts, blobs) = sealed_facts(shared, key, facts, &secrets)?;
        let fact = fact(shared, key, facts);
        news.blobs.extend(blobs);
        news.records.extend(settled(shared, key, &fact)?);
        news.records.push(Record::Observation(Box::new(fact)));
    }
    Ok(())
}

type Told = (Value, Vec<(&'static str, Secret)>);

/// What underwriting decided, as facts. The code of a test is a fake, and is not kept.
fn decision(event: &PartnerEvent, known: Option<&Observed>, mark: &str) -> Option<Told> {
    let applied = known.and_then(|known| known.applied.as_ref());
    let is_test = applied.is_some_and(|applied| applied.spec.get("test").is_some());
    match &event.kind {
        PartnerEventType::Provisioned => {
            let code = event.data.auth_code.clone().filter(|_| !is_test);
            let secrets = code.map(|code| ("code", code)).into_iter().collect();
            Some((json!({"state": "provisioned", "mark": mark, "reason": null}), secrets))
        }
        PartnerEventType::Declined => {
            let reason = event.reason.as_ref().map_or("other", |reason| reason.as_str());
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

/// A submission that was held because its answer was lost: that it was decided proves that it happened.
fn settled(shared: &Shared, key: &Key, fact: &Observation) -> Result<Option<Record>, EngineError> {
    let open = shared.facts.open(key)?;
    let held = open.filter(|open| matches!(open.state, IntentState::Held { .. }));
    let held = held.filter(|open| fact.facts.get("mark") == Some(&json!(open.intent.mark)));
    Ok(held.map(|open| {
        let applied = Some(open.intent.applied);
        let observation = Observation { exists: Some(true), applied, ..fact.clone() };
        let progress = Progress::Done { observation: Box::new(observation), proof: Proof::Found };
        Record::Progress { intent: open.intent.id, at: fact.at, progress }
    }))
}

/// Waits for the notification that proves a submission whose answer was lost; without one in time, a
/// person has to look.
pub(super) async fn awaited(
    shared: &Shared,
    row: &EffectRow,
    intent: &Intent,
) -> Result<Finished, EngineError> {
    let most = shared.settings.timeout.saturating_add(shared.settings.grace);
    let now = Instant::now();
    let after = now.checked_add(most).unwrap_or(now);
    loop {
        if is_decided(shared, intent)? {
            return answered(shared, row, intent, &Value::Null, Proof::Found).await;
        }
        if Instant::now() >= after {
            let why = "the answer was lost, and no notification that carries its mark has come";
            return held(shared, intent, why.to_owned()).await;
        }
        if !shared.rest(LOOK_EVERY).await {
            return Ok(Finished::Stopped(intent.key.clone()));
        }
    }
}

fn is_decided(shared: &Shared, intent: &Intent) -> Result<bool, EngineError> {
    let known = shared.facts.observed(&intent.key)?;
    Ok(known.is_some_and(|known| known.text("mark") == Some(intent.mark.as_str())))
}
