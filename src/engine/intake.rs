//! A payer's link for a saved method: what it leads to, and for what one is made now.
//!
//! A look changes nothing. A link asks for the details that a generation of the document has not got yet, or for others in
//! the place of those that are saved: then it is good as long as just those are.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::Engine;
use crate::base::id::{Key, Mode};
use crate::effects::good_until;
use crate::kinds::recurring_charge::takes_token;
use crate::kinds::saved_method::{awaited, given, is_intake, stored};
use crate::kinds::step::merchant_of;
use crate::model::attachment::{Awaited, Brought};
use crate::model::manifest::Manifest;
use crate::model::observed::Observed;
use crate::model::plan::{Reason, Verdict};
use crate::plan::World;

/// Tokens that are brought at once, at most: one for the method, and one for each recurring charge that it pays.
pub(super) const TOKENS_MAX: usize = 32;
/// Stands for details of which nobody wrote down which token gave them.
const UNNAMED: &str = "0";

/// A payer's link, once its signature was found to be ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntakeLink {
    /// The saved method.
    pub key: Key,
    /// What it is good for.
    pub terms: Terms,
    /// Until when the link is good.
    pub until: DateTime<Utc>,
}

/// What a payer's link is made for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// The generation of the saved method's document.
    pub generation: u32,
    /// The name of the details that are saved and that the payer's take the place of, 12 hexadecimal digits or `0`; none
    /// while the generation has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
}

/// What a payer's link leads to now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Intake {
    /// The details are asked for.
    Asks(Box<Asking>),
    /// A token has come, and is being saved.
    Received,
    /// It is saved: the link has done its work.
    Stored,
    /// Its time is over, or nobody asks for this any more.
    Over,
    /// It is asked for, but cannot be taken yet.
    Later,
}

/// What a payer's page needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asking {
    /// `card` or `bank`.
    pub sort: &'static str,
    /// The merchant's public key.
    pub public_key: String,
    /// The merchant's name, where it is known.
    pub merchant: Option<String>,
    /// Whether real money is meant.
    pub mode: Mode,
    /// The address that the service's own fields come from.
    pub service: String,
    /// Why the token before made nothing.
    pub trouble: Option<String>,
    /// Whether something is saved already, which these details replace.
    pub replaces: bool,
    /// How many tokens of the details are wanted: one for the method, and one for each recurring charge that it pays.
    pub tokens: usize,
}

impl Engine {
    /// What a payer's link leads to.
    pub(super) fn intake(&self, link: &IntakeLink) -> Intake {
        let wanted = self.world.desired().manifest(&link.key).filter(|one| is_intake(&one.spec));
        let Some(manifest) = wanted else { return Intake::Over };
        if manifest.annotations.generation != link.terms.generation {
            return Intake::Over;
        }
        let state = self.state(&manifest, link.terms.replaces.as_deref());
        match state {
            Intake::Asks(_) | Intake::Later if self.shared.now() >= link.until => Intake::Over,
            Intake::Asks(_) | Intake::Received | Intake::Stored | Intake::Over | Intake::Later => {
                state
            }
        }
    }

    /// For what a link is made now. Errors: why none is, in a sentence.
    pub(super) fn intake_link(&self, key: &Key) -> Result<Terms, String> {
        let manifest = self.intake_manifest(key)?;
        let generation = manifest.annotations.generation;
        let terms = Terms { generation, replaces: self.saved_as(&manifest) };
        match self.state(&manifest, terms.replaces.as_deref()) {
            Intake::Asks(_) => Ok(terms),
            Intake::Later => Err(self.not_now(key)),
            state @ (Intake::Received | Intake::Stored | Intake::Over) => Err(refused(key, &state)),
        }
    }

    /// The good document of a saved method that a payer gives the details of.
    pub(super) fn intake_manifest(&self, key: &Key) -> Result<Manifest, String> {
        let name = key.short();
        let manifest = self.world.desired().manifest(key);
        let manifest = manifest.ok_or_else(|| format!("no good document says {name}"))?;
        if !is_intake(&manifest.spec) {
            return Err(format!(
                "the document of {name} does not say `source: intake`: a payer gives the details of a SavedMethod that \
                 says so, in the place of `card` or `bank`"
            ));
        }
        Ok(manifest)
    }

    /// The name of what is saved under the document's generation; `None`: nothing is.
    pub(super) fn saved_as(&self, manifest: &Manifest) -> Option<String> {
        let known = self.world.observed(&manifest.key);
        let applied = stored(manifest, known.as_deref())?;
        let named = given(&applied.spec).and_then(|given| given.get("digest")?.as_str());
        Some(named.unwrap_or(UNNAMED).to_owned())
    }

    /// How a method stands towards a payer who is to give its first details, or others in the place of these.
    pub(super) fn state(&self, manifest: &Manifest, replaces: Option<&str>) -> Intake {
        match (self.saved_as(manifest), replaces) {
            (None, None) => self.awaits(manifest),
            (None, Some(_)) => Intake::Over,
            (Some(saved), Some(named)) if saved == named => self.renews(manifest),
            (Some(_), _) => Intake::Stored,
        }
    }

    /// How a method that is not saved stands towards its payer.
    fn awaits(&self, manifest: &Manifest) -> Intake {
        let (known, busy) = (self.world.observed(&manifest.key), self.is_busy(&manifest.key));
        let step = self.planner.whole(&self.world, &manifest.key);
        if let Some(Reason::AwaitsIntake(awaited)) = step.map(|step| step.reason)
            && !busy
        {
            return self.asking(manifest, &awaited).map_or(Intake::Later, Intake::Asks);
        }
        let fresh = self.is_fresh(manifest, known.as_deref());
        if busy || fresh { Intake::Received } else { Intake::Later }
    }

    /// How one that is saved stands towards a payer who gives other details.
    fn renews(&self, manifest: &Manifest) -> Intake {
        let known = self.world.observed(&manifest.key);
        if self.is_busy(&manifest.key) || self.is_fresh(manifest, known.as_deref()) {
            return Intake::Received;
        }
        let step = self.planner.whole(&self.world, &manifest.key);
        let takes = step.is_some_and(|step| {
            let settled = step.verdict == Verdict::Settled && step.ready;
            settled || matches!(step.reason, Reason::AwaitsIntake(_))
        });
        if !takes {
            return Intake::Later;
        }
        let awaited = awaited(manifest, known.as_deref(), self.shared.now());
        self.asking(manifest, &awaited).map_or(Intake::Later, Intake::Asks)
    }

    fn is_busy(&self, key: &Key) -> bool {
        self.busy.contains(key) || self.world.open(key).is_some()
    }

    /// Whether a token has come that can still be used.
    fn is_fresh(&self, manifest: &Manifest, known: Option<&Observed>) -> bool {
        let open = known.filter(|known| known.refusal.is_none());
        let brought = open.and_then(|known| Brought::of(known, manifest.annotations.generation));
        brought.is_some_and(|brought| self.shared.now() < good_until(&brought))
    }

    /// What the page needs; `None`: the merchant's key is not known.
    fn asking(&self, manifest: &Manifest, awaited: &Awaited) -> Option<Box<Asking>> {
        let merchant = merchant_of(manifest)?;
        let known = self.world.observed(&merchant)?;
        let mode = serde_json::from_value(known.fact("mode").clone()).ok()?;
        let public_key = known.text("public_key").filter(|key| !key.is_empty())?.to_owned();
        let charges = self.charges_of(&manifest.key).len();
        Some(Box::new(Asking {
            sort: awaited.sort,
            public_key,
            merchant: known.text("merchant_name").map(str::to_owned),
            mode,
            service: self.shared.client.base_url().to_owned(),
            trouble: awaited.trouble.clone(),
            replaces: awaited.replaces,
            tokens: charges.saturating_add(1),
        }))
    }

    /// The recurring charges that take a token of their own when a payer gives the details of this method, with the
    /// generation of each; no more than tokens are taken for.
    pub(super) fn charges_of(&self, method: &Key) -> Vec<(Key, u32)> {
        let takes = |key: &&Key| {
            let manifest = self.world.desired().manifest(key)?;
            let known = self.world.observed(key);
            let takes = takes_token(&manifest, known.as_deref(), method);
            takes.then(|| ((*key).clone(), manifest.annotations.generation))
        };
        let charges = self.planner.users(method).filter_map(|key| takes(&key));
        charges.take(TOKENS_MAX.saturating_sub(1)).collect()
    }

    /// Why a method cannot take a token now.
    pub(super) fn not_now(&self, key: &Key) -> String {
        let why = self.planner.step(key).map(|step| step.reason.to_string());
        let why = why.unwrap_or_else(|| "nothing is known of it".to_owned());
        format!("{} cannot take a token now: {why}", key.short())
    }
}

/// Why a token is not taken, or no link made.
pub(super) fn refused(key: &Key, state: &Intake) -> String {
    let name = key.short();
    match state {
        Intake::Received => {
            format!("{name} has a token that is being saved; ask again in a moment")
        }
        Intake::Stored => format!(
            "{name} is saved already: say --replace to have other details take the place of those, or raise \
             reckon.dev/generation in its document to keep them beside others"
        ),
        Intake::Asks(_) | Intake::Over | Intake::Later => {
            format!("{name} does not ask for this any more")
        }
    }
}
