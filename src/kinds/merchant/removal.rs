//! Removal of a merchant: it is deauthorised if its document requested deletion and was removed. An
//! authorisation that was never read is read first: it is given back by the public key that it
//! opens.

use serde_json::Value;

use super::authorization::help;
use crate::base::id::{Key, Mode, PublicKey};
use crate::effects::core::context::EffectContext;
use crate::effects::merchants::deauthorise::deauthorise_merchant;
use crate::effects::merchants::read::CREDENTIALS;
use crate::kinds::planning::removal::{deletion_of, effect_context, wait, wait_for_users};
use crate::kinds::planning::step::{StepCx, StepDecision, orphan};
use crate::model::intents::effect::{RemoteReading, StepWork};
use crate::model::plans::change::PlannedAction;
use crate::model::plans::plan::Reason;
use crate::model::plans::removal::RemovalStatus;
use crate::model::state::observed::{AppliedSpec, Observed};

/// Blocks a waiting removal while the service refuses the credentials: earlier removals and
/// settlements need them.
fn require_authorization(
    draft: StepDecision,
    applied: &AppliedSpec,
    have: &Observed,
) -> StepDecision {
    if draft.verdict != PlannedAction::Wait || have.unauthorised.is_none() {
        return draft;
    }
    let help = format!("restore the document, and {}", help(&applied.spec));
    StepDecision::idle(PlannedAction::Blocked, Reason::AwaitsAuthorization(help))
}

/// Returns the step of a merchant whose document was removed. Other removals that need its
/// credentials come first.
pub(super) fn plan_removal(cx: &StepCx<'_>, key: &Key, have: &Observed) -> StepDecision {
    let Some(applied) = deletion_of(have) else { return orphan() };
    let public_key = have.text("public_key").and_then(|key| PublicKey::new(key).ok());
    let is_unread = !have.fact("token").is_null() && have.fact("accounts").is_null();
    if public_key.is_none() && !is_unread {
        return orphan();
    }
    if let Some(draft) = wait_for_users(cx, key) {
        return require_authorization(draft, applied, have);
    }
    match public_key.filter(|_| !is_unread) {
        Some(public_key) => deauthorise(cx, key, (have, applied), &public_key),
        None => read_first(cx, key, applied),
    }
}

/// Gives the authorisation back, unless its accounts belong to another merchant, which would lose
/// them.
fn deauthorise(
    cx: &StepCx<'_>,
    key: &Key,
    (have, applied): (&Observed, &AppliedSpec),
    public_key: &PublicKey,
) -> StepDecision {
    if let Some(rival) = &have.rival {
        let theirs = Reason::BoundElsewhere((**rival).clone());
        return StepDecision { ready: true, ..StepDecision::idle(PlannedAction::Orphan, theirs) };
    }
    let new = match effect_context(cx, key, have, applied) {
        Ok(new) => new,
        Err(reason) => return wait(reason),
    };
    if let Some(draft) = refuse_live(cx, new.mode) {
        return draft;
    }
    let web_url = applied.spec.get("web_url").and_then(Value::as_str);
    let web_url = web_url.map(|url| url.trim_end_matches('/').to_owned());
    let effect = deauthorise_merchant(EffectContext { web_url, ..new }, public_key);
    let reason = Reason::Removal(Box::new(RemovalStatus::Deauthorised));
    StepDecision {
        work: Some(StepWork::Effect(effect)),
        ready: true,
        ..StepDecision::idle(PlannedAction::Delete, reason)
    }
}

/// Reads a merchant whose code was exchanged, and whose document was removed before the first
/// reading.
fn read_first(cx: &StepCx<'_>, key: &Key, applied: &AppliedSpec) -> StepDecision {
    let said = applied.spec.get("mode").cloned();
    let Some(mode) = said.and_then(|mode| serde_json::from_value(mode).ok()) else {
        return orphan();
    };
    if let Some(draft) = refuse_live(cx, mode) {
        return draft;
    }
    let (merchant, applied) = (key.clone(), applied.clone());
    let (name, key, about) = (CREDENTIALS, key.clone(), Value::Null);
    let reading =
        StepWork::Read(RemoteReading { name, key, merchant, mode, applied, subject: about });
    StepDecision {
        work: Some(reading),
        ..StepDecision::idle(PlannedAction::Read, Reason::NotConnected)
    }
}

/// Blocks the step if live merchants are refused.
fn refuse_live(cx: &StepCx<'_>, mode: Mode) -> Option<StepDecision> {
    let why = cx.live_refused.filter(|_| mode == Mode::Live)?;
    Some(StepDecision::idle(PlannedAction::Blocked, Reason::Unsuitable(why.to_owned())))
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use serde_json::json;
    use std::sync::Arc;

    use super::*;
    use crate::base::hash::sha256;
    use crate::kinds::planning::step::PlanningView;
    use crate::model::manifest::{Deletion, Manifest, OnDoubt};
    use crate::model::state::credentials::RefusedCredentials;

    /// A view with one merchant and no documents; the keys are its holders.
    struct Alone(Arc<Observed>, Vec<Key>);

    impl PlanningView for Alone {
        fn manifest(&self, _: &Key) -> Option<Arc<Manifest>> {
            None
        }

        fn observed_state(&self, _: &Key) -> Option<Arc<Observed>> {
            Some(self.0.clone())
        }

        fn is_ready(&self, _: &Key) -> bool {
            false
        }

        fn users(&self, _: &Key) -> Vec<Key> {
            Vec::new()
        }

        fn removable_users(&self, _: &Key) -> Vec<Key> {
            self.1.clone()
        }
    }

    /// Returns a merchant with these facts.
    fn known(facts: Value) -> Observed {
        let applied = AppliedSpec {
            spec: json!({"mode": "test", "credentials": {}}),
            digest: sha256(b"acme"),
            generation: 0,
            deletion: Deletion::Delete,
        };
        let unknown = Observed::unknown("Merchant/acme".parse().unwrap(), DateTime::UNIX_EPOCH);
        Observed { facts, exists: true, applied: Some(applied), ..unknown }
    }

    /// Returns the step after its document was removed, while these holders remain on the service.
    fn step(have: &Observed, holders: Vec<Key>) -> StepDecision {
        let (partner, live_refused) = ("acme", None);
        let (view, on_doubt) = (Alone(Arc::new(have.clone()), holders), OnDoubt::Hold);
        let (digest_key, now) = (&[0; 32], DateTime::UNIX_EPOCH);
        let cx = StepCx { partner, digest_key, view: &view, on_doubt, live_refused, now };
        plan_removal(&cx, &"Merchant/acme".parse().unwrap(), have)
    }

    fn verdict(facts: Value, rival: Option<&str>) -> PlannedAction {
        let rival = rival.map(|name| Box::new(name.parse().unwrap()));
        step(&Observed { rival, ..known(facts) }, Vec::new()).verdict
    }

    #[test]
    fn what_an_authorization_opens_is_read_before_it_is_given_back() {
        let (token, public_key) = (json!({"sealed": "x"}), "m".repeat(24));
        assert_eq!(verdict(json!({ "token": token }), None), PlannedAction::Read);
        let older = json!({"token": token, "public_key": public_key});
        assert_eq!(
            verdict(older, None),
            PlannedAction::Read,
            "a new code may open another account"
        );
        let read =
            json!({"token": token, "public_key": public_key, "accounts": [{}], "mode": "test"});
        assert_eq!(verdict(read.clone(), None), PlannedAction::Delete);
        let rival = Some("Merchant/default/other");
        assert_eq!(verdict(read, rival), PlannedAction::Orphan, "it is another merchant's");
        assert_eq!(verdict(json!({}), None), PlannedAction::Orphan, "nothing was given");
    }

    #[test]
    fn what_goes_first_waits_for_an_authorization_once_the_credentials_are_refused() {
        let club: Vec<Key> = "RecurringCharge/club".parse().into_iter().collect();
        let have = known(json!({"public_key": "pk_0123456789abcdefghij"}));
        assert!(matches!(step(&have, club.clone()).reason, Reason::WaitsFor(_)));
        let spec = have.applied.as_ref().map(|applied| applied.spec.clone()).unwrap_or_default();
        let refused = RefusedCredentials::new(&spec, 0, DateTime::UNIX_EPOCH);
        let draft = step(&Observed { unauthorised: Some(Box::new(refused)), ..have }, club);
        assert!(matches!(draft.reason, Reason::AwaitsAuthorization(_)) && !draft.ready);
    }
}
