//! A payer's page for a saved method, and the one-time token that comes of it, or that a person brings.
//!
//! A look changes nothing. A token is taken while the method waits for one and at no other time: what was brought
//! is sealed and on disk before anybody is thanked, and then the method's own step saves it.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize, Serializer};
use tokio::sync::oneshot;

use super::Engine;
use super::question::Reply;
use super::shared::{EngineError, Shared};
use super::tasks::Finished;
use crate::base::hash::{Digest, keyed};
use crate::base::id::{Key, Mode};
use crate::base::secret::Secret;
use crate::effects::good_until;
use crate::kinds::saved_method::is_intake;
use crate::kinds::step::merchant_of;
use crate::model::attachment::{Attachment, Awaited, Brought};
use crate::model::manifest::Manifest;
use crate::model::plan::Reason;
use crate::model::record::Record;
use crate::plan::World;

/// Characters of a token; those of the service have 22.
const TOKEN_LENGTH_MAX: usize = 128;
/// What digests of tokens are kept apart by.
const LABEL: &str = "attached-token";

/// A payer's link, once its signature was found to be ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntakeLink {
    /// The saved method.
    pub key: Key,
    /// The generation of its document that the link was made for.
    pub generation: u32,
    /// Until when the link is good.
    pub until: DateTime<Utc>,
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
}

/// A token on its way to the engine. It crosses the control socket, and is shown nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attaching {
    /// The saved method.
    pub key: Key,
    /// The token.
    #[serde(serialize_with = "exposed")]
    pub token: Secret,
}

/// A token with who brings it, and how.
#[derive(Debug)]
pub struct Bringing {
    /// The token, and what it is for.
    pub attaching: Attaching,
    /// The payer's link that it came through, if it did.
    pub link: Option<IntakeLink>,
    /// Who brings it.
    pub actor: String,
}

/// What is asked for a payer.
#[derive(Debug)]
pub enum Payer {
    /// What a link leads to; nothing changes by it.
    Look(IntakeLink, oneshot::Sender<Intake>),
    /// A token is brought; the sender hears once it is durable, or why it is not taken.
    Bring(Bringing, oneshot::Sender<Reply>),
}

fn exposed<S: Serializer>(token: &Secret, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(token.expose())
}

impl Engine {
    /// Does what is asked for a payer. Who asked may have gone away.
    pub(super) fn payer(&mut self, asked: Payer) {
        match asked {
            Payer::Look(link, reply) => reply.send(self.intake(&link)).unwrap_or_default(),
            Payer::Bring(bringing, reply) => self.attach(bringing, reply),
        }
    }

    /// What a payer's link leads to.
    fn intake(&self, link: &IntakeLink) -> Intake {
        let wanted = self.world.desired().manifest(&link.key).filter(|one| is_intake(&one.spec));
        let Some(manifest) = wanted else { return Intake::Over };
        if manifest.annotations.generation != link.generation {
            return Intake::Over;
        }
        let state = self.awaits(&manifest);
        match state {
            Intake::Asks(_) | Intake::Later if self.shared.now() >= link.until => Intake::Over,
            Intake::Asks(_) | Intake::Received | Intake::Stored | Intake::Over | Intake::Later => {
                state
            }
        }
    }

    /// The generation that a link is made for now. Errors: why none is, in a sentence.
    pub(super) fn intake_link(&self, key: &Key) -> Result<u32, String> {
        let manifest = self.intake_manifest(key)?;
        match self.awaits(&manifest) {
            Intake::Asks(_) => Ok(manifest.annotations.generation),
            Intake::Later => Err(self.not_now(key)),
            state @ (Intake::Received | Intake::Stored | Intake::Over) => Err(refused(key, &state)),
        }
    }

    /// Takes a token in, and answers once it is durable.
    fn attach(&mut self, bringing: Bringing, reply: oneshot::Sender<Reply>) {
        let Bringing { attaching, link, actor } = bringing;
        let key = attaching.key.clone();
        let digest_key = &self.shared.settings.planning.digest_key;
        let digest = keyed(digest_key, LABEL, attaching.token.expose().as_bytes());
        let attachment = match self.may_attach(&attaching, link.as_ref()) {
            Err(why) if self.is_known(&key, digest) => {
                tracing::debug!(%key, why, "the same token once more");
                return reply.send(Reply::Attached(Ok(key))).unwrap_or_default();
            }
            Err(why) => return reply.send(Reply::Attached(Err(why))).unwrap_or_default(),
            Ok(manifest) => Attachment {
                merchant: merchant_of(&manifest).unwrap_or_else(|| key.clone()),
                generation: manifest.annotations.generation,
                token: String::new(),
                at: self.shared.now(),
                digest,
                actor,
                key: key.clone(),
            },
        };
        self.busy.insert(key.clone());
        self.queue.remove(&key);
        let shared = self.shared.clone();
        self.tasks.spawn(async move {
            match write(&shared, attachment, &attaching.token).await {
                Ok(()) => Finished::Moved(key.clone()).answering(Reply::Attached(Ok(key)), reply),
                Err(error) => Finished::Broken(error),
            }
        });
    }

    /// The document that waits for this token. Errors: why the token is not taken, in a sentence.
    fn may_attach(
        &self,
        attaching: &Attaching,
        link: Option<&IntakeLink>,
    ) -> Result<Manifest, String> {
        let key = &attaching.key;
        if !is_token(attaching.token.expose()) {
            return Err("this is no one-time token: it has letters, digits, `_` and `-`".to_owned());
        }
        let manifest = self.intake_manifest(key)?;
        let state = match link {
            Some(link) => self.intake(link),
            None => self.awaits(&manifest),
        };
        match state {
            Intake::Asks(_) => Ok(manifest),
            Intake::Later => Err(self.not_now(key)),
            state @ (Intake::Received | Intake::Stored | Intake::Over) => Err(refused(key, &state)),
        }
    }

    /// The good document of a saved method that a payer gives the details of.
    fn intake_manifest(&self, key: &Key) -> Result<Manifest, String> {
        let name = key.short();
        let manifest = self.world.desired().manifest(key);
        let manifest = manifest.ok_or_else(|| format!("no good document says {name}"))?;
        if !is_intake(&manifest.spec) {
            return Err(format!("the document of {name} does not say `source: intake`"));
        }
        Ok(manifest)
    }

    /// How a method stands towards its payer.
    fn awaits(&self, manifest: &Manifest) -> Intake {
        let (key, generation) = (&manifest.key, manifest.annotations.generation);
        let known = self.world.observed(key);
        let step = self.planner.whole(&self.world, key);
        let busy = self.busy.contains(key) || self.world.open(key).is_some();
        if let Some(Reason::AwaitsIntake(awaited)) = step.map(|step| step.reason)
            && !busy
        {
            return self.asking(manifest, &awaited).map_or(Intake::Later, Intake::Asks);
        }
        let made = known.as_deref().filter(|known| known.exists);
        let made = made.and_then(|known| known.applied.as_ref());
        if made.is_some_and(|applied| applied.generation >= generation) {
            return Intake::Stored;
        }
        let open = known.as_deref().filter(|known| known.refusal.is_none());
        let brought = open.and_then(|known| Brought::of(known, generation));
        let fresh = brought.is_some_and(|brought| self.shared.now() < good_until(&brought));
        if busy || fresh { Intake::Received } else { Intake::Later }
    }

    /// What the page needs; `None`: the merchant's key is not known.
    fn asking(&self, manifest: &Manifest, awaited: &Awaited) -> Option<Box<Asking>> {
        let merchant = merchant_of(manifest)?;
        let known = self.world.observed(&merchant)?;
        let mode = serde_json::from_value(known.fact("mode").clone()).ok()?;
        let public_key = known.text("public_key").filter(|key| !key.is_empty())?.to_owned();
        Some(Box::new(Asking {
            sort: awaited.sort,
            public_key,
            merchant: known.text("merchant_name").map(str::to_owned),
            mode,
            service: self.shared.client.base_url().to_owned(),
            trouble: awaited.trouble.clone(),
        }))
    }

    /// Whether just this token was brought last.
    fn is_known(&self, key: &Key, digest: Digest) -> bool {
        let generation = self.world.desired().manifest(key).map(|one| one.annotations.generation);
        let known = self.world.observed(key).filter(|known| known.refusal.is_none());
        let brought = known.zip(generation).and_then(|(known, own)| Brought::of(&known, own));
        brought.is_some_and(|brought| brought.digest == digest)
    }

    /// Why a method cannot take a token now.
    fn not_now(&self, key: &Key) -> String {
        let why = self.planner.step(key).map(|step| step.reason.to_string());
        let why = why.unwrap_or_else(|| "nothing is known of it".to_owned());
        format!("{} cannot take a token now: {why}", key.short())
    }
}

/// Why a token is not taken, or no link made.
fn refused(key: &Key, state: &Intake) -> String {
    let name = key.short();
    match state {
        Intake::Received => {
            format!("{name} has a token that is being saved; ask again in a moment")
        }
        Intake::Stored => format!(
            "{name} is saved already; raise reckon.dev/generation in its document to have another one"
        ),
        Intake::Asks(_) | Intake::Over | Intake::Later => {
            format!("{name} does not ask for this any more")
        }
    }
}

/// Whether a text can be a token of the service.
fn is_token(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !text.is_empty() && text.len() <= TOKEN_LENGTH_MAX && text.chars().all(fits)
}

/// Seals the token and writes down that it was brought.
async fn write(shared: &Shared, attachment: Attachment, token: &Secret) -> Result<(), EngineError> {
    let (subject, bytes) = (attachment.key.to_string(), token.expose().as_bytes());
    let sealed = shared.random(|rng| shared.vault.seal(&subject, bytes, rng))?;
    let attachment = Attachment { token: sealed.reference().to_string(), ..attachment };
    tracing::info!(key = %attachment.key, actor = attachment.actor, "a token was attached");
    shared.write(vec![sealed], vec![Record::Attached(Box::new(attachment))]).await
}
