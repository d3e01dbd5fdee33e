//! One-time tokens from a payer's page, or submitted by a person.
//!
//! A token is accepted only while the method asks for one. The token is sealed and on disk before
//! the engine answers. Then the method's own step saves it, or changes the saved method by it.
//! Further tokens may accompany it for the recurring charges that the method pays, which copied its
//! details. Each has a record of its own, before the method's.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::hash::{Digest, keyed_digest};
use crate::base::id::Key;
use crate::base::secret::Secret;
use crate::engine::commands::decision::Decision;
use crate::engine::commands::intake::TOKENS_MAX;
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::payers::{AttachToken, IntakeLink, SubmitToken};
use crate::engine::protocol::query::Reply;
use crate::engine::view::EngineView;
use crate::kinds::planning::step::merchant_of;
use crate::kinds::saved_method::source::{applied_state, given_details};
use crate::model::manifest::Manifest;
use crate::model::record::Record;
use crate::model::state::token_attachment::{CopiedMethod, SuppliedToken, TokenAttachment};
use crate::plan::state_view::StateView;

/// Largest length of a token in characters; those of the service have 22.
const TOKEN_LENGTH_MAX: usize = 128;
/// Separates the digests of tokens from all others.
const LABEL: &str = "attached-token";

impl EngineView<'_> {
    pub(crate) fn attach(&self, bringing: SubmitToken) -> Decision {
        let SubmitToken { attaching, link, actor } = bringing;
        let key = attaching.key.clone();
        let digest = self.token_digest(&attaching.token);
        let manifest = match self.may_attach(&attaching, link.as_ref()) {
            result if self.is_known(&key, digest, result.is_ok()) => {
                tracing::debug!(%key, "the same token again");
                return Decision::answer(Reply::Attached(Ok(key)));
            }
            Err(why) => return Decision::answer(Reply::Attached(Err(why))),
            Ok(manifest) => manifest,
        };
        let attachments = self.attachments(&manifest, attaching, &actor);
        let free = |key: &Key| {
            !self.scheduler.busy.contains(key) && self.known_state.open_intent(key).is_none()
        };
        let keys = attachments.iter().map(|(one, _)| one.key.clone());
        let keys: BTreeSet<Key> = keys.filter(free).collect();
        let (shared, result) = (self.shared.clone(), TaskResult::BookkeepingDone(keys.clone()));
        let task = async move {
            write(&shared, attachments).await?;
            Ok((result, Reply::Attached(Ok(key))))
        };
        Decision::run(task).locking(keys)
    }

    /// Builds the records of tokens, not sealed yet. The recurring charges' records come first,
    /// since they are of no use without the method's own.
    fn attachments(
        &self,
        manifest: &Manifest,
        attaching: AttachToken,
        actor: &str,
    ) -> Vec<(TokenAttachment, Secret)> {
        let AttachToken { key, token, more, replace: _ } = attaching;
        let own = TokenAttachment {
            merchant: merchant_of(manifest).unwrap_or_else(|| key.clone()),
            generation: manifest.annotations.generation,
            token: String::new(),
            at: self.shared.now(),
            digest: self.token_digest(&token),
            actor: actor.to_owned(),
            copied_method: None,
            key: key.clone(),
        };
        let beside = Some(CopiedMethod { method: key.clone(), token: own.digest });
        let charges = self.charges_of(&key).into_iter().zip(more);
        let one = |((key, generation), token): ((Key, u32), Secret)| {
            let (digest, copied_method) = (self.token_digest(&token), beside.clone());
            (TokenAttachment { key, generation, digest, copied_method, ..own.clone() }, token)
        };
        let mut all: Vec<_> = charges.map(one).collect();
        all.push((own, token));
        all
    }

    fn token_digest(&self, token: &Secret) -> Digest {
        keyed_digest(self.digest_key(), LABEL, token.expose().as_bytes())
    }

    /// Returns the document that asks for this token.
    fn may_attach(
        &self,
        attaching: &AttachToken,
        link: Option<&IntakeLink>,
    ) -> Result<Arc<Manifest>, String> {
        let key = &attaching.key;
        check_tokens(attaching)?;
        let manifest = self.intake_manifest(key)?;
        let by_hand = || {
            let replaced = self.saved_details(&manifest).filter(|_| attaching.replace);
            self.intake_state(&manifest, replaced.as_deref())
        };
        self.check_requested(key, &link.map_or_else(by_hand, |link| self.intake(link)))?;
        Ok(manifest)
    }

    /// Returns true if exactly this token gave the saved details, or came last and none is asked.
    fn is_known(&self, key: &Key, digest: Digest, asks: bool) -> bool {
        let Some(manifest) = self.known_state.desired().manifest(key) else { return false };
        let Some(known) = self.known_state.observed(key) else { return false };
        let applied =
            applied_state(&manifest, Some(&known)).and_then(|applied| given_details(&applied.spec));
        let open = known.refusal.is_none() && !asks;
        let brought = SuppliedToken::of(&known, manifest.annotations.generation).filter(|_| open);
        applied == Some(&SuppliedToken::details_marker(digest))
            || brought.is_some_and(|brought| brought.digest == digest)
    }
}

/// Checks that these can be tokens of the service, and are distinct.
fn check_tokens(attaching: &AttachToken) -> Result<(), String> {
    let all: Vec<&str> =
        [&attaching.token].into_iter().chain(&attaching.more).map(Secret::expose).collect();
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let is_token = |one: &str| (1..=TOKEN_LENGTH_MAX).contains(&one.len()) && one.chars().all(fits);
    if !all.iter().all(|text| is_token(text)) {
        return Err(
            "not a one-time token: a token consists of letters, digits, `_` and `-`".to_owned()
        );
    }
    if all.len() > TOKENS_MAX {
        return Err(format!("too many tokens: at most {TOKENS_MAX}"));
    }
    if all.iter().collect::<BTreeSet<_>>().len() < all.len() {
        return Err("the same token twice: each token works once".to_owned());
    }
    Ok(())
}

async fn write(
    shared: &EngineShared,
    attachments: Vec<(TokenAttachment, Secret)>,
) -> EngineResult<()> {
    let (mut blobs, mut records) = (Vec::new(), Vec::new());
    for (attachment, token) in attachments {
        let (subject, bytes) = (attachment.key.to_string(), token.expose().as_bytes());
        let sealed = shared.random(|rng| shared.vault.seal(&subject, bytes, rng))?;
        let attachment = TokenAttachment { token: sealed.reference().to_string(), ..attachment };
        tracing::info!(key = %attachment.key, actor = attachment.actor, "a token was attached");
        blobs.push(sealed);
        records.push(Record::TokenAttached(Box::new(attachment)));
    }
    shared.write(blobs, records).await
}

#[cfg(test)]
mod tests;
