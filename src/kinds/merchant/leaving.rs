//! A merchant whose document is gone, and said that it goes with it, is deauthorised. An authorization of which
//! nothing was read yet is read first: it is given back by the public key that it opens.

use serde_json::Value;

use crate::base::id::{Key, Mode, PublicKey};
use crate::effects::{CREDENTIALS, Obligation, deauthorise_merchant};
use crate::kinds::leaving::{going, obligation, used, waiting};
use crate::kinds::step::{Draft, StepCx, orphaned};
use crate::model::effect::{Reading, Work};
use crate::model::going::Going;
use crate::model::observed::{Applied, Observed};
use crate::model::plan::{Reason, Verdict};

/// The step of a merchant whose document is gone. What else is to go by its credentials goes first.
pub(super) fn gone(cx: &StepCx<'_>, key: &Key, have: &Observed) -> Draft {
    let Some(applied) = going(have) else { return orphaned() };
    let public_key = have.text("public_key").and_then(|key| PublicKey::new(key).ok());
    let is_unread = !have.fact("token").is_null() && have.fact("accounts").is_null();
    if public_key.is_none() && !is_unread {
        return orphaned();
    }
    if let Some(draft) = used(cx, key) {
        return draft;
    }
    match public_key.filter(|_| !is_unread) {
        Some(public_key) => given_back(cx, key, (have, applied), &public_key),
        None => unread(cx, key, applied),
    }
}

/// Its authorization is given back, unless what it opened is another merchant's, whom that would take it from.
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

/// A code was exchanged, and the document went before anything was read: what the token opens is read now.
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

/// Live merchants are refused: nothing is done to this one.
fn refused(cx: &StepCx<'_>, mode: Mode) -> Option<Draft> {
    let why = cx.live_refused.filter(|_| mode == Mode::Live)?;
    Some(Draft::idle(Verdict::Blocked, Reason::Unfit(why.to_owned())))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::base::hash::sha256;
    use crate::kinds::step::View;
    use crate::model::manifest::{Deletion, Manifest, OnDoubt};

    /// Nothing but the merchant is known, and nothing has a document.
    struct Alone(Arc<Observed>);

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
    }

    /// The verdict on a merchant of which these facts are known.
    fn verdict(facts: Value, rival: Option<&str>) -> Verdict {
        let key: Key = "Merchant/default/acme".parse().unwrap();
        let now = "2026-11-21T12:00:00Z".parse().unwrap();
        let applied = Applied {
            spec: json!({"mode": "test"}),
            digest: sha256(b"acme"),
            generation: 0,
            deletion: Deletion::Delete,
        };
        let rival = rival.map(|name| Box::new(name.parse().unwrap()));
        let unknown = Observed::unknown(key.clone(), now);
        let have = Observed { facts, exists: true, applied: Some(applied), rival, ..unknown };
        let (have, partner, live_refused) = (Arc::new(have), "acme", None);
        let (view, on_doubt) = (Alone(have.clone()), OnDoubt::Hold);
        let cx = StepCx { partner, digest_key: &[0; 32], view: &view, on_doubt, live_refused, now };
        gone(&cx, &key, &have).verdict
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
}
