//! Steps of an application: it is submitted once, and then underwriting decides.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::base::id::Mode;
use crate::effects::core::context::EffectContext;
use crate::effects::onboarding::{start_sign_up, submit_application};
use crate::kinds::merchant_application::{MerchantApplicationKind, is_sign_up_test};
use crate::kinds::planning::diff;
use crate::kinds::planning::step::{
    MERCHANT, StepCx, StepDecision, effect_context_in, source_id, text, unsuitable,
};
use crate::kinds::row::KindRow;
use crate::kinds::schema::kind::SpecSchema;
use crate::kinds::secrets::redact;
use crate::model::change::PlannedAction;
use crate::model::effect::StepWork;
use crate::model::manifest::Manifest;
use crate::model::plan::Reason;
use crate::model::state::observed::{AppliedSpec, Observed};

/// Underwriting decision, from the facts of the webhook.
enum UnderwritingDecision<'a> {
    Open,
    Provisioned,
    Declined(&'a str),
}

impl<'a> UnderwritingDecision<'a> {
    /// Returns the decision about the submission that carries this mark.
    fn of(have: Option<&'a Observed>, mark: &str) -> Self {
        let have = have.filter(|have| have.text("mark") == Some(mark));
        let text = |fact| have.and_then(|have| have.text(fact));
        match text("state") {
            Some("provisioned") => Self::Provisioned,
            Some("declined") => Self::Declined(text("reason").unwrap_or("other")),
            _ => Self::Open,
        }
    }
}

/// Returns the web host of the application's product brand: that of the merchant that names it
/// (partner-api, `{web_url}`). Fails if merchants of several brands name it.
fn brand(cx: &StepCx<'_>, manifest: &Manifest) -> Result<Option<String>, String> {
    let users = cx.view.users(&manifest.key).into_iter().filter_map(|user| cx.view.manifest(&user));
    let merchants = users.filter(|user| user.key.kind.as_str() == MERCHANT);
    let url = |merchant: Arc<Manifest>| {
        let url = merchant.spec.get("web_url").and_then(Value::as_str);
        url.map(|url| url.trim_end_matches('/').to_owned())
    };
    let brands: BTreeSet<Option<String>> = merchants.map(url).collect();
    if brands.len() > 1 {
        let why = "merchants with different `web_url`s name this application, which can go to only one brand: name \
                   it in one merchant";
        return Err(why.to_owned());
    }
    Ok(brands.into_iter().next().flatten())
}

/// Returns whether every field went to underwriting, where later edits change nothing.
fn is_submitted(applied: Option<&AppliedSpec>) -> bool {
    applied.is_some_and(|applied| text(&applied.spec, "submission") == "complete")
}

/// Returns the step of an application that was submitted as its document describes. A test succeeds
/// if it ends as requested, and its code is never exchanged.
fn decided_step(manifest: &Manifest, decision: &UnderwritingDecision<'_>) -> StepDecision {
    let test = manifest.spec.get("test").and_then(Value::as_str);
    let (verdict, reason, ready) = match (decision, test) {
        (UnderwritingDecision::Open, _) => (PlannedAction::Wait, Reason::AwaitsDecision, false),
        (UnderwritingDecision::Provisioned, None) => {
            (PlannedAction::Settled, Reason::Settled, true)
        }
        (UnderwritingDecision::Provisioned, Some(_)) => {
            (PlannedAction::Settled, Reason::TestPassed, true)
        }
        (UnderwritingDecision::Declined(_), Some("fail")) => {
            (PlannedAction::Settled, Reason::TestFailed, true)
        }
        (UnderwritingDecision::Declined(reason), _) => {
            (PlannedAction::Blocked, Reason::Declined((*reason).to_owned()), false)
        }
    };
    StepDecision { ready, ..StepDecision::idle(verdict, reason) }
}

pub(crate) const ROW: KindRow = KindRow {
    import_checks: |_, _| {
        Err(
            "reckon receives no decision about an application that was submitted elsewhere: once it is approved, \
             write the credentials in the document of the merchant, and remove this document",
        )
    },
    assume_applied,
    ..KindRow::new::<MerchantApplicationKind>(step)
};

pub(super) fn step(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> StepDecision {
    let spec = redact(MerchantApplicationKind::FIELDS, &manifest.spec, cx.digest_key);
    let generation = manifest.annotations.generation;
    let mark = source_id(cx, &manifest.key, generation).mark();
    let decision = UnderwritingDecision::of(have, mark.as_str());
    let applied = have.filter(|have| have.exists).and_then(|have| have.applied.as_ref());
    let applied = applied.filter(|applied| applied.generation >= generation);
    let web_url = match brand(cx, manifest) {
        Err(why) if applied.is_none() => {
            return StepDecision::blocked(Reason::Unsuitable(why));
        }
        brand => brand.unwrap_or_default(),
    };
    let is_test = manifest.spec.get("test").is_some();
    let mode = if is_test { Mode::Test } else { Mode::Live };
    let new = effect_context_in(cx, manifest, &manifest.key, mode, &spec);
    let new = EffectContext { web_url, ..new };
    let before = applied.map(|applied| &applied.spec);
    let changes = diff::changes(before, &spec, MerchantApplicationKind::FIELDS);
    // On any submission of this application, of an older generation too.
    let was_decided = have.is_some_and(|have| have.text("state").is_some());
    let draft = match (applied, &decision) {
        (_, UnderwritingDecision::Open) if is_sign_up_test(manifest) && was_decided => {
            let why = "a test of the sign-up is submitted only once, and an older generation of this one was \
                       submitted";
            StepDecision::blocked(unsuitable(why))
        }
        (applied, UnderwritingDecision::Open)
            if text(&manifest.spec, "submission") == "sign_up" && !is_submitted(applied) =>
        {
            let offer = start_sign_up(new, &manifest.spec);
            StepDecision {
                on_demand: Some(offer),
                ..StepDecision::idle(PlannedAction::Wait, Reason::AwaitsApplicant)
            }
        }
        (Some(_), _) if !changes.is_empty() => {
            let fixed = changes.iter().map(|change| change.path.clone()).collect();
            StepDecision::blocked(Reason::CannotChange(fixed))
        }
        (Some(_), decision) => decided_step(manifest, decision),
        (None, _) => {
            let effect = submit_application(new, &manifest.spec);
            let draft = StepDecision::idle(PlannedAction::Create, Reason::NotCreated);
            draft.with_work(StepWork::Effect(effect))
        }
    };
    draft.with_changes(changes)
}

fn assume_applied(cx: &StepCx<'_>, manifest: &Manifest) -> Observed {
    let generation = manifest.annotations.generation;
    let mark = source_id(cx, &manifest.key, generation).mark();
    let facts = json!({"mark": mark, "state": "provisioned", "code": {"sealed": "assumed"}});
    Observed { facts, ..diff::applied_state(MerchantApplicationKind::FIELDS, cx, manifest) }
}
