//! Partner webhooks: each is stored and synced first, then matched to a submitted application.
//!
//! A webhook proves nothing (law 3). It is accepted only for an application whose mark it carries,
//! and an equal one changes nothing. Provisioned overrides declined. A webhook about an older
//! submission changes nothing once the newest was decided.

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::api::event::{Notification, PartnerEvent, PartnerEventType};
use crate::base::fault_injection;
use crate::base::hash::{Digest, SourceId, canonical, keyed_digest};
use crate::base::id::Key;
use crate::base::outside_text::ServiceCode;
use crate::base::outside_text::known::KnownValues;
use crate::base::secret::Secret;
use crate::engine::executor::progress::Attempt;
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::input::IncomingWebhook;
use crate::engine::readers::read::seal_facts;
use crate::model::events::event::{self, PartnerWebhook, Via};
use crate::model::intent::{EffectProof, IntentProgress, IntentState, OpenIntent};
use crate::model::record::Record;
use crate::model::remote_object::Freshness;
use crate::model::state::observed::{FactSource, Observation};
use crate::store::vault::keys::SealedValue;

/// Subject whose key seals a body that matches nothing.
const STRANGERS: &str = "inbox";
/// Interval of the checks for a webhook while an answer is in doubt.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(500);

/// The results for a resource, to be written with the webhook.
#[derive(Default)]
struct WebhookRecords {
    blobs: Vec<SealedValue>,
    records: Vec<Record>,
}

/// Stores a webhook and its results in one commit; returns its resource, if the webhook is new.
pub(crate) async fn receive(
    shared: &EngineShared,
    notice: &IncomingWebhook,
) -> EngineResult<Option<Key>> {
    let _one_by_one = shared.webhook_lock.lock().await;
    let id = identity(shared, notice);
    if shared.facts.knows_partner_webhook(&id)? {
        return Ok(None);
    }
    let matched = shared.facts.resource_of_mark(&notice.reference)?;
    let subject = matched.as_ref().map_or_else(|| STRANGERS.to_owned(), Key::to_string);
    let body = shared.random(|rng| shared.vault.seal(&subject, &notice.body, rng))?;
    let event = PartnerWebhook {
        id,
        at: shared.now(),
        reference: notice.reference.clone(),
        body: body.reference().to_string(),
        ignored: ignored_reason(matched.as_ref(), notice),
        matched: matched.clone(),
    };
    let mut news = WebhookRecords { blobs: vec![body], records: Vec::new() };
    if let Some(key) = &matched {
        learn(shared, notice, key, &mut news)?;
    }
    if let Some(reason) = &event.ignored {
        tracing::warn!(%reason, "partner webhook ignored (`reckon events list`)");
    } else {
        tracing::info!(?matched, "partner webhook stored");
    }
    // Last: a crash may keep only the first records, and with this one among them the results would
    // be skipped when the webhook is sent again.
    news.records.push(Record::PartnerWebhook(Box::new(event)));
    shared.write(news.blobs, news.records).await?;
    Ok(matched)
}

/// Returns the reason why a webhook is ignored: no submission of ours, or no event about it.
fn ignored_reason(matched: Option<&Key>, notice: &IncomingWebhook) -> Option<String> {
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
fn identity(shared: &EngineShared, notice: &IncomingWebhook) -> Digest {
    let said = [notice.reference.as_bytes(), b"\0", &notice.body].concat();
    keyed_digest(&shared.settings.planning.digest_key, "partner-notice", &said)
}

/// Applies a webhook's events to its resource; ignores unreadable ones and other references.
fn learn(
    shared: &EngineShared,
    notice: &IncomingWebhook,
    key: &Key,
    news: &mut WebhookRecords,
) -> EngineResult<()> {
    if is_older(shared, key, &notice.reference)? {
        return Ok(());
    }
    let said: Notification = serde_json::from_slice(&notice.body).unwrap_or_default();
    let ours = |event: &&PartnerEvent| event.data.reference.as_deref() == Some(&notice.reference);
    let is_test = is_test(shared, key)?;
    let mut held = held_intent(shared, key, &notice.reference)?;
    for event in said.events.iter().filter(ours) {
        add_event(shared, key, event, news)?;
        let Some((facts, secrets)) = decision(event, is_test, &notice.reference) else { continue };
        let (facts, blobs) = seal_facts(shared, key, facts, &secrets)?;
        let fact = shared.observation((key, key), FactSource::Webhook, facts);
        news.blobs.extend(blobs);
        news.records.extend(held.take().map(|open| settle_submission(open, &fact)));
        news.records.push(Record::Observation(Box::new(fact)));
    }
    Ok(())
}

/// Adds an event of our application for hooks: without its code, and each once.
fn add_event(
    shared: &EngineShared,
    key: &Key,
    event: &PartnerEvent,
    news: &mut WebhookRecords,
) -> EngineResult<()> {
    let mut data = serde_json::to_value(&event.data).unwrap_or_default();
    if let Some(data) = data.as_object_mut() {
        data.remove("auth_code");
    }
    let kind = event.kind.as_str().to_owned();
    let shown = json!({"type": kind, "data": data, "reason": event.reason});
    let bytes = canonical(&shown);
    let id =
        keyed_digest(&shared.settings.planning.digest_key, "partner-event", &bytes).to_string();
    let same = |one: &Record| matches!(one, Record::EventVerified(told) if told.event == id);
    if news.records.iter().any(same) || shared.facts.event(key, &id)?.is_some() {
        return Ok(());
    }
    let sealed = shared.random(|rng| shared.vault.seal(&key.to_string(), &bytes, rng))?;
    let at = shared.now();
    news.records.push(Record::EventVerified(Box::new(event::VerifiedEvent {
        merchant: key.clone(),
        event: id,
        kind,
        created: at,
        via: Via::Post,
        body: sealed.reference().to_string(),
        object: None,
        freshness: Freshness::Newer,
        previous: None,
        resources: vec![key.clone()],
        quiet: false,
        at,
    })));
    news.blobs.push(sealed);
    Ok(())
}

/// Returns true if a mark is of an older submission, and the known decision is of the newest one.
fn is_older(shared: &EngineShared, key: &Key, mark: &str) -> EngineResult<bool> {
    let known = shared.facts.observed_state(key)?;
    let told = known.as_ref().and_then(|known| known.text("mark"));
    let Some(told) =
        told.filter(|told| *told != mark && !fault_injection::is_active("older-event-wins"))
    else {
        return Ok(false);
    };
    let newest = match shared.facts.open_intent(key)? {
        Some(open) => Some(open.intent.mark),
        None => known.as_ref().and_then(|known| {
            let name = known.first_name().unwrap_or(key);
            let generation = known.applied.as_ref()?.generation;
            Some(SourceId::new(&shared.settings.planning.partner, name, generation).mark())
        }),
    };
    Ok(newest.is_some_and(|newest| newest.as_str() == told))
}

type DecisionFacts = (Value, Vec<(&'static str, Secret)>);

/// Returns true if a test was submitted; the webhook may arrive before our answer is known.
fn is_test(shared: &EngineShared, key: &Key) -> EngineResult<bool> {
    let open = shared.facts.open_intent(key)?.map(|open| open.intent.applied);
    let known = shared.facts.observed_state(key)?.and_then(|known| known.applied);
    Ok(open.or(known).is_some_and(|applied| applied.spec.get("test").is_some()))
}

/// Returns the decision of underwriting as facts. A test's code is a fake, and is not stored.
fn decision(event: &PartnerEvent, is_test: bool, mark: &str) -> Option<DecisionFacts> {
    match &event.kind {
        PartnerEventType::Provisioned => {
            let code = event.data.auth_code.clone().filter(|_| !is_test);
            let secrets = code.map(|code| ("code", code)).into_iter().collect();
            Some((json!({"state": "provisioned", "mark": mark, "reason": null}), secrets))
        }
        PartnerEventType::Declined => {
            let reason = event.reason.as_ref().map_or("other", |reason| reason.as_str());
            let reason = ServiceCode::parse(reason, &KnownValues::default());
            Some((json!({"state": "declined", "mark": mark, "reason": reason}), Vec::new()))
        }
        PartnerEventType::Other(_) => None,
    }
}

/// Returns a submission of this mark that is on hold because its answer was lost.
fn held_intent(shared: &EngineShared, key: &Key, mark: &str) -> EngineResult<Option<OpenIntent>> {
    let open = shared.facts.open_intent(key)?;
    let held = open.filter(|open| matches!(open.state, IntentState::OnHold { .. }));
    Ok(held.filter(|open| open.intent.mark.as_str() == mark))
}

/// Settles a submission: a decision proves that it happened.
fn settle_submission(open: OpenIntent, fact: &Observation) -> Record {
    let applied = Some(open.intent.applied);
    let observation = Observation { exists: Some(true), applied, ..fact.clone() };
    let progress =
        IntentProgress::Done { observation: Box::new(observation), proof: EffectProof::Found };
    Record::Progress { intent: open.intent.id, at: fact.at, progress }
}

impl Attempt<'_> {
    /// Waits for the webhook that proves a submission whose answer was lost; without one in time,
    /// the submission is on hold for a person.
    pub(crate) async fn await_webhook(self) -> EngineResult<TaskResult> {
        let Self { shared, intent, .. } = self;
        let most = shared.settings.timeout.saturating_add(shared.settings.grace);
        let now = Instant::now();
        let after = now.checked_add(most).unwrap_or(now);
        loop {
            // A webhook that is being stored now takes precedence over this decision.
            let one_by_one = shared.webhook_lock.lock().await;
            let known = shared.facts.observed_state(&intent.key)?;
            if known.is_some_and(|known| known.text("mark") == Some(intent.mark.as_str())) {
                return self.handle_answer(&Value::Null, EffectProof::Found).await;
            }
            if Instant::now() >= after {
                let why = "the answer was lost, and no notification that carries its mark has come";
                return self.put_on_hold(why.to_owned()).await;
            }
            drop(one_by_one);
            if !shared.sleep_or_stop(LOOK_EVERY).await {
                return Ok(TaskResult::Stopped(intent.key.clone()));
            }
        }
    }
}
