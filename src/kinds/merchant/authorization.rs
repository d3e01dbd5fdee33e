//! Authorisation of a merchant: whether the service accepts its credentials, whether it may use
//! what they open, and its removal, which gives the authorisation back.
//!
//! A merchant whose credentials the service no longer accepts waits until its document supplies
//! others. Credentials may also belong to another merchant, or lack an approval (design.md part 5).
//! The origin of the token decides, not the current document: a document that replaces the
//! application by a code does not bypass an approval. A merchant is deauthorised if its document
//! requested deletion and was removed. An authorisation that was never read is read first: it is
//! given back by the public key that it opens.

use serde_json::Value;

use crate::base::id::{Key, Mode, PublicKey};
use crate::effects::core::context::EffectContext;
use crate::effects::merchants::authorization::{APPLICATION, deauthorise_merchant};
use crate::effects::merchants::read::CREDENTIALS;
use crate::kinds::merchant::APPLICATION_KIND;
use crate::kinds::planning::step::{
    StepCx, StepDecision, deletion_of, orphan, reference, removal_context, unsuitable, wait,
    wait_for_users,
};
use crate::kinds::schema::text::resolve_reference;
use crate::model::change::{PlannedAction, RemovalStatus};
use crate::model::effect::{RemoteReading, StepWork};
use crate::model::manifest::Manifest;
use crate::model::plan::Reason;
use crate::model::state::credentials::{self, LiveBinding};
use crate::model::state::observed::{AppliedSpec, Observed};

pub(super) enum Authorization {
    Valid,
    /// The document now supplies others: all that the old ones opened is ignored.
    Renewed,
    Refused(Reason),
}

/// Returns the state of the credentials; `spec` is the merchant's spec without its secrets.
pub(super) fn authorization_of(
    manifest: &Manifest,
    spec: &Value,
    have: &Observed,
) -> Authorization {
    let Some(refused) = &have.unauthorised else { return Authorization::Valid };
    let renewed = refused.generation < manifest.annotations.generation
        || refused.credentials != credentials::credentials_digest(spec);
    if renewed {
        return Authorization::Renewed;
    }
    Authorization::Refused(Reason::AwaitsAuthorization(help(&manifest.spec)))
}

pub(super) fn help(spec: &Value) -> String {
    let from = |name: &str| spec.pointer("/credentials").is_some_and(|one| one.get(name).is_some());
    let what = if from("keys") {
        "write valid keys at `credentials.keys`"
    } else if from("access_token") {
        "let the merchant authorise again and write the new token at `credentials.access_token`"
    } else {
        "let the merchant authorise again and write the new code at `credentials.authorization_code`"
    };
    format!(
        "{what}, or raise reckon.dev/generation once the named source holds new credentials; reckon tries the old \
         ones again every ten minutes"
    )
}

/// Returns the reason why the credentials' accounts are not this merchant's. Accounts that older
/// credentials opened, before a new code was exchanged, are ignored.
pub(super) fn foreign_reason(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    have: &Observed,
) -> Option<Reason> {
    if have.fact("accounts").is_null() && have.fact("connected").is_null() {
        return None;
    }
    let rival = have.rival.as_ref().map(|other| Reason::BoundElsewhere((**other).clone()));
    rival.or_else(|| name_mismatch(cx, manifest, have))
}

/// Compares names: the merchant that a code opened must have the name on the application.
fn name_mismatch(cx: &StepCx<'_>, manifest: &Manifest, have: &Observed) -> Option<Reason> {
    let bound = have.merchant_binding()?;
    let application = cx.view.manifest(&token_application(manifest, have)?)?;
    let asked = application.spec.get("business_name").and_then(Value::as_str)?;
    let plain = |name: &str| name.trim().to_lowercase();
    let same = bound.name.is_some_and(|read| plain(asked) == plain(&read));
    (!same).then(|| {
        let why =
            "the code of the approval opened a merchant of another name than the business name";
        Reason::Unsuitable(format!("{why} in {}", application.key.short()))
    })
}

/// Returns the approval for which a live binding by an application's code waits.
pub(super) fn missing_approval(manifest: &Manifest, have: &Observed) -> Option<Reason> {
    let application = token_application(manifest, have)?;
    let Some(bound) = have.merchant_binding() else { return Some(Reason::NotConnected) };
    if bound.mode != Mode::Live {
        return None;
    }
    let wanted = LiveBinding::new(manifest.key.clone(), application, bound);
    let given = have.approval.as_ref().is_some_and(|approval| approval.binding == wanted);
    (!given).then(|| Reason::AwaitsApproval(Box::new(wanted)))
}

/// Returns the application whose code was exchanged for the token.
fn token_application(manifest: &Manifest, have: &Observed) -> Option<Key> {
    let named = have.text(APPLICATION);
    let named = named
        .and_then(|name| resolve_reference(APPLICATION_KIND, name, &manifest.key.namespace).ok());
    named.or_else(|| reference(manifest, APPLICATION_KIND))
}

/// Blocks a waiting removal with refused credentials: earlier removals and settlements need them.
fn require_authorization(
    draft: StepDecision,
    applied: &AppliedSpec,
    have: &Observed,
) -> StepDecision {
    if draft.verdict != PlannedAction::Wait || have.unauthorised.is_none() {
        return draft;
    }
    let help = format!("restore the document, and {}", help(&applied.spec));
    StepDecision::blocked(Reason::AwaitsAuthorization(help))
}

/// Returns the step without a document. Other removals that need the credentials come first.
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

/// Gives the authorisation back, unless that would take the accounts from another merchant.
fn deauthorise(
    cx: &StepCx<'_>,
    key: &Key,
    (have, applied): (&Observed, &AppliedSpec),
    public_key: &PublicKey,
) -> StepDecision {
    if let Some(rival) = &have.rival {
        let theirs = Reason::BoundElsewhere((**rival).clone());
        return StepDecision::idle(PlannedAction::Orphan, theirs).ready();
    }
    let new = match removal_context(cx, key, have, applied) {
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
    StepDecision::idle(PlannedAction::Delete, reason).with_work(StepWork::Effect(effect)).ready()
}

/// Reads a connected merchant whose document was removed before the first reading.
fn read_first(cx: &StepCx<'_>, key: &Key, applied: &AppliedSpec) -> StepDecision {
    let said = applied.spec.get("mode").cloned();
    let Some(mode) = said.and_then(|mode| serde_json::from_value(mode).ok()) else {
        return orphan();
    };
    if let Some(draft) = refuse_live(cx, mode) {
        return draft;
    }
    let reading = reading(CREDENTIALS, key, mode, applied);
    StepDecision::idle(PlannedAction::Read, Reason::NotConnected).with_work(StepWork::Read(reading))
}

pub(super) fn reading(
    name: &'static str,
    key: &Key,
    mode: Mode,
    applied: &AppliedSpec,
) -> RemoteReading {
    let (key, merchant, applied) = (key.clone(), key.clone(), applied.clone());
    RemoteReading { name, key, merchant, mode, applied, subject: Value::Null }
}

pub(super) fn refuse_live(cx: &StepCx<'_>, mode: Mode) -> Option<StepDecision> {
    let why = cx.live_refused.filter(|_| mode == Mode::Live)?;
    Some(StepDecision::blocked(unsuitable(why)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chrono::DateTime;
    use serde_json::json;

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
