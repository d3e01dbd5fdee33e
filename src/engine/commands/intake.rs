//! A payer's link for a saved method: the state that the link shows, and the terms of a new one.
//!
//! Opening a link changes nothing. A link asks for the details that a generation of the document
//! does not have yet, or for a replacement of the saved ones; a replacement link is valid only
//! while exactly those details are saved.

use std::sync::Arc;

use crate::base::id::Key;
use crate::effects::methods::save::good_until;
use crate::engine::protocol::payers::{Intake, IntakeLink, IntakePage, IntakeTerms};
use crate::engine::view::EngineView;
use crate::kinds::planning::step::merchant_of;
use crate::kinds::recurring_charge::method::takes_token;
use crate::kinds::saved_method::source::{applied_state, awaited_intake, given_details, is_intake};
use crate::model::change::PlannedAction;
use crate::model::manifest::Manifest;
use crate::model::plan::Reason;
use crate::model::state::token_attachment::{AwaitedDetails, SuppliedToken};
use crate::plan::state_view::StateView;

/// Most tokens submitted at once: for the method, and for each recurring charge that it pays.
pub(crate) const TOKENS_MAX: usize = 32;
/// Name of details whose token is not recorded.
const UNNAMED: &str = "0";

impl EngineView<'_> {
    pub(crate) fn intake(&self, link: &IntakeLink) -> Intake {
        let wanted =
            self.known_state.desired().manifest(&link.key).filter(|one| is_intake(&one.spec));
        let Some(manifest) = wanted else { return Intake::Expired };
        if manifest.annotations.generation != link.terms.generation {
            return Intake::Expired;
        }
        let state = self.intake_state(&manifest, link.terms.replaces.as_deref());
        let asks = matches!(state, Intake::Requested(_) | Intake::NotYet);
        if asks && self.shared.now() >= link.until { Intake::Expired } else { state }
    }

    pub(crate) fn intake_link(&self, key: &Key) -> Result<IntakeTerms, String> {
        let manifest = self.intake_manifest(key)?;
        let generation = manifest.annotations.generation;
        let terms = IntakeTerms { generation, replaces: self.saved_details(&manifest) };
        self.check_requested(key, &self.intake_state(&manifest, terms.replaces.as_deref()))?;
        Ok(terms)
    }

    /// Returns the valid document of a saved method whose details a payer gives.
    pub(crate) fn intake_manifest(&self, key: &Key) -> Result<Arc<Manifest>, String> {
        let name = key.short();
        let manifest = self.known_state.desired().manifest(key);
        let manifest = manifest.ok_or_else(|| format!("no good document says {name}"))?;
        if !is_intake(&manifest.spec) {
            return Err(format!(
                "the document of {name} does not say `source: intake`: a payer gives the details of a SavedMethod that \
                 says so, in the place of `card` or `bank`"
            ));
        }
        Ok(manifest)
    }

    /// Returns the name of the details saved under the document's generation, if there are any.
    pub(crate) fn saved_details(&self, manifest: &Manifest) -> Option<String> {
        let known = self.known_state.observed(&manifest.key);
        let applied = applied_state(manifest, known.as_deref())?;
        let named = given_details(&applied.spec).and_then(|given| given.get("digest")?.as_str());
        Some(named.unwrap_or(UNNAMED).to_owned())
    }

    /// Returns a method's state for a payer who gives first details, or replaces the named ones.
    pub(crate) fn intake_state(&self, manifest: &Manifest, replaces: Option<&str>) -> Intake {
        match (self.saved_details(manifest), replaces) {
            (None, None) => self.unsaved_state(manifest),
            (None, Some(_)) => Intake::Expired,
            (Some(saved), Some(named)) if saved == named => self.replacement_state(manifest),
            (Some(_), _) => Intake::Stored,
        }
    }

    /// Returns the state of a method without saved details.
    fn unsaved_state(&self, manifest: &Manifest) -> Intake {
        let busy = self.is_busy(&manifest.key);
        let step = self.planner.full_step(self.known_state, &manifest.key);
        if let Some(Reason::AwaitsIntake(awaited)) = step.map(|step| step.reason)
            && !busy
        {
            return self.page_data(manifest, &awaited).map_or(Intake::NotYet, Intake::Requested);
        }
        let fresh = self.has_fresh_token(manifest);
        if busy || fresh { Intake::Received } else { Intake::NotYet }
    }

    /// Returns the state of a method whose saved details a payer replaces.
    fn replacement_state(&self, manifest: &Manifest) -> Intake {
        if self.is_busy(&manifest.key) || self.has_fresh_token(manifest) {
            return Intake::Received;
        }
        let step = self.planner.full_step(self.known_state, &manifest.key);
        let takes = step.is_some_and(|step| {
            let settled = step.action == PlannedAction::Settled && step.ready;
            settled || matches!(step.reason, Reason::AwaitsIntake(_))
        });
        if !takes {
            return Intake::NotYet;
        }
        let known = self.known_state.observed(&manifest.key);
        let awaited = awaited_intake(manifest, known.as_deref(), self.shared.now());
        self.page_data(manifest, &awaited).map_or(Intake::NotYet, Intake::Requested)
    }

    fn is_busy(&self, key: &Key) -> bool {
        self.scheduler.busy.contains(key) || self.known_state.open_intent(key).is_some()
    }

    /// Returns true if a token has arrived that can still be used.
    fn has_fresh_token(&self, manifest: &Manifest) -> bool {
        let known = self.known_state.observed(&manifest.key);
        let open = known.filter(|known| known.refusal.is_none());
        open.and_then(|known| SuppliedToken::of(&known, manifest.annotations.generation))
            .is_some_and(|brought| self.shared.now() < good_until(&brought))
    }

    /// Returns the data of the page; `None`: the merchant's key is not known.
    fn page_data(&self, manifest: &Manifest, awaited: &AwaitedDetails) -> Option<Box<IntakePage>> {
        let merchant = merchant_of(manifest)?;
        let known = self.known_state.observed(&merchant)?;
        let mode = serde_json::from_value(known.fact("mode").clone()).ok()?;
        let public_key = known.text("public_key").filter(|key| !key.is_empty())?.to_owned();
        let charges = self.charges_of(&manifest.key).len();
        Some(Box::new(IntakePage {
            sort: awaited.method_type,
            public_key,
            merchant: known.text("merchant_name").map(str::to_owned),
            mode,
            service: self.shared.client.base_url().to_owned(),
            trouble: awaited.failure.clone(),
            replaces: awaited.replaces,
            tokens: charges.saturating_add(1),
        }))
    }

    /// Returns the recurring charges that need a token of their own when a payer gives this method's
    /// details, with the generation of each; at most as many as tokens are accepted at once.
    pub(crate) fn charges_of(&self, method: &Key) -> Vec<(Key, u32)> {
        let takes = |key: &&Key| {
            let manifest = self.known_state.desired().manifest(key)?;
            let known = self.known_state.observed(key);
            let takes = takes_token(&manifest, known.as_deref(), method);
            takes.then(|| ((*key).clone(), manifest.annotations.generation))
        };
        let charges = self.planner.users(method).filter_map(|key| takes(&key));
        charges.take(TOKENS_MAX.saturating_sub(1)).collect()
    }

    /// Checks that a method asks for details now; the error is the reason for the refusal.
    pub(crate) fn check_requested(&self, key: &Key, state: &Intake) -> Result<(), String> {
        let name = key.short();
        Err(match state {
            Intake::Requested(_) => return Ok(()),
            Intake::NotYet => {
                let why = self.planner.step(key).map(|step| step.reason.to_string());
                let why = why.unwrap_or_else(|| "nothing is known of it".to_owned());
                format!("{name} cannot take a token now: {why}")
            }
            Intake::Received => {
                format!("{name} has a token that is being saved; ask again in a moment")
            }
            Intake::Stored => format!(
                "{name} is saved already: say --replace to have other details take the place of those, or raise \
                 reckon.dev/generation in its document to keep them beside others"
            ),
            Intake::Expired => format!("{name} does not ask for this any more"),
        })
    }
}

#[cfg(test)]
mod tests;
