//! Refusals that are not the request's fault: refused credentials, or an object that changed
//! concurrently.
//!
//! The client renews the partner's own token once; a further refusal is the operator's matter. A
//! merchant whose credentials are refused waits for a new authorization, and so does everything
//! that needs them: no call of theirs is sent. An effect refused in this way is closed as not sent,
//! so that it is tried again afterwards.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::access::Wallet;
use super::perform::write;
use super::{Engine, happened, settle};

use super::shared::{EngineError, Shared};
use super::tasks::Finished;
use super::unable::Unable;
use crate::api::Auth;
use crate::base::id::Key;
use crate::kinds::Shape;
use crate::kinds::merchant::Merchant;
use crate::kinds::redact::redact;
use crate::model::class::{After, Class, Sign};
use crate::model::effect::Effect;
use crate::model::intent::{Intent, IntentState, OpenIntent, Progress};
use crate::model::record::Record;
use crate::model::service_problem::ServiceProblem;
use crate::model::unauthorised::{Refused, Unauthorised};

/// Merchants with refused credentials while the record of that is being written: no further intent
/// of theirs is written.
#[derive(Debug, Default)]
pub(super) struct Refusing(Mutex<BTreeSet<Key>>);

impl Refusing {
    fn note(&self, merchant: &Key) {
        self.merchants().insert(merchant.clone());
    }

    fn holds(&self, merchant: &Key) -> bool {
        self.merchants().contains(merchant)
    }

    fn forget(&self, merchant: &Key) {
        self.merchants().remove(merchant);
    }

    fn merchants(&self) -> MutexGuard<'_, BTreeSet<Key>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the end of a task whose refusal no change of its document can remedy; `None` for every
/// other refusal.
pub(super) async fn not_its_fault(
    shared: &Shared,
    intent: &Intent,
    status: u16,
    problem: &ServiceProblem,
) -> Result<Option<Finished>, EngineError> {
    let auth = intent.request.auth;
    let after = Class::of(Sign::Answer(status, problem)).map(|class| class.after(auth));
    let (key, reason) = (intent.key.clone(), format!("the service answered {status}"));
    Ok(match after {
        Some(After::TryAgain | After::SlowDown) => {
            write(shared, intent, Progress::NotSent { reason: reason.clone() }).await?;
            Some(Finished::Again(key, Unable::Unreachable(reason), Duration::ZERO))
        }
        Some(After::AwaitOperator) => {
            write(shared, intent, Progress::NotSent { reason }).await?;
            Some(Finished::Again(key, denied(), Duration::ZERO))
        }
        Some(After::AwaitAuthorization) => {
            let merchant = intent.merchant.clone();
            shared.refusing().note(&merchant);
            let at = shared.now();
            let closed = Progress::NotSent { reason };
            let told = closed.clone();
            let closed = Record::Progress { intent: intent.id, at, progress: closed };
            let known = shared.merchant(&merchant)?.and_then(|known| known.applied.clone());
            let spec = known.as_ref().map_or(&Value::Null, |known| &known.spec);
            let generation = known.as_ref().map_or(0, |known| known.generation);
            let refused = news(shared, &merchant, Unauthorised::new(spec, generation, at))?;
            let records = std::iter::once(closed).chain(refused).collect();
            shared.write(Vec::new(), records).await?;
            happened::tell(shared, intent, None, &told);
            Some(Finished::Unauthorised(key, merchant))
        }
        Some(After::AwaitDocument) | None => None,
    })
}

/// Builds the failure of refused partner credentials, after the token was renewed.
fn denied() -> Unable {
    let why = "the service refuses the partner application's own credentials: look at \
               partner.client_id and partner.client_secret in reckon.yaml";
    Unable::Denied(why.to_owned())
}

/// Handles a merchant's call that was answered with 401: its credentials count as refused from now
/// on. Returns true if the credentials are the merchant's, and not the partner's own.
pub(super) async fn heard(
    shared: &Shared,
    wallet: &Wallet,
    auth: Auth,
) -> Result<bool, EngineError> {
    if Class::Unauthorised.after(auth) != After::AwaitAuthorization {
        return Ok(false);
    }
    let known = shared.merchant(&wallet.merchant)?.and_then(|known| known.applied.clone());
    let at = shared.now();
    let what = if let Some(known) = known.filter(|_| !wallet.is_read) {
        Unauthorised::new(&known.spec, known.generation, at)
    } else {
        let spec = json!({ "credentials": wallet.spec });
        let spec = redact(Merchant::FIELDS, &spec, &shared.settings.planning.digest_key);
        Unauthorised::new(&spec, wallet.generation, at)
    };
    if let Some(record) = news(shared, &wallet.merchant, what)? {
        shared.write(Vec::new(), vec![record]).await?;
    }
    Ok(true)
}

/// Returns the record of refused credentials, unless they are known to be refused.
fn news(
    shared: &Shared,
    merchant: &Key,
    what: Unauthorised,
) -> Result<Option<Record>, EngineError> {
    let known = shared.merchant(merchant)?.and_then(|known| known.unauthorised.clone());
    if known.is_some_and(|known| known.is_of(&what)) {
        return Ok(None);
    }
    tracing::warn!(merchant = %merchant, "the service takes its credentials no more");
    Ok(Some(Record::Unauthorised(Box::new(Refused { merchant: merchant.clone(), what }))))
}

/// Returns true if a merchant waits for a new authorization.
pub(super) fn awaits(shared: &Shared, merchant: &Key) -> Result<bool, EngineError> {
    Ok(shared.merchant(merchant)?.is_some_and(|known| known.unauthorised.is_some()))
}

/// Returns the end of a task that was about to write its intent, if the credentials were refused
/// meanwhile.
pub(super) fn before(shared: &Shared, effect: &Effect) -> Result<Option<Finished>, EngineError> {
    let theirs = Class::Unauthorised.after(effect.request.auth) == After::AwaitAuthorization;
    let merchant = &effect.merchant;
    let awaits = theirs && (shared.refusing().holds(merchant) || awaits(shared, merchant)?);
    Ok(awaits.then(|| Finished::Unauthorised(effect.key.clone(), effect.merchant.clone())))
}

/// Returns the end of a task that can look for evidence, or send again, only with accepted
/// credentials. Its intent stays in doubt.
pub(super) fn stopped(shared: &Shared, intent: &Intent) -> Result<Option<Finished>, EngineError> {
    let awaits = awaits(shared, &intent.merchant)?;
    Ok(awaits.then(|| Finished::Unauthorised(intent.key.clone(), intent.merchant.clone())))
}

/// Returns the same, once a repeated call of an effect in doubt was answered with 401.
pub(super) async fn sent_in_doubt(
    shared: &Shared,
    intent: &Intent,
    wallet: &Wallet,
) -> Result<Option<Finished>, EngineError> {
    if !heard(shared, wallet, intent.request.auth).await? {
        return Ok(None);
    }
    let reason = "sent once more, and the credentials were refused (HTTP 401)".to_owned();
    write(shared, intent, Progress::Doubt { reason, unsent: false }).await?;
    stopped(shared, intent)
}

impl Engine {
    /// Handles the end of a task whose merchant's credentials the service refuses.
    pub(super) fn unauthorised(&mut self, key: &Key, merchant: &Key) -> Result<(), EngineError> {
        self.busy.remove(key);
        self.world.rests(key);
        self.world.refresh(&self.shared.facts, merchant)?;
        self.world.refresh(&self.shared.facts, key)?;
        self.let_others_go(key);
        if self.shared.refusing().holds(merchant) && !awaits(&self.shared, merchant)? {
            // The task that was refused is still running: at its end everything of the merchant is
            // planned again.
            return Ok(());
        }
        self.shared.refusing().forget(merchant);
        self.look_again(BTreeSet::from([key.clone(), merchant.clone()]));
        if self.planner.doable(key) {
            let why = "the service does not take the credentials".to_owned();
            self.put_off(key.clone(), Unable::Blocked(why), Duration::ZERO);
        }
        Ok(())
    }

    /// Continues with the effects in doubt of a merchant whose credentials are accepted again.
    pub(super) fn resume(&mut self, merchant: &Key) {
        let ready = self.planner.step(merchant).is_some_and(|step| step.ready);
        let waits = |open: &&Arc<OpenIntent>| {
            let doubt = matches!(open.state, IntentState::InDoubt { .. });
            doubt && open.intent.merchant == *merchant && !self.busy.contains(&open.intent.key)
        };
        if !ready || self.stopping || !self.world.open_intents().any(|open| waits(&open)) {
            return;
        }
        let open: Vec<Arc<OpenIntent>> = self.world.open_intents().filter(waits).cloned().collect();
        for open in open {
            let key = open.intent.key.clone();
            let account = open.intent.request.account.clone();
            let wallet = Wallet { account, ..self.wallet(merchant) };
            let shared = self.shared.clone();
            self.busy.insert(key.clone());
            self.queue.remove(&key);
            self.alone(&open.intent);
            self.tasks.spawn(async move { settle::recovered(&shared, &open, &wallet).await });
        }
    }
}
