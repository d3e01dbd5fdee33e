//! Removal of a merchant: it is deauthorised if its document requested deletion and was removed. An
//! authorisation that was never read is read first: it is given back by the public key that it
//! opens.

use serde_json::Value;

use super::authorization::help;
use crate::base::id::{Key, Mode, PublicKey};
use crate::effects::{CREDENTIALS, Obligation, deauthorise_merchant};
use crate::kinds::leaving::{going, obligation, used, waiting};
use crate::kinds::step::{Draft, StepCx, orphaned};
use crate::model::effect::{Reading, Work};
use crate::model::going::Going;
use crate::model::observed::{Applied, Observed};
use crate::model::plan::{Reason, Verdict};

/// Blocks a waiting removal while the service refuses the credentials: earlier removals and
/// settlements need them.
fn needing(draft: Draft, applied: &Applied, have: &Observed) -> Draft {
    if draft.verdict != Verdict::Wait || have.unauthorised.is_none() {
        return draft;
    }
    let help = format!("bring its document back, and {}", help(&applied.spec));
    Draft::idle(Verdict::Blocked, Reason::AwaitsAuthorization(help))
}

/// Returns the step of a merchant whose document was removed. Other removals that need its
/// credentials come first.
pub(super) fn gone(cx: &StepCx<'_>, key: &Key, have: &Observed) -> Draft {
    let Some(applied) = going(have) else { return orphaned() };
    let public_key = have.text("public_key").and_then(|key| PublicKey::new(key).ok());
    let is_unread = !have.fact("token").is_null() && have.fact("accounts").is_null();
    if public_key.is_none() && !is_unread {
        return orphaned();
    }
    if let Some(draft) = used(cx, key) {
        return needing(draft, applied, have);
    }
    match public_key.filter(|_| !is_unread) {
        Some(public_key) => given_back(cx, key, (have, applied), &public_key),
        None => unread(cx, key, applied),
    }
}

/// Gives the authorisation back, unless its accounts belong to another merchant, which would lose
/// them.
fn given_back(
    cx: &StepCx<'_>,
    key: &Key,
    (have, applied): (&Observed, &Applied),
    public_key: &PublicKey,
) -> Draft {
    if let Some(rival) = &have.rival {
        let theirs = Reason::BoundElsewhere((**rival).clone());
        return Draft { ready: true, ..Draft::idle(Verdict::Orphan, theirs) };
    }
    let new = match obligation(cx, key, have, applied) {
        Ok(new) => new,
        Err(reason) => return waiting(reason),
    };
    if let Some(draft) = refused(cx, new.mode) {
        return draft;
    }
    let web_url = applied.spec.get("web_url").and_then(Value::as_str);
    let web_url = web_url.map(|url| url.trim_end_matches('/').to_owned());
    let effect = deauthorise_merchant(Obligation { web_url, ..new }, public_key);
    let reason = Reason::Going(Box::new(Going::Deauthorised));
    Draft { work: Some(Work::Effect(effect)), ready: true, ..Draft::idle(Verdict::Delete, reason) }
}

/// Reads a merchant whose code was exchanged, and whose document was removed before the first
/// reading.
fn unread(cx: &StepCx<'_>, key: &Key, applied: &Applied) -> Draft {
    let said = applied.spec.get("mode").cloned();
    let Some(mode) = said.and_then(|mode| serde_json::from_value(mode).ok()) else {
        return orphaned();
    };
    if let Some(draft) = refused(cx, mode) {
        return draft;
    }
    let (merchant, applied) = (key.clone(), applied.clone());
    let (name, key, about) = (CREDENTIALS, key.clone(), Value::Null);
    let reading = Work::Read(Reading { name, key, merchant, mode, applied, about });
    Draft { work: Some(reading), ..Draft::idle(Verdict::Read, Reason::NotConnected) }
}

/// Blocks the step if live merchants are refused.
fn refused(cx: &StepCx<'_>, mode: Mode) -> Option<Draft> {
    let why = cx.live_refused.filter(|_| mode == Mode::Live)?;
    Some(Draft::idle(Verdict::Blocked, Reason::Unfit(why.to_owned())))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chrono::DateTime;
    use serde_json::json;

    use super::*;
    use crate::base::hash::sha256;
    use crate::kinds::step::View;
    use crate::model::manifest::{Deletion, Manifest, OnDoubt};
    use crate::model::unauthorised::Unauthorised;

    /// A view with one merchant and no documents; the keys are its holders.
    struct Alone(Arc<Observed>, Vec<Key>);

    impl View for Alone {
        fn manifest(&self, _: &Key) -> Option<Arc<Manifest>> {
            None
        }

        fn observed(&self, _: &Key) -> Option<Arc<Observed>> {
            Some(self.0.clone())
        }

        fn ready(&self, _: &Key) -> bool {
            false
        }

        fn users(&self, _: &Key) -> Vec<Key> {
            Vec::new()
        }

        fn holders(&self, _: &Key) -> Vec<Key> {
            self.1.clone()
        }
    }

    /// Returns a merchant with these facts.
    fn known(facts: Value) -> Observed {
        let applied = Applied {
            spec: json!({"mode": "test", "credentials": {}}),
            digest: sha256(b"acme"),
            generation: 0,
            deletion: Deletion::Delete,
        };
        let unknown = Observed::unknown("Merchant/acme".parse().unwrap(), DateTime::UNIX_EPOCH);
        Observed { facts, exists: true, applied: Some(applied), ..unknown }
    }

    /// Returns the step after its document was removed, while these holders remain on the service.
    fn step(have: &Observed, holders: Vec<Key>) -> Draft {
        let (partner, live_refused) = ("acme", None);
        let (view, on_doubt) = (Alone(Arc::new(have.clone()), holders), OnDoubt::Hold);
        let (digest_key, now) = (&[0; 32], DateTime::UNIX_EPOCH);
        let cx = StepCx { partner, digest_key, view: &view, on_doubt, live_refused, now };
        gone(&cx, &"Merchant/acme".parse().unwrap(), have)
    }

    fn verdict(facts: Value, rival: Option<&str>) -> Verdict {
        let rival = rival.map(|name| Box::new(name.parse().unwrap()));
        step(&Observed { rival, ..known(facts) }, Vec::new()).verdict
    }

    #[test]
    fn what_an_authorization_opens_is_read_before_it_is_given_back() {
        let (token, public_key) = (json!({"sealed": "x"}), "m".repeat(24));
        assert_eq!(verdict(json!({ "token": token }), None), Verdict::Read);
        let older = json!({"token": token, "public_key": public_key});
        assert_eq!(verdict(older, None), Verdict::Read, "a new code may open another account");
        let read =
            json!({"token": token, "public_key": public_key, "accounts": [{}], "mode": "test"});
        assert_eq!(verdict(read.clone(), None), Verdict::Delete);
        let rival = Some("Merchant/default/other");
        assert_eq!(verdict(read, rival), Verdict::Orphan, "it is another merchant's");
        assert_eq!(verdict(json!({}), None), Verdict::Orphan, "nothing was given");
    }

    #[test]
    fn what_goes_first_waits_for_an_authorization_once_the_credentials_are_refused() {
        let club: Vec<Key> = "RecurringCharge/club".parse().into_iter().collect();
        let have = known(json!({"public_key": "pk_0123456789abcdefghij"}));
        assert!(matches!(step(&have, club.clone()).reason, Reason::WaitsFor(_)));
        let spec = have.applied.as_ref().map(|applied| applied.spec.clone()).unwrap_or_default();
        let refused = Unauthorised::new(&spec, 0, DateTime::UNIX_EPOCH);
        let draft = step(&Observed { unauthorised: Some(Box::new(refused)), ..have }, club);
        assert!(matches!(draft.reason, Reason::AwaitsAuthorization(_)) && !draft.ready);
    }
}
