//! Computes the state of resources as if the service matched their documents exactly.
//!
//! This compares two trees without any service: one of them is taken as the state at the service.
//! None of it is ever stored or sent.

use serde_json::json;

use super::step::{StepCx, merchant_of};
use crate::base::hash::sha256;
use crate::base::id::RemoteId;
use crate::kinds::schema::kind::SpecField;
use crate::kinds::secrets::redact::redact;
use crate::model::manifest::Manifest;
use crate::model::state::observed::{AppliedSpec, Observed};

/// Returns the state of a resource whose document was applied, without any further fact.
pub fn applied_state(
    fields: &'static [SpecField],
    cx: &StepCx<'_>,
    manifest: &Manifest,
) -> Observed {
    let Manifest { key, annotations, spec, digest, .. } = manifest;
    let applied = AppliedSpec {
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
