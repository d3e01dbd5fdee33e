//! What would be known of resources that are on the service just as their documents say.
//!
//! Two trees are compared without any service by this: one of them is taken for what is there. Nothing of it
//! is ever written down or sent.

use serde_json::json;

use crate::base::hash::sha256;
use crate::base::id::RemoteId;
use crate::kinds::Field;
use crate::kinds::redact::redact;
use crate::kinds::step::{StepCx, merchant_of};
use crate::model::manifest::Manifest;
use crate::model::observed::{Applied, Observed};

/// A resource whose document was applied, and of which nothing else is known.
pub fn plain(fields: &'static [Field], cx: &StepCx<'_>, manifest: &Manifest) -> Observed {
    let Manifest { key, annotations, spec, digest, .. } = manifest;
    let applied = Applied {
        spec: redact(fields, spec, cx.digest_key),
        digest: *digest,
        generation: annotations.generation,
        deletion: annotations.deletion,
    };
    let merchant = merchant_of(manifest).unwrap_or_else(|| key.clone());
    let name = format!("assumed_{}", sha256(key.to_string().as_bytes()).short());
    Observed {
        exists: true,
        remote_id: RemoteId::new(&name).ok(),
        applied: Some(applied),
        facts: json!({}),
        ..Observed::unknown(merchant, cx.now)
    }
}
