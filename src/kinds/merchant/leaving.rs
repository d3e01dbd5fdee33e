//! A merchant whose document is gone, and said that it goes with it, is deauthorised.

use serde_json::Value;

use crate::base::id::{Key, Mode, PublicKey};
use crate::effects::{Obligation, deauthorise_merchant};
use crate::kinds::leaving::{going, obligation, used, waiting};
use crate::kinds::step::{Draft, StepCx, orphaned};
use crate::model::effect::Work;
use crate::model::going::Going;
use crate::model::observed::Observed;
use crate::model::plan::{Reason, Verdict};

/// The step of a merchant whose document is gone. What else is to go by its credentials goes first.
pub(super) fn gone(cx: &StepCx<'_>, key: &Key, have: &Observed) -> Draft {
    let Some(applied) = going(have) else { return orphaned() };
    let Some(public_key) = have.text("public_key").and_then(|key| PublicKey::new(key).ok()) else {
        return orphaned();
    };
    if let Some(draft) = used(cx, key) {
        return draft;
    }
    let new = match obligation(cx, key, have, applied) {
        Ok(new) => new,
        Err(reason) => return waiting(reason),
    };
    if let Some(why) = cx.live_refused.filter(|_| new.mode == Mode::Live) {
        return Draft::idle(Verdict::Blocked, Reason::Unfit(why.to_owned()));
    }
    let web_url = applied.spec.get("web_url").and_then(Value::as_str);
    let web_url = web_url.map(|url| url.trim_end_matches('/').to_owned());
    let effect = deauthorise_merchant(Obligation { web_url, ..new }, &public_key);
    let reason = Reason::Going(Box::new(Going::Deauthorised));
    Draft { work: Some(Work::Effect(effect)), ready: true, ..Draft::idle(Verdict::Delete, reason) }
}
