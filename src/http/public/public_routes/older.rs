//! Addresses of the older form: their parts are joined by dots, which names may contain, too. Where
//! the parts of a name are ambiguous, every possible resource is returned, and the caller takes the
//! one that exists.

use chrono::{DateTime, Utc};

use super::{PublicRoutes, SIGNATURE_LENGTH, VerifiedAddress, digests_equal};
use crate::base::id::{Key, Mode};
use crate::engine::protocol::commands::intake::IntakeTerms;
use crate::kinds::merchant_application::MerchantApplicationKind;
use crate::kinds::planning::step::MERCHANT;
use crate::kinds::saved_method::shape::SavedMethodKind;
use crate::kinds::schema::kind::SpecSchema;

/// Separates the generation from the name of the replaced method.
const REPLACES: char = '-';

impl PublicRoutes {
    /// Returns the merchant, the mode and the generation of an older address, if its signature is
    /// valid.
    pub(super) fn older_merchant(&self, token: &str) -> Option<VerifiedAddress<(Mode, u32)>> {
        let text = self.verify_older("gateway-token", token)?;
        let (text, generation) = split_generation(text);
        let (text, mode) = text.rsplit_once('.')?;
        Some(VerifiedAddress {
            candidates: candidate_keys(MERCHANT, text),
            terms: (mode.parse().ok()?, generation),
        })
    }

    /// Returns the application of an older link, if its signature is valid.
    pub(super) fn older_application(&self, link: &str) -> Option<VerifiedAddress<()>> {
        let text = self.verify_older("apply-link", link)?;
        Some(VerifiedAddress {
            candidates: candidate_keys(MerchantApplicationKind::NAME, text),
            terms: (),
        })
    }

    /// Returns the saved method and the terms of an older payer's link, if its signature is valid.
    pub(super) fn older_payer(
        &self,
        link: &str,
    ) -> Option<VerifiedAddress<(IntakeTerms, DateTime<Utc>)>> {
        let text = self.verify_older("intake-link", link)?;
        let (text, until) = text.rsplit_once('.')?;
        let (text, terms) = text.rsplit_once('.')?;
        let (generation, replaces) = match terms.split_once(REPLACES) {
            Some((generation, saved)) => (generation, Some(saved.to_owned())),
            None => (terms, None),
        };
        let terms = IntakeTerms { generation: generation.parse().ok()?, replaces };
        let until = DateTime::from_timestamp(until.parse().ok()?, 0)?;
        Some(VerifiedAddress {
            candidates: candidate_keys(SavedMethodKind::NAME, text),
            terms: (terms, until),
        })
    }

    /// Returns the text before a valid signature.
    fn verify_older<'a>(&self, label: &str, token: &'a str) -> Option<&'a str> {
        let (text, code) = token.rsplit_once('.')?;
        digests_equal(code, &self.signature(label, text, SIGNATURE_LENGTH)).then_some(text)
    }
}

/// Returns every resource whose namespace and name, joined by a dot, are this text.
fn candidate_keys(kind: &str, text: &str) -> Vec<Key> {
    let split = text.match_indices('.').map(|(at, _)| text.split_at(at));
    let key = |(namespace, name): (&str, &str)| {
        let name = name.strip_prefix('.')?;
        format!("{kind}/{namespace}/{name}").parse().ok()
    };
    split.filter_map(key).collect()
}

/// Splits off the generation; generation 0 is not written. No mode is a number.
fn split_generation(named: &str) -> (&str, u32) {
    let last = named.rsplit_once('.');
    let numbered = last.and_then(|(before, number)| Some((before, number.parse().ok()?)));
    numbered.unwrap_or((named, 0))
}
